// One mechanism of kernel time per launch; counters recorded beside.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#define CHECK(c) do { cudaError_t e = (c); if (e != cudaSuccess) { std::fprintf(stderr, "%d: %s\n", __LINE__, cudaGetErrorString(e)); std::exit(1); } } while (0)
__global__ void empty() {}
__global__ void store_one(float* out) { out[size_t(blockIdx.x) * blockDim.x + threadIdx.x] = 1; }
// `loads` loads, each depends on the one before; every step a new sector far away
__global__ void chain(const unsigned* a, unsigned* out, unsigned step, int loads) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = 0;
    for (int k = 0; k < loads; ++k) v = a[i + k * step + v];
    if (v == 77) out[i] = v;
}
template <int N> __global__ void independent(const unsigned* a, unsigned* out, unsigned step) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v[N], s = 0;
#pragma unroll
    for (int k = 0; k < N; ++k) v[k] = a[i + k * step];
#pragma unroll
    for (int k = 0; k < N; ++k) s += v[k];
    if (s == 77) out[i] = s;
}
__global__ void l2_read(const float4* a, float* out, unsigned n, int passes) {
    float s = 0;
    for (int p = 0; p < passes; ++p)
        for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) { float4 v = __ldcg(a + i); s += v.x + v.y + v.z + v.w; }
    if (s == 77) out[0] = s;
}
template <class T> __global__ void l1_read(const T* a, float* out, int n, int passes) {
    float s = 0;
    for (int p = 0; p < passes; ++p)
#pragma unroll 4
        for (int i = threadIdx.x; i < n; i += blockDim.x) { T v = a[i + (p & 1) * n]; s += *(const float*)&v + (&*(const float*)&v)[sizeof(T) / 4 - 1]; }
    if (s == 77) out[0] = s;
}
__global__ void fma_chain(float* out, int n) { float x = threadIdx.x; for (int k = 0; k < n; ++k) x = x * 1.0001f + 0.5f; if (x == 77) out[0] = x; }
__global__ void fma_four(float* out, int n) { float x = threadIdx.x, y = x + 1, z = x + 2, w = x + 3; for (int k = 0; k < n; ++k) { x = x * 1.0001f + 0.5f; y = y * 1.0001f + 0.5f; z = z * 1.0001f + 0.5f; w = w * 1.0001f + 0.5f; } if (x + y + z + w == 77) out[0] = x; }
__global__ void int_chain(int* out, int n) { int x = threadIdx.x; for (int k = 0; k < n; ++k) x = x * 3 + (x >> 5); if (x == 77) out[0] = x; }
__global__ void sin_chain(float* out, int n) { float x = threadIdx.x; for (int k = 0; k < n; ++k) x = __sinf(x); if (x == 77) out[0] = x; }
__global__ void double_chain(double* out, int n) { double x = threadIdx.x; for (int k = 0; k < n; ++k) x = x * 1.0001 + 0.5; if (x == 77) out[0] = x; }
__global__ void barriers(int* out, int n) { for (int k = 0; k < n; ++k) __syncthreads(); if (n == 77) out[0] = 1; }
__global__ void shared_chain(int* out, int n) { __shared__ int s[1024]; s[threadIdx.x] = (threadIdx.x + 32) & 1023; __syncthreads(); int x = threadIdx.x; for (int k = 0; k < n; ++k) x = s[x]; if (x == 7777) out[0] = x; }
__global__ void shared_atomic(int* out, int n, int spread) { __shared__ int s[1024]; for (int i = threadIdx.x; i < 1024; i += blockDim.x) s[i] = 0; __syncthreads(); for (int k = 0; k < n; ++k) atomicAdd(&s[(threadIdx.x * 7 + k) % spread], k); __syncthreads(); if (s[0] == 77) out[0] = 1; }
__constant__ int table[4096];
__global__ void constant_chain(int* out, int n, int lanes) { int x = threadIdx.x % lanes; for (int k = 0; k < n; ++k) x = table[x & 1023] + x % lanes; if (x == 7777) out[0] = x; }
__global__ void return_atomic(int* c, int* out, int n, unsigned spread) { int s = 0; unsigned i = blockIdx.x * blockDim.x + threadIdx.x; for (int k = 0; k < n; ++k) s += atomicAdd(c + ((i + k * 977u) % spread), 1); if (s == -77) out[0] = s; }
static int number = 0;
#define GO(name, ...) do { std::printf("%d %s\n", number++, name); __VA_ARGS__; CHECK(cudaGetLastError()); } while (0)
int main() {
    char* a; float* out; CHECK(cudaMalloc(&a, size_t(4) << 30)); CHECK(cudaMalloc(&out, size_t(1) << 30)); CHECK(cudaMemset(a, 0, size_t(4) << 30));
    char t[100];
    for (int g : {1, 132, 1056, 8448, 65536, 1048576}) for (int b : {32, 256, 1024}) { std::snprintf(t, 100, "empty grid=%d block=%d", g, b); GO(t, empty<<<g, b>>>()); }
    for (int g : {1, 132, 1056, 8448}) { std::snprintf(t, 100, "store_one grid=%d block=256", g); GO(t, store_one<<<g, 256>>>(out)); }
    for (int g : {1, 132, 528, 1056, 4224, 16896}) for (int l : {1, 2, 4, 8}) { std::snprintf(t, 100, "chain grid=%d loads=%d", g, l); GO(t, chain<<<g, 256>>>((unsigned*)a, (unsigned*)out, 16896u * 256, l)); }
    for (int g : {132, 1056, 16896}) { std::snprintf(t, 100, "independent1 grid=%d", g); GO(t, independent<1><<<g, 256>>>((unsigned*)a, (unsigned*)out, 16896u * 256)); std::snprintf(t, 100, "independent4 grid=%d", g); GO(t, independent<4><<<g, 256>>>((unsigned*)a, (unsigned*)out, 16896u * 256)); std::snprintf(t, 100, "independent16 grid=%d", g); GO(t, independent<16><<<g, 256>>>((unsigned*)a, (unsigned*)out, 16896u * 256)); }
    for (int m : {4, 16}) for (int g : {132, 264, 1056}) { std::snprintf(t, 100, "l2_read MiB=%d passes=8 grid=%d block=512", m, g); GO(t, l2_read<<<g, 512>>>((float4*)a, out, unsigned(m) << 16, 8)); }
    for (int b : {128, 512, 1024}) { std::snprintf(t, 100, "l1_read4 block=%d", b); GO(t, l1_read<float><<<132, b>>>((float*)a, out, 8192, 32)); std::snprintf(t, 100, "l1_read8 block=%d", b); GO(t, l1_read<float2><<<132, b>>>((float2*)a, out, 4096, 32)); std::snprintf(t, 100, "l1_read16 block=%d", b); GO(t, l1_read<float4><<<132, b>>>((float4*)a, out, 2048, 32)); }
    for (int b : {32, 128, 256, 1024}) { std::snprintf(t, 100, "fma_chain block=%d n=4096", b); GO(t, fma_chain<<<132, b>>>(out, 4096)); std::snprintf(t, 100, "fma_four block=%d n=4096", b); GO(t, fma_four<<<132, b>>>(out, 4096)); std::snprintf(t, 100, "int_chain block=%d n=4096", b); GO(t, int_chain<<<132, b>>>((int*)out, 4096)); std::snprintf(t, 100, "sin_chain block=%d n=4096", b); GO(t, sin_chain<<<132, b>>>(out, 4096)); std::snprintf(t, 100, "double_chain block=%d n=4096", b); GO(t, double_chain<<<132, b>>>((double*)out, 4096)); std::snprintf(t, 100, "barriers block=%d n=4096", b); GO(t, barriers<<<132, b>>>((int*)out, 4096)); std::snprintf(t, 100, "shared_chain block=%d n=4096", b); GO(t, shared_chain<<<132, b>>>((int*)out, 4096)); }
    for (int s : {1, 32, 1024}) { std::snprintf(t, 100, "shared_atomic block=256 n=1024 spread=%d", s); GO(t, shared_atomic<<<132, 256>>>((int*)out, 1024, s)); }
    for (int l : {1, 2, 8, 32}) { std::snprintf(t, 100, "constant_chain block=256 n=1024 lanes=%d", l); GO(t, constant_chain<<<132, 256>>>((int*)out, 1024, l)); }
    for (int g : {1, 132, 1056}) { std::snprintf(t, 100, "return_atomic grid=%d n=16 spread=1048576", g); GO(t, return_atomic<<<g, 256>>>((int*)a, (int*)out, 16, 1048576)); }
    CHECK(cudaDeviceSynchronize());
}
