// Constant and device symbols: initialised, written and read by the host, pointers to them, arrays of structs.
#include <cstring>

#include "check.h"

struct Body { float mass; double position[3]; char tag; };

__constant__ int table[8] = {1, 1, 2, 3, 5, 8, 13, 21};
__constant__ Body bodies[2];
__device__ float value = 3.14f;
__device__ int counters[4];
__device__ int* pointer = &counters[2];
__device__ const char* const words[2] = {"first", "second"};

__global__ void run(float* out) {
    int t = threadIdx.x;
    out[t] = table[t] + bodies[t % 2].mass + float(bodies[1].position[2]);
    if (t == 0) { value += 1; *pointer += 5; out[8] = words[1][0]; out[9] = bodies[1].tag; }
}

int main() {
    float *out, host[10], v = 0;
    Body set[2] = {{1.5f, {1, 2, 3}, 'a'}, {2.5f, {4, 5, 6}, 'b'}};
    CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMemcpyToSymbol(bodies, set, sizeof set));
    run<<<1, 8>>>(out);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8; ++i) std::printf("%g ", host[i]);
    std::printf("%c %c\n", char(host[8]), char(host[9]));

    CHECK(cudaMemcpyFromSymbol(&v, value, sizeof v));
    int counts[4], one = 9, *address = nullptr; size_t bytes = 0;
    CHECK(cudaMemcpyToSymbol(counters, &one, sizeof one, 3 * sizeof(int)));
    CHECK(cudaMemcpyFromSymbol(counts, counters, sizeof counts));
    std::printf("%.2f %d %d\n", v, counts[2], counts[3]);
    CHECK(cudaGetSymbolAddress((void**)&address, counters));
    CHECK(cudaGetSymbolSize(&bytes, counters));
    CHECK(cudaMemcpy(&one, address + 2, sizeof one, cudaMemcpyDeviceToHost));
    std::printf("%zu %d\n", bytes, one);
    int fibonacci[8];
    CHECK(cudaMemcpyFromSymbol(fibonacci, table, sizeof fibonacci));
    std::printf("%d\n", fibonacci[7]);
    std::printf("%s\n", cudaGetErrorName(cudaMemcpyToSymbol(counters, counts, sizeof counts, 4)));   // 4 + 16 > 16
    int not_a_symbol;
    std::printf("%s\n", cudaGetErrorName(cudaMemcpyFromSymbol(&one, not_a_symbol, sizeof one)));
}
// table + mass (1.5 or 2.5) + 6
// OUT: 8.5 9.5 9.5 11.5 12.5 16.5 20.5 29.5 s b
// OUT: 4.14 5 9
// OUT: 16 5
// OUT: 21
// OUT: cudaErrorInvalidValue
// OUT: cudaErrorInvalidSymbol
