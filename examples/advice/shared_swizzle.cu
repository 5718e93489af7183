// Rows of a tile are read by column eight times over; after: the column is combined with the row by exclusive or, without padding.
#include "pair.h"

template <bool Swizzled>
__device__ void smooth(const float* in, float* out) {
    __shared__ float tile[32][32];
    const int x = threadIdx.x, y = threadIdx.y;
    const float* from = in + size_t(blockIdx.x) * 1024;
    for (int j = 0; j < 32; j += 8) tile[y + j][Swizzled ? x ^ (y + j) : x] = from[(y + j) * 32 + x];
    __syncthreads();
    for (int j = 0; j < 32; j += 8) {
        float sum = 0;
        for (int k = 0; k < 8; ++k) {
            const int column = (y + j + k) % 32;
            sum += tile[x][Swizzled ? column ^ x : column];
        }
        out[size_t(blockIdx.x) * 1024 + (y + j) * 32 + x] = sum;
    }
}
__global__ void before(const float* in, float* out) { smooth<false>(in, out); }
__global__ void after(const float* in, float* out) { smooth<true>(in, out); }

int main(int argc, char** argv) {
    Pair pair(argc, argv, 1024);
    const int blocks = pair.size;
    Buffer<float> in(numbers(size_t(blocks) * 1024)), a(size_t(blocks) * 1024), b(size_t(blocks) * 1024);
    pair.run(0, [&] { before<<<blocks, dim3(32, 8)>>>(in.data, a.data); });
    pair.run(1, [&] { after<<<blocks, dim3(32, 8)>>>(in.data, b.data); });
    return pair.finish(a.host(), b.host());
}
