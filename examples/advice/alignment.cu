// Some rows of 32 bytes, in any order, of a table that begins 16 bytes after a sector; after: it begins at one.
#include "pair.h"

constexpr int kRow = 8, kOneOf = 8;

__device__ void gather(const float* table, const int* order, float* out) {
    const int row = thread() / kRow, column = thread() % kRow;
    out[thread()] = table[order[row] * kRow + column];
}
__global__ void before(const float* table, const int* order, float* out) { gather(table, order, out); }
__global__ void after(const float* table, const int* order, float* out) { gather(table, order, out); }

int main(int argc, char** argv) {
    Pair pair(argc, argv, 1 << 17);
    const int rows = pair.size, n = rows * kRow;
    const std::vector<float> table = numbers(size_t(n) * kOneOf);
    std::vector<float> shifted(table.size() + 4);
    std::copy(table.begin(), table.end(), shifted.begin() + 4);
    std::vector<int> order(rows);
    for (int i = 0; i < rows; ++i) order[i] = int(i * 40503u % unsigned(rows)) * kOneOf + i % 2;  // odd: each of them once
    Buffer<float> unaligned(shifted), aligned(table), a(n), b(n);
    Buffer<int> in_order(order);
    pair.run(0, [&] { before<<<n / 256, 256>>>(unaligned.data + 4, in_order.data, a.data); });
    pair.run(1, [&] { after<<<n / 256, 256>>>(aligned.data, in_order.data, b.data); });
    return pair.finish(a.host(), b.host());
}
