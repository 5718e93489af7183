// Streams, events, host functions, asynchronous copies.
#include <vector>

#include "check.h"

__global__ void scale(float* data, int n, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= by;
}

int main() {
    const int n = 1 << 16, parts = 4;
    float *host, *device;
    CHECK(cudaMallocHost(&host, n * sizeof(float))); CHECK(cudaMalloc(&device, n * sizeof(float)));
    for (int i = 0; i < n; ++i) host[i] = 1;
    cudaStream_t streams[parts]; cudaEvent_t start, stop, between;
    for (auto& s : streams) CHECK(cudaStreamCreate(&s));
    CHECK(cudaEventCreate(&start)); CHECK(cudaEventCreate(&stop)); CHECK(cudaEventCreateWithFlags(&between, cudaEventDisableTiming));
    int order = 0;
    CHECK(cudaEventRecord(start));
    for (int p = 0; p < parts; ++p) {
        float *h = host + p * n / parts, *d = device + p * n / parts;
        CHECK(cudaMemcpyAsync(d, h, n / parts * sizeof(float), cudaMemcpyHostToDevice, streams[p]));
        scale<<<n / parts / 256, 256, 0, streams[p]>>>(d, n / parts, float(p + 2));
        CHECK(cudaMemcpyAsync(h, d, n / parts * sizeof(float), cudaMemcpyDeviceToHost, streams[p]));
        CHECK(cudaLaunchHostFunc(streams[p], [](void* data) { ++*(int*)data; }, &order));
    }
    CHECK(cudaEventRecord(between, streams[0]));
    CHECK(cudaStreamWaitEvent(streams[1], between, 0));
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaDeviceSynchronize());
    float ms = -1;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    for (int p = 0; p < parts; ++p) std::printf("%g ", host[p * n / parts + 7]);
    std::printf("%d callbacks, %s\n", order, ms > 0 && ms < 1000 ? "time passed" : "no time");
    std::printf("%s %s\n", cudaGetErrorName(cudaStreamQuery(streams[0])), cudaGetErrorName(cudaEventQuery(stop)));
    std::printf("%s\n", cudaGetErrorName(cudaEventElapsedTime(&ms, between, stop)));      // made without timing
    for (auto& s : streams) CHECK(cudaStreamDestroy(s));
    std::printf("%s\n", cudaGetErrorName(cudaStreamSynchronize(streams[0])));
    CHECK(cudaEventDestroy(start)); CHECK(cudaEventDestroy(stop));
    // stream-ordered allocation
    float* pooled; cudaStream_t s;
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CHECK(cudaMallocAsync(&pooled, 1024, s)); CHECK(cudaMemsetAsync(pooled, 0, 1024, s));
    scale<<<1, 256, 0, s>>>(pooled, 256, 3); CHECK(cudaFreeAsync(pooled, s)); CHECK(cudaStreamSynchronize(s));
    std::printf("done\n");
}
// OUT: 2 3 4 5 4 callbacks, time passed
// OUT: cudaSuccess cudaSuccess
// OUT: cudaErrorInvalidResourceHandle
// OUT: cudaErrorInvalidResourceHandle
// OUT: done
