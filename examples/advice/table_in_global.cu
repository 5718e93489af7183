// A constant table that each lane indexes differently; after: in global memory.
#include "pair.h"

constexpr int kRows = 256, kSteps = 32;
__constant__ float constants[kRows];

__global__ void before(const int* seed, float* out) {
    float sum = 0;
    const int start = seed[thread()];
#pragma unroll 1
    for (int k = 0; k < kSteps; ++k) sum += constants[(start + k * 5) % kRows];
    out[thread()] = sum;
}

__global__ void after(const float* __restrict__ table, const int* seed, float* out) {
    float sum = 0;
    const int start = seed[thread()];
#pragma unroll 1
    for (int k = 0; k < kSteps; ++k) sum += table[(start + k * 5) % kRows];
    out[thread()] = sum;
}

int main(int argc, char** argv) {
    Pair pair(argc, argv, 1 << 17);
    const int n = pair.size;
    const std::vector<float> values = numbers(kRows);
    CHECK(cudaMemcpyToSymbol(constants, values.data(), sizeof constants));
    std::vector<int> seeds(n);
    for (int i = 0; i < n; ++i) seeds[i] = i * 37 % kRows;
    Buffer<float> table(values), a(n), b(n);
    Buffer<int> seed(seeds);
    pair.run(0, [&] { before<<<n / 256, 256>>>(seed.data, a.data); });
    pair.run(1, [&] { after<<<n / 256, 256>>>(table.data, seed.data, b.data); });
    return pair.finish(a.host(), b.host());
}
