// A filter whose loads go past L1 although neighbours share their data; after: through L1.
#include "pair.h"

constexpr int kTaps = 33, kWidth = 1024;

template <bool PastL1>
__device__ void filter(const float* in, float* out) {
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < kTaps; ++k) sum += PastL1 ? __ldcg(&in[(y + k) * kWidth + x]) : __ldg(&in[(y + k) * kWidth + x]);
    out[y * kWidth + x] = sum;
}
__global__ void before(const float* in, float* out) { filter<true>(in, out); }
__global__ void after(const float* in, float* out) { filter<false>(in, out); }

int main(int argc, char** argv) {
    Pair pair(argc, argv, 1024);
    const int height = pair.size;
    Buffer<float> in(numbers(size_t(height + kTaps) * kWidth)), a(size_t(kWidth) * height), b(size_t(kWidth) * height);
    const dim3 grid(kWidth / 32, height / 8), block(32, 8);
    pair.run(0, [&] { before<<<grid, block>>>(in.data, a.data); });
    pair.run(1, [&] { after<<<grid, block>>>(in.data, b.data); });
    return pair.finish(a.host(), b.host());
}
