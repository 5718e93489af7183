// Device printf: formats, order between lanes, and between the device's and the host's lines.
#include "check.h"

__global__ void hello(int n) {
    if (threadIdx.x < n) printf("block %d thread %u\n", blockIdx.x, threadIdx.x);
}

__global__ void formats(const char* text) {
    printf("%d %u %x %X %o %c %%\n", -7, 4000000000u, 255, 255, 8, 'q');
    printf("%5d|%-5d|%05d|%+d\n", 42, 42, 42, 42);
    printf("%f %.2f %e %g %G\n", 1.5, 3.14159, 12345.678, 0.0001, 1e-10);
    printf("%lld %llu %llx %ld\n", -1234567890123ll, 18446744073709551615ull, 0x123456789abcull, 7l);
    printf("[%s] [%10s] [%-6s] [%.2s]\n", "text", "right", "left", "cut");
    printf("%*d %.*f\n", 6, 12, 3, 2.0);
    printf("no newline");
    printf(", %s\n", text ? "pointer" : "null");
    printf("%p\n", (void*)0x1234);
    int returned = printf("three %d %d %d\n", 1, 2, 3);
    printf("returned %d\n", returned);
}

int main() {
    std::printf("before\n");
    std::fflush(stdout);
    hello<<<1, 32>>>(3);
    CHECK(cudaDeviceSynchronize());
    std::printf("between\n");
    std::fflush(stdout);
    formats<<<1, 1>>>(nullptr);
    CHECK(cudaDeviceSynchronize());
    std::printf("after\n");
}
// OUT: before
// OUT: block 0 thread 0
// OUT: block 0 thread 1
// OUT: block 0 thread 2
// OUT: between
// OUT: -7 4000000000 ff FF 10 q %
// OUT:    42|42   |00042|+42
// OUT: 1.500000 3.14 1.234568e+04 0.0001 1E-10
// OUT: -1234567890123 18446744073709551615 123456789abc 7
// OUT: [text] [     right] [left  ] [cu]
// OUT:     12 2.000
// OUT: no newline, null
// OUT: 0x1234
// OUT: three 1 2 3
// OUT: returned 3
// OUT: after
