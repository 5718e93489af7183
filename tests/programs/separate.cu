// Separate compilation: a device function, a device variable and a constant live in another file.
#include "check.h"
#include "separate.h"

__global__ void run(int* out) {
    out[threadIdx.x] = cube(threadIdx.x) + offset + scales[threadIdx.x % 4];
    if (threadIdx.x == 0) ++calls;
}

int main() {
    int *out, host[8], *symbol = nullptr, count = 0, scale[4] = {10, 20, 30, 40};
    CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMemcpyToSymbol(scales, scale, sizeof scale));
    run<<<1, 8>>>(out);
    run<<<1, 8>>>(out);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int v : host) std::printf("%d ", v);
    CHECK(cudaMemcpyFromSymbol(&count, calls, sizeof count));
    CHECK(cudaGetSymbolAddress((void**)&symbol, calls));
    std::printf("\ncalls %d, from the other file %d\n", count, launch_other(symbol));
}
// FLAGS: -rdc=true
// WITH: separate_unit.cu
// OUT: 1010 1021 1038 1067 1074 1145 1246 1383 
// OUT: calls 2, from the other file 44
