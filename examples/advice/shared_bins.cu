// A histogram of 256 bins in global memory; after: each block counts in shared memory first.
#include "pair.h"

constexpr int kBins = 256, kSteps = 16;

__global__ void before(const unsigned char* data, unsigned* bins) {
    for (int k = 0; k < kSteps; ++k) atomicAdd(&bins[data[k * gridDim.x * blockDim.x + thread()]], 1u);
}

__global__ void after(const unsigned char* data, unsigned* bins) {
    __shared__ unsigned mine[kBins];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < kSteps; ++k) atomicAdd(&mine[data[k * gridDim.x * blockDim.x + thread()]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

int main(int argc, char** argv) {
    Pair pair(argc, argv, 1 << 16);
    const int n = pair.size;
    std::vector<unsigned char> bytes(size_t(n) * kSteps);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = (unsigned char)(i * 2654435761u >> 24);
    Buffer<unsigned char> data(bytes);
    Buffer<unsigned> a(kBins), b(kBins);
    pair.run(0, [&] { before<<<n / kBins, kBins>>>(data.data, a.data); });
    pair.run(1, [&] { after<<<n / kBins, kBins>>>(data.data, b.data); });
    return pair.finish(a.host(), b.host());
}
