// A table of four numbers a row is looked up field by field; after: a row at once.
#include "pair.h"

struct Row {
    float a, b, c, d;
};
constexpr int kRows = 256, kSteps = 32;

__global__ void before(const Row* table, float* out) {
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < kSteps; ++k) {
        const Row& row = table[(thread() + k * 7) % kRows];
        sum += row.a * row.b + row.c * row.d;
    }
    out[thread()] = sum;
}

__global__ void after(const float4* table, float* out) {
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < kSteps; ++k) {
        const float4 row = table[(thread() + k * 7) % kRows];
        sum += row.x * row.y + row.z * row.w;
    }
    out[thread()] = sum;
}

int main(int argc, char** argv) {
    Pair pair(argc, argv, 1 << 18);
    const int n = pair.size;
    Buffer<float> table(numbers(kRows * 4)), a(n), b(n);
    pair.run(0, [&] { before<<<n / 256, 256>>>((const Row*)table.data, a.data); });
    pair.run(1, [&] { after<<<n / 256, 256>>>((const float4*)table.data, b.data); });
    return pair.finish(a.host(), b.host());
}
