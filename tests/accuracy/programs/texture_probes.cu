// One warp's accesses through the texture unit and by asynchronous copies: which requests, sectors and wavefronts each takes
// (../h200/textures.csv). Prints a line a launch: its number and what it is.
#include "check.h"

#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

enum Pattern { kRow, kTwo, kFour, kEight, kSame, kPairs, kQuads, kBack, kRandom, kHalves, kShifted, kTile8x4, kTile4x8, kTile16x2, kColumn, kColumns2, kPatterns };
const char* names[] = {"row", "two", "four", "eight", "same", "pairs", "quads", "back", "random", "halves", "shifted", "tile8x4", "tile4x8", "tile16x2", "column", "columns2"};
/// Where a lane's texel lies.
__device__ int2 at(int p, int i) {
    switch (p) {
        case kRow: return make_int2(i, 0);
        case kTwo: return make_int2(2 * i, 0);
        case kFour: return make_int2(4 * i, 0);
        case kEight: return make_int2(8 * i, 0);
        case kSame: return make_int2(0, 0);
        case kPairs: return make_int2(i / 2, 0);
        case kQuads: return make_int2(i / 4, 0);
        case kBack: return make_int2(31 - i, 0);
        case kRandom: return make_int2((i * 37 + 11) * 101 & 255, (i * 29) & 31);
        case kHalves: return make_int2(i + (i / 16) * 100, 0);
        case kShifted: return make_int2(i + 3, 0);
        case kTile8x4: return make_int2(i % 8, i / 8);
        case kTile4x8: return make_int2(i % 4, i / 4);
        case kTile16x2: return make_int2(i % 16, i / 16);
        case kColumn: return make_int2(0, i);
        default: return make_int2(i / 16, i % 16);
    }
}
__device__ float value(float v) { return v; }
__device__ float value(float2 v) { return v.x + v.y; }
__device__ float value(float4 v) { return v.x + v.y + v.z + v.w; }
__device__ float value(unsigned char v) { return v; }
__device__ float value(uchar4 v) { return v.x; }
template <class T> __device__ T make() { T v; memset(&v, 1, sizeof v); return v; }

template <class T> __global__ void linear(cudaTextureObject_t t, int p, float* out) { out[threadIdx.x] = value(tex1Dfetch<T>(t, at(p, int(threadIdx.x)).x)); }
template <class T> __global__ void line(cudaTextureObject_t t, int p, float* out) { out[threadIdx.x] = value(tex1D<T>(t, at(p, int(threadIdx.x)).x)); }
template <class T> __global__ void plane(cudaTextureObject_t t, int p, float* out) {
    const int2 c = at(p, int(threadIdx.x));
    out[threadIdx.x] = value(tex2D<T>(t, c.x, c.y));
}
template <class T> __global__ void read(cudaSurfaceObject_t s, int p, float* out) {
    const int2 c = at(p, int(threadIdx.x));
    out[threadIdx.x] = value(surf2Dread<T>(s, c.x * int(sizeof(T)), c.y));
}
template <class T> __global__ void write(cudaSurfaceObject_t s, int p) {
    const int2 c = at(p, int(threadIdx.x));
    surf2Dwrite(make<T>(), s, c.x * int(sizeof(T)), c.y);
}
template <class T> __global__ void read_line(cudaSurfaceObject_t s, int p, float* out) { out[threadIdx.x] = value(surf1Dread<T>(s, at(p, int(threadIdx.x)).x * int(sizeof(T)))); }
template <class T> __global__ void write_line(cudaSurfaceObject_t s, int p) { surf1Dwrite(make<T>(), s, at(p, int(threadIdx.x)).x * int(sizeof(T))); }

template <int Bytes, bool Bypass> __global__ void async_copy(const char* in, float* out, int from, int to) {   // strides of a lane, in accesses
    __shared__ __align__(128) char words[32 * 16 * 8];
    const unsigned address = unsigned(__cvta_generic_to_shared(words + threadIdx.x * to * Bytes));
    if (Bypass) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(in + threadIdx.x * from * Bytes));
    else asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address), "l"(in + threadIdx.x * from * Bytes), "n"(Bytes));
    asm volatile("cp.async.wait_all;");
    __syncthreads();
    out[threadIdx.x] = words[threadIdx.x * 17 & 2047];
}
enum Remote { kLoad, kStore, kAdd, kMapped, kOwn };
template <int R> __global__ void __cluster_dims__(2, 1, 1) remote(int* out, int stride) {
    __shared__ int words[1024];
    for (int k = int(threadIdx.x); k < 1024; k += 32) words[k] = k;
    namespace cg = cooperative_groups;
    cg::cluster_group cluster = cg::this_cluster();
    cluster.sync();
    int* theirs = cluster.map_shared_rank(words, cluster.block_rank() ^ (R == kOwn ? 0u : 1u)) + threadIdx.x * stride % 1024;
    int v = 0;
    if (R == kLoad || R == kOwn) v = *theirs;
    if (R == kStore) *theirs = 5;
    if (R == kAdd) atomicAdd(theirs, 1);
    if (R == kMapped) {
        unsigned address = unsigned(__cvta_generic_to_shared(words + threadIdx.x * stride % 1024)), mapped;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(cluster.block_rank() ^ 1));
        asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(mapped) : "memory");
    }
    cluster.sync();
    out[threadIdx.x] = v;
}
__global__ void bulk_prefetch(const char* in, unsigned bytes) {
    if (threadIdx.x == 0) asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(in + blockIdx.x * bytes), "r"(bytes));
}
__global__ void bulk_load(const char* in, float* out, unsigned bytes) {
    __shared__ __align__(128) char words[8192];
    __shared__ __align__(8) unsigned long long barrier;
    const unsigned b = unsigned(__cvta_generic_to_shared(&barrier)), w = unsigned(__cvta_generic_to_shared(words));
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(b));
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(b), "r"(bytes));
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(w), "l"(in), "r"(bytes), "r"(b) : "memory");
    }
    __syncthreads();
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra W; }" ::"r"(b) : "memory");
    out[threadIdx.x] = words[threadIdx.x];
}

static int number = 0;
#define GO(...) do { std::printf("%d ", number++); __VA_ARGS__; CHECK(cudaGetLastError()); CHECK(cudaDeviceSynchronize()); } while (0)

template <class T> void textures(const char* type, float* out, void* memory) {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
    cudaArray_t square, row;
    CHECK(cudaMallocArray(&square, &format, 512, 64, cudaArraySurfaceLoadStore));
    CHECK(cudaMallocArray(&row, &format, 512, 0, cudaArraySurfaceLoadStore));
    cudaResourceDesc r{};
    cudaTextureDesc how{};
    how.readMode = cudaReadModeElementType, how.filterMode = cudaFilterModePoint;
    cudaTextureObject_t of_memory, of_pitch, of_square, of_row;
    cudaSurfaceObject_t s_square, s_row;
    r.resType = cudaResourceTypeLinear, r.res.linear.devPtr = memory, r.res.linear.desc = format, r.res.linear.sizeInBytes = 512 * sizeof(T);
    CHECK(cudaCreateTextureObject(&of_memory, &r, &how, nullptr));
    r = {}, r.resType = cudaResourceTypePitch2D, r.res.pitch2D.devPtr = memory, r.res.pitch2D.desc = format, r.res.pitch2D.width = 512, r.res.pitch2D.height = 64;
    r.res.pitch2D.pitchInBytes = 512 * sizeof(T);
    CHECK(cudaCreateTextureObject(&of_pitch, &r, &how, nullptr));
    r = {}, r.resType = cudaResourceTypeArray, r.res.array.array = square;
    CHECK(cudaCreateTextureObject(&of_square, &r, &how, nullptr));
    CHECK(cudaCreateSurfaceObject(&s_square, &r));
    r.res.array.array = row;
    CHECK(cudaCreateTextureObject(&of_row, &r, &how, nullptr));
    CHECK(cudaCreateSurfaceObject(&s_row, &r));
    for (int p = 0; p < kPatterns; ++p) {
        const auto label = [&](const char* what) { std::printf("%s %s %s\n", what, type, names[p]); };
        if (p < kTile8x4) {
            GO(label("linear"), linear<T><<<1, 32>>>(of_memory, p, out));
            GO(label("array_1d"), line<T><<<1, 32>>>(of_row, p, out));
            GO(label("surface_1d_read"), read_line<T><<<1, 32>>>(s_row, p, out));
            GO(label("surface_1d_write"), write_line<T><<<1, 32>>>(s_row, p));
        }
        GO(label("pitch"), plane<T><<<1, 32>>>(of_pitch, p, out));
        GO(label("array_2d"), plane<T><<<1, 32>>>(of_square, p, out));
        GO(label("surface_2d_read"), read<T><<<1, 32>>>(s_square, p, out));
        GO(label("surface_2d_write"), write<T><<<1, 32>>>(s_square, p));
    }
}

int main() {
    char* memory;
    float* out;
    CHECK(cudaMalloc(&memory, 1 << 20));
    CHECK(cudaMemset(memory, 0, 1 << 20));
    CHECK(cudaMalloc(&out, 4096));
    textures<float>("float", out, memory);
    textures<float4>("float4", out, memory);
    textures<unsigned char>("uchar", out, memory);
    textures<float2>("float2", out, memory);
    for (int from : {1, 2, 4, 8})
        for (int to : {1, 2, 4, 8}) {
            const auto label = [&](const char* what) { std::printf("%s from=%d to=%d\n", what, from, to); };
            GO(label("async_4"), async_copy<4, false><<<1, 32>>>(memory, out, from, to));
            GO(label("async_8"), async_copy<8, false><<<1, 32>>>(memory, out, from, to));
            GO(label("async_16"), async_copy<16, false><<<1, 32>>>(memory, out, from, to));
            GO(label("async_16_past"), async_copy<16, true><<<1, 32>>>(memory, out, from, to));
        }
    for (int stride : {0, 1, 2, 32}) {
        const auto label = [&](const char* what) { std::printf("%s stride=%d\n", what, stride); };
        GO(label("remote_load"), remote<kLoad><<<2, 32>>>((int*)out, stride));
        GO(label("remote_store"), remote<kStore><<<2, 32>>>((int*)out, stride));
        GO(label("remote_add"), remote<kAdd><<<2, 32>>>((int*)out, stride));
        GO(label("remote_mapped"), remote<kMapped><<<2, 32>>>((int*)out, stride));
        GO(label("own_load"), remote<kOwn><<<2, 32>>>((int*)out, stride));
    }
    for (unsigned bytes : {16u, 128u, 1024u, 4096u}) {
        GO(std::printf("bulk_prefetch bytes=%u\n", bytes), bulk_prefetch<<<16, 32>>>(memory, bytes));
        GO(std::printf("bulk_load bytes=%u\n", bytes), bulk_load<<<1, 32>>>(memory, out, bytes));
    }
}
