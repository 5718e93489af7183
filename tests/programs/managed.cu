// Memory that host and device share: managed allocations and variables, mapped and registered host memory.
#include <cstring>

#include "check.h"

__managed__ int total = 5;
__managed__ float values[4] = {1, 2, 3, 4};

__global__ void run(int* managed, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) { managed[i] *= 2; atomicAdd(&total, managed[i]); }
    if (threadIdx.x < 4) values[threadIdx.x] *= 10;
}
__global__ void add(const int* a, int* b) { b[threadIdx.x] += a[threadIdx.x]; }

int main() {
    const int n = 100;
    int* managed;
    CHECK(cudaMallocManaged(&managed, n * sizeof(int)));
    for (int i = 0; i < n; ++i) managed[i] = i;
    total += 1;
    run<<<1, 32>>>(managed, n);
    CHECK(cudaDeviceSynchronize());
    std::printf("%d %d %g\n", managed[99], total, values[3]);

    int *mapped, *view;
    CHECK(cudaHostAlloc(&mapped, 32 * sizeof(int), cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&view, mapped, 0));
    for (int i = 0; i < 32; ++i) mapped[i] = i;
    static int own[32];
    CHECK(cudaHostRegister(own, sizeof own, cudaHostRegisterMapped));
    int* own_view;
    CHECK(cudaHostGetDevicePointer(&own_view, own, 0));
    add<<<1, 32>>>(view, own_view);
    CHECK(cudaDeviceSynchronize());
    std::printf("%d %s\n", own[31], view == mapped ? "same address" : "other address");
    CHECK(cudaHostUnregister(own));

    const size_t range = 99 * sizeof(int);
    int mostly_read = 0, preferred = 0, prefetched = 0;
#if CUDART_VERSION >= 13000
    const cudaMemLocation on_host{cudaMemLocationTypeHost, 0};
    CHECK(cudaMemAdvise(managed, range, cudaMemAdviseSetPreferredLocation, on_host));
#else
    CHECK(cudaMemAdvise(managed, range, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
#endif
    CHECK(cudaMemRangeGetAttribute(&mostly_read, sizeof(int), cudaMemRangeAttributeReadMostly, managed, range));
    CHECK(cudaMemRangeGetAttribute(&preferred, sizeof(int), cudaMemRangeAttributePreferredLocation, managed, range));
    CHECK(cudaMemRangeGetAttribute(&prefetched, sizeof(int), cudaMemRangeAttributeLastPrefetchLocation, managed, range));
    std::printf("%d %s %s\n", mostly_read, preferred == cudaCpuDeviceId ? "host" : "elsewhere", prefetched == cudaInvalidDeviceId ? "nowhere" : "somewhere");

    cudaPointerAttributes about;
    int* device;
    CHECK(cudaMalloc(&device, 4));
    for (void* p : {(void*)device, (void*)managed, (void*)mapped, (void*)&about}) {
        CHECK(cudaPointerGetAttributes(&about, p));
        std::printf("%s ", about.type == cudaMemoryTypeDevice ? "device" : about.type == cudaMemoryTypeManaged ? "managed" : about.type == cudaMemoryTypeHost ? "host" : "unregistered");
    }
    std::printf("\n");
    CHECK(cudaFree(managed)); CHECK(cudaFree(device)); CHECK(cudaFreeHost(mapped));
    std::printf("%s\n", cudaGetErrorName(cudaFree(device)));
}
// total: 5 + 1 + 2 (0 + … + 99) = 6 + 9900
// OUT: 198 9906 40
// OUT: 31 same address
// OUT: 0 host nowhere
// OUT: device managed host unregistered 
// OUT: cudaErrorInvalidValue
