// One table, read by seven roads: plain and read-only global loads, constant memory (one word or many at a time), texture, shared, local.
// Every kernel adds up 16 words of the table for each thread. Arguments: n=THREADS
#include "../lab.h"

constexpr int kWords = 1024, kLoads = 16;
__constant__ float constant_table[kWords];

/// The k-th word that thread i reads: neighbours read neighbouring words.
__host__ __device__ int word_of(int i, int k) { return (i + k * 32) % kWords; }

__global__ void load_plain(const float* table, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < kLoads; ++k) sum += __ldca(table + word_of(i, k));  // the plain load, spelled so that no compiler makes it read-only
    if (i < n) out[i] = sum;
}
__global__ void load_readonly(const float* __restrict__ table, float* __restrict__ out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < kLoads; ++k) sum += __ldg(table + word_of(i, k));
    if (i < n) out[i] = sum;
}
__global__ void load_constant_uniform(float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < kLoads; ++k) sum += constant_table[(blockIdx.x + k) % kWords];
    if (i < n) out[i] = sum;
}
__global__ void load_constant_divergent(float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < kLoads; ++k) sum += constant_table[word_of(i, k)];
    if (i < n) out[i] = sum;
}
__global__ void load_texture(cudaTextureObject_t table, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < kLoads; ++k) sum += tex1Dfetch<float>(table, word_of(i, k));
    if (i < n) out[i] = sum;
}
__global__ void load_shared(const float* table, float* out, int n) {
    __shared__ float copy[kWords];
    for (int k = threadIdx.x; k < kWords; k += blockDim.x) copy[k] = table[k];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < kLoads; ++k) sum += copy[word_of(i, k)];
    if (i < n) out[i] = sum;
}
__global__ void load_local(const float* table, float* out, const int* shift, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float copy[kLoads];
    for (int k = 0; k < kLoads; ++k) copy[k] = table[word_of(i, k)];
    const int s = shift[0];  // not known to the compiler: the array can't live in registers
    float sum = 0;
    for (int k = 0; k < kLoads; ++k) sum += copy[(k + s) % kLoads];
    if (i < n) out[i] = sum;
}

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv);
    const int n = int(arguments.number("n", 1 << 18));
    arguments.done();
    const std::vector<float> table = lab::counting<float>(kWords);
    float *global = lab::device(table), *out = lab::device<float>(n);
    int* shift = lab::device(std::vector<int>{5});
    CHECK(cudaMemcpyToSymbol(constant_table, table.data(), sizeof constant_table));
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear = {global, cudaCreateChannelDesc<float>(), kWords * sizeof(float)};
    cudaTextureDesc how{};
    how.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture = 0;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));

    const dim3 grid((n + 255) / 256), block(256);
    const auto report = [&](const char* kernel, bool uniform, const lab::Timing& timing) {
        const std::vector<float> got = lab::host(out, n);
        bool correct = true;
        for (int i = 0; i < n; ++i) {
            float sum = 0;
            for (int k = 0; k < kLoads; ++k) sum += table[uniform ? (i / 256 + k) % kWords : word_of(i, k)];
            correct &= got[i] == sum;
        }
        lab::Case(kernel).with(timing).correct(correct);
    };
    report("load_plain", false, lab::timed(1, [&] { load_plain<<<grid, block>>>(global, out, n); }));
    report("load_readonly", false, lab::timed(1, [&] { load_readonly<<<grid, block>>>(global, out, n); }));
    report("load_constant_uniform", true, lab::timed(1, [&] { load_constant_uniform<<<grid, block>>>(out, n); }));
    report("load_constant_divergent", false, lab::timed(1, [&] { load_constant_divergent<<<grid, block>>>(out, n); }));
    report("load_texture", false, lab::timed(1, [&] { load_texture<<<grid, block>>>(texture, out, n); }));
    report("load_shared", false, lab::timed(1, [&] { load_shared<<<grid, block>>>(global, out, n); }));
    report("load_local", false, lab::timed(1, [&] { load_local<<<grid, block>>>(global, out, shift, n); }));
    return lab::finish();
}
