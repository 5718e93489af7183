// What copies and memsets leave in L2 (../h200/copies.csv), and how fast stores leave the SMs (../h200/store-rates.csv).
// Usage: copy_probes other | same | rate | replay [ones]
#include "replay.h"

#include <string>

__device__ __forceinline__ size_t gid() { return size_t(blockIdx.x) * blockDim.x + threadIdx.x; }
__global__ void read_a(const float4* a, float* sink) { float4 v = __ldcg(a + gid()); if (v.x == 12345.f) *sink = v.y; }
__global__ void read_b(const float4* a, float* sink) { float4 v = __ldcg(a + gid()); if (v.x == 12345.f) *sink = v.y; }   // the recorded one
__global__ void write_whole(float4* a) { a[gid()] = make_float4(1, 2, 3, 4); }
__global__ void write_partial(float* a) { a[gid() * 8] = 1; }
__global__ void copy_kernel(const float4* a, float4* b) { b[gid()] = a[gid()]; }
__global__ void store_stride(const float* a, float* out, int n, int stride) { int i = int(gid()); if (i < n) out[(long long)i * stride] = a[i]; }
// Words of 4 bytes in each of `sectors` sectors of a line, as many lines an instruction as fit; 32 lines a warp, again and again.
__global__ void rate(float* a, int words, int sectors, int rounds) {
    const int lane = threadIdx.x & 31, per = words * sectors, lines = 32 / per;
    float* mine = a + (size_t(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32) * 32 * 32;
    if (lane >= lines * per) return;
    const int line = lane / per, sector = lane % per / words, word = lane % words;
    for (int r = 0; r < rounds; ++r)
        for (int l = 0; l < 32; l += lines)
            if (l + line < 32) mine[(l + line) * 32 + sector * 8 + word] = float(r);
}

constexpr size_t MiB = 1 << 20;
static char *a, *s, *c, *junk, *host, *pageable;
static float* sink;

unsigned blocks(size_t bytes) { return unsigned(bytes / 16 / 256); }

template <class Action> void test(const char* what, size_t m, int before, Action action) {
    write_whole<<<blocks(512 * MiB), 256>>>((float4*)junk);
    read_a<<<blocks(512 * MiB), 256>>>((float4*)junk, sink);
    if (before == 1)
        for (int k = 0; k < 3; ++k) read_a<<<blocks(4 * MiB), 256>>>((float4*)a, sink);
    if (before == 2) write_whole<<<blocks(4 * MiB), 256>>>((float4*)a);
    CHECK(cudaDeviceSynchronize());
    action(m * MiB);
    CHECK(cudaDeviceSynchronize());
    read_b<<<blocks(4 * MiB), 256>>>((float4*)a, sink);
    CHECK(cudaDeviceSynchronize());
    std::printf("%s MiB=%zu before=%d\n", what, m, before);
}

void others() {
    test("none", 0, 1, [](size_t) {});
    for (size_t m : {8, 16, 24, 32, 40, 48, 64}) test("d2d", m, 1, [](size_t n) { CHECK(cudaMemcpy(c, s, n, cudaMemcpyDeviceToDevice)); });
    for (size_t m : {16, 24, 32, 48, 64}) test("memset", m, 1, [](size_t n) { CHECK(cudaMemset(c, 1, n)); });
    for (size_t m : {16, 32, 48, 64}) test("h2d", m, 1, [](size_t n) { CHECK(cudaMemcpy(c, host, n, cudaMemcpyHostToDevice)); });
    for (size_t m : {16, 32, 48, 64}) test("d2h", m, 1, [](size_t n) { CHECK(cudaMemcpy(host, s, n, cudaMemcpyDeviceToHost)); });
    for (size_t m : {8, 16, 24, 32, 48}) test("copy kernel", m, 1, [](size_t n) { copy_kernel<<<blocks(n), 256>>>((float4*)s, (float4*)c); });
    for (size_t m : {16, 24, 32, 40, 48, 64}) test("write whole", m, 1, [](size_t n) { write_whole<<<blocks(n), 256>>>((float4*)c); });
    for (size_t m : {16, 24, 32, 40, 48, 64, 96}) test("write partial", m, 1, [](size_t n) { write_partial<<<blocks(n / 2), 256>>>((float*)c); });
    for (size_t m : {16, 24, 32, 40, 48, 64}) test("read", m, 1, [](size_t n) { read_a<<<blocks(n), 256>>>((float4*)s, sink); });
}

void same() {
    for (int before : {0, 1, 2}) {
        for (size_t m : {4, 16, 48}) test("h2d", m, before, [](size_t n) { CHECK(cudaMemcpy(a, host, n, cudaMemcpyHostToDevice)); });
        test("h2d pageable", 4, before, [](size_t n) { CHECK(cudaMemcpy(a, pageable, n, cudaMemcpyHostToDevice)); });
        for (size_t m : {4, 48}) test("d2h", m, before, [](size_t n) { CHECK(cudaMemcpy(host, a, n, cudaMemcpyDeviceToHost)); });
        test("d2h pageable", 4, before, [](size_t n) { CHECK(cudaMemcpy(pageable, a, n, cudaMemcpyDeviceToHost)); });
        test("memset", 4, before, [](size_t n) { CHECK(cudaMemset(a, 1, n)); });
        test("d2d to", 4, before, [](size_t n) { CHECK(cudaMemcpy(a, s, n, cudaMemcpyDeviceToDevice)); });
        test("d2d from", 4, before, [](size_t n) { CHECK(cudaMemcpy(c, a, n, cudaMemcpyDeviceToDevice)); });
        test("none", 4, before, [](size_t) {});
    }
}

void rates() {
    constexpr int kRounds = 200;
    cudaEvent_t from, to;
    CHECK(cudaEventCreate(&from));
    CHECK(cudaEventCreate(&to));
    for (unsigned sms : {1, 16, 66, 132})
        for (int words : {4, 8})
            for (int sectors : {1, 2, 3, 4}) {
                float best = 1e9f;
                for (int k = 0; k < 4; ++k) {
                    CHECK(cudaEventRecord(from));
                    rate<<<sms, 256>>>((float*)c, words, sectors, kRounds);
                    CHECK(cudaEventRecord(to));
                    CHECK(cudaDeviceSynchronize());
                    float ms;
                    CHECK(cudaEventElapsedTime(&ms, from, to));
                    if (ms < best) best = ms;
                }
                std::printf("rate SMs=%u words=%d sectors=%d: %.3f ns a line and SM\n", sms, words, sectors, best * 1e6 / (kRounds * 32.0 * 8));
            }
}

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "rate";
    CHECK(cudaMalloc(&a, 64 * MiB));
    CHECK(cudaMalloc(&s, 256 * MiB));
    CHECK(cudaMalloc(&c, 256 * MiB));
    CHECK(cudaMalloc(&junk, 512 * MiB));
    CHECK(cudaMalloc(&sink, 256));
    CHECK(cudaMallocHost(&host, 128 * MiB));
    pageable = (char*)std::calloc(64, MiB);
    for (auto [p, m] : {std::pair{a, 64}, {s, 256}, {c, 256}, {junk, 512}}) CHECK(cudaMemset(p, 0, m * MiB));
    if (what == "other") others();
    if (what == "same") same();
    if (what == "rate") rates();
    if (what == "replay") {
        constexpr int n = 1 << 20;
        if (argc > 2) write_whole<<<blocks(64 * MiB), 256>>>((float4*)a);
        for (int stride : {1, 2, 4, 6, 8, 12, 16}) store_stride<<<n / 256, 256>>>((float*)a, (float*)c, n, stride);
        for (size_t m : {4, 8, 12, 16, 24, 32}) copy_kernel<<<blocks(m * MiB), 256>>>((float4*)a, (float4*)c);
    }
    CHECK(cudaDeviceSynchronize());
}
