// The same 32 loads of a warp in different orders: strided, reversed, shuffled, scattered, all of one word.
// Arguments: n=ELEMENTS
#include <numeric>

#include "../lab.h"

__global__ void load_stride(const float* a, float* out, int n, int stride) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[size_t(i) * stride];
}
__global__ void load_reversed(const float* a, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[n - 1 - i];
}
__global__ void load_indexed(const float* a, const int* index, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[index[i]];
}
__global__ void load_broadcast(const float* a, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i / 32];
}

static void shuffle(int* first, int count, lab::Random& random) {
    for (int i = count - 1; i > 0; --i) std::swap(first[i], first[random.below(uint32_t(i) + 1)]);
}

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv);
    const int n = int(arguments.number("n", 1 << 20));
    arguments.done();
    const int largest = 32;
    const std::vector<float> values = lab::counting<float>(size_t(n) * largest);
    float *a = lab::device(values), *out = lab::device<float>(n);
    const dim3 grid((n + 255) / 256), block(256);

    const auto report = [&](const char* kernel, const char* pattern, int stride, const lab::Timing& timing, auto expected) {
        const std::vector<float> got = lab::host(out, n);
        bool correct = true;
        for (int i = 0; i < n; ++i) correct &= got[i] == values[expected(i)];
        lab::Case line(kernel);
        line.with("pattern", pattern);
        if (stride > 0) line.with("stride", stride);
        line.with(timing).correct(correct);
    };

    for (int stride : {1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32}) {
        const lab::Timing timing = lab::timed(1, [&] { load_stride<<<grid, block>>>(a, out, n, stride); });
        report("load_stride", "stride", stride, timing, [=](int i) { return size_t(i) * stride; });
    }
    lab::Timing timing = lab::timed(1, [&] { load_reversed<<<grid, block>>>(a, out, n); });
    report("load_reversed", "reversed", 0, timing, [=](int i) { return size_t(n - 1 - i); });

    std::vector<int> order(n);
    lab::Random random;
    std::iota(order.begin(), order.end(), 0);
    for (int warp = 0; warp + 32 <= n; warp += 32) shuffle(&order[warp], 32, random);
    int* index = lab::device(order);
    timing = lab::timed(1, [&] { load_indexed<<<grid, block>>>(a, index, out, n); });
    report("load_indexed", "shuffled", 0, timing, [&](int i) { return size_t(order[i]); });

    shuffle(order.data(), n, random);
    CHECK(cudaMemcpy(index, order.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    timing = lab::timed(1, [&] { load_indexed<<<grid, block>>>(a, index, out, n); });
    report("load_indexed", "random", 0, timing, [&](int i) { return size_t(order[i]); });

    timing = lab::timed(1, [&] { load_broadcast<<<grid, block>>>(a, out, n); });
    report("load_broadcast", "broadcast", 0, timing, [=](int i) { return size_t(i / 32); });
    return lab::finish();
}
