// Warp primitives: votes, shuffles, match, reductions, partial masks, lanes that wait for each other.
#include "check.h"

__device__ unsigned lanemask_lt() { unsigned m; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(m)); return m; }

__global__ void run(unsigned* out) {
    unsigned lane = threadIdx.x;
    out[lane] = __ballot_sync(~0u, lane % 3 == 0);
    out[32 + lane] = __any_sync(~0u, lane == 5) * 2 + __all_sync(~0u, lane < 31);
    out[64 + lane] = __shfl_sync(~0u, lane * 10, (lane + 1) % 32);
    out[96 + lane] = __shfl_up_sync(~0u, lane, 3, 8);
    out[128 + lane] = __shfl_xor_sync(~0u, lane, 5);
    out[160 + lane] = __match_any_sync(~0u, lane / 4);
    int all; __match_all_sync(~0u, 7, &all);
    out[192 + lane] = all;
    if (lane < 10) out[224 + lane] = __ballot_sync(0x3ff, lane & 1); else out[224 + lane] = __activemask();
    unsigned long long wide = __shfl_down_sync(~0u, 0x100000000ull * lane, 1);
    out[256 + lane] = unsigned(wide >> 32);
    out[288 + lane] = __popc(lanemask_lt());
}

__device__ int lock = 0, counter = 0;
__global__ void spin() {                     // each lane in turn: needs independent progress of the lanes
    while (atomicCAS(&lock, 0, 1) != 0) {}
    int seen = counter;
    __threadfence();
    counter = seen + 1;
    __threadfence();
    atomicExch(&lock, 0);
}

int main() {
    unsigned *out, h[320];
    CHECK(cudaMalloc(&out, sizeof h));
    run<<<1, 32>>>(out);
    CHECK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
    std::printf("%08x %u %u %u\n", h[0], h[32], h[64], h[95]);
    std::printf("%u %u %u %u\n", h[96 + 2], h[96 + 11], h[128 + 6], h[160 + 9]);
    std::printf("%u %x %x %u %u %u\n", h[192], h[224], h[224 + 20], h[256 + 3], h[256 + 31], h[288 + 17]);
    spin<<<2, 48>>>();
    int count = 0;
    CHECK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    std::printf("%d\n", count);
}
// ballot of multiples of 3: bits 0, 3, … 30: 0x49249249
// OUT: 49249249 2 10 0
// shfl_up by 3 in segments of 8: lane 2 keeps 2, lane 11 gets 8; 6 ^ 5 = 3; lanes 8 … 11: 0xf00 = 3840
// OUT: 2 8 3 3840
// odd lanes of ten: 0x2aa; the others: 0xfffffc00; lane 3 gets 4, lane 31 its own; 17 lanes below 17
// OUT: 1 2aa fffffc00 4 31 17
// OUT: 96
