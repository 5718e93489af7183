#include "separate.h"

#include "check.h"

__device__ int offset = 1000, calls = 0;
__constant__ int scales[4];
static __device__ int hidden = 42;
__device__ __noinline__ int cube(int x) { return x * x * x; }

static __global__ void other(int* calls_too) { *calls_too += hidden; }

int launch_other(int* calls_too) {
    int now = 0;
    other<<<1, 1>>>(calls_too);
    CHECK(cudaMemcpy(&now, calls_too, sizeof now, cudaMemcpyDeviceToHost));
    return now;
}
