// A kernel that reads mapped host memory eight times; after: it is copied to the device first.
#include "pair.h"

constexpr int kPasses = 8;

__device__ void sum_up(const float* in, float* out, int n) {
    float sum = 0;
    for (int k = 0; k < kPasses; ++k) sum += in[(thread() + k * 4096) % n];
    out[thread()] = sum;
}
__global__ void before(const float* in, float* out, int n) { sum_up(in, out, n); }
__global__ void after(const float* in, float* out, int n) { sum_up(in, out, n); }

int main(int argc, char** argv) {
    Pair pair(argc, argv, 1 << 18);
    const int n = pair.size;
    const std::vector<float> values = numbers(n);
    float *host, *mapped;
    CHECK(cudaHostAlloc(&host, n * sizeof(float), cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&mapped, host, 0));
    std::copy(values.begin(), values.end(), host);
    Buffer<float> copied(n), a(n), b(n);
    pair.run(0, [&] { before<<<n / 256, 256>>>(mapped, a.data, n); });
    pair.run(1, [&] {
        CHECK(cudaMemcpyAsync(copied.data, host, n * sizeof(float), cudaMemcpyHostToDevice));
        after<<<n / 256, 256>>>(copied.data, b.data, n);
    });
    return pair.finish(a.host(), b.host());
}
