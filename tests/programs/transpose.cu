// Transposes: naive, through a shared tile, padded; of a size that is no multiple of the tile.
#include <vector>

#include "check.h"

constexpr int kTile = 32, kRows = 8;

__global__ void naive(const int* in, int* out, int width, int height) {
    int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
    for (int j = 0; j < kTile; j += kRows)
        if (x < width && y + j < height) out[x * height + y + j] = in[(y + j) * width + x];
}

template <int Pad>
__global__ void tiled(const int* in, int* out, int width, int height) {
    __shared__ int tile[kTile][kTile + Pad];
    int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
    for (int j = 0; j < kTile; j += kRows)
        if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * kTile + threadIdx.x;
    y = blockIdx.x * kTile + threadIdx.y;
    for (int j = 0; j < kTile; j += kRows)
        if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main() {
    const int width = 150, height = 97;
    std::vector<int> in(width * height), out(width * height);
    for (int i = 0; i < width * height; ++i) in[i] = i;
    int *a, *b;
    CHECK(cudaMalloc(&a, in.size() * 4)); CHECK(cudaMalloc(&b, in.size() * 4));
    CHECK(cudaMemcpy(a, in.data(), in.size() * 4, cudaMemcpyHostToDevice));
    dim3 grid((width + kTile - 1) / kTile, (height + kTile - 1) / kTile), block(kTile, kRows);
    for (int kind = 0; kind < 3; ++kind) {
        CHECK(cudaMemset(b, 0xff, in.size() * 4));
        if (kind == 0) naive<<<grid, block>>>(a, b, width, height);
        if (kind == 1) tiled<0><<<grid, block>>>(a, b, width, height);
        if (kind == 2) tiled<1><<<grid, block>>>(a, b, width, height);
        CHECK(cudaMemcpy(out.data(), b, out.size() * 4, cudaMemcpyDeviceToHost));
        int wrong = 0;
        for (int y = 0; y < height; ++y) for (int x = 0; x < width; ++x) wrong += out[x * height + y] != in[y * width + x];
        std::printf("kind %d: %d wrong\n", kind, wrong);
    }
}
// OUT: kind 0: 0 wrong
// OUT: kind 1: 0 wrong
// OUT: kind 2: 0 wrong
