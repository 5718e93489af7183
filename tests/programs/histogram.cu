// Histograms by global atomics, and by shared ones that are merged.
#include <vector>

#include "check.h"

__global__ void global_bins(const unsigned char* data, unsigned* bins, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[data[i]], 1u);
}

__global__ void shared_bins(const unsigned char* data, unsigned* bins, int n) {
    __shared__ unsigned local[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], local[i]);
}

int main() {
    const int n = 200000;
    std::vector<unsigned char> data(n);
    std::vector<unsigned> expected(256), bins(256);
    unsigned state = 1;
    for (auto& d : data) { state = state * 1664525u + 1013904223u; d = state >> 24; ++expected[d]; }
    unsigned char* device; unsigned* counts;
    CHECK(cudaMalloc(&device, n)); CHECK(cudaMalloc(&counts, 1024));
    CHECK(cudaMemcpy(device, data.data(), n, cudaMemcpyHostToDevice));
    for (int kind = 0; kind < 2; ++kind) {
        CHECK(cudaMemset(counts, 0, 1024));
        if (kind) shared_bins<<<40, 128>>>(device, counts, n); else global_bins<<<40, 128>>>(device, counts, n);
        CHECK(cudaMemcpy(bins.data(), counts, 1024, cudaMemcpyDeviceToHost));
        std::printf("%s: %s\n", kind ? "shared" : "global", bins == expected ? "equal" : "differs");
    }
}
// OUT: global: equal
// OUT: shared: equal
