// What the programs of this folder share. Each holds a kernel `before` and, written out by hand, the kernel `after` that lanescope's advice
// for it asks for. Both run on the same data from cold caches, their results are compared, and on a real GPU their times are printed:
// usage: PROGRAM [SIZE] [REPETITIONS]
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                 \
    do {                                                                                            \
        const cudaError_t error = (call);                                                           \
        if (error != cudaSuccess) {                                                                 \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));     \
            std::exit(1);                                                                           \
        }                                                                                           \
    } while (0)

__device__ inline int thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void flush_caches(const float4* data, float* out, int count) {
    float sum = 0;
    for (int i = thread(); i < count; i += gridDim.x * blockDim.x) sum += data[i].x;
    if (sum == 12345) *out = sum;
}

template <class T>
struct Buffer {
    T* data;
    size_t count;
    explicit Buffer(size_t n) : count(n) {
        CHECK(cudaMalloc(&data, n * sizeof(T)));
        CHECK(cudaMemset(data, 0, n * sizeof(T)));
    }
    explicit Buffer(const std::vector<T>& from) : Buffer(from.size()) { CHECK(cudaMemcpy(data, from.data(), count * sizeof(T), cudaMemcpyHostToDevice)); }
    Buffer(const Buffer&) = delete;
    ~Buffer() { cudaFree(data); }
    std::vector<T> host() const {
        std::vector<T> out(count);
        CHECK(cudaMemcpy(out.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
        return out;
    }
};

struct Pair {
    int size = 0, repetitions = 1;
    const char* name;
    float best[2] = {1e30f, 1e30f};

    Pair(int argc, char** argv, int otherwise) : size(argc > 1 ? std::atoi(argv[1]) : otherwise), repetitions(argc > 2 ? std::atoi(argv[2]) : 1), name(argv[0]) {}

    /// Best time of `launch`; `which`: 0 before, 1 after.
    template <class Launch>
    void run(int which, Launch launch) {
        cudaEvent_t start, stop;
        CHECK(cudaEventCreate(&start));
        CHECK(cudaEventCreate(&stop));
        const int flushed = repetitions > 1 ? 64 << 20 : 0;  // 256 MiB in float4
        Buffer<float4> other(flushed / 4 + 1);
        Buffer<float> out(1);
        for (int i = 0; i < repetitions; ++i) {
            if (flushed != 0) flush_caches<<<1024, 256>>>(other.data, out.data, flushed / 4);
            CHECK(cudaEventRecord(start));
            launch();
            CHECK(cudaEventRecord(stop));
            CHECK(cudaEventSynchronize(stop));
            float ms = 0;
            CHECK(cudaEventElapsedTime(&ms, start, stop));
            best[which] = std::min(best[which], ms);
        }
        CHECK(cudaGetLastError());
    }

    template <class T>
    int finish(const std::vector<T>& before, const std::vector<T>& after) const {
        bool right = before.size() == after.size();
        for (size_t i = 0; right && i < before.size(); ++i) right = std::abs(double(before[i]) - double(after[i])) <= 1e-4 * std::abs(double(before[i]));
        std::printf("%s %s size=%d before_us=%.2f after_us=%.2f gain=%.2f\n", right ? "right" : "WRONG", name, size, 1e3 * best[0], 1e3 * best[1], best[0] / best[1]);
        return right ? 0 : 1;
    }
};

inline std::vector<float> numbers(size_t count) {
    std::vector<float> out(count);
    for (size_t i = 0; i < count; ++i) out[i] = float(i * 2654435761u >> 20 & 1023);
    return out;
}
