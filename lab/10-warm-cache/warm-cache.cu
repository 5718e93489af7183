// Does what the host does before a kernel leave the kernel's data in L2? The same reading kernel after nothing, after a memset, after a
// copy from the host and after another kernel that read the data. Arguments: share=N: the data is an N-th of L2
#include "../lab.h"

__global__ void read_all(const float4* a, float* out, size_t n) {
    float sum = 0;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
        const float4 v = a[i];
        sum += v.x + v.y + v.z + v.w;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
/// Fills L2 with other data.
__global__ void flush(const float4* other, float* out, size_t n) {
    float sum = 0;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
        const float4 v = other[i];
        sum += v.x + v.y + v.z + v.w;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv);
    const size_t share = arguments.number("share", 4);
    arguments.done();
    int l2 = 0;
    CHECK(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0));
    const size_t n = size_t(l2) / share / sizeof(float4);
    const size_t others = size_t(l2) * 2 / sizeof(float4);
    const std::vector<float4> ones(n, make_float4(1, 1, 1, 1));
    float4 *a = lab::device(ones), *other = lab::device<float4>(others);
    float* out = lab::device<float>(256 * 256);
    CHECK(cudaMemset(other, 0, others * sizeof(float4)));

    for (const char* before : {"nothing", "memset", "memcpy", "kernel"}) {
        flush<<<256, 256>>>(other, out, others);
        double expected = 4.0 * double(n);
        if (!std::strcmp(before, "memset")) {
            CHECK(cudaMemset(a, 0, n * sizeof(float4)));
            expected = 0;
        }
        if (!std::strcmp(before, "memcpy")) CHECK(cudaMemcpy(a, ones.data(), n * sizeof(float4), cudaMemcpyHostToDevice));
        if (!std::strcmp(before, "kernel")) flush<<<256, 256>>>(a, out, n);
        const lab::Timing timing = lab::timed(1, [&] { read_all<<<256, 256>>>(a, out, n); });
        double sum = 0;
        for (float part : lab::host(out, 256 * 256)) sum += part;
        lab::Case("read_all").with("before", before).with("bytes", double(n) * sizeof(float4)).with(timing).correct(sum == expected);
    }
    return lab::finish();
}
