// A vector addition that reads at an offset: how many transactions or sectors a warp needs when its 128 bytes straddle boundaries.
// Arguments: n=ELEMENTS
#include "../lab.h"

__global__ void add_offset(const int* a, const int* b, int* c, int n, int offset) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i + offset] + b[i + offset];
}

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv);
    const int n = int(arguments.number("n", 1 << 14));
    arguments.done();
    const int largest = 64;
    const std::vector<int> values = lab::counting<int>(n + largest);
    int *a = lab::device(values), *b = lab::device(values), *c = lab::device<int>(n);
    for (int offset : {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 28, 31, 32}) {
        const lab::Timing timing = lab::timed(1, [&] { add_offset<<<(n + 511) / 512, 512>>>(a, b, c, n, offset); });
        const std::vector<int> sums = lab::host(c, n);
        bool correct = true;
        for (int i = 0; i < n; ++i) correct &= sums[i] == 2 * values[i + offset];
        lab::Case("add_offset").with("offset", offset).with(timing).correct(correct);
    }
    return lab::finish();
}
