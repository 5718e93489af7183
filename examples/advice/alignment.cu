// A filter down the columns of an image that begins 16 bytes after a sector, behind a header; after: it begins at one.
// No advice comes of it: an H200 takes the same time for both (docs/records/advice-h200.md).
#include "pair.h"

constexpr int kTaps = 32, kWidth = 1024, kHeader = 4;

__device__ void filter(const float* in, float* out) {
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < kTaps; ++k) sum += in[(y + k) * kWidth + x];
    out[y * kWidth + x] = sum;
}
__global__ void before(const float* in, float* out) { filter(in, out); }
__global__ void after(const float* in, float* out) { filter(in, out); }

int main(int argc, char** argv) {
    Pair pair(argc, argv, 512);
    const int height = pair.size;
    const std::vector<float> image = numbers(size_t(height + kTaps) * kWidth);
    std::vector<float> behind(image.size() + kHeader);
    std::copy(image.begin(), image.end(), behind.begin() + kHeader);
    Buffer<float> unaligned(behind), aligned(image), a(size_t(kWidth) * height), b(size_t(kWidth) * height);
    const dim3 grid(kWidth / 32, height / 8), block(32, 8);
    pair.run(0, [&] { before<<<grid, block>>>(unaligned.data + kHeader, a.data); });
    pair.run(1, [&] { after<<<grid, block>>>(aligned.data, b.data); });
    return pair.finish(a.host(), b.host());
}
