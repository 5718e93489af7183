// What one store moves: 1, 2, 4, 8 and 16 bytes a lane, starting on a boundary and off it, whole warps and parts of them.
// Arguments: n=THREADS
#include "../lab.h"

/// Lane i stores element i; the array begins `skip` elements after a 256-byte boundary; only the first `lanes` lanes of a warp store.
template <class T>
__global__ void store(T* out, T value, int n, int skip, int lanes) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i % 32 < lanes) out[i + skip] = value;
}

template <class T>
void measure(int n) {
    T* out = lab::device<T>(n + 64);
    T value;
    std::memset(&value, 0x5A, sizeof value);
    for (int skip : {0, 1, 16})
        for (int lanes : {32, 8, 1}) {
            if (skip == 16 && lanes != 32) continue;
            CHECK(cudaMemset(out, 0, (n + 64) * sizeof(T)));
            const lab::Timing timing = lab::timed(1, [&] { store<T><<<(n + 255) / 256, 256>>>(out, value, n, skip, lanes); });
            const std::vector<T> got = lab::host(out, n + 64);
            bool correct = true;
            for (int i = 0; i < n + 64; ++i) {
                const bool stored = i >= skip && i < n + skip && (i - skip) % 32 < lanes;
                T expected;
                std::memset(&expected, stored ? 0x5A : 0, sizeof expected);
                correct &= std::memcmp(&got[i], &expected, sizeof(T)) == 0;
            }
            lab::Case("store").with("width", sizeof(T)).with("skip", skip).with("lanes", lanes).with(timing).correct(correct);
        }
    CHECK(cudaFree(out));
}

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv);
    const int n = int(arguments.number("n", 1 << 14));
    arguments.done();
    measure<uint8_t>(n);
    measure<uint16_t>(n);
    measure<uint32_t>(n);
    measure<uint2>(n);
    measure<uint4>(n);
    return lab::finish();
}
