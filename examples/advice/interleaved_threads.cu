// Each thread sums a chunk of 64 neighbouring numbers; after: neighbouring threads take neighbouring numbers.
#include "pair.h"

constexpr int kChunk = 64;

__global__ void before(const float* in, float* out) {
    float sum = 0;
    for (int k = 0; k < kChunk; ++k) sum += in[thread() * kChunk + k];
    out[thread()] = sum;
}

// The same numbers for each thread, laid out so that a warp reads 32 neighbours.
__global__ void after(const float* in, float* out) {
    const int warp = thread() / 32, lane = thread() % 32;
    float sum = 0;
    for (int k = 0; k < kChunk; ++k) sum += in[(warp * kChunk + k) * 32 + lane];
    out[thread()] = sum;
}

int main(int argc, char** argv) {
    Pair pair(argc, argv, 1 << 16);
    const int n = pair.size;
    const std::vector<float> chunks = numbers(size_t(n) * kChunk);
    std::vector<float> turned(chunks.size());
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < kChunk; ++k) turned[size_t(i / 32 * kChunk + k) * 32 + i % 32] = chunks[size_t(i) * kChunk + k];
    Buffer<float> in(chunks), in_turned(turned), a(n), b(n);
    pair.run(0, [&] { before<<<n / 128, 128>>>(in.data, a.data); });
    pair.run(1, [&] { after<<<n / 128, 128>>>(in_turned.data, b.data); });
    return pair.finish(a.host(), b.host());
}
