// Kernels that launch kernels.
// FLAGS: -rdc=true
// FLAGS: -lcudadevrt
// OUT: sum of a tree of launches: 1023
// OUT: in order: 1 2 3, tail: 4
// OUT: too many threads: cudaErrorInvalidConfiguration, none: cudaErrorInvalidConfiguration
// OUT: parameters arrive: 3 2.5 7
// OUT: the parent's shared memory: 16 bytes
// OUT: a child's fault: cudaErrorIllegalAddress
#include <cstdio>

#include "check.h"

__global__ void tree(int* sum, int depth) {
    if (threadIdx.x != 0) return;
    atomicAdd(sum, 1);
    if (depth > 1) {
        cudaStream_t other;
        cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
        tree<<<1, 32>>>(sum, depth - 1);
        tree<<<1, 32, 0, other>>>(sum, depth - 1);
        cudaStreamDestroy(other);
    }
}

struct Three {
    char a;
    double b;
    short c;
};

__device__ int next;
__device__ int seen[4];
__device__ Three got;
__device__ cudaError_t errors[2];

__global__ void note(int who) { seen[who] = ++next; }
__global__ void take(char a, Three all) { got = {a, all.b, all.c}; }
__global__ void break_down(int* nothing) { *nothing = 1; }

__global__ void large_shared(int* out) {
    __shared__ int values[1024];
    values[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 0) *out = values[1];
}

__global__ void parent(int* out) {
    __shared__ int own[4];
    own[threadIdx.x] = 0;
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(3);
    for (int i = 0; i < 3; ++i) note<<<1, 1>>>(i);
    take<<<1, 1>>>(3, Three{1, 2.5, 7});
    large_shared<<<1, 1024>>>(out + own[0]);
    note<<<1, 2048>>>(0);
    errors[0] = cudaGetLastError();
    note<<<0, 1>>>(0);
    errors[1] = cudaPeekAtLastError();
}

__global__ void bad_parent() { break_down<<<1, 1>>>(nullptr); }

int main() {
    int *sum = nullptr, host = 0;
    CHECK(cudaMalloc(&sum, sizeof *sum));
    CHECK(cudaMemset(sum, 0, sizeof *sum));
    tree<<<1, 32>>>(sum, 10);                   // 1 + 2 + 4 + … + 512
    CHECK(cudaMemcpy(&host, sum, sizeof host, cudaMemcpyDeviceToHost));
    std::printf("sum of a tree of launches: %d\n", host);

    parent<<<1, 1>>>(sum);
    CHECK(cudaDeviceSynchronize());
    int order[4];
    CHECK(cudaMemcpyFromSymbol(order, seen, sizeof order));
    std::printf("in order: %d %d %d, tail: %d\n", order[0], order[1], order[2], order[3]);
    cudaError_t told[2];
    CHECK(cudaMemcpyFromSymbol(told, errors, sizeof told));
    std::printf("too many threads: %s, none: %s\n", cudaGetErrorName(told[0]), cudaGetErrorName(told[1]));
    Three three;
    CHECK(cudaMemcpyFromSymbol(&three, got, sizeof three));
    std::printf("parameters arrive: %d %.1f %d\n", three.a, three.b, three.c);
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, parent));
    std::printf("the parent's shared memory: %zu bytes\n", attributes.sharedSizeBytes);

    bad_parent<<<1, 1>>>();
    std::printf("a child's fault: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
