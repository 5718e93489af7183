#include <cstdlib>
#include <memory>
#include <string_view>

#include "hardware/inject/api.h"
#include "hardware/inject/collector.h"
#include "hardware/inject/resource_manager.h"
#include "hardware/inject/session.h"

namespace lanescope::inject {

namespace {

// What is left where the driver can't be asked. Each thread reads 16 bytes in steps of the whole grid. L2 is then full of clean lines instead
// of empty, so that dirty lines of the kernel stay in it longer (docs/hardware.md). Nothing else that was tried on an H200 came closer: a
// memset or copies, volatile reads, reads marked evict-first, a discard after the reads, a flush from a second context. The store, which
// keeps the compiler from dropping the reads, happens only if their sum is one number of 2^32, and then into the buffer.
constexpr char kPtx[] = R"(
.version 6.0
.target sm_50
.address_size 64
.visible .entry lanescope_flush(.param .u64 buffer, .param .u64 bytes)
{
    .reg .pred %p;
    .reg .b32 %r<9>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd0, [buffer];
    ld.param.u64 %rd1, [bytes];
    cvta.to.global.u64 %rd0, %rd0;
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %nctaid.x;
    mad.lo.u32 %r0, %r0, %r1, %r2;
    mul.lo.u32 %r3, %r3, %r1;
    mul.wide.u32 %rd2, %r0, 16;
    mul.wide.u32 %rd3, %r3, 16;
    mov.u32 %r8, 0;
loop:
    setp.ge.u64 %p, %rd2, %rd1;
    @%p bra done;
    add.u64 %rd4, %rd0, %rd2;
    ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd4];
    add.u32 %r8, %r8, %r4;
    add.u32 %r8, %r8, %r5;
    add.u32 %r8, %r8, %r6;
    add.u32 %r8, %r8, %r7;
    add.u64 %rd2, %rd2, %rd3;
    bra loop;
done:
    setp.eq.u32 %p, %r8, 0x9e3779b9;
    @%p st.global.u32 [%rd0], %r8;
    ret;
}
)";

struct Flusher {
    std::unique_ptr<ResourceManager> driver;  ///< or, where there is none, what follows
    CUfunction function = nullptr;
    CUdeviceptr buffer = 0;
    uint64_t bytes = 0;
    unsigned blocks = 0;
    CUcontext context = nullptr;
    bool refused = false;                     ///< not even the kernel could be prepared
};

Flusher flusher;

bool prepare_kernel(CUdevice device) {
    int l2 = 0, multiprocessors = 0;
    CUmodule module = nullptr;
    if (!succeeded("cuDeviceGetAttribute", api.cuDeviceGetAttribute(&l2, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device)) ||
        !succeeded("cuDeviceGetAttribute", api.cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device)) ||
        !succeeded("cuModuleLoadData", api.cuModuleLoadData(&module, kPtx)) ||
        !succeeded("cuModuleGetFunction", api.cuModuleGetFunction(&flusher.function, module, "lanescope_flush")))
        return false;
    for (flusher.bytes = uint64_t(64) << 20; flusher.bytes < 4 * uint64_t(l2);) flusher.bytes *= 2;
    flusher.blocks = unsigned(multiprocessors) * 4;
    return succeeded("cuMemAlloc", api.cuMemAlloc(&flusher.buffer, flusher.bytes));
}

/// How the current context's L2 is flushed: flushes it if the driver can.
void find_way(CUcontext context) {
    flusher = {};
    flusher.context = context;
    CUdevice device = 0;
    if (!succeeded("cuCtxGetDevice", api.cuCtxGetDevice(&device))) return;
    const char* how = std::getenv("LANESCOPE_FLUSH");
    if (!how || std::string_view(how) != "reads") flusher.driver = std::make_unique<ResourceManager>();
    if (flusher.driver && !(flusher.driver->open(device) && flusher.driver->flush_l2())) flusher.driver.reset();
    events.line("flush", flusher.driver ? "driver" : "reads");
}

bool has_kernel() {
    if (flusher.function || flusher.refused) return !flusher.refused;
    CUdevice device = 0;
    flusher.refused = !succeeded("cuCtxGetDevice", api.cuCtxGetDevice(&device)) || !prepare_kernel(device);
    return !flusher.refused;
}

}  // namespace

Flushed flush_caches(CUstream stream) {
    CUcontext context = nullptr;
    if (!succeeded("cuCtxGetCurrent", api.cuCtxGetCurrent(&context))) return Flushed::kNot;
    if (context != flusher.context) find_way(context);
    if (flusher.driver) {
        // What the program has launched must be done: its data goes first.
        bool idle = succeeded("cuCtxSynchronize", api.cuCtxSynchronize());
        return idle && flusher.driver->flush_l2() ? Flushed::kByDriver : Flushed::kNot;
    }
    if (!has_kernel()) return Flushed::kNot;
    void* arguments[] = {&flusher.buffer, &flusher.bytes};
    bool launched = succeeded("cuLaunchKernel (flush)",
                              api.cuLaunchKernel(flusher.function, flusher.blocks, 1, 1, 512, 1, 1, 0, stream, arguments, nullptr));
    return launched ? Flushed::kByKernel : Flushed::kNot;
}

bool flush_is_a_launch(CUcontext context) {
    if (context != flusher.context && succeeded("cuCtxPushCurrent", api.cuCtxPushCurrent(context))) {
        find_way(context);
        succeeded("cuCtxPopCurrent", api.cuCtxPopCurrent(&context));
    }
    return !flusher.driver;
}

void forget_flush() { flusher = {}; }

}  // namespace lanescope::inject
