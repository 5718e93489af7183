// Arrays of structures against structures of arrays: one field stored, both fields updated, pointers within pointers, wider structures,
// and a detour through shared memory. Arguments: n=ELEMENTS small=ELEMENTS_OF_THE_UPDATES repeats=N
#include "../lab.h"

struct Pair { int x, y; };
struct Pairs { int *x, *y; };
template <int fields>
struct Wide { float field[fields]; };

__global__ void aos_store(Pair* out, const int* a, const int* b, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i].x = a[i] + b[i];
}
__global__ void soa_store(int* x, const int* a, const int* b, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = a[i] + b[i];
}
__global__ void aos_update(Pair* p, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        p[i].x += 2;
        p[i].y += 2;
    }
}
__global__ void soa_update(int* x, int* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] += 2;
        y[i] += 2;
    }
}
__global__ void nested_init(Pairs* p, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        p->x[i] = i;
        p->y[i] = i;
    }
}
__global__ void nested_update(Pairs* p, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        p->x[i] += 2;
        p->y[i] += 2;
    }
}
template <int fields>
__global__ void aos_one_field(const Wide<fields>* p, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = p[i].field[fields / 2];
}
template <int fields>
__global__ void aos_all_fields(const Wide<fields>* p, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int f = 0; f < fields; ++f) sum += p[i].field[f];
    out[i] = sum;
}
/// The block fetches its structures as plain words, side by side, and takes them apart in shared memory.
template <int fields>
__global__ void aos_through_shared(const Wide<fields>* p, float* out, int n) {
    __shared__ float words[256 * fields];
    const size_t first = size_t(blockIdx.x) * 256 * fields;
    const float* plain = reinterpret_cast<const float*>(p);
    for (int w = threadIdx.x; w < 256 * fields; w += 256)
        if (first + w < size_t(n) * fields) words[w] = plain[first + w];
    __syncthreads();
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int f = 0; f < fields; ++f) sum += words[threadIdx.x * fields + f];
    out[i] = sum;
}

template <int fields>
void wide(int n) {
    const std::vector<float> values = lab::counting<float>(size_t(n) * fields);
    const auto* p = reinterpret_cast<const Wide<fields>*>(lab::device(values));
    float* out = lab::device<float>(n);
    const int grid = (n + 255) / 256;
    const auto report = [&](const char* kernel, bool all, const lab::Timing& timing) {
        const std::vector<float> got = lab::host(out, n);
        bool correct = true;
        for (int i = 0; i < n; ++i) {
            float expected = values[size_t(i) * fields + fields / 2];
            if (all) expected = 0;
            for (int f = 0; all && f < fields; ++f) expected += values[size_t(i) * fields + f];
            correct &= got[i] == expected;
        }
        lab::Case(kernel).with("fields", fields).with(timing).correct(correct);
    };
    report("aos_one_field", false, lab::timed(1, [&] { aos_one_field<fields><<<grid, 256>>>(p, out, n); }));
    report("aos_all_fields", true, lab::timed(1, [&] { aos_all_fields<fields><<<grid, 256>>>(p, out, n); }));
    report("aos_through_shared", true, lab::timed(1, [&] { aos_through_shared<fields><<<grid, 256>>>(p, out, n); }));
    CHECK(cudaFree(const_cast<Wide<fields>*>(p)));
    CHECK(cudaFree(out));
}

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv);
    const int n = int(arguments.number("n", 1 << 24)), small = int(arguments.number("small", 1 << 14));
    const int repeats = int(arguments.number("repeats", 1));
    arguments.done();

    {
        const std::vector<int> values = lab::counting<int>(n);
        int *a = lab::device(values), *b = lab::device(values), *x = lab::device<int>(n);
        Pair* pairs = lab::device<Pair>(n);
        bool correct = true;
        lab::Timing timing = lab::timed(repeats, [&] { aos_store<<<(n + 1023) / 1024, 1024>>>(pairs, a, b, n); });
        const std::vector<Pair> stored = lab::host(pairs, n);
        for (int i = 0; i < n; ++i) correct &= stored[i].x == 2 * values[i];
        lab::Case("aos_store").with("fields", 2).with("n", n).with(timing).correct(correct);
        timing = lab::timed(repeats, [&] { soa_store<<<(n + 1023) / 1024, 1024>>>(x, a, b, n); });
        const std::vector<int> sums = lab::host(x, n);
        for (int i = 0; i < n; ++i) correct &= sums[i] == 2 * values[i];
        lab::Case("soa_store").with("fields", 2).with("n", n).with(timing).correct(correct);
    }
    {
        std::vector<Pair> pairs(small);
        for (int i = 0; i < small; ++i) pairs[i] = {i, -i};
        Pair* p = lab::device(pairs);
        bool correct = true;
        lab::Timing timing = lab::timed(1, [&] { aos_update<<<(small + 511) / 512, 512>>>(p, small); });
        const std::vector<Pair> updated = lab::host(p, small);
        for (int i = 0; i < small; ++i) correct &= updated[i].x == i + 2 && updated[i].y == 2 - i;
        lab::Case("aos_update").with("fields", 2).with(timing).correct(correct);
        const std::vector<int> zeros(small);
        int *x = lab::device(zeros), *y = lab::device(zeros);
        timing = lab::timed(1, [&] { soa_update<<<(small + 511) / 512, 512>>>(x, y, small); });
        for (int value : lab::host(x, small)) correct &= value == 2;
        lab::Case("soa_update").with("fields", 2).with(timing).correct(correct);
    }
    {
        int *x = lab::device<int>(32), *y = lab::device<int>(32);
        Pairs* p = lab::device(std::vector<Pairs>{{x, y}});
        const lab::Timing first = lab::timed(1, [&] { nested_init<<<1, 32>>>(p, 32); });
        const std::vector<int> initial = lab::host(x, 32);
        const lab::Timing second = lab::timed(1, [&] { nested_update<<<1, 32>>>(p, 32); });
        const std::vector<int> updated = lab::host(y, 32);
        bool correct = true;
        for (int i = 0; i < 32; ++i) correct &= initial[i] == i && updated[i] == i + 2;
        lab::Case("nested_init").with("fields", 2).with(first).correct(correct);
        lab::Case("nested_update").with("fields", 2).with(second).correct(correct);
    }
    const int elements = std::min(n, 1 << 20);
    wide<3>(elements);
    wide<4>(elements);
    wide<5>(elements);
    return lab::finish();
}
