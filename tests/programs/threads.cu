// Eight host threads that allocate, launch, copy and free at once, on streams of their own.
#include <cstdio>
#include <thread>
#include <vector>

__device__ unsigned sum;
__global__ void add(unsigned* own, unsigned value) {
    *own += value;
    atomicAdd(&sum, value);
}

int main() {
    std::vector<std::thread> threads;
    std::vector<unsigned> own(8);
    for (unsigned t = 0; t < 8; ++t)
        threads.emplace_back([&own, t] {
            cudaStream_t stream;
            cudaEvent_t event;
            cudaStreamCreate(&stream);
            cudaEventCreate(&event);
            unsigned* p;
            cudaMalloc(&p, sizeof *p);
            cudaMemset(p, 0, sizeof *p);
            for (int i = 0; i < 20; ++i) {
                void* other;
                cudaMalloc(&other, 4096);
                add<<<1, 1, 0, stream>>>(p, t);
                cudaEventRecord(event, stream);
                cudaFree(other);
            }
            cudaEventSynchronize(event);
            cudaMemcpyAsync(&own[t], p, sizeof *p, cudaMemcpyDeviceToHost, stream);
            cudaStreamSynchronize(stream);
            cudaFree(p);
            cudaStreamDestroy(stream);
            cudaEventDestroy(event);
        });
    for (std::thread& thread : threads) thread.join();
    unsigned all = 0;
    cudaMemcpyFromSymbol(&all, sum, sizeof all);
    for (unsigned t = 0; t < 8; ++t) std::printf("%u ", own[t]);
    std::printf("sum %u, %s\n", all, cudaGetErrorName(cudaGetLastError()));
}
// OUT: 0 20 40 60 80 100 120 140 sum 560, cudaSuccess
