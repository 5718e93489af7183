// Asynchronous copies of one warp between many arrangements of pieces: which lanes go together (../h200/async-copies.csv). Prints a line a
// launch: its number, the kind of copy, the arrangement.
#include "check.h"

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

/// The piece that lane `l` copies, and the one that it fills.
__device__ void chunks(int p, int l, int& s, int& d) {
    const int row = l / 8, c = l % 8, r4 = l / 4, c4 = l % 4;
    s = d = l;
    switch (p) {
        case 1: d = row * 8 + (c ^ row); break;
        case 2: d = l ^ 1; break;
        case 3: d = l ^ 2; break;
        case 4: d = l ^ 4; break;
        case 5: d = row * 8 + ((c + 1) & 7); break;
        case 6: d = l + 1; break;
        case 7: d = l + 2; break;
        case 8: d = l + 4; break;
        case 9: s = l + 1; break;
        case 10: s = l + 2; break;
        case 11: d = row * 9 + c; break;
        case 12: d = row * 10 + c; break;
        case 13: s = r4 * 32 + c4; break;
        case 14: s = r4 * 32 + c4; d = r4 * 4 + (c4 ^ (r4 / 2 & 3)); break;
        case 15: d = row * 8 + 7 - c; break;
        case 16: d = (l * 13 + 5) & 31; break;
        case 17: s = (l * 13 + 5) & 31; break;
        case 18: s = r4 * 32 + c4; d = r4 * 8 + c4; break;
        case 19: s = r4 * 32 + c4 + 4 * (r4 & 1); break;
        case 20: s = row * 32 + c; d = row * 8 + (c ^ (row * 2 & 7)); break;
        case 21: s = l; d = (l & 15) | (l & 16) * 4; break;
        case 22: s = l / 2; d = l; break;
        case 23: s = 0; d = l; break;
        case 24: s = l + 8; d = l; break;
        case 25: s = l ^ 8; d = l; break;
    }
}
template <int Bytes, bool Bypass> __global__ void copy(const char* in, float* out, int p) {
    __shared__ __align__(128) char words[16384];
    int s, d;
    chunks(p, int(threadIdx.x), s, d);
    const unsigned address = unsigned(__cvta_generic_to_shared(words + d * Bytes));
    if (Bypass) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(in + s * Bytes));
    else asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address), "l"(in + s * Bytes), "n"(Bytes));
    asm volatile("cp.async.wait_all;");
    __syncthreads();
    out[threadIdx.x] = words[threadIdx.x * 4];
}
__global__ void uneven(const char* in, float* out, int p) {   // four lines; the lanes of one conflict, of the others not
    __shared__ __align__(128) char words[16384];
    const int l = int(threadIdx.x), of = l % 4, k = l / 4;
    int d = p == 0 ? (of == 0 ? k * 32 : of * 8 + k) : p == 1 ? (of == 0 ? k * 32 : k * 32 + of) : p == 2 ? k * 32 : (of * 8 + k) * 2;
    const unsigned address = unsigned(__cvta_generic_to_shared(words + d * 4));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address), "l"(in + of * 128 + k * 4));
    asm volatile("cp.async.wait_all;");
    __syncthreads();
    out[threadIdx.x] = words[threadIdx.x * 4];
}
int main() {
    char* memory;
    float* out;
    int n = 0;
    CHECK(cudaMalloc(&memory, 1 << 20));
    CHECK(cudaMalloc(&out, 4096));
    for (int p = 0; p < 26; ++p) {
        std::printf("%d cg16 %d\n", n++, p); copy<16, true><<<1, 32>>>(memory, out, p);
        std::printf("%d ca16 %d\n", n++, p); copy<16, false><<<1, 32>>>(memory, out, p);
        std::printf("%d ca4 %d\n", n++, p); copy<4, false><<<1, 32>>>(memory, out, p);
        std::printf("%d ca8 %d\n", n++, p); copy<8, false><<<1, 32>>>(memory, out, p);
    }
    for (int p = 0; p < 4; ++p) { std::printf("%d uneven %d\n", n++, p); uneven<<<1, 32>>>(memory, out, p); }
    CHECK(cudaDeviceSynchronize());
}
