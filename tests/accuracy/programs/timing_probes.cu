// One mechanism of kernel time per launch; counters recorded beside.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <utility>
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
// Rates and latencies of single instructions: one dependent chain a warp, 64 × n of them.
enum Op { kF32FromS32, kF64FromF32, kF16FromF32, kS64FromF32, kU8, kPopc, kClz, kBrev, kMul, kMulHi, kMulWide, kShift, kMin, kAdd, kXor, kBfe, kAdd64, kMul64, kShift64, kSelect, kMaxF32, kPrmt, kDp4a, kShfl, kBallot, kRedux, kHalf2, kBfloat2, kExp2, kDivF32, kOps };
const char* const op_names[] = {"f32_s32_f32", "f64_f32_f64", "f16_f32_f16", "s64_f32_s64", "u8", "popc", "clz", "brev", "mul", "mul_hi", "mul_wide", "shift", "min", "add", "xor", "bfe", "add64", "mul64", "shift64", "select", "max_f32", "prmt", "dp4a", "shfl", "ballot", "redux", "half2", "bfloat2", "exp2", "div_f32"};
template <int O> __device__ __forceinline__ void step(unsigned& x, unsigned long long& l, unsigned y, unsigned long long m) {
    if constexpr (O == kF32FromS32) asm("{ .reg .f32 f; cvt.rn.f32.s32 f, %0; cvt.rzi.s32.f32 %0, f; }" : "+r"(x));
    if constexpr (O == kF64FromF32) asm("{ .reg .f32 f; .reg .f64 d; mov.b32 f, %0; cvt.f64.f32 d, f; cvt.rn.f32.f64 f, d; mov.b32 %0, f; }" : "+r"(x));
    if constexpr (O == kF16FromF32) asm("{ .reg .f32 f; .reg .b16 h; mov.b32 f, %0; cvt.rn.f16.f32 h, f; cvt.f32.f16 f, h; mov.b32 %0, f; }" : "+r"(x));
    if constexpr (O == kS64FromF32) asm("{ .reg .f32 f; cvt.rn.f32.s64 f, %0; cvt.rzi.s64.f32 %0, f; }" : "+l"(l));
    if constexpr (O == kU8) asm("{ .reg .u16 h; cvt.u16.u32 h, %0; cvt.u32.u8 %0, h; add.u32 %0, %0, %1; }" : "+r"(x) : "r"(y));
    if constexpr (O == kPopc) asm("popc.b32 %0, %0;" : "+r"(x));
    if constexpr (O == kClz) asm("clz.b32 %0, %0;" : "+r"(x));
    if constexpr (O == kBrev) asm("brev.b32 %0, %0; xor.b32 %0, %0, %1;" : "+r"(x) : "r"(y));
    if constexpr (O == kMul) asm("mul.lo.u32 %0, %0, %1;" : "+r"(x) : "r"(y));
    if constexpr (O == kMulHi) asm("mul.hi.u32 %0, %0, %1;" : "+r"(x) : "r"(y));
    if constexpr (O == kMulWide) asm("{ .reg .u32 a, b; mov.b64 {a, b}, %0; mad.wide.u32 %0, a, %1, %0; }" : "+l"(l) : "r"(y));
    if constexpr (O == kShift) asm("shr.u32 %0, %0, %1;" : "+r"(x) : "r"(y));
    if constexpr (O == kMin) asm("min.s32 %0, %0, %1; max.s32 %0, %0, %2;" : "+r"(x) : "r"(y), "r"(unsigned(m)));
    if constexpr (O == kAdd) asm("add.u32 %0, %0, %1; xor.b32 %0, %0, %2;" : "+r"(x) : "r"(y), "r"(unsigned(m)));
    if constexpr (O == kXor) asm("lop3.b32 %0, %0, %1, %2, 0x6a;" : "+r"(x) : "r"(y), "r"(unsigned(m)));
    if constexpr (O == kBfe) asm("bfe.u32 %0, %0, %1, 9; add.u32 %0, %0, %2;" : "+r"(x) : "r"(y), "r"(unsigned(m)));
    if constexpr (O == kAdd64) asm("add.u64 %0, %0, %1;" : "+l"(l) : "l"(m));
    if constexpr (O == kMul64) asm("mul.lo.u64 %0, %0, %1;" : "+l"(l) : "l"(m));
    if constexpr (O == kShift64) asm("shr.u64 %0, %0, %1;" : "+l"(l) : "r"(y));
    if constexpr (O == kSelect) asm("{ .reg .pred p; setp.lt.u32 p, %0, %1; selp.b32 %0, %0, %2, p; }" : "+r"(x) : "r"(y), "r"(unsigned(m)));
    if constexpr (O == kMaxF32) asm("{ .reg .f32 f, g; mov.b32 f, %0; mov.b32 g, %1; max.f32 f, f, g; neg.f32 f, f; mov.b32 %0, f; }" : "+r"(x) : "r"(y));
    if constexpr (O == kPrmt) asm("prmt.b32 %0, %0, %1, %2;" : "+r"(x) : "r"(y), "r"(unsigned(m)));
    if constexpr (O == kDp4a) asm("dp4a.u32.u32 %0, %0, %1, %0;" : "+r"(x) : "r"(y));
    if constexpr (O == kShfl) asm volatile("shfl.sync.bfly.b32 %0, %0, %1, 31, -1;" : "+r"(x) : "r"(y));
    if constexpr (O == kBallot) asm volatile("{ .reg .pred p; setp.ne.u32 p, %0, %1; vote.sync.ballot.b32 %0, p, -1; }" : "+r"(x) : "r"(y));
    if constexpr (O == kRedux) asm volatile("redux.sync.add.u32 %0, %0, -1;" : "+r"(x));
    if constexpr (O == kHalf2) asm("fma.rn.f16x2 %0, %0, %1, %1;" : "+r"(x) : "r"(y));
    if constexpr (O == kBfloat2) asm("fma.rn.bf16x2 %0, %0, %1, %1;" : "+r"(x) : "r"(y));
    if constexpr (O == kExp2) asm("{ .reg .f32 f; mov.b32 f, %0; ex2.approx.ftz.f32 f, f; mov.b32 %0, f; }" : "+r"(x));
    if constexpr (O == kDivF32) asm("{ .reg .f32 f, g; mov.b32 f, %0; mov.b32 g, %1; div.full.f32 f, f, g; mov.b32 %0, f; }" : "+r"(x) : "r"(y));
}
template <int O> __global__ void operation(unsigned* out, unsigned y, unsigned long long m, int n) {
    unsigned x = threadIdx.x * 77;
    unsigned long long l = x;
#pragma unroll 1
    for (int k = 0; k < n; ++k)
#pragma unroll
        for (int i = 0; i < 64; ++i) step<O>(x, l, y, m);
    if (x == 12345 && l == 6789) out[0] = x;
}
// Matrix instructions of doubles: dependent chains, 32 × n a warp
__global__ void matrix(unsigned* out, unsigned y, int n) {
    double d[2] = {1, 2}, e = y;
#pragma unroll 1
    for (int k = 0; k < n; ++k)
#pragma unroll
        for (int i = 0; i < 32; ++i) asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%2}, {%0,%1};" : "+d"(d[0]), "+d"(d[1]) : "d"(e));
    if (d[0] == 5) out[0] = 1;
}
// Loops that ptxas unrolls by four once more, and their like that it leaves
__global__ void rows_unrolled(const float* a, const float* b, float* c, int n) { int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y; float s = 0; for (int k = 0; k < n; ++k) s += a[y * n + k] * b[k * n + x]; c[y * n + x] = s; }
__global__ void rows_rolled(const float* a, const float* b, float* c, int n) { int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y; float s = 0;
#pragma unroll 1
    for (int k = 0; k < n; ++k) s += a[y * n + k] * b[k * n + x];
    c[y * n + x] = s; }
__global__ void pointer_sum(const float* a, float* c, int n) { const float* p = a + blockIdx.x * 8192 + threadIdx.x; const float* e = p + n * 32; float s = 0; for (; p < e; p += 32) s += *p; c[blockIdx.x * blockDim.x + threadIdx.x] = s; }
__global__ void gather_sum(const unsigned* index, const float* b, float* c, int n) { const unsigned* p = index + blockIdx.x * 8192 + threadIdx.x; const unsigned* e = p + n * 32; float s = 0; for (; p < e; p += 32) s += b[*p + threadIdx.x]; c[blockIdx.x * blockDim.x + threadIdx.x] = s; }
__global__ void strided_sum(const float* a, float* c, int n) { float s = 0; for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += a[i]; c[blockIdx.x * blockDim.x + threadIdx.x] = s; }
// Warp-uniform constant loads: the uniform path
__constant__ float numbers[4096];
template <int Words> __global__ void constant_block(float* out, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; float s = 0; for (int k = 0; k < 16; ++k) s += numbers[(k * 7 + blockIdx.x) & (Words - 1)]; if (i < n) out[i] = s; }
// The same with addresses that are not known to be uniform
template <int Words> __global__ void constant_lane(int* out, int zero) { int s = 0, t = threadIdx.x * zero;
#pragma unroll
    for (int k = 0; k < 16; ++k) s += table[(k * 7 + blockIdx.x + t) & (Words - 1)];
    out[blockIdx.x * blockDim.x + threadIdx.x] = s; }
// Columns of a matrix whose rows lie `pitch` words apart: only loads, only stores, both, and either with rows on the other side
enum Columns { kLoad = 1, kStore = 2, kBoth = 3, kToRows = 4, kFromRows = 5 };
template <int C> __global__ void columns(const int* a, int* b, int pitch) {
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, column = x * pitch + y, row = y * pitch + x;
    if constexpr (C == kLoad) { if (a[column] == 77) b[0] = 1; }
    if constexpr (C == kStore) b[column] = 1;
    if constexpr (C == kBoth) b[column] = a[column];
    if constexpr (C == kToRows) b[row] = a[column];
    if constexpr (C == kFromRows) b[column] = a[row];
}
// Words 4 × `group` bytes long at a random multiple of that in a region of 2^bits of them
template <int Group> __global__ void random_stores(int* out, int bits) {
    unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) / Group, mask = (1u << bits) - 1, half = bits / 2;
    i = i * 0x9E3779B1u & mask, i ^= i >> half, i = i * 0x85EBCA6Bu & mask, i ^= i >> half, i = i * 0xC2B2AE35u & mask, i ^= i >> half;
    out[size_t(i) * Group + threadIdx.x % Group] = 1;
}
static int number = 0;
#define GO(name, ...) do { std::printf("%d %s\n", number++, name); __VA_ARGS__; CHECK(cudaGetLastError()); } while (0)
template <int O> void rate(float* out) {
    char t[100];
    for (int b : {32, 1024}) { std::snprintf(t, 100, "operation %s block=%d n=4096", op_names[O], b); GO(t, operation<O><<<132, b>>>((unsigned*)out, 5u, 0x3c003c0177ull, 64)); }
}
template <int... O> void rates(float* out, std::integer_sequence<int, O...>) { (rate<O>(out), ...); }
template <int W> void constants(float* out) {
    char t[100];
    for (int g : {132, 4224}) {
        std::snprintf(t, 100, "constant_block words=%d grid=%d", W, g); GO(t, constant_block<W><<<g, 256>>>(out, 1 << 24));
        std::snprintf(t, 100, "constant_lane words=%d grid=%d", W, g); GO(t, constant_lane<W><<<g, 256>>>((int*)out, 0));
    }
}
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
    rates(out, std::make_integer_sequence<int, kOps>());
    for (int b : {32, 128, 1024}) { std::snprintf(t, 100, "matrix m8n8k4_f64 block=%d n=1024", b); GO(t, matrix<<<132, b>>>((unsigned*)out, 5u, 32)); }
    for (int b : {32, 256}) for (int g : {132, 528}) {
        const auto label = [&](const char* name) { std::snprintf(t, 100, "%s grid=%d block=%d n=256", name, g, b); return t; };
        GO(label("rows_unrolled"), rows_unrolled<<<g, b>>>((float*)a, (float*)a + (1 << 20), out, 256));
        GO(label("rows_rolled"), rows_rolled<<<g, b>>>((float*)a, (float*)a + (1 << 20), out, 256));
        GO(label("pointer_sum"), pointer_sum<<<g, b>>>((float*)a, out, 256));
        GO(label("gather_sum"), gather_sum<<<g, b>>>((unsigned*)a, (float*)a + (1 << 24), out, 256));
        GO(label("strided_sum"), strided_sum<<<g, b>>>((float*)a, out, g * b * 64));
    }
    constants<64>(out); constants<256>(out); constants<512>(out); constants<1024>(out); constants<4096>(out);
    for (int n : {1024, 2048, 4096, 8192}) for (int more : {0, 32, 72}) {
        const dim3 grid(n / 32, n / 8), block(32, 8);
        const auto label = [&](const char* name) { std::snprintf(t, 100, "columns %s n=%d pitch=%d", name, n, n + more); return t; };
        GO(label("load"), columns<kLoad><<<grid, block>>>((int*)a, (int*)out, n + more)); GO(label("store"), columns<kStore><<<grid, block>>>((int*)a, (int*)out, n + more)); GO(label("both"), columns<kBoth><<<grid, block>>>((int*)a, (int*)out, n + more));
        GO(label("to_rows"), columns<kToRows><<<grid, block>>>((int*)a, (int*)out, n + more)); GO(label("from_rows"), columns<kFromRows><<<grid, block>>>((int*)a, (int*)out, n + more));
    }
    for (int mib : {16, 64, 256, 1024}) {
        const int words = 18 + 31 - __builtin_clz(unsigned(mib));
        const auto label = [&](int group) { std::snprintf(t, 100, "random_stores bytes=%d count=%d MiB=%d", 4 * group, group < 256 ? 1 << 22 : 1 << 18, mib); return t; };
        GO(label(1), random_stores<1><<<1 << 14, 256>>>((int*)out, words)); GO(label(8), random_stores<8><<<1 << 17, 256>>>((int*)out, words - 3)); GO(label(32), random_stores<32><<<1 << 19, 256>>>((int*)out, words - 5));
        GO(label(256), random_stores<256><<<1 << 18, 256>>>((int*)out, words - 8));
    }
    CHECK(cudaDeviceSynchronize());
}
