// The tutorial's variable in device memory: all blocks read it before one of them has written it, as they run side by side, and each adds to
// what it has read. Atomic additions are all kept.
#include <cstdio>

__device__ float devData;

__global__ void checkGlobalVariable() {
    printf("threadIdx.x=%d devData = %0.2f\n", threadIdx.x, devData);
    devData += 2.0f;
}

__global__ void addAtomically() { atomicAdd(&devData, 2.0f); }

int main() {
    float value = 3.14f;
    cudaMemcpyToSymbol(devData, &value, sizeof value);
    checkGlobalVariable<<<2, 3>>>();
    cudaDeviceSynchronize();
    cudaMemcpyFromSymbol(&value, devData, sizeof value);
    std::printf("devData=%0.2f\n", value);
    addAtomically<<<2, 3>>>();
    cudaMemcpyFromSymbol(&value, devData, sizeof value);
    std::printf("devData=%0.2f\n", value);
}
// OUT: threadIdx.x=0 devData = 3.14
// OUT: threadIdx.x=1 devData = 3.14
// OUT: threadIdx.x=2 devData = 3.14
// OUT: threadIdx.x=0 devData = 3.14
// OUT: threadIdx.x=1 devData = 3.14
// OUT: threadIdx.x=2 devData = 3.14
// OUT: devData=5.14
// OUT: devData=17.14
