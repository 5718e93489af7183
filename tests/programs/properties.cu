// What the runtime says of the described GPU and of kernels.
#include "check.h"

__global__ void __launch_bounds__(128) small(float* out) { __shared__ float s[100]; s[threadIdx.x % 100] = 1; __syncthreads(); out[threadIdx.x] = s[0]; }
__global__ void plain(float* out) { extern __shared__ float d[]; d[threadIdx.x] = 2; out[threadIdx.x] = d[threadIdx.x]; }

int main() {
    int count = 0, device = -1, value = 0, version = 0;
    CHECK(cudaGetDeviceCount(&count)); CHECK(cudaGetDevice(&device)); CHECK(cudaRuntimeGetVersion(&version));
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    std::printf("%d device, current %d: %s, %d.%d, %d SMs, runtime %d\n", count, device, p.name, p.major, p.minor, p.multiProcessorCount, version / 1000);
    std::printf("%d threads a block, %d a SM, warp %d, %zu KiB shared a block, %zu with opt-in\n", p.maxThreadsPerBlock, p.maxThreadsPerMultiProcessor, p.warpSize,
                p.sharedMemPerBlock >> 10, p.sharedMemPerBlockOptin >> 10);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
    std::printf("attribute %d, %s\n", value, cudaGetErrorName(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)9999, 0)));
    size_t free = 0, total = 0, now = 0; void* m;
    CHECK(cudaMemGetInfo(&free, &total)); CHECK(cudaMalloc(&m, 1 << 20)); CHECK(cudaMemGetInfo(&now, &total));
    std::printf("memory %s, one MiB taken: %zu\n", total == p.totalGlobalMem ? "agrees" : "differs", free - now);

    cudaFuncAttributes a;
    CHECK(cudaFuncGetAttributes(&a, small));
    std::printf("small: %zu shared, %d threads, PTX %d, registers %s\n", a.sharedSizeBytes, a.maxThreadsPerBlock, a.ptxVersion, a.numRegs >= 16 ? "known" : "missing");
    small<<<1, 256>>>((float*)m);
    std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    plain<<<1, 32, 100 << 10>>>((float*)m);
    std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    CHECK(cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));
    plain<<<1, 32, 100 << 10>>>((float*)m);
    CHECK(cudaDeviceSynchronize());
    int blocks = 0, grid = 0, block = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 256, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, plain, 256, 100 << 10));
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, plain));
    std::printf("occupancy %d, %d with 100 KiB; best block %d, grid %d\n", blocks, value, block, grid);
    size_t limit = 0;
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20)); CHECK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    std::printf("heap %zu\n", limit);
}
// ENV: LANESCOPE_GPU=h200
// OUT: 1 device, current 0: NVIDIA H200, 9.0, 132 SMs, runtime 13
// OUT: 1024 threads a block, 2048 a SM, warp 32, 48 KiB shared a block, 227 with opt-in
// OUT: attribute 2048, cudaErrorInvalidValue
// OUT: memory agrees, one MiB taken: 1048576
// OUT: small: 400 shared, 128 threads, PTX 75, registers known
// OUT: cudaErrorInvalidConfiguration
// OUT: cudaErrorInvalidValue
// 2048 threads / 256; 228 KiB / (100 + 1 KiB)
// OUT: occupancy 8, 2 with 100 KiB; best block 1024, grid 264
// OUT: heap 16777216
