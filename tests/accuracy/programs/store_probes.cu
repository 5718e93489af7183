// Which stores of an SM are joined on their way to L2; sectors that reached L2 are recorded beside (../h200/probes.csv, `join …`).
#include "check.h"

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

constexpr int kRounds = 64;

// All warps of a block at once, each in a region of its own: `Stores` stores of neighbouring words, `Lines` lines a store.
template <int Lines, int Stores>
__global__ void fields(float* a, int skew) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int r = 0; r < kRounds; ++r) {
        __syncthreads();
        const long long start = clock64() + 3000 + skew * warp;
        float* p = a + (size_t(r) * (blockDim.x / 32) + warp) * 2048 + lane * Lines;
        while (clock64() < start) {}
        p[0] = 1;
        if (Stores > 1) p[1] = 2;
        if (Stores > 2) p[2] = 3;
        if (Stores > 3) p[3] = 4;
    }
}
enum { kNothing, kColdLoad, kHit, kOtherStore };
// One warp: the even words of a line, then `Fma` dependent FMAs and `Ops` accesses of another kind, then the odd words. The block's other
// warps flood the load/store unit.
template <int What, int Ops, int Fma, int Flood>
__global__ void pair(float* a, const float* cold, const float* warm, float* other, float one) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int k = 0; k < 32; ++k) sum += warm[k * 32 + lane];
    __syncthreads();
    if (warp == 0) {
        for (int r = 0; r < kRounds; ++r) {
            const long long start = clock64() + 1500;
            while (clock64() < start) {}
            float *p = a + size_t(r) * 64 + lane * 2, x = one, v[Ops + 1];
            asm volatile("st.global.f32 [%0], %1;" ::"l"(p), "f"(one) : "memory");
#pragma unroll
            for (int k = 0; k < Fma; ++k) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(one));
#pragma unroll
            for (int k = 0; k < Ops; ++k) {
                const size_t at = (size_t(r) * Ops + k) * 32 + lane;
                if (What == kColdLoad) asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(v[k]) : "l"(cold + at) : "memory");
                if (What == kHit) asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(v[k]) : "l"(warm + k * 32 + lane) : "memory");
                if (What == kOtherStore) asm volatile("st.global.f32 [%0], %1;" ::"l"(other + at), "f"(one) : "memory");
            }
            asm volatile("st.global.f32 [%0], %1;" ::"l"(p + 1), "f"(x) : "memory");
            if (What == kColdLoad || What == kHit)
                for (int k = 0; k < Ops; ++k) sum += v[k];
        }
    } else if (Flood != kNothing) {
        for (int r = 0; r < kRounds * 40; ++r) {
            const size_t at = (size_t(r) * 4 + warp) * 32 + lane;
            float v = 0;
            if (Flood == kColdLoad) v = __ldcg(cold + at);
            if (Flood == kHit) asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(v) : "l"(warm + (r & 31) * 32 + lane) : "memory");
            if (Flood == kOtherStore) asm volatile("st.global.f32 [%0], %1;" ::"l"(other + at), "f"(one) : "memory");
            sum += v;
        }
    }
    if (sum == 12345) a[0] = sum;
}

#define FIELDS(lines, stores, warps, skew)                                                    \
    do {                                                                                      \
        std::printf("join fields lines=%d stores=%d warps=%d skew=%d\n", lines, stores, warps, skew); \
        fields<lines, stores><<<1, (warps) * 32>>>(a, skew);                                  \
    } while (0)
#define PAIR(what, ops, fma, flood, warps)                                                    \
    do {                                                                                      \
        std::printf("join pair %s=%d fma=%d flood=%s warps=%d\n", #what, ops, fma, #flood, warps); \
        pair<what, ops, fma, flood><<<1, (warps) * 32>>>(a, cold, warm, other, 1.0f);         \
    } while (0)

int main() {
    float *a, *cold, *other, *warm;
    CHECK(cudaMalloc(&a, 256 << 20));
    CHECK(cudaMalloc(&cold, 256 << 20));
    CHECK(cudaMalloc(&other, 256 << 20));
    CHECK(cudaMalloc(&warm, 1 << 20));
    CHECK(cudaMemset(cold, 0, 256 << 20));
    CHECK(cudaMemset(warm, 0, 1 << 20));
    for (int warps : {1, 2, 4, 5, 8, 16}) {
        FIELDS(2, 2, warps, 0);
        FIELDS(4, 4, warps, 0);
        FIELDS(8, 2, warps, 0);
        FIELDS(8, 3, warps, 0);
        FIELDS(8, 4, warps, 0);
        FIELDS(16, 2, warps, 0);
        FIELDS(32, 2, warps, 0);
    }
    for (int skew : {4, 8, 16, 24, 32, 48, 64}) FIELDS(8, 3, 4, skew);
    PAIR(kNothing, 0, 0, kNothing, 1);
    PAIR(kNothing, 0, 1, kNothing, 1);
    PAIR(kNothing, 0, 2, kNothing, 1);
    PAIR(kNothing, 0, 3, kNothing, 1);
    PAIR(kNothing, 0, 4, kNothing, 1);
    PAIR(kNothing, 0, 5, kNothing, 1);
    PAIR(kNothing, 0, 8, kNothing, 1);
#define KINDS(ops) PAIR(kColdLoad, ops, 0, kNothing, 1); PAIR(kHit, ops, 0, kNothing, 1); PAIR(kOtherStore, ops, 0, kNothing, 1)
    KINDS(1);
    KINDS(2);
    KINDS(4);
#define FLOODS(fma) PAIR(kNothing, 0, fma, kColdLoad, 4); PAIR(kNothing, 0, fma, kHit, 4); PAIR(kNothing, 0, fma, kOtherStore, 4)
    FLOODS(0);
    FLOODS(2);
    FLOODS(4);
    FLOODS(8);
    CHECK(cudaDeviceSynchronize());
}
