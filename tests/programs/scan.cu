// Exclusive prefix sum of any length: scan of blocks, scan of their sums, add (Blelloch's work-efficient form).
#include <vector>

#include "check.h"

constexpr int kBlock = 256, kTile = 2 * kBlock;

__global__ void scan_tiles(const int* in, int* out, int* sums, int n) {
    __shared__ int s[kTile];
    int base = blockIdx.x * kTile, t = threadIdx.x;
    s[2 * t] = base + 2 * t < n ? in[base + 2 * t] : 0;
    s[2 * t + 1] = base + 2 * t + 1 < n ? in[base + 2 * t + 1] : 0;
    int offset = 1;
    for (int d = kBlock; d > 0; d /= 2, offset *= 2) {
        __syncthreads();
        if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
    }
    if (t == 0) { if (sums) sums[blockIdx.x] = s[kTile - 1]; s[kTile - 1] = 0; }
    for (int d = 1; d < kTile; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < d) {
            int left = s[offset * (2 * t + 1) - 1];
            s[offset * (2 * t + 1) - 1] = s[offset * (2 * t + 2) - 1];
            s[offset * (2 * t + 2) - 1] += left;
        }
    }
    __syncthreads();
    if (base + 2 * t < n) out[base + 2 * t] = s[2 * t];
    if (base + 2 * t + 1 < n) out[base + 2 * t + 1] = s[2 * t + 1];
}

__global__ void add_sums(int* out, const int* sums, int n) {
    int i = blockIdx.x * kTile + threadIdx.x;
    for (int k = 0; k < 2; ++k, i += kBlock)
        if (i < n) out[i] += sums[blockIdx.x];
}

void scan(const int* in, int* out, int n) {
    int tiles = (n + kTile - 1) / kTile;
    int* sums = nullptr;
    if (tiles > 1) CHECK(cudaMalloc(&sums, tiles * sizeof(int)));
    scan_tiles<<<tiles, kBlock>>>(in, out, sums, n);
    if (tiles > 1) {
        scan(sums, sums, tiles);
        add_sums<<<tiles, kBlock>>>(out, sums, n);
        CHECK(cudaFree(sums));
    }
}

int main() {
    for (int n : {1, 511, 512, 513, 300001}) {
        std::vector<int> values(n), result(n);
        for (int i = 0; i < n; ++i) values[i] = (i * 7 + 3) % 11;
        int *in, *out;
        CHECK(cudaMalloc(&in, n * 4)); CHECK(cudaMalloc(&out, n * 4));
        CHECK(cudaMemcpy(in, values.data(), n * 4, cudaMemcpyHostToDevice));
        scan(in, out, n);
        CHECK(cudaMemcpy(result.data(), out, n * 4, cudaMemcpyDeviceToHost));
        int sum = 0, wrong = 0;
        for (int i = 0; i < n; ++i) { wrong += result[i] != sum; sum += values[i]; }
        std::printf("%d: %d wrong, last %d\n", n, wrong, result[n - 1]);
        CHECK(cudaFree(in)); CHECK(cudaFree(out));
    }
}
// (i·7 + 3) mod 11 repeats every 11 with sum 55; 300001 = 27272·11 + 9: 27272·55 = 1499960, and 8 more values before the last: 3+10+6+2+9+5+1+8 = 44
// OUT: 1: 0 wrong, last 0
// OUT: 511: 0 wrong, last 2551
// OUT: 512: 0 wrong, last 2560
// OUT: 513: 0 wrong, last 2565
// OUT: 300001: 0 wrong, last 1500004
