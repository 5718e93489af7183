// Step 1 of docs/tutorial: a transpose as one writes it first.
#include "transpose.h"

__global__ void transpose(const float* in, float* out, int n) {
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    out[x * n + y] = in[y * n + x];
}

int main() { return run(transpose); }
