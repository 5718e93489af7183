// A thread's own histogram of 16 bins, indexed by data; after: in shared memory, the bins of a warp's lanes side by side.
#include "pair.h"

constexpr int kBins = 16, kSteps = 64, kThreads = 128;

__global__ void before(const unsigned char* data, int* out, int n) {
    int bins[kBins];
    for (int b = 0; b < kBins; ++b) bins[b] = 0;
#pragma unroll 1
    for (int k = 0; k < kSteps; ++k) ++bins[data[k * n + thread()] % kBins];
    int most = 0;
#pragma unroll 1
    for (int b = 0; b < kBins; ++b) most = max(most, bins[b] * kBins + b);
    out[thread()] = most;
}

__global__ void after(const unsigned char* data, int* out, int n) {
    __shared__ int bins[kThreads / 32][kBins][32];
    int(&mine)[kBins][32] = bins[threadIdx.x / 32];
    const int lane = threadIdx.x % 32;
    for (int b = 0; b < kBins; ++b) mine[b][lane] = 0;
#pragma unroll 1
    for (int k = 0; k < kSteps; ++k) ++mine[data[k * n + thread()] % kBins][lane];
    int most = 0;
#pragma unroll 1
    for (int b = 0; b < kBins; ++b) most = max(most, mine[b][lane] * kBins + b);
    out[thread()] = most;
}

int main(int argc, char** argv) {
    Pair pair(argc, argv, 1 << 16);
    const int n = pair.size;
    std::vector<unsigned char> bytes(size_t(n) * kSteps);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = (unsigned char)(i * 2654435761u >> 23);
    Buffer<unsigned char> data(bytes);
    Buffer<int> a(n), b(n);
    pair.run(0, [&] { before<<<n / kThreads, kThreads>>>(data.data, a.data, n); });
    pair.run(1, [&] { after<<<n / kThreads, kThreads>>>(data.data, b.data, n); });
    return pair.finish(a.host(), b.host());
}
