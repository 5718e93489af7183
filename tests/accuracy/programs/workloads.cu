// Kernels as people write them, second set: other algorithms, sizes and features than kernels.cu; counters recorded beside
// (../h200/workloads.csv). Prints a checksum of what each launch wrote: the same on hardware as emulated.
#include "check.h"

#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace cg = cooperative_groups;

__device__ __forceinline__ int gid() { return int(blockIdx.x * blockDim.x + threadIdx.x); }
__device__ __forceinline__ int threads() { return int(gridDim.x * blockDim.x); }

// --- streams ----------------------------------------------------------------------------------------------------------------
__global__ void triad(size_t n, double s, const double* __restrict__ b, const double* __restrict__ c, double* __restrict__ a) {
    const size_t i = gid();
    if (i < n) a[i] = b[i] + s * c[i];
}
__global__ void fill(size_t n, int4* out, int value) {
    for (size_t i = gid(); i < n; i += threads()) out[i] = make_int4(value, value + 1, value + 2, value + 3);
}
__global__ void dot(int n, const double* x, const double* y, double* out) {
    __shared__ double part[256];
    double sum = 0;
    for (int i = gid(); i < n; i += threads()) sum += x[i] * y[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half >>= 1) {
        if (int(threadIdx.x) < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, part[0]);
}
__global__ void most_and_where(int n, const int* x, unsigned long long* best) {
    unsigned long long mine = 0;
    for (int i = gid(); i < n; i += threads()) {
        const unsigned long long here = (unsigned long long)(unsigned)x[i] << 32 | unsigned(i);
        if (here > mine) mine = here;
    }
    for (int other = 16; other > 0; other /= 2) {
        const unsigned long long theirs = __shfl_down_sync(~0u, mine, other);
        if (theirs > mine) mine = theirs;
    }
    if (threadIdx.x % 32 == 0) atomicMax(best, mine);
}
__global__ void complex_product(int n, const double2* x, double2* y) {
    const int i = gid();
    if (i >= n) return;
    const double2 u = x[i], v = y[i];
    y[i] = make_double2(u.x * v.x - u.y * v.y, u.x * v.y + u.y * v.x);
}
__global__ void interleave(int n, const short* left, const short* right, short2* out) {
    const int i = gid();
    if (i < n) out[i] = make_short2(left[i], right[i]);
}
__global__ void planes_of_pixels(int n, const uchar4* in, unsigned char* r, unsigned char* g, unsigned char* b) {
    const int i = gid();
    if (i >= n) return;
    const uchar4 p = in[i];
    r[i] = p.x, g[i] = p.y, b[i] = p.z;
}
struct Particle { float3 place, speed; };                                 // 24 bytes
__global__ void drift(int n, Particle* p, float dt) {
    const int i = gid();
    if (i >= n) return;
    float3 at = p[i].place;
    const float3 v = p[i].speed;
    at.x += v.x * dt, at.y += v.y * dt, at.z += v.z * dt;
    p[i].place = at;
}
__global__ void every_third(int n, const float* x, float* y) {
    const int i = gid();
    if (i < n) y[i] = x[3 * i] + x[3 * i + 2];
}
__global__ void shift_rows(int rows, int pitch, const float* x, float* y) {   // rows of 1000 floats, 4000 bytes apart
    const int c = int(blockIdx.x * blockDim.x + threadIdx.x), r = int(blockIdx.y);
    if (c < 1000 && r < rows) y[r * pitch + c] = x[r * pitch + (c + 1) % 1000];
}
__global__ void copy_volatile(int n, const volatile int* x, volatile int* y) {
    const int i = gid();
    if (i < n) y[i] = x[i];
}
__global__ void copy_past(int n, const float4* x, float4* y) {
    const int i = gid();
    if (i < n) __stcs(y + i, __ldcg(x + i));
}
__global__ void persistent_chunks(int n, int per_block, const int* x, int* y) {   // each block its own stretch
    const int first = int(blockIdx.x) * per_block;
    for (int i = first + int(threadIdx.x); i < min(first + per_block, n); i += int(blockDim.x)) y[i] = x[i] * 3;
}
__global__ void small_block(int n, const int* x, int* y) {                  // 32 threads a block
    const int i = gid();
    if (i < n) y[i] = x[i] ^ 5;
}
__global__ void one_block(int n, const int* x, int* out) {
    __shared__ int part[32];
    int sum = 0;
    for (int i = int(threadIdx.x); i < n; i += int(blockDim.x)) sum += x[i];
    sum = __reduce_add_sync(~0u, sum);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = __reduce_add_sync(~0u, part[threadIdx.x]);
        if (threadIdx.x == 0) *out = sum;
    }
}

// --- gathers, scatters ------------------------------------------------------------------------------------------------------
__global__ void gather(int n, const int* index, const float* x, float* y) {
    const int i = gid();
    if (i < n) y[i] = x[index[i]];
}
__global__ void gather_quads(int n, const int* index, const float4* x, float4* y) {
    const int i = gid();
    if (i < n) y[i] = x[index[i]];
}
__global__ void scatter(int n, const int* index, const float* x, float* y) {
    const int i = gid();
    if (i < n) y[index[i]] = x[i];
}
__global__ void permute_bits(int bits, const float2* x, float2* y) {        // as before a fast Fourier transform
    const int i = gid();
    y[__brev(unsigned(i)) >> (32 - bits)] = x[i];
}
__global__ void butterfly(int half, float2* x) {                            // one radix-2 stage without twiddles
    const int i = gid(), low = i % half, at = (i / half) * 2 * half + low;
    const float2 u = x[at], v = x[at + half];
    x[at] = make_float2(u.x + v.x, u.y + v.y);
    x[at + half] = make_float2(u.x - v.x, u.y - v.y);
}
__global__ void neighbours_mean(int n, const int* first, const int* to, const float* x, float* y) {   // graph, eight lanes a vertex
    const int v = gid() / 8, lane = int(threadIdx.x) % 8;
    if (v >= n) return;
    float sum = 0;
    for (int k = first[v] + lane; k < first[v + 1]; k += 8) sum += x[to[k]];
    for (int other = 4; other > 0; other /= 2) sum += __shfl_down_sync(~0u, sum, other, 8);
    if (lane == 0) y[v] = sum;
}
__global__ void merge_path(int n, const int* a, const int* b, int* out) {   // each thread merges eight of the result
    const int start = gid() * 8;
    if (start >= 2 * n) return;
    int low = max(0, start - n), high = min(start, n);
    while (low < high) {
        const int i = (low + high) / 2;
        if (a[i] <= b[start - 1 - i]) low = i + 1;
        else high = i;
    }
    int i = low, j = start - low;
    for (int k = 0; k < 8; ++k) out[start + k] = i < n && (j >= n || a[i] <= b[j]) ? a[i++] : b[j++];
}
struct Node { int key, left, right, value; };
__global__ void descend(int n, const int* keys, const Node* tree, int* out) {
    const int i = gid();
    if (i >= n) return;
    int at = 0, found = -1;
    while (at >= 0) {
        const Node node = tree[at];
        if (keys[i] == node.key) found = node.value;
        at = keys[i] < node.key ? node.left : node.right;
    }
    out[i] = found;
}

// --- atomics ----------------------------------------------------------------------------------------------------------------
__global__ void count_digits(int n, int shift, const unsigned* x, int* counts) {    // as radix sorts do: a table a block, by digit
    __shared__ int mine[16];
    if (threadIdx.x < 16) mine[threadIdx.x] = 0;
    __syncthreads();
    const int i = gid();
    if (i < n) atomicAdd(&mine[x[i] >> shift & 15], 1);
    __syncthreads();
    if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = mine[threadIdx.x];
}
__global__ void add_floats(int n, const int* index, float* sums) {
    const int i = gid();
    if (i < n) atomicAdd(&sums[index[i] & 0xffff], 1.0f);
}
__global__ void add_doubles_in_order(int n, double* sums) {
    const int i = gid();
    if (i < n) atomicAdd(&sums[i / 4], 1.0);
}
__global__ void tickets(int n, int* counter, int* out) {                    // one ticket a thread, all of one counter
    const int i = gid();
    if (i < n) out[atomicAdd(counter, 1)] = 1;
}
__global__ void lowest(int n, const int* index, const int* x, int* low) {
    const int i = gid();
    if (i < n) atomicMin(&low[index[i] & 1023], x[i]);
}
__global__ void mark_bits(int n, const int* index, unsigned* words) {
    const int i = gid();
    if (i < n) atomicOr(&words[index[i] >> 5], 1u << (index[i] & 31));
}

// --- scans, sorts -----------------------------------------------------------------------------------------------------------
__global__ void scan_warps(int n, const int* x, int* y) {
    __shared__ int part[8];
    const int i = gid(), lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
    int v = i < n ? x[i] : 0;
    for (int step = 1; step < 32; step *= 2) {
        const int before = __shfl_up_sync(~0u, v, step);
        if (lane >= step) v += before;
    }
    if (lane == 31) part[warp] = v;
    __syncthreads();
    for (int w = 0; w < warp; ++w) v += part[w];
    if (i < n) y[i] = v;
}
__global__ void bitonic_block(int* x) {                                     // 1024 keys in shared memory
    __shared__ int key[1024];
    const int t = int(threadIdx.x), first = int(blockIdx.x) * 1024;
    key[t] = x[first + t], key[t + 512] = x[first + t + 512];
    for (int size = 2; size <= 1024; size *= 2)
        for (int distance = size / 2; distance > 0; distance /= 2) {
            __syncthreads();
            const int at = 2 * t - (t & (distance - 1));
            const bool up = (t & (size / 2)) == 0;
            const int u = key[at], v = key[at + distance];
            if ((u > v) == up) key[at] = v, key[at + distance] = u;
        }
    __syncthreads();
    x[first + t] = key[t], x[first + t + 512] = key[t + 512];
}

// --- matrices ---------------------------------------------------------------------------------------------------------------
__global__ void multiply_tensor(int n, const __half* a, const __half* b, float* c) {   // a warp computes 16 × 16
    using namespace nvcuda;
    const int warp = int(threadIdx.y), row = int(blockIdx.y * 4 + warp) * 16, column = int(blockIdx.x) * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(fa, a + row * n + k, n);
        wmma::load_matrix_sync(fb, b + k * n + column, n);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c + row * n + column, fc, n, wmma::mem_row_major);
}
__global__ void multiply_async(int n, const float* a, const float* b, float* c) {   // 32 × 32, two stages with cp.async
    __shared__ __align__(16) float ta[2][32][32], tb[2][32][32];
    const int t = int(threadIdx.x), x0 = int(blockIdx.x) * 32, y0 = int(blockIdx.y) * 32, r = t / 8, q = t % 8 * 4;
    const auto fetch = [&](int stage, int k) {
        __pipeline_memcpy_async(&ta[stage][r][q], a + (y0 + r) * n + k + q, 16);
        __pipeline_memcpy_async(&tb[stage][r][q], b + (k + r) * n + x0 + q, 16);
        __pipeline_commit();
    };
    float sum[4] = {};
    fetch(0, 0);
    for (int k = 0, stage = 0; k < n; k += 32, stage ^= 1) {
        if (k + 32 < n) fetch(stage ^ 1, k + 32);
        __pipeline_wait_prior(k + 32 < n ? 1 : 0);
        __syncthreads();
        for (int i = 0; i < 32; ++i)
            for (int j = 0; j < 4; ++j) sum[j] += ta[stage][t / 32 + 8 * j][i] * tb[stage][i][t % 32];
        __syncthreads();
    }
    for (int j = 0; j < 4; ++j) c[(y0 + t / 32 + 8 * j) * n + x0 + t % 32] = sum[j];
}
__global__ void multiply_by_columns(int n, const float* a, const float* b, float* c) {   // threadIdx.x runs down a column
    const int y = int(blockIdx.x * blockDim.x + threadIdx.x), x = int(blockIdx.y);
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}
__global__ void rank_one(int n, const double* x, const double* y, double* a) {
    const int c = int(blockIdx.x * blockDim.x + threadIdx.x), r = int(blockIdx.y * blockDim.y + threadIdx.y);
    a[r * n + c] += x[r] * y[c];
}
__global__ void gemv_transposed(int n, const float* a, const float* x, float* y) {   // a column by a thread
    const int c = gid();
    float sum = 0;
    for (int r = 0; r < n; ++r) sum += a[r * n + c] * x[r];
    y[c] = sum;
}
__global__ void transpose_bytes(int n, const unsigned char* a, unsigned char* b) {
    __shared__ unsigned char tile[64][65];
    const int x = int(blockIdx.x) * 64, y = int(blockIdx.y) * 64;
    for (int k = int(threadIdx.x); k < 4096; k += 256) tile[k / 64][k % 64] = a[(y + k / 64) * n + x + k % 64];
    __syncthreads();
    for (int k = int(threadIdx.x); k < 4096; k += 256) b[(x + k / 64) * n + y + k % 64] = tile[k % 64][k / 64];
}
__global__ void transpose_plain(int n, const double* a, double* b) {
    const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
    b[x * n + y] = a[y * n + x];
}
__global__ void swap_axes(int c, int h, int w, const float* in, float* out) {   // NCHW to NHWC
    const int i = gid();
    if (i >= c * h * w) return;
    const int x = i % w, y = i / w % h, z = i / (w * h);
    out[(y * w + x) * c + z] = in[i];
}
__global__ void cholesky_column(int n, int k, float* a) {                   // one step, the trailing triangle
    const int c = k + 1 + int(blockIdx.x * blockDim.x + threadIdx.x), r = k + 1 + int(blockIdx.y * blockDim.y + threadIdx.y);
    if (c < n && r < n && c <= r) a[r * n + c] -= a[r * n + k] * a[c * n + k];
}

// --- grids ------------------------------------------------------------------------------------------------------------------
__global__ void heat_tile(int w, int h, const float* a, float* b) {         // 16 × 16 with a halo in shared memory
    __shared__ float tile[18][18];
    const int tx = int(threadIdx.x), ty = int(threadIdx.y), x = int(blockIdx.x) * 16 + tx, y = int(blockIdx.y) * 16 + ty;
    tile[ty + 1][tx + 1] = a[y * w + x];
    if (tx == 0) tile[ty + 1][0] = x > 0 ? a[y * w + x - 1] : 0;
    if (tx == 15) tile[ty + 1][17] = x < w - 1 ? a[y * w + x + 1] : 0;
    if (ty == 0) tile[0][tx + 1] = y > 0 ? a[(y - 1) * w + x] : 0;
    if (ty == 15) tile[17][tx + 1] = y < h - 1 ? a[(y + 1) * w + x] : 0;
    __syncthreads();
    b[y * w + x] = tile[ty + 1][tx + 1] + 0.125f * (tile[ty][tx + 1] + tile[ty + 2][tx + 1] + tile[ty + 1][tx] + tile[ty + 1][tx + 2] - 4 * tile[ty + 1][tx + 1]);
}
__global__ void wave_3d(int n, const float* __restrict__ u, const float* __restrict__ before, float* __restrict__ next) {   // a point a thread, radius 2
    const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y), z = int(blockIdx.z);
    if (x < 2 || y < 2 || z < 2 || x >= n - 2 || y >= n - 2 || z >= n - 2) return;
    const int at = (z * n + y) * n + x;
    float sum = -u[at] * 6;
    for (int r = 1; r <= 2; ++r) sum += (u[at - r] + u[at + r] + u[at - r * n] + u[at + r * n] + u[at - r * n * n] + u[at + r * n * n]) / r;
    next[at] = 2 * u[at] - before[at] + 0.25f * sum;
}
__global__ void lattice(int n, const float* in, float* out) {               // nine populations, arrays of their own, pulled
    const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y);
    float f[9], sum = 0;
    for (int k = 0; k < 9; ++k) {
        const int sx = (x - (k % 3 - 1) + n) % n, sy = (y - (k / 3 - 1) + n) % n;
        f[k] = in[(k * n + sy) * n + sx];
        sum += f[k];
    }
    for (int k = 0; k < 9; ++k) out[(k * n + y) * n + x] = 0.5f * f[k] + sum / 32;
}
__global__ void median_3x3(int w, int h, const unsigned char* a, unsigned char* b) {
    const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    unsigned char v[9];
    for (int k = 0; k < 9; ++k) v[k] = a[(y + k / 3 - 1) * w + x + k % 3 - 1];
    for (int i = 0; i < 5; ++i)
        for (int j = i + 1; j < 9; ++j)
            if (v[j] < v[i]) {
                const unsigned char t = v[i];
                v[i] = v[j], v[j] = t;
            }
    b[y * w + x] = v[4];
}
__global__ void integral_rows(int w, const int* a, int* b) {                // a row by a warp, running sums
    const int row = int(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32), lane = int(threadIdx.x) % 32;
    int carry = 0;
    for (int c = lane; c < w; c += 32) {
        int v = a[row * w + c];
        for (int step = 1; step < 32; step *= 2) {
            const int before = __shfl_up_sync(~0u, v, step);
            if (lane >= step) v += before;
        }
        b[row * w + c] = v + carry;
        carry += __shfl_sync(~0u, v, 31);
    }
}
__global__ void pool_2x2(int w, int h, const float* a, float* b) {
    const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= w / 2 || y >= h / 2) return;
    const float2 top = *(const float2*)&a[2 * y * w + 2 * x], bottom = *(const float2*)&a[(2 * y + 1) * w + 2 * x];
    b[y * (w / 2) + x] = fmaxf(fmaxf(top.x, top.y), fmaxf(bottom.x, bottom.y));
}
__global__ void warp_image(cudaTextureObject_t image, int w, int h, float* out) {   // turned by 45 degrees
    const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
    if (x < w && y < h) out[y * w + x] = tex2D<float>(image, (x + y) * 0.5f, (y - x) * 0.5f + h / 2);
}
__global__ void through_texture(cudaTextureObject_t line, int n, const int* index, float* out) {
    const int i = gid();
    if (i < n) out[i] = tex1Dfetch<float>(line, index[i] & 0xffff);
}
__global__ void onto_surface(cudaSurfaceObject_t surface, int w, int h, const float* a) {
    const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
    if (x < w && y < h) surf2Dwrite(a[y * w + x] * 2, surface, x * 4, y);
}
__global__ void off_surface(cudaSurfaceObject_t surface, int w, int h, float* a) {
    const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
    if (x < w && y < h) a[y * w + x] = surf2Dread<float>(surface, x * 4, y);
}

// --- neural networks --------------------------------------------------------------------------------------------------------
__global__ void gelu_half(int n, const __half2* x, __half2* y) {
    const int i = gid();
    if (i >= n) return;
    const float2 v = __half22float2(x[i]);
    y[i] = __floats2half2_rn(fmaxf(v.x, 0) * 2, fmaxf(v.y, 0) * 2);
}
__global__ void bias_by_channel(int n, int channels, const float* bias, float* x) {
    const int i = gid();
    if (i < n) x[i] += bias[i % channels];
}
__global__ void attention_scores(int length, const float* q, const float* k, float* out) {   // 64 a head, a warp for a query, a lane for a key
    const int query = int(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32), lane = int(threadIdx.x) % 32;
    for (int key = lane; key < length; key += 32) {
        float sum = 0;
        for (int d = 0; d < 64; ++d) sum += q[query * 64 + d] * k[key * 64 + d];
        out[query * length + key] = sum;
    }
}
__global__ void batch_norm(int n, int channels, const float* x, float* means) {   // a channel by a block, x of N × C × 256
    __shared__ float part[8];
    float sum = 0;
    for (int i = int(threadIdx.x); i < n * 256; i += int(blockDim.x)) sum += x[(i / 256 * channels + int(blockIdx.x)) * 256 + i % 256];
    for (int other = 16; other > 0; other /= 2) sum += __shfl_down_sync(~0u, sum, other);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < int(blockDim.x) / 32; ++w) sum += part[w];
        means[blockIdx.x] = sum;
    }
}
__global__ void dequantize(int n, const signed char* q, const float* scale, float* out) {   // groups of 64
    const int i = gid() * 4;
    if (i >= n) return;
    const char4 v = *(const char4*)&q[i];
    const float s = scale[i / 64];
    *(float4*)&out[i] = make_float4(v.x * s, v.y * s, v.z * s, v.w * s);
}
__global__ void image_to_columns(int w, int h, const float* a, float* columns) {   // 3 × 3
    const int i = gid();
    if (i >= w * h) return;
    const int x = i % w, y = i / w;
    for (int k = 0; k < 9; ++k) {
        const int sx = x + k % 3 - 1, sy = y + k / 3 - 1;
        columns[k * w * h + i] = sx >= 0 && sy >= 0 && sx < w && sy < h ? a[sy * w + sx] : 0;
    }
}

// --- private and shared memory ----------------------------------------------------------------------------------------------
__global__ void private_histogram(int n, const unsigned char* x, int* out) {   // sixteen bins a thread, indexed: local memory
    int bins[16] = {};
    for (int i = gid(); i < n; i += threads()) ++bins[x[i] & 15];
    for (int k = 0; k < 16; ++k) atomicAdd(&out[k], bins[k]);
}
__global__ void __launch_bounds__(256, 8) polynomial(int n, const float* x, float* y) {   // more live values than registers
    const int i = gid();
    float v[40];
    for (int k = 0; k < 40; ++k) v[k] = x[k * n + i];
    for (int round = 0; round < 2; ++round)
        for (int k = 0; k < 40; ++k) v[k] = v[k] * 0.5f + v[(k * 7 + 3) % 40];
    for (int k = 0; k < 40; ++k) y[k * n + i] = v[k];
}
__global__ void few_blocks_fit(int n, const float* x, float* y) {           // 96 KiB of shared memory a block
    extern __shared__ float mine[];
    for (int i = gid(); i < n; i += threads()) {
        mine[threadIdx.x] = x[i];
        __syncwarp();
        y[i] = mine[threadIdx.x ^ 1];
        __syncwarp();
    }
}
__global__ void column_in_shared(int n, const int* x, int* y) {             // 32 × 32 without padding
    __shared__ int tile[32][32];
    const int tx = int(threadIdx.x), ty = int(threadIdx.y), at = int(blockIdx.x) * 1024;
    tile[ty][tx] = x[at + ty * 32 + tx];
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 32; ++k) sum += tile[tx][k];
    y[at + ty * 32 + tx] = sum;
}
__global__ void __cluster_dims__(4, 1, 1) through_the_cluster(int n, const int* x, int* y) {
    __shared__ int mine[256];
    const cg::cluster_group cluster = cg::this_cluster();
    const int i = gid();
    mine[threadIdx.x] = x[i];
    cluster.sync();
    const int* theirs = cluster.map_shared_rank(mine, (cluster.block_rank() + 1) % 4);
    y[i] = theirs[threadIdx.x] + mine[threadIdx.x];
    cluster.sync();
}
__global__ void from_the_host(int n, const int* x, int* y) {                // zero-copy
    const int i = gid();
    if (i < n) y[i] = x[i] + 1;
}
__global__ void two_rounds(int n, int* x, int* y) {                         // cooperative: the whole grid waits
    const cg::grid_group grid = cg::this_grid();
    for (int i = gid(); i < n; i += threads()) x[i] += 1;
    grid.sync();
    for (int i = gid(); i < n; i += threads()) y[i] = x[n - 1 - i];
}

// --- the program ------------------------------------------------------------------------------------------------------------
template <class T>
T* device(const std::vector<T>& values) {
    T* out;
    CHECK(cudaMalloc(&out, values.size() * sizeof(T)));
    CHECK(cudaMemcpy(out, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return out;
}
template <class T>
T* zeros(size_t n) {
    T* out;
    CHECK(cudaMalloc(&out, n * sizeof(T)));
    CHECK(cudaMemset(out, 0, n * sizeof(T)));
    return out;
}
template <class T>
void sum(const char* name, const T* result, size_t n) {
    std::vector<T> values(n);
    CHECK(cudaMemcpy(values.data(), result, n * sizeof(T), cudaMemcpyDeviceToHost));
    double total = 0;
    for (size_t i = 0; i < n; ++i) total += double(values[i]) * double(i % 7 + 1);
    std::printf("%s %.5g\n", name, total);
}
unsigned state = 7;
unsigned random_bits() {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

int main() {
    const int n = 1 << 20, big = 1 << 23, side = 1024, grid = n / 256;
    std::vector<int> ints(n), picks(n), sorted_a(n), sorted_b(n), near_picks(n), places(n), first(n / 16 + 1), to;
    std::vector<float> floats(big), small(n);
    std::vector<unsigned char> bytes(4 * n);
    std::vector<Node> tree((1 << 16) - 1);
    for (int i = 0; i < n; ++i) {
        ints[i] = int(random_bits() & 0xffff);
        picks[i] = int(random_bits() & (n - 1));
        near_picks[i] = (i & ~1023) | int(random_bits() & 1023);
        places[i] = int((unsigned(i) * 77777u) & (n - 1));
        sorted_a[i] = i * 3, sorted_b[i] = i * 2 + i % 2;
        small[i] = float(int(random_bits() & 15) - 8);
    }
    for (int i = 0; i < big; ++i) floats[i] = float(i * 7 & 63);
    for (auto& byte : bytes) byte = (unsigned char)random_bits();
    for (int v = 0; v < n / 16; ++v) {
        first[v] = int(to.size());
        for (int k = int(random_bits() % 24); k > 0; --k) to.push_back(int((unsigned(v) + random_bits() % 512) & (n / 16 - 1)));
    }
    first[n / 16] = int(to.size());
    for (int at = 0, low_bits = 16; at < int(tree.size()); ++at) {          // a full tree in the order of a heap, keys in order
        int depth = 0;
        while ((2 << depth) <= at + 1) ++depth;
        const int across = at + 1 - (1 << depth), step = 1 << (low_bits - depth);
        const bool leaf = 2 * at + 2 >= int(tree.size());
        tree[at] = {across * step + step / 2, leaf ? -1 : 2 * at + 1, leaf ? -1 : 2 * at + 2, at};
    }

    const int *x = device(ints), *pick = device(picks), *near = device(near_picks), *place = device(places), *a = device(sorted_a), *b = device(sorted_b);
    const int *row = device(first), *edge = device(to);
    const float *f = device(floats), *g = device(small);
    const unsigned char* bytes_in = device(bytes);
    const Node* nodes = device(tree);
    const double* doubles = (const double*)zeros<double>(big / 2);
    CHECK(cudaMemset((void*)doubles, 0x3f, big * 4));
    float *out = zeros<float>(big), *more = zeros<float>(big);
    int *iout = (int*)out, *imore = (int*)more;
    const auto clear = [&](size_t bytes) { CHECK(cudaMemset(out, 0, bytes)); };
    const dim3 tile(32, 8), tiles(side / 32, side / 8);

    triad<<<big / 4 / 256, 256>>>(big / 4, 2, doubles, doubles + big / 4, (double*)out), sum("triad", (unsigned*)out, n);
    fill<<<264, 1024>>>(big / 4, (int4*)out, 3), sum("fill", iout, big);
    clear(8), dot<<<132, 256>>>(n, doubles, doubles + n, (double*)out), sum("dot", (double*)out, 1);
    clear(8), most_and_where<<<264, 256>>>(n, x, (unsigned long long*)out), sum("most_and_where", iout, 2);
    CHECK(cudaMemcpy(out, f, n * 8, cudaMemcpyDeviceToDevice));
    complex_product<<<n / 2 / 256, 256>>>(n / 2, (const double2*)doubles, (double2*)out), sum("complex_product", out, 2 * n);
    interleave<<<grid, 256>>>(n, (const short*)x, (const short*)x + n, (short2*)out), sum("interleave", (short*)out, 2 * n);
    planes_of_pixels<<<grid, 256>>>(n, (const uchar4*)bytes_in, (unsigned char*)out, (unsigned char*)out + n, (unsigned char*)out + 2 * n), sum("planes_of_pixels", (unsigned char*)out, 3 * n);
    CHECK(cudaMemcpy(out, f, n * 24, cudaMemcpyDeviceToDevice));
    drift<<<grid / 4, 256>>>(n / 4, (Particle*)out, 0.5f), sum("drift", out, n);
    every_third<<<grid, 256>>>(n, f, out), sum("every_third", out, n);
    shift_rows<<<dim3(4, 1000), 256>>>(1000, 1000, f, out), sum("shift_rows", out, 1000000);
    copy_volatile<<<grid, 256>>>(n, x, iout), sum("copy_volatile", iout, n);
    copy_past<<<grid, 256>>>(n, (const float4*)f, (float4*)out), sum("copy_past", out, 4 * n);
    persistent_chunks<<<264, 256>>>(n, (n + 263) / 264, x, iout), sum("persistent_chunks", iout, n);
    small_block<<<n / 8 / 32, 32>>>(n / 8, x, iout), sum("small_block", iout, n / 8);
    one_block<<<1, 1024>>>(n / 4, x, iout), sum("one_block", iout, 1);

    gather<<<grid, 256>>>(n, pick, f, out), sum("gather", out, n);
    gather<<<grid, 256>>>(n, near, f, out), sum("gather_near", out, n);
    gather_quads<<<grid, 256>>>(n, pick, (const float4*)f, (float4*)out), sum("gather_quads", out, 4 * n);
    scatter<<<grid, 256>>>(n, near, f, out);                                    // places collide: no checksum
    scatter<<<grid, 256>>>(n, place, f, out), sum("scatter", out, n);
    permute_bits<<<grid, 256>>>(20, (const float2*)f, (float2*)out), sum("permute_bits", out, 2 * n);
    butterfly<<<grid / 2, 256>>>(16, (float2*)out), sum("butterfly_16", out, 2 * n);
    butterfly<<<grid / 2, 256>>>(1 << 16, (float2*)out), sum("butterfly_65536", out, 2 * n);
    neighbours_mean<<<n / 16 * 8 / 256, 256>>>(n / 16, row, edge, f, out), sum("neighbours_mean", out, n / 16);
    merge_path<<<2 * n / 8 / 128, 128>>>(n, a, b, iout), sum("merge_path", iout, 2 * n);
    descend<<<grid / 4, 256>>>(n / 4, x, nodes, iout), sum("descend", iout, n / 4);

    count_digits<<<grid, 256>>>(n, 8, (const unsigned*)x, iout), sum("count_digits", iout, 16 * grid);
    clear(1 << 18), add_floats<<<grid, 256>>>(n, pick, out), sum("add_floats", out, 1 << 16);
    clear(n * 2), add_doubles_in_order<<<grid, 256>>>(n, (double*)out), sum("add_doubles_in_order", (double*)out, n / 4);
    clear(n);
    CHECK(cudaMemset(more, 0, 4));
    tickets<<<grid / 4, 256>>>(n / 4, imore, iout), sum("tickets", iout, n / 4);
    CHECK(cudaMemset(out, 0x7f, 4096));
    lowest<<<grid / 2, 256>>>(n / 2, pick, x, iout), sum("lowest", iout, 1024);
    clear(n / 8), mark_bits<<<grid / 2, 256>>>(n / 2, pick, (unsigned*)out), sum("mark_bits", (unsigned*)out, n / 32);

    scan_warps<<<grid, 256>>>(n, x, iout), sum("scan_warps", iout, n);
    CHECK(cudaMemcpy(out, x, n * 4, cudaMemcpyDeviceToDevice));
    bitonic_block<<<n / 1024, 512>>>(iout), sum("bitonic_block", iout, n);

    CHECK(cudaMemset(more, 0x40, n * 4));
    multiply_tensor<<<dim3(32, 8), dim3(32, 4)>>>(512, (const __half*)more, (const __half*)more + 512 * 512, out), sum("multiply_tensor", out, 512 * 512);
    multiply_async<<<dim3(16, 16), 256>>>(512, f, g, out), sum("multiply_async", out, 512 * 512);
    multiply_by_columns<<<dim3(2, 256), 128>>>(256, f, g, out), sum("multiply_by_columns", out, 256 * 256);
    clear(n * 8), rank_one<<<tiles, tile>>>(side, doubles, doubles, (double*)out), sum("rank_one", (unsigned*)out, 2 * n);
    gemv_transposed<<<16, 128>>>(2048, f, g, out), sum("gemv_transposed", out, 2048);
    transpose_bytes<<<dim3(32, 32), 256>>>(2048, bytes_in, (unsigned char*)out), sum("transpose_bytes", (unsigned char*)out, 4 * n);
    transpose_plain<<<tiles, tile>>>(side, doubles, (double*)out), sum("transpose_plain", (unsigned*)out, 2 * n);
    swap_axes<<<grid, 256>>>(16, 256, 256, f, out), sum("swap_axes", out, n);
    CHECK(cudaMemcpy(out, f, n * 4, cudaMemcpyDeviceToDevice));
    cholesky_column<<<dim3(64, 64), dim3(16, 16)>>>(side, 5, out), sum("cholesky_column", out, n);

    heat_tile<<<dim3(64, 64), dim3(16, 16)>>>(side, side, f, out), sum("heat_tile", out, n);
    clear(n * 8), wave_3d<<<dim3(4, 32, 128), dim3(32, 4)>>>(128, f, f + 2 * n, out), sum("wave_3d", out, 2 * n);
    lattice<<<dim3(2, 512), 256>>>(512, f, out), sum("lattice", out, 9 * 512 * 512);
    clear(n), median_3x3<<<tiles, tile>>>(side, side, bytes_in, (unsigned char*)out), sum("median_3x3", (unsigned char*)out, n);
    integral_rows<<<side / 4, 128>>>(side, x, iout), sum("integral_rows", iout, n);
    pool_2x2<<<dim3(side / 64, side / 16), tile>>>(side, side, f, out), sum("pool_2x2", out, n / 4);
    {
        const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
        cudaArray_t image, plain;
        CHECK(cudaMallocArray(&image, &format, side, side));
        CHECK(cudaMallocArray(&plain, &format, side, side, cudaArraySurfaceLoadStore));
        CHECK(cudaMemcpy2DToArray(image, 0, 0, f, side * 4, side * 4, side, cudaMemcpyDeviceToDevice));
        cudaTextureObject_t of_image, of_line;
        cudaSurfaceObject_t surface;
        cudaResourceDesc resource{};
        cudaTextureDesc how{};
        how.readMode = cudaReadModeElementType, how.filterMode = cudaFilterModePoint;
        resource.resType = cudaResourceTypeArray, resource.res.array.array = image;
        CHECK(cudaCreateTextureObject(&of_image, &resource, &how, nullptr));
        resource.res.array.array = plain;
        CHECK(cudaCreateSurfaceObject(&surface, &resource));
        resource.resType = cudaResourceTypeLinear;
        resource.res.linear.devPtr = (void*)f, resource.res.linear.desc = format, resource.res.linear.sizeInBytes = 1 << 18;
        CHECK(cudaCreateTextureObject(&of_line, &resource, &how, nullptr));
        warp_image<<<tiles, tile>>>(of_image, side, side, out), sum("warp_image", out, n);
        through_texture<<<grid, 256>>>(of_line, n, pick, out), sum("through_texture", out, n);
        onto_surface<<<tiles, tile>>>(surface, side, side, f);
        off_surface<<<tiles, tile>>>(surface, side, side, out), sum("off_surface", out, n);
    }

    CHECK(cudaMemset(more, 0x3c, n * 4));
    gelu_half<<<grid, 256>>>(n, (const __half2*)more, (__half2*)out), sum("gelu_half", (unsigned short*)out, 2 * n);
    clear(n * 4), bias_by_channel<<<grid, 256>>>(n, 96, g, out), sum("bias_by_channel", out, n);
    attention_scores<<<32, 128>>>(512, f, g, out), sum("attention_scores", out, 128 * 512);
    batch_norm<<<64, 256>>>(64, 64, g, out), sum("batch_norm", out, 64);
    dequantize<<<n / 4 / 256, 256>>>(n, (const signed char*)bytes_in, g, out), sum("dequantize", out, n);
    image_to_columns<<<n / 4 / 256, 256>>>(512, 512, f, out), sum("image_to_columns", out, 9 * 512 * 512);

    clear(64), private_histogram<<<132, 128>>>(n, bytes_in, iout), sum("private_histogram", iout, 16);
    polynomial<<<n / 8 / 256, 256>>>(n / 8, f, out), sum("polynomial", out, 40 * (n / 8));
    CHECK(cudaFuncSetAttribute(few_blocks_fit, cudaFuncAttributeMaxDynamicSharedMemorySize, 96 << 10));
    few_blocks_fit<<<132, 256, 96 << 10>>>(n, f, out), sum("few_blocks_fit", out, n);
    column_in_shared<<<n / 1024, dim3(32, 32)>>>(n, x, iout), sum("column_in_shared", iout, n);
    through_the_cluster<<<grid, 256>>>(n, x, iout), sum("through_the_cluster", iout, n);
    int* host;
    CHECK(cudaHostAlloc(&host, n, cudaHostAllocMapped));
    for (int i = 0; i < n / 4; ++i) host[i] = ints[i];
    from_the_host<<<grid / 4, 256>>>(n / 4, host, iout), sum("from_the_host", iout, n / 4);
    clear(n * 4);
    int count = n;
    void* arguments[] = {&count, &iout, &imore};
    CHECK(cudaMemset(more, 0, n * 4));
    CHECK(cudaLaunchCooperativeKernel((const void*)two_rounds, dim3(264), dim3(256), arguments, 0, nullptr));
    sum("two_rounds", imore, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}
