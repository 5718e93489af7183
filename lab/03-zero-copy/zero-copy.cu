// A vector addition whose three arrays lie on the device, or partly or wholly in host memory that the device reads over the link.
// Arguments: n=ELEMENTS repeats=N
#include "../lab.h"

__global__ void add(const int* a, const int* b, int* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

/// Host memory that the device may address.
static int* mapped(const std::vector<int>& values) {
    int* pointer = nullptr;
    CHECK(cudaHostAlloc(&pointer, values.size() * sizeof(int), cudaHostAllocMapped));
    std::copy(values.begin(), values.end(), pointer);
    return pointer;
}

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv);
    const int n = int(arguments.number("n", 1 << 24)), repeats = int(arguments.number("repeats", 11));
    arguments.done();

    const std::vector<int> values = lab::counting<int>(n), zeros(n);
    int *device_a = lab::device(values), *device_b = lab::device(values), *device_c = lab::device(zeros);
    int *mapped_a = mapped(values), *mapped_b = mapped(values), *mapped_c = mapped(zeros);

    struct Placement {
        const char* mapped;
        const int *a, *b;
        int* c;
    };
    for (const Placement& p : {Placement{"none", device_a, device_b, device_c}, Placement{"inputs", mapped_a, mapped_b, device_c},
                               Placement{"all", mapped_a, mapped_b, mapped_c}}) {
        const lab::Timing timing = lab::timed(repeats, [&] { add<<<(n + 511) / 512, 512>>>(p.a, p.b, p.c, n); });
        CHECK(cudaDeviceSynchronize());  // before the host looks at mapped memory: no copy waits for the kernel here
        const std::vector<int> sums = p.c == mapped_c ? std::vector<int>(mapped_c, mapped_c + n) : lab::host(device_c, n);
        bool correct = true;
        for (int i = 0; i < n; ++i) correct &= sums[i] == 2 * values[i];
        lab::Case("add").with("mapped", p.mapped).with("n", n).with(timing, 12.0 * n).correct(correct);
    }
    return lab::finish();
}
