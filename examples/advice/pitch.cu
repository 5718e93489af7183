// A filter down the columns of an image with rows of 1023 numbers; after: rows of 1024.
// No advice comes of it: an H200 takes the same time for both (docs/records/advice-h200.md).
#include "pair.h"

constexpr int kTaps = 32, kWidth = 992;

__device__ void filter(const float* in, float* out, int pitch) {
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < kTaps; ++k) sum += in[(y + k) * pitch + x];
    out[y * kWidth + x] = sum;
}
__global__ void before(const float* in, float* out, int pitch) { filter(in, out, pitch); }
__global__ void after(const float* in, float* out, int pitch) { filter(in, out, pitch); }

int main(int argc, char** argv) {
    Pair pair(argc, argv, 512);
    const int height = pair.size;
    const std::vector<float> values = numbers(size_t(height + kTaps) * 1024);
    std::vector<float> packed(values.size());
    for (int y = 0; y < height + kTaps; ++y) std::copy_n(&values[size_t(y) * 1024], 1023, &packed[size_t(y) * 1023]);
    Buffer<float> rows_1023(packed), rows_1024(values), a(size_t(kWidth) * height), b(size_t(kWidth) * height);
    const dim3 grid(kWidth / 32, height / 8), block(32, 8);
    pair.run(0, [&] { before<<<grid, block>>>(rows_1023.data, a.data, 1023); });
    pair.run(1, [&] { after<<<grid, block>>>(rows_1024.data, b.data, 1024); });
    return pair.finish(a.host(), b.host());
}
