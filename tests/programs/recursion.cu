// Device functions that call themselves and each other.
#include "check.h"

__device__ __noinline__ unsigned long long factorial(int n) { return n <= 1 ? 1 : n * factorial(n - 1); }
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ __noinline__ bool odd(int n);
__device__ __noinline__ bool even(int n) { return n == 0 || odd(n - 1); }
__device__ __noinline__ bool odd(int n) { return n != 0 && even(n - 1); }
__device__ __noinline__ int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }

__global__ void run(unsigned long long* out) {
    int t = threadIdx.x;                     // lanes recurse to different depths
    out[t * 4] = factorial(t % 21);
    out[t * 4 + 1] = fibonacci(t % 13);
    out[t * 4 + 2] = even(t);
    out[t * 4 + 3] = ackermann(t % 3, t % 5);
}

int main() {
    const int threads = 64;
    unsigned long long *out, host[threads * 4];
    CHECK(cudaMalloc(&out, sizeof host));
    run<<<1, threads>>>(out);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int t = 0; t < threads; ++t) {
        unsigned long long f = 1; int a = 0, b = 1;
        for (int i = 2; i <= t % 21; ++i) f *= i;
        for (int i = 0; i < t % 13; ++i) { int c = a + b; a = b; b = c; }
        int m = t % 3, n = t % 5, ack = m == 0 ? n + 1 : m == 1 ? n + 2 : 2 * n + 3;
        wrong += host[t * 4] != f || host[t * 4 + 1] != (unsigned long long)a || host[t * 4 + 2] != (t % 2 == 0) || host[t * 4 + 3] != (unsigned long long)ack;
    }
    std::printf("20! = %llu, fib(12) = %llu, ack(2, 4) = %llu, %d wrong\n", host[20 * 4], host[12 * 4 + 1], host[14 * 4 + 3], wrong);
}
// OUT: 20! = 2432902008176640000, fib(12) = 144, ack(2, 4) = 11, 0 wrong
