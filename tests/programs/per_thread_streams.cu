// Compiled for per-thread default streams, and with cudaStreamPerThread by name: kernels of two threads overlap on the predicted clock, those of
// the legacy default stream do not.
// FLAGS: -default-stream per-thread
// OUT: own streams: side by side
// OUT: legacy stream: one after the other
#include <cstdio>
#include <thread>

#include "check.h"

__global__ void spin(int* p) {
    int value = *p;
    for (int i = 0; i < 2000; ++i) value = value * 3 + 1;
    *p = value;
}

/// Time in ms in which two threads run a kernel each in `stream` of their own view.
static float elapsed(cudaStream_t stream) {
    int* p = nullptr;
    CHECK(cudaMalloc(&p, 2 * sizeof(int)));
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventRecord(begin, cudaStreamLegacy));
    for (int i = 0; i < 2; ++i)
        std::thread([=] {
            spin<<<1, 1, 0, stream>>>(p + i);
            CHECK(cudaGetLastError());
        }).join();
    CHECK(cudaEventRecord(end, cudaStreamLegacy));
    CHECK(cudaEventSynchronize(end));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    return ms;
}

int main() {
    const float legacy = elapsed(cudaStreamLegacy), own = elapsed(0), named = elapsed(cudaStreamPerThread);
    std::printf("own streams: %s\n", own < 0.6f * legacy && named < 0.6f * legacy ? "side by side" : "one after the other");
    std::printf("legacy stream: %s\n", legacy > 1.6f * own ? "one after the other" : "side by side");
    return 0;
}
