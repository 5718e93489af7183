// A transpose that stores down the columns of its result; after: a tile goes through shared memory.
#include "pair.h"

__global__ void before(const float* in, float* out, int n) {
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    out[x * n + y] = in[y * n + x];
}

__global__ void after(const float* in, float* out, int n) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

int main(int argc, char** argv) {
    Pair pair(argc, argv, 1024);
    const int n = pair.size;
    Buffer<float> in(numbers(size_t(n) * n)), a(size_t(n) * n), b(size_t(n) * n);
    const dim3 grid(n / 32, n / 32), block(32, 32);
    pair.run(0, [&] { before<<<grid, block>>>(in.data, a.data, n); });
    pair.run(1, [&] { after<<<grid, block>>>(in.data, b.data, n); });
    return pair.finish(a.host(), b.host());
}
