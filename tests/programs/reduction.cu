// Sums by shared memory tree, by shuffles, and by atomics.
#include <vector>

#include "check.h"

__global__ void by_tree(const int* in, int* out, int n) {
    extern __shared__ int part[];
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

__global__ void by_shuffle(const int* in, int* out, int n) {
    __shared__ int warps[32];
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0;
        for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
        if (threadIdx.x == 0) atomicAdd(out, sum);
    }
}

__global__ void by_atomics(const int* in, unsigned long long* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, (unsigned long long)in[i]);
}

int main() {
    const int n = 123457, blocks = 24;
    std::vector<int> values(n);
    long long expected = 0;
    for (int i = 0; i < n; ++i) expected += values[i] = i % 1000;
    int *in, *out;
    unsigned long long* wide;
    CHECK(cudaMalloc(&in, n * sizeof(int))); CHECK(cudaMalloc(&out, blocks * sizeof(int))); CHECK(cudaMalloc(&wide, 8));
    CHECK(cudaMemcpy(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));

    by_tree<<<blocks, 256, 256 * sizeof(int)>>>(in, out, n);
    int parts[blocks]; long long sum = 0;
    CHECK(cudaMemcpy(parts, out, sizeof parts, cudaMemcpyDeviceToHost));
    for (int p : parts) sum += p;
    std::printf("tree %lld, expected %lld\n", sum, expected);

    CHECK(cudaMemset(out, 0, sizeof(int)));
    by_shuffle<<<blocks, 192>>>(in, out, n);
    int one;
    CHECK(cudaMemcpy(&one, out, sizeof one, cudaMemcpyDeviceToHost));
    std::printf("shuffle %d\n", one);

    CHECK(cudaMemset(wide, 0, 8));
    by_atomics<<<(n + 127) / 128, 128>>>(in, wide, n);
    unsigned long long all;
    CHECK(cudaMemcpy(&all, wide, 8, cudaMemcpyDeviceToHost));
    std::printf("atomics %llu\n", all);
}
// 123 full thousands of 0 + … + 999 = 499500 and 0 + … + 456 = 104196: 61438500 + 104196 = 61542696
// OUT: tree 61542696, expected 61542696
// OUT: shuffle 61542696
// OUT: atomics 61542696
