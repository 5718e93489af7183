// One warp, one access: the way of a load and of a store through the memory system, told by what each level counts. Every kernel is one
// warp of one block that does exactly what its name says. Arguments: evict=MEBIBYTES that push a dirty line out of L2
#include "../lab.h"

/// The first access to a line: nothing has it but DRAM.
__global__ void load_cold(const float* a, float* out) { out[threadIdx.x] = a[threadIdx.x]; }
/// The same line twice: the second load finds it in L1. The second address depends on the first value, so that neither is optimised away.
__global__ void load_twice(const float* a, float* out, int zero) {
    const float first = __ldca(a + threadIdx.x);
    out[threadIdx.x] = first + __ldca(a + threadIdx.x + (first < -1 ? 1 : zero));
}
/// The line was read by the kernel before: L1 starts empty, L2 may still have it (with caches kept).
__global__ void load_again(const float* a, float* out) { out[threadIdx.x] = a[threadIdx.x]; }
/// Every lane its own line: 32 sectors of 32 lines for the same 128 useful bytes.
__global__ void load_scattered(const float* a, float* out) { out[threadIdx.x] = a[threadIdx.x * 32]; }
/// A whole line written: four full sectors, nothing to be read.
__global__ void store_line(float* out) { out[threadIdx.x] = 1.0f; }
/// One word of each of four sectors: L2 keeps which bytes are new.
__global__ void store_words(float* out) {
    if (threadIdx.x % 8 == 0) out[threadIdx.x] = 2.0f;
}
/// Writes so much that L2 must give up dirty lines: they leave for DRAM, and sectors written in part are completed from it first.
__global__ void store_many(float* out, size_t n, int words, int every) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x, at = i / words * every + i % words;
    if (at < n) out[at] = 3.0f;
}

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv);
    const size_t evict = arguments.number("evict", 128);
    arguments.done();
    const std::vector<float> values = lab::counting<float>(4096);
    const size_t n = evict << 18;
    float *a = lab::device(values), *b = lab::device(values), *out = lab::device<float>(64), *many = lab::device<float>(n);

    const auto loaded = [&](const char* kernel, int stride, float times, const lab::Timing& timing) {
        const std::vector<float> got = lab::host(out, 32);
        bool correct = true;
        for (int i = 0; i < 32; ++i) correct &= got[i] == times * values[size_t(i) * stride];
        lab::Case(kernel).with(timing).correct(correct);
    };
    loaded("load_cold", 1, 1, lab::timed(1, [&] { load_cold<<<1, 32>>>(a, out); }));
    loaded("load_again", 1, 1, lab::timed(1, [&] { load_again<<<1, 32>>>(a, out); }));
    loaded("load_twice", 1, 2, lab::timed(1, [&] { load_twice<<<1, 32>>>(b, out, 0); }));
    loaded("load_scattered", 32, 1, lab::timed(1, [&] { load_scattered<<<1, 32>>>(b, out); }));

    lab::Timing timing = lab::timed(1, [&] { store_line<<<1, 32>>>(out); });
    bool correct = true;
    for (float value : lab::host(out, 32)) correct &= value == 1.0f;
    lab::Case("store_line").with(timing).correct(correct);
    timing = lab::timed(1, [&] { store_words<<<1, 32>>>(out); });
    const std::vector<float> words = lab::host(out, 32);
    for (int i = 0; i < 32; ++i) correct &= words[i] == (i % 8 == 0 ? 2.0f : 1.0f);
    lab::Case("store_words").with(timing).correct(correct);

    for (int part : {0, 1}) {
        const int stored = part ? 1 : 8, every = 8;
        CHECK(cudaMemset(many, 0, n * 4));
        const size_t threads = n / every * stored;
        timing = lab::timed(1, [&] { store_many<<<unsigned((threads + 255) / 256), 256>>>(many, n, stored, every); });
        const std::vector<float> got = lab::host(many, n);
        for (size_t i = 0; i < n; ++i) correct &= got[i] == (int(i % every) < stored ? 3.0f : 0.0f);
        lab::Case("store_many").with("words", stored).with("every", every).with(timing).correct(correct);
    }
    return lab::finish();
}
