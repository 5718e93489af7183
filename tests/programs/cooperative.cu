// Cooperative groups: tiles, coalesced groups, reductions, and a barrier over the whole grid.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "check.h"

namespace cg = cooperative_groups;

__global__ void groups(int* out) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int t = block.thread_rank();
    out[t] = cg::reduce(tile, t, cg::plus<int>());
    out[64 + t] = tile.shfl(t, 3);
    out[128 + t] = 0;
    block.sync();
    if (t % 2 == 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        out[128 + t] = active.size() * 100 + active.thread_rank();
    }
}

__global__ void phases(int* data, int n) {               // each phase reads what other blocks wrote in the one before
    cg::grid_group grid = cg::this_grid();
    for (int phase = 0; phase < 4; ++phase) {
        int i = grid.thread_rank(), next = data[(phase % 2) * n + (i + 33) % n];
        data[(1 - phase % 2) * n + i] = next + 1;
        grid.sync();
    }
}

int main() {
    int *out, h[192];
    CHECK(cudaMalloc(&out, sizeof h));
    groups<<<1, 64>>>(out);
    CHECK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
    std::printf("%d %d %d %d %d\n", h[0], h[9], h[64 + 20], h[128 + 34], h[128 + 35]);

    int blocks = 8, threads = 64, n = blocks * threads, supported = 0;
    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
    int* data; int host[1024];
    CHECK(cudaMalloc(&data, sizeof host));
    for (int i = 0; i < 1024; ++i) host[i] = i % n;
    CHECK(cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice));
    void* arguments[] = {&data, &n};
    CHECK(cudaLaunchCooperativeKernel((void*)phases, blocks, threads, arguments));
    CHECK(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < n; ++i) wrong += host[i] != (i + 4 * 33) % n + 4;
    std::printf("cooperative %d, %d wrong\n", supported, wrong);
    std::printf("%s\n", cudaGetErrorName(cudaLaunchCooperativeKernel((void*)phases, 1 << 20, threads, arguments)));
}
// 0 + … + 7 = 28; 8 + … + 15 = 92; tile of 16 … 23: lane 3 is 19; the even lanes of warp 1: 16 of them, thread 34 is the second
// OUT: 28 92 19 1601 0
// OUT: cooperative 1, 0 wrong
// OUT: cudaErrorCooperativeLaunchTooLarge
