// Copies and fills in two and three dimensions, to and from arrays, inferred directions.
#include <cstring>
#include <vector>

#include "check.h"

__global__ void tag(char* p, size_t pitch, int w, int h) {
    for (int y = 0; y < h; ++y) for (int x = threadIdx.x; x < w; x += blockDim.x) p[y * pitch + x] += 1;
}

int main() {
    const int w = 100, h = 7;
    char *device; size_t pitch;
    CHECK(cudaMallocPitch(&device, &pitch, w, h));
    std::printf("pitch %zu\n", pitch);
    std::vector<char> in(w * h), out(w * h);
    for (int i = 0; i < w * h; ++i) in[i] = char(i % 100);
    CHECK(cudaMemcpy2D(device, pitch, in.data(), w, w, h, cudaMemcpyHostToDevice));
    tag<<<1, 32>>>(device, pitch, w, h);
    CHECK(cudaMemcpy2D(out.data(), w, device, pitch, w, h, cudaMemcpyDefault));
    int wrong = 0;
    for (int i = 0; i < w * h; ++i) wrong += out[i] != in[i] + 1;
    std::printf("2D: %d wrong\n", wrong);

    CHECK(cudaMemset2D(device + 1, pitch, 7, 3, 2));
    CHECK(cudaMemcpy2D(out.data(), w, device, pitch, w, h, cudaMemcpyDeviceToHost));
    std::printf("2D fill: %d %d %d %d %d; %d %d\n", out[0], out[1], out[3], out[4], out[5], out[w + 3], out[2 * w + 3]);

    cudaExtent extent = make_cudaExtent(10, 4, 3);
    cudaPitchedPtr box;
    CHECK(cudaMalloc3D(&box, extent));
    CHECK(cudaMemset3D(box, 5, extent));
    unsigned char host[3][4][10]; std::memset(host, 0, sizeof host);
    cudaMemcpy3DParms copy{};
    copy.srcPtr = box; copy.dstPtr = make_cudaPitchedPtr(host, 10, 10, 4);
    copy.srcPos = make_cudaPos(0, 0, 0); copy.dstPos = make_cudaPos(2, 1, 1); copy.extent = make_cudaExtent(3, 2, 2); copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    int sum = 0; for (auto& s : host) for (auto& r : s) for (int v : r) sum += v;
    std::printf("3D: sum %d, corner %d, outside %d\n", sum, host[2][2][4], host[0][1][2]);

    cudaChannelFormatDesc format = cudaCreateChannelDesc<short>(), back;
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &format, 5, 3));
    short values[15], result[15] = {};
    for (int i = 0; i < 15; ++i) values[i] = short(100 + i);
    CHECK(cudaMemcpy2DToArray(array, 0, 0, values, 10, 10, 3, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2DFromArray(result, 6, array, 4, 1, 6, 2, cudaMemcpyDeviceToHost));   // texels 2 … 4 of rows 1 and 2
    std::printf("array: %d %d %d\n", result[0], result[2], result[3]);
    std::printf("%s\n", cudaGetErrorName(cudaMemcpy2DFromArray(result, 6, array, 6, 1, 6, 2, cudaMemcpyDeviceToHost)));
    cudaExtent size; unsigned flags;
    CHECK(cudaArrayGetInfo(&back, &size, &flags, array));
    std::printf("%d bits, %zu x %zu x %zu\n", back.x, size.width, size.height, size.depth);

    char *a, *b; char text[16] = "unified", got[16] = {};
    CHECK(cudaMalloc(&a, 16)); CHECK(cudaMalloc(&b, 16));
    CHECK(cudaMemcpy(a, text, 16, cudaMemcpyDefault)); CHECK(cudaMemcpy(b, a, 16, cudaMemcpyDefault)); CHECK(cudaMemcpy(got, b, 16, cudaMemcpyDefault));
    std::printf("%s\n", got);
    CHECK(cudaMemset(a, 'x', 3)); CHECK(cudaMemcpy(got, a, 16, cudaMemcpyDeviceToHost));
    std::printf("%s, aligned %d\n", got, int(size_t(b) % 256));
}
// OUT: pitch 512
// OUT: 2D: 0 wrong
// OUT: 2D fill: 1 7 7 5 6; 7 4
// 3 × 2 × 2 bytes of 5
// OUT: 3D: sum 60, corner 5, outside 0
// OUT: array: 107 109 112
// OUT: cudaErrorInvalidValue
// OUT: 16 bits, 5 x 3 x 0
// OUT: unified
// OUT: xxxfied, aligned 0
