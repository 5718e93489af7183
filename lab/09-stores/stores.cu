// What stores cost beyond their own bytes: whole sectors, parts of sectors, streaming and write-through, over more memory than L2 keeps.
// Arguments: mib=MEBIBYTES of the array stored to
#include "../lab.h"

__global__ void store_whole(float* out, size_t n) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 1.5f;
}
__global__ void store_streaming(float* out, size_t n) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) __stcs(out + i, 1.5f);
}
__global__ void store_through(float* out, size_t n) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) __stwt(out + i, 1.5f);
}
/// The first `words` of every `every` words: all threads store, lanes beside each other.
__global__ void store_part(float* out, size_t n, int words, int every) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const size_t at = i / words * every + i % words;
    if (at < n) out[at] = 1.5f;
}
/// Reads a word, then stores it changed: the sectors are in L2 already.
__global__ void update(float* out, size_t n) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] += 1.5f;
}

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv);
    const size_t mib = arguments.number("mib", 128);
    arguments.done();
    const size_t n = mib << 18;
    float* out = lab::device<float>(n);
    const auto blocks = [](size_t threads) { return unsigned((threads + 255) / 256); };

    const auto report = [&](const char* kernel, int words, int every, const lab::Timing& timing) {
        const std::vector<float> got = lab::host(out, n);
        bool correct = true;
        for (size_t i = 0; i < n; ++i) correct &= got[i] == (int(i % every) < words ? 1.5f : 0.0f);
        lab::Case(kernel).with("words", words).with("every", every).with("stored", 4.0 * double(n) * words / every).with(timing).correct(correct);
    };
    const auto clear = [&] { CHECK(cudaMemset(out, 0, n * sizeof(float))); };

    clear();
    report("store_whole", 1, 1, lab::timed(1, [&] { store_whole<<<blocks(n), 256>>>(out, n); }));
    clear();
    report("store_streaming", 1, 1, lab::timed(1, [&] { store_streaming<<<blocks(n), 256>>>(out, n); }));
    clear();
    report("store_through", 1, 1, lab::timed(1, [&] { store_through<<<blocks(n), 256>>>(out, n); }));
    struct Part {
        int words, every;
    };
    for (const Part part : {Part{8, 16}, Part{4, 8}, Part{1, 8}, Part{1, 32}}) {
        clear();
        report("store_part", part.words, part.every, lab::timed(1, [&] {
                   store_part<<<blocks(n / part.every * part.words), 256>>>(out, n, part.words, part.every);
               }));
    }
    clear();
    report("update", 1, 1, lab::timed(1, [&] { update<<<blocks(n), 256>>>(out, n); }));
    return lab::finish();
}
