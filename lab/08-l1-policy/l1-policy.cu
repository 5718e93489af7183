// Which loads the first-level cache serves: each block reads its own 4 KiB eight times, with every cache operator; and how much of it is
// left for data when shared memory takes its part. Arguments: n=ELEMENTS
#include "../lab.h"

/// Reads the block's 1024 words eight times, each thread a different word each time.
#define REREAD(name, load)                                                                                       \
    __global__ void name(const float* a, float* out, int n) {                                                    \
        const int first = blockIdx.x * blockDim.x;                                                               \
        float sum = 0;                                                                                           \
        for (int pass = 0; pass < 8; ++pass) {                                                                   \
            const float* word = a + first + (threadIdx.x + 32 * pass) % blockDim.x;                              \
            sum += load;                                                                                         \
            __syncthreads();                                                                                     \
        }                                                                                                        \
        if (first + threadIdx.x < n) out[first + threadIdx.x] = sum;                                             \
    }
REREAD(load_default, *word)      // what -dlcm decides
REREAD(load_ca, __ldca(word))    // cache at all levels
REREAD(load_cg, __ldcg(word))    // in L2 only
REREAD(load_cs, __ldcs(word))    // streaming: likely used once
REREAD(load_lu, __ldlu(word))    // last use
REREAD(load_cv, __ldcv(word))    // don't cache: fetch again
REREAD(load_ldg, __ldg(word))    // read-only path

/// One word of every line: what is fetched beside it depends on the granularity alone.
__global__ void one_per_line(const float* a, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i * 32 < n) out[i] = a[i * 32];
}

/// One block an SM reads its own `words` words twice: the second pass hits as far as L1 holds them.
__global__ void carve_out(const float* a, float* out, int words) {
    const float* mine = a + size_t(blockIdx.x) * words;
    float sum = 0;
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = threadIdx.x; i < words; i += blockDim.x) sum += __ldca(mine + i);
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv);
    const int n = int(arguments.number("n", 1 << 18)) / 1024 * 1024;
    arguments.done();
    const std::vector<float> values = lab::counting<float>(n);
    float *a = lab::device(values), *out = lab::device<float>(n);

    struct Kernel {
        const char* name;
        void (*launch)(const float*, float*, int);
    };
    const Kernel kernels[] = {{"load_default", load_default}, {"load_ca", load_ca}, {"load_cg", load_cg}, {"load_cs", load_cs},
                              {"load_lu", load_lu},           {"load_cv", load_cv}, {"load_ldg", load_ldg}};
    for (const Kernel& kernel : kernels) {
        const lab::Timing timing = lab::timed(1, [&] { kernel.launch<<<n / 1024, 1024>>>(a, out, n); });
        const std::vector<float> got = lab::host(out, n);
        bool correct = true;
        for (int i = 0; i < n; ++i) {
            float sum = 0;
            for (int pass = 0; pass < 8; ++pass) sum += values[i / 1024 * 1024 + (i % 1024 + 32 * pass) % 1024];
            correct &= got[i] == sum;
        }
        lab::Case(kernel.name).with(timing).correct(correct);
    }

    const int lines = n / 32;
    const lab::Timing single = lab::timed(1, [&] { one_per_line<<<(lines + 255) / 256, 256>>>(a, out, n); });
    const std::vector<float> words_read = lab::host(out, lines);
    bool right = true;
    for (int i = 0; i < lines; ++i) right &= words_read[i] == values[i * 32];
    lab::Case("one_per_line").with(single).correct(right);

    // The split of the SM's array: what shared memory is promised is lost to L1.
    int sms = 0;
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    const int words = 24 << 10;  // 96 KiB a block
    const std::vector<float> ones(size_t(sms) * words, 1.0f);
    float *large = lab::device(ones), *sums = lab::device<float>(size_t(sms) * 1024);
    for (int percent : {0, 25, 50, 75, 100}) {
        CHECK(cudaFuncSetAttribute(carve_out, cudaFuncAttributePreferredSharedMemoryCarveout, percent));
        const lab::Timing timing = lab::timed(1, [&] { carve_out<<<sms, 1024>>>(large, sums, words); });
        const std::vector<float> got = lab::host(sums, size_t(sms) * 1024);
        bool correct = true;
        for (float sum : got) correct &= sum == 2.0f * words / 1024;
        lab::Case("carve_out").with("shared_percent", percent).with("kib", words * 4.0 / 1024).with(timing).correct(correct);
    }
    return lab::finish();
}
