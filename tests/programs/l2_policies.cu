// What L2 keeps: policies of instructions, windows of streams, the limit, the reset. Caches stay as kernels leave them; a kernel of one thread
// times a read of each line.
// ENV: LANESCOPE_GPU=a10 LANESCOPE_CACHES=warm
#include <initializer_list>
#include <vector>

#include "check.h"

// An A10's L2: 6 MiB of 16 ways, 384 KiB (3072 lines) each; evict_last keeps three of them unless the program sets the limit.
constexpr int kLines = 4096, kOthers = 1 << 17;

enum Hint { kNone, kLast, kHalf, kFirst, kNumber, kNormal };

__global__ void touch(const float4* from, int count, Hint hint, float* out) {
    unsigned long long policy = 0x14F0000000000000;         // kNumber: evict_last, as libraries write it down
    if (hint == kLast) asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    if (hint == kHalf) asm volatile("createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %0, 0.5;" : "=l"(policy));
    if (hint == kFirst) asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    if (hint == kNormal) asm volatile("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        float4 v;
        if (hint == kNone) v = __ldcg(from + i);
        else asm volatile("ld.global.L1::no_allocate.L2::cache_hint.v4.f32 {%0,%1,%2,%3}, [%4], %5;" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(from + i), "l"(policy));
        sum += v.x;
    }
    if (sum != 0) *out = sum;
}

__global__ void time_lines(const float* from, int lines, int* cycles) {
    for (int i = 0; i < lines; ++i) {
        const long long before = clock64();
        const float v = __ldcg(from + i * 32);
        cycles[i] = v == 1 ? 0 : int(clock64() - before);
    }
}

static char* buffer;
static float* out;
static int* cycles;
static cudaStream_t stream;

static void pass(Hint hint, size_t first_line, int lines) {
    touch<<<72, 256, 0, stream>>>(reinterpret_cast<float4*>(buffer + first_line * 128), lines * 8, hint, out);
    CHECK(cudaGetLastError());
}

// How many of the lines L2 still has, after four times what it holds was read.
static void report(const char* what, std::initializer_list<Hint> hints, bool reset = false, int lines = kLines) {
    for (const Hint hint : hints) pass(hint, 0, lines);
    if (reset) CHECK(cudaCtxResetPersistingL2Cache());
    pass(kNone, 1 << 20, kOthers);
    time_lines<<<1, 1, 0, stream>>>(reinterpret_cast<float*>(buffer), lines, cycles);
    std::vector<int> here(lines);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(here.data(), cycles, lines * sizeof(int), cudaMemcpyDeviceToHost));
    int kept = 0;
    for (const int c : here) kept += c < 400;               // L2 answers in about 270 cycles, DRAM in 600
    std::printf("%s: %d of %d lines\n", what, kept, lines);
    CHECK(cudaCtxResetPersistingL2Cache());
}

static cudaError_t set_window(size_t bytes, float ratio, cudaAccessProperty hit, cudaAccessProperty miss = cudaAccessPropertyStreaming) {
    cudaStreamAttrValue value{};
    value.accessPolicyWindow = {buffer, bytes, ratio, hit, miss};
    return cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value);
}

int main() {
    CHECK(cudaMalloc(&buffer, size_t(160) << 20)); CHECK(cudaMalloc(&out, 4)); CHECK(cudaMalloc(&cycles, kLines * 4 * sizeof(int)));
    CHECK(cudaMemset(buffer, 0, size_t(160) << 20)); CHECK(cudaStreamCreate(&stream));
    report("plain", {kNone});
    report("evict_last", {kLast});
    report("evict_last as a number", {kNumber});
    report("half evict_last", {kHalf});
    report("evict_last, then evict_first", {kLast, kFirst});
    report("evict_last, then evict_normal", {kLast, kNormal});
    report("evict_last, then a reset", {kLast}, true);

    size_t limit = 0;
    CHECK(cudaDeviceGetLimit(&limit, cudaLimitPersistingL2CacheSize));
    std::printf("limit %zu", limit);
    CHECK(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 400000));
    CHECK(cudaDeviceGetLimit(&limit, cudaLimitPersistingL2CacheSize));
    std::printf(", now %zu\n", limit);
    CHECK(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0));
    report("no limit, one way", {kLast}, false, 4 * 3072);
    CHECK(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 3 * 384 << 10));

    CHECK(set_window(kLines * 128, 1, cudaAccessPropertyPersisting));
    report("window", {kNone});
    report("window, but evict_first", {kFirst});
    CHECK(set_window(kLines * 64, 1, cudaAccessPropertyPersisting));
    report("window of half", {kNone});
    CHECK(set_window(kLines * 128, 0.25f, cudaAccessPropertyPersisting));
    report("window with ratio 0.25", {kNone});                // 5 of 16 parts, as on an H200
    cudaStreamAttrValue value{};
    CHECK(cudaStreamGetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value));
    std::printf("%zu bytes, ratio %g\n", value.accessPolicyWindow.num_bytes, value.accessPolicyWindow.hitRatio);
    CHECK(set_window(0, 0, cudaAccessPropertyNormal));
    report("no window", {kNone});
    std::printf("%s\n", cudaGetErrorName(set_window(size_t(129) << 20, 1, cudaAccessPropertyPersisting)));
    std::printf("%s\n", cudaGetErrorName(set_window(4096, 2, cudaAccessPropertyPersisting)));
    std::printf("%s\n", cudaGetErrorName(set_window(4096, 1, cudaAccessPropertyPersisting, cudaAccessPropertyPersisting)));
    cudaGetLastError();

    // A window of one launch, and of a node of a graph
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeAccessPolicyWindow;
    attribute.val.accessPolicyWindow = {buffer, kLines * 128, 1, cudaAccessPropertyPersisting, cudaAccessPropertyStreaming};
    cudaLaunchConfig_t config{};
    config.gridDim = 72; config.blockDim = 256; config.stream = stream; config.attrs = &attribute; config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, touch, static_cast<const float4*>((void*)buffer), kLines * 8, kNone, out));
    report("window of a launch", {});
    cudaGraph_t graph; cudaGraphNode_t node; cudaGraphExec_t executable;
    CHECK(cudaGraphCreate(&graph, 0));
    int count = kLines * 8;
    Hint none = kNone;
    void* arguments[] = {&buffer, &count, &none, &out};
    cudaKernelNodeParams params{};
    params.func = (void*)touch; params.gridDim = 72; params.blockDim = 256; params.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    cudaKernelNodeAttrValue of_node{};
    of_node.accessPolicyWindow = attribute.val.accessPolicyWindow;
    CHECK(cudaGraphKernelNodeSetAttribute(node, cudaKernelNodeAttributeAccessPolicyWindow, &of_node));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphLaunch(executable, stream));
    report("window of a node", {});
}
// OUT: plain: 0 of 4096 lines
// OUT: evict_last: 4096 of 4096 lines
// OUT: evict_last as a number: 4096 of 4096 lines
// OUT: half evict_last: 2048 of 4096 lines
// OUT: evict_last, then evict_first: 4096 of 4096 lines
// OUT: evict_last, then evict_normal: 0 of 4096 lines
// OUT: evict_last, then a reset: 0 of 4096 lines
// OUT: limit 1179648, now 786432
// OUT: no limit, one way: 3072 of 12288 lines
// OUT: window: 4096 of 4096 lines
// OUT: window, but evict_first: 0 of 4096 lines
// OUT: window of half: 2048 of 4096 lines
// OUT: window with ratio 0.25: 1280 of 4096 lines
// OUT: 524288 bytes, ratio 0.25
// OUT: no window: 0 of 4096 lines
// OUT: cudaErrorInvalidValue
// OUT: cudaErrorInvalidValue
// OUT: cudaErrorInvalidValue
// OUT: window of a launch: 4096 of 4096 lines
// OUT: window of a node: 4096 of 4096 lines
