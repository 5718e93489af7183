// A transpose through a tile whose columns lie in one bank; after: rows of 33 words.
#include "pair.h"

template <int Width>
__device__ void transpose(const float* in, float* out, int n) {
    __shared__ float tile[32][Width];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
__global__ void before(const float* in, float* out, int n) { transpose<32>(in, out, n); }
__global__ void after(const float* in, float* out, int n) { transpose<33>(in, out, n); }

int main(int argc, char** argv) {
    Pair pair(argc, argv, 1024);
    const int n = pair.size;
    Buffer<float> in(numbers(size_t(n) * n)), a(size_t(n) * n), b(size_t(n) * n);
    const dim3 grid(n / 32, n / 32), block(32, 8);
    pair.run(0, [&] { before<<<grid, block>>>(in.data, a.data, n); });
    pair.run(1, [&] { after<<<grid, block>>>(in.data, b.data, n); });
    return pair.finish(a.host(), b.host());
}
