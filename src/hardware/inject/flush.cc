#include <cstdlib>

#include "hardware/inject/api.h"
#include "hardware/inject/collector.h"
#include "hardware/inject/session.h"

namespace lanescope::inject {

namespace {

// Each thread reads 16 bytes in steps of the whole grid. Plain reads: they leave both partitions of L2 full of the buffer, which
// neither a memset, nor a copy, nor volatile reads (they go to the far partition) were seen to do. The store, which keeps the
// compiler from dropping the reads, happens only if their sum is one number of 2^32, and then into the buffer.
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

// The variants under test: plain reads, reads marked evict-first, reads and then a discard of every line.
constexpr char kPtx80[] = R"(
.version 7.4
.target sm_80
.address_size 64
.visible .global .align 4 .u32 arrived = 0;
.visible .entry lanescope_flush(.param .u64 buffer, .param .u64 bytes, .param .u32 mode)
{
    .reg .pred %p, %q, %discard;
    .reg .b32 %r<14>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd0, [buffer];
    ld.param.u64 %rd1, [bytes];
    ld.param.u32 %r9, [mode];
    cvta.to.global.u64 %rd0, %rd0;
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %nctaid.x;
    mad.lo.u32 %r0, %r0, %r1, %r2;
    mul.lo.u32 %r10, %r3, %r1;
    mul.wide.u32 %rd2, %r0, 16;
    mul.wide.u32 %rd3, %r10, 16;
    mov.u32 %r8, 0;
    and.b32 %r11, %r9, 1;
    setp.ne.u32 %q, %r11, 0;
    and.b32 %r11, %r9, 2;
    setp.ne.u32 %discard, %r11, 0;
    createpolicy.fractional.L2::evict_first.b64 %rd6, 1.0;
loop:
    setp.ge.u64 %p, %rd2, %rd1;
    @%p bra read;
    add.u64 %rd4, %rd0, %rd2;
    @!%q ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd4];
    @%q ld.global.L2::cache_hint.v4.u32 {%r4, %r5, %r6, %r7}, [%rd4], %rd6;
    add.u32 %r8, %r8, %r4;
    add.u32 %r8, %r8, %r5;
    add.u32 %r8, %r8, %r6;
    add.u32 %r8, %r8, %r7;
    add.u64 %rd2, %rd2, %rd3;
    bra loop;
read:
    setp.eq.u32 %p, %r8, 0x9e3779b9;
    @%p st.global.u32 [%rd0], %r8;
    @!%discard bra done;
    bar.sync 0;
    setp.ne.u32 %p, %r2, 0;
    @%p bra wait;
    membar.gl;
    atom.global.add.u32 %r4, [arrived], 1;
    div.u32 %r5, %r4, %r3;
    add.u32 %r5, %r5, 1;
    mul.lo.u32 %r5, %r5, %r3;
spin:
    ld.volatile.global.u32 %r6, [arrived];
    sub.u32 %r7, %r6, %r5;
    setp.lt.s32 %p, %r7, 0;
    @%p bra spin;
wait:
    bar.sync 0;
    mul.wide.u32 %rd2, %r0, 128;
    mul.wide.u32 %rd3, %r10, 128;
erase:
    setp.ge.u64 %p, %rd2, %rd1;
    @%p bra done;
    add.u64 %rd4, %rd0, %rd2;
    discard.global.L2 [%rd4], 128;
    add.u64 %rd2, %rd2, %rd3;
    bra erase;
done:
    ret;
}
)";

unsigned variant() {
    const char* text = std::getenv("LANESCOPE_FLUSH");
    return text ? unsigned(std::atoi(text)) : 0;
}

struct Flusher {
    CUfunction function = nullptr;
    CUdeviceptr buffer = 0;
    uint64_t bytes = 0;
    unsigned blocks = 0;
    CUcontext context = nullptr, own = nullptr;
};

Flusher flusher;
bool usable = false;

bool prepare(CUcontext context) {
    flusher = {.context = context};
    CUdevice device = 0;
    if (variant() & 16) {
        CUdevice mine = 0;
        api.cuCtxGetDevice(&mine);
        if (!succeeded("cuCtxCreate", api.cuCtxCreate(&flusher.own, 0, mine))) return false;
    }
    int l2 = 0, multiprocessors = 0;
    CUmodule module = nullptr;
    if (!succeeded("cuCtxGetDevice", api.cuCtxGetDevice(&device)) ||
        !succeeded("cuDeviceGetAttribute", api.cuDeviceGetAttribute(&l2, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device)) ||
        !succeeded("cuDeviceGetAttribute", api.cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device)) ||
        !succeeded("cuModuleLoadData", api.cuModuleLoadData(&module, variant() ? kPtx80 : kPtx)) ||
        !succeeded("cuModuleGetFunction", api.cuModuleGetFunction(&flusher.function, module, "lanescope_flush")))
        return false;
    for (flusher.bytes = uint64_t(64) << 20; flusher.bytes < 4 * uint64_t(l2);) flusher.bytes *= 2;
    flusher.blocks = unsigned(multiprocessors) * 4;
    bool done = succeeded("cuMemAlloc", api.cuMemAlloc(&flusher.buffer, flusher.bytes));
    if (flusher.own) {
        CUcontext popped;
        api.cuCtxPopCurrent(&popped);
    }
    return done;
}

}  // namespace

bool flush_caches(CUstream stream) {
    CUcontext context = nullptr;
    if (!succeeded("cuCtxGetCurrent", api.cuCtxGetCurrent(&context))) return false;
    if (context != flusher.context) usable = prepare(context);
    if (!usable) return false;
    unsigned mode = variant() & 3;
    if (variant() & 8) api.cuCtxResetPersistingL2Cache();
    void* arguments[] = {&flusher.buffer, &flusher.bytes, &mode};
    if (flusher.own) {
        CUcontext popped;
        api.cuCtxSynchronize();
        api.cuCtxPushCurrent(flusher.own);
        bool done = succeeded("cuLaunchKernel (flush)", api.cuLaunchKernel(flusher.function, flusher.blocks, 1, 1, 512, 1, 1, 0, nullptr, arguments, nullptr)) &&
                    succeeded("cuCtxSynchronize (flush)", api.cuCtxSynchronize());
        api.cuCtxPopCurrent(&popped);
        return done;
    }
    return succeeded("cuLaunchKernel (flush)",
                     api.cuLaunchKernel(flusher.function, flusher.blocks, 1, 1, 512, 1, 1, 0, stream, arguments, nullptr));
}

bool flush_is_a_range() { return !(variant() & 16); }

void forget_flush() { flusher = {}; }

}  // namespace lanescope::inject
