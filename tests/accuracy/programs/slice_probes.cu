// Which slices of L2 serve which sectors: atomics on each sector of a region once, by one block (../h200/slices.csv).
// Prints a line a launch: its number, the sectors, the half of the allocation.
#include "check.h"

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

__global__ void each_sector(int sectors, int* p) {
    for (int i = threadIdx.x; i < sectors; i += blockDim.x) atomicAdd(p + i * 8, 1);
}

int main() {
    int *other, *p, number = 0;
    CHECK(cudaMalloc(&other, 256 << 20));
    CHECK(cudaMalloc(&p, 8 << 20));
    for (int sectors = 1; sectors <= 65536; sectors *= 2)
        for (const int half : {0, 1}) {
            std::printf("%d slices sectors=%d half=%d\n", number++, sectors, half);
            each_sector<<<1, 256>>>(sectors, p + half * (1 << 19));
        }
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}
