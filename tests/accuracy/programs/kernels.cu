// Kernels as people write them, none of them made for one mechanism; counters recorded beside (../h200/kernels.csv).
// Prints a checksum of what each launch wrote: the same on hardware as emulated.
#include "check.h"

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

__device__ __forceinline__ int gid() { return int(blockIdx.x * blockDim.x + threadIdx.x); }
__device__ __forceinline__ int threads() { return int(gridDim.x * blockDim.x); }

// --- vectors ----------------------------------------------------------------------------------------------------------------
__global__ void saxpy(int n, float a, const float* __restrict__ x, float* __restrict__ y) {
    const int i = gid();
    if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void saxpy_quads(int n, float a, const float4* __restrict__ x, float4* __restrict__ y) {
    for (int i = gid(); i < n; i += threads()) {
        const float4 u = x[i];
        float4 v = y[i];
        v.x += a * u.x, v.y += a * u.y, v.z += a * u.z, v.w += a * u.w;
        y[i] = v;
    }
}
__global__ void haxpy(int n, __half2 a, const __half2* x, __half2* y) {
    for (int i = gid(); i < n; i += threads()) y[i] = __hfma2(a, x[i], y[i]);
}
__global__ void chunks(int n, const float* x, float* y) {              // eight neighbours a thread
    const int first = gid() * 8;
    for (int k = 0; k < 8; ++k)
        if (first + k < n) y[first + k] = x[first + k] * 2;
}
__global__ void reverse_in_shared(int n, const int* x, int* y) {
    __shared__ int tile[256];
    const int i = gid(), block = int(gridDim.x - 1 - blockIdx.x) * 256;
    tile[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    y[block + threadIdx.x] = tile[255 - threadIdx.x];
}
__global__ void unaligned_bytes(int n, const unsigned char* x, unsigned char* y) {
    const int i = gid();
    if (i < n) y[i + 3] = x[i + 5];
}
__global__ void gray(int n, const uchar3* in, unsigned char* out) {
    const int i = gid();
    if (i < n) {
        const uchar3 p = in[i];
        out[i] = (unsigned char)((77 * p.x + 151 * p.y + 28 * p.z) >> 8);
    }
}
__global__ void lookup_constant_table(int n, const int* pick, float* out);

// --- reductions, scans ------------------------------------------------------------------------------------------------------
__global__ void sum_tree(int n, const int* x, int* out) {
    __shared__ int part[256];
    const int i = int(blockIdx.x * 512 + threadIdx.x);
    part[threadIdx.x] = (i < n ? x[i] : 0) + (i + 256 < n ? x[i + 256] : 0);
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (int(threadIdx.x) < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
__global__ void sum_warps(int n, const int* x, int* out) {
    int sum = 0;
    for (int i = gid(); i < n; i += threads()) sum += x[i];
    for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_down_sync(~0u, sum, lane);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
__global__ void scan_block(int n, const int* x, int* y) {
    __shared__ int a[2][512];
    const int t = int(threadIdx.x), i = gid();
    a[0][t] = i < n ? x[i] : 0;
    int from = 0;
    for (int step = 1; step < 512; step *= 2) {
        __syncthreads();
        a[1 - from][t] = a[from][t] + (t >= step ? a[from][t - step] : 0);
        from = 1 - from;
    }
    if (i < n) y[i] = a[from][t];
}
__global__ void rows_sum_by_thread(int rows, int columns, const int* a, int* out) {
    const int row = gid();
    if (row >= rows) return;
    int sum = 0;
    for (int c = 0; c < columns; ++c) sum += a[row * columns + c];
    out[row] = sum;
}
__global__ void columns_sum_by_thread(int rows, int columns, const int* a, int* out) {
    const int column = gid();
    if (column >= columns) return;
    int sum = 0;
    for (int r = 0; r < rows; ++r) sum += a[r * columns + column];
    out[column] = sum;
}
__global__ void layer_norm(int rows, const float* x, float* y) {       // a row of 256 by a warp
    const int row = gid() / 32, lane = int(threadIdx.x) % 32;
    if (row >= rows) return;
    float v[8], sum = 0, squares = 0;
    for (int k = 0; k < 8; ++k) {
        v[k] = x[row * 256 + k * 32 + lane];
        sum += v[k], squares += v[k] * v[k];
    }
    for (int other = 16; other > 0; other /= 2) sum += __shfl_xor_sync(~0u, sum, other), squares += __shfl_xor_sync(~0u, squares, other);
    const float mean = sum / 256, scale = rsqrtf(squares / 256 - mean * mean + 1e-5f);
    for (int k = 0; k < 8; ++k) y[row * 256 + k * 32 + lane] = (v[k] - mean) * scale;
}
__global__ void softmax_row(int columns, const float* x, float* y) {   // a row by a block of 256
    __shared__ float part[8];
    const float* row = x + size_t(blockIdx.x) * columns;
    const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
    float most = -1e30f, sum = 0;
    for (int c = int(threadIdx.x); c < columns; c += 256) most = fmaxf(most, row[c]);
    for (int other = 16; other > 0; other /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, other));
    if (lane == 0) part[warp] = most;
    __syncthreads();
    for (int w = 0; w < 8; ++w) most = fmaxf(most, part[w]);
    __syncthreads();
    for (int c = int(threadIdx.x); c < columns; c += 256) sum += exp2f(row[c] - most);
    for (int other = 16; other > 0; other /= 2) sum += __shfl_xor_sync(~0u, sum, other);
    if (lane == 0) part[warp] = sum;
    __syncthreads();
    sum = 0;
    for (int w = 0; w < 8; ++w) sum += part[w];
    for (int c = int(threadIdx.x); c < columns; c += 256) y[size_t(blockIdx.x) * columns + c] = exp2f(row[c] - most) / sum;
}

// --- stencils, images -------------------------------------------------------------------------------------------------------
__global__ void stencil_shared_1d(int n, const int* x, int* y) {       // radius 4
    __shared__ int tile[256 + 8];
    const int i = gid(), t = int(threadIdx.x);
    tile[t + 4] = i < n ? x[i] : 0;
    if (t < 4) {
        tile[t] = i >= 4 ? x[i - 4] : 0;
        tile[t + 260] = i + 256 < n ? x[i + 256] : 0;
    }
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 9; ++k) sum += tile[t + k];
    if (i < n) y[i] = sum;
}
__global__ void jacobi(int w, int h, const float* __restrict__ a, float* __restrict__ b) {
    const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
    if (x > 0 && y > 0 && x < w - 1 && y < h - 1)
        b[y * w + x] = 0.25f * (a[y * w + x - 1] + a[y * w + x + 1] + a[(y - 1) * w + x] + a[(y + 1) * w + x]);
}
__global__ void stencil_3d(int w, int h, int d, const float* a, float* b) {   // marches along z
    const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
    if (x == 0 || y == 0 || x >= w - 1 || y >= h - 1) return;
    const int plane = w * h;
    int at = y * w + x;
    float below = a[at], here = a[at += plane];
    for (int z = 1; z < d - 1; ++z, at += plane) {
        const float above = a[at + plane];
        b[at] = here - 0.125f * (below + above + a[at - 1] + a[at + 1] + a[at - w] + a[at + w]);
        below = here, here = above;
    }
}
__constant__ float weights[25], table[1024];
__global__ void lookup_constant_table(int n, const int* pick, float* out) {
    const int i = gid();
    if (i < n) out[i] = table[pick[i] & 1023];
}
__global__ void convolve_5x5(int w, int h, const float* a, float* b) {
    const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= w - 4 || y >= h - 4) return;
    float sum = 0;
    for (int j = 0; j < 5; ++j)
        for (int i = 0; i < 5; ++i) sum += weights[j * 5 + i] * a[(y + j) * w + x + i];
    b[y * w + x] = sum;
}
__global__ void blur_tile(int w, int h, const float* a, float* b) {    // 3×3 by tiles of 32 × 8
    __shared__ float tile[10][34];
    const int x0 = int(blockIdx.x) * 32 - 1, y0 = int(blockIdx.y) * 8 - 1;
    for (int k = int(threadIdx.y * 32 + threadIdx.x); k < 340; k += 256) {
        const int x = min(max(x0 + k % 34, 0), w - 1), y = min(max(y0 + k / 34, 0), h - 1);
        tile[k / 34][k % 34] = a[y * w + x];
    }
    __syncthreads();
    float sum = 0;
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) sum += tile[threadIdx.y + j][threadIdx.x + i];
    b[(y0 + 1 + int(threadIdx.y)) * w + x0 + 1 + int(threadIdx.x)] = sum;
}
__global__ void life(int w, int h, const unsigned char* a, unsigned char* b) {
    const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
    int alive = 0;
    for (int j = -1; j <= 1; ++j)
        for (int i = -1; i <= 1; ++i)
            if (i != 0 || j != 0) alive += a[((y + j + h) % h) * w + (x + i + w) % w];
    b[y * w + x] = alive == 3 || (alive == 2 && a[y * w + x]);
}
__global__ void resize(cudaTextureObject_t image, int w, int h, float* out) {
    const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
    if (x < w && y < h) out[y * w + x] = tex2D<float>(image, (x + 0.5f) * 0.5f + 0.25f, (y + 0.5f) * 0.5f + 0.25f);
}
__global__ void slice(cudaTextureObject_t volume, int w, int h, float* out) {   // a tilted plane
    const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
    if (x < w && y < h) out[y * w + x] = tex3D<float>(volume, x + 0.5f, y + 0.5f, (x + y) * 0.5f + 0.5f);
}
__global__ void mandelbrot(int w, int h, int* out) {
    const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
    const float cx = x * 3.0f / w - 2, cy = y * 2.0f / h - 1;
    float u = 0, v = 0;
    int k = 0;
    for (; k < 64 && u * u + v * v < 4; ++k) {
        const float next = u * u - v * v + cx;
        v = 2 * u * v + cy, u = next;
    }
    out[y * w + x] = k;
}

// --- matrices ---------------------------------------------------------------------------------------------------------------
__global__ void multiply_plain(int n, const float* a, const float* b, float* c) {
    const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}
__global__ void multiply_tiled(int n, const float* a, const float* b, float* c) {
    __shared__ float ta[32][32], tb[32][32];
    const int x = int(blockIdx.x * 32 + threadIdx.x), y = int(blockIdx.y * 32 + threadIdx.y);
    float sum = 0;
    for (int t = 0; t < n; t += 32) {
        ta[threadIdx.y][threadIdx.x] = a[y * n + t + int(threadIdx.x)];
        tb[threadIdx.y][threadIdx.x] = b[(t + int(threadIdx.y)) * n + x];
        __syncthreads();
        for (int k = 0; k < 32; ++k) sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
        __syncthreads();
    }
    c[y * n + x] = sum;
}
__global__ void multiply_registers(int n, const float* a, const float* b, float* c) {   // 64 × 64 by 16 × 16 threads, 4 × 4 each
    __shared__ float ta[16][64 + 4], tb[16][64];
    const int tx = int(threadIdx.x), ty = int(threadIdx.y), t = ty * 16 + tx, x0 = int(blockIdx.x) * 64, y0 = int(blockIdx.y) * 64;
    float sum[4][4] = {};
    for (int k0 = 0; k0 < n; k0 += 16) {
        const float4 left = *(const float4*)&a[(y0 + t / 4) * n + k0 + t % 4 * 4];
        ta[t % 4 * 4][t / 4] = left.x, ta[t % 4 * 4 + 1][t / 4] = left.y, ta[t % 4 * 4 + 2][t / 4] = left.z, ta[t % 4 * 4 + 3][t / 4] = left.w;
        *(float4*)&tb[t / 16][t % 16 * 4] = *(const float4*)&b[(k0 + t / 16) * n + x0 + t % 16 * 4];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            const float4 u = *(const float4*)&ta[k][ty * 4], v = *(const float4*)&tb[k][tx * 4];
            const float p[4] = {u.x, u.y, u.z, u.w}, q[4] = {v.x, v.y, v.z, v.w};
            for (int j = 0; j < 4; ++j)
                for (int i = 0; i < 4; ++i) sum[j][i] += p[j] * q[i];
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; ++j) *(float4*)&c[(y0 + ty * 4 + j) * n + x0 + tx * 4] = make_float4(sum[j][0], sum[j][1], sum[j][2], sum[j][3]);
}
__global__ void gemv_by_warp(int rows, int columns, const double* a, const double* x, double* y) {
    const int row = gid() / 32, lane = int(threadIdx.x) % 32;
    if (row >= rows) return;
    double sum = 0;
    for (int c = lane; c < columns; c += 32) sum += a[row * columns + c] * x[c];
    for (int other = 16; other > 0; other /= 2) sum += __shfl_down_sync(~0u, sum, other);
    if (lane == 0) y[row] = sum;
}
template <int Tile, int Rows>
__global__ void transpose(int w, int h, const float* a, float* b) {
    __shared__ float tile[Tile][Tile + 1];
    const int x = int(blockIdx.x * Tile + threadIdx.x), y = int(blockIdx.y * Tile + threadIdx.y);
    for (int r = 0; r < Tile; r += Rows) tile[threadIdx.y + r][threadIdx.x] = a[(y + r) * w + x];
    __syncthreads();
    const int u = int(blockIdx.y * Tile + threadIdx.x), v = int(blockIdx.x * Tile + threadIdx.y);
    for (int r = 0; r < Tile; r += Rows) b[(v + r) * h + u] = tile[threadIdx.x][threadIdx.y + r];
}
__global__ void spmv_by_thread(int rows, const int* first, const int* column, const float* value, const float* x, float* y) {
    const int row = gid();
    if (row >= rows) return;
    float sum = 0;
    for (int k = first[row]; k < first[row + 1]; ++k) sum += value[k] * x[column[k]];
    y[row] = sum;
}
__global__ void spmv_by_warp(int rows, const int* first, const int* column, const float* value, const float* x, float* y) {
    const int row = gid() / 32, lane = int(threadIdx.x) % 32;
    if (row >= rows) return;
    float sum = 0;
    for (int k = first[row] + lane; k < first[row + 1]; k += 32) sum += value[k] * x[column[k]];
    for (int other = 16; other > 0; other /= 2) sum += __shfl_down_sync(~0u, sum, other);
    if (lane == 0) y[row] = sum;
}
__global__ void spmv_ell(int rows, int width, const int* column, const float* value, const float* x, float* y) {   // by columns
    const int row = gid();
    if (row >= rows) return;
    float sum = 0;
    for (int k = 0; k < width; ++k) sum += value[k * rows + row] * x[column[k * rows + row]];
    y[row] = sum;
}

// --- irregular --------------------------------------------------------------------------------------------------------------
__global__ void embed(int n, const int* word, const float* vectors, float* out) {   // rows of 64 floats
    const int i = gid();
    if (i < n * 64) out[i] = vectors[size_t(word[i / 64]) * 64 + i % 64];
}
__global__ void scatter_add(int n, const int* to, const int* x, int* sums, int mask) {
    const int i = gid();
    if (i < n) atomicAdd(&sums[to[i] & mask], x[i] & 7);
}
__global__ void histogram_global(int n, const unsigned char* x, int* bins) {
    for (int i = gid(); i < n; i += threads()) atomicAdd(&bins[x[i]], 1);
}
__global__ void histogram_shared(int n, const unsigned char* x, int* bins) {
    __shared__ int mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = gid(); i < n; i += threads()) atomicAdd(&mine[x[i]], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
__global__ void compact(int n, const int* x, int* out, int* count) {
    const int i = gid();
    const bool wanted = i < n && (x[i] & 3) == 0;
    const unsigned all = __ballot_sync(~0u, wanted);
    int base = 0;
    if (threadIdx.x % 32 == 0 && all) base = atomicAdd(count, __popc(all));
    base = __shfl_sync(~0u, base, 0);
    if (wanted) out[base + __popc(all & ((1u << threadIdx.x % 32) - 1))] = 1;
}
__global__ void search(int n, const int* wanted, int size, const int* sorted, int* found) {
    const int i = gid();
    if (i >= n) return;
    const int key = wanted[i] * 3;
    int low = 0, high = size;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (sorted[middle] < key) low = middle + 1;
        else high = middle;
    }
    found[i] = low;
}
__global__ void insert(int n, const int* keys, int* slots, unsigned mask) {   // open addressing
    const int i = gid();
    if (i >= n) return;
    unsigned at = unsigned(keys[i]) * 2654435761u >> 11;
    for (int tries = 0; tries < 32; ++tries, ++at) {
        const int before = atomicCAS(&slots[at & mask], -1, keys[i]);
        if (before == -1 || before == keys[i]) return;
    }
}
__global__ void expand(int n, const int* neighbour, const int* level, int* next) {   // eight edges a vertex, one step
    const int v = gid();
    if (v >= n || level[v] != 0) return;
    for (int k = 0; k < 8; ++k) {
        const int to = neighbour[v * 8 + k];
        if (level[to] < 0) next[to] = 1;
    }
}
__global__ void chase(int steps, const int* next, int* out) {
    int at = gid() * 61;
    for (int k = 0; k < steps; ++k) at = next[at];
    out[gid()] = at;
}
__global__ void bitonic_step(int* x, int distance, int block) {
    const int i = gid(), j = i ^ distance;
    if (j <= i) return;
    const int u = x[i], v = x[j];
    if ((u > v) == ((i & block) == 0)) x[i] = v, x[j] = u;
}
__global__ void sort_few(int n, const int* x, int* out) {                    // sixteen neighbours of a thread, in local memory
    int mine[16];
    const int i = gid();
    if (i >= n / 16) return;
    for (int k = 0; k < 16; ++k) mine[k] = x[k * (n / 16) + i];
    for (int k = 1; k < 16; ++k) {
        const int key = mine[k];
        int at = k - 1;
        while (at >= 0 && mine[at] > key) mine[at + 1] = mine[at], --at;
        mine[at + 1] = key;
    }
    for (int k = 0; k < 16; ++k) out[k * (n / 16) + i] = mine[k];
}
__global__ void lookup_shared_table(int n, const int* pick, const int* values, int* out) {
    __shared__ int copy[1024];
    for (int k = int(threadIdx.x); k < 1024; k += int(blockDim.x)) copy[k] = values[k];
    __syncthreads();
    for (int i = gid(); i < n; i += threads()) out[i] = copy[pick[i] & 1023];
}

// --- bodies -----------------------------------------------------------------------------------------------------------------
struct Body { float x, y, z, vx, vy, vz, mass, unused; };
__global__ void move_structs(int n, Body* bodies) {
    const int i = gid();
    if (i < n) {
        Body& b = bodies[i];
        b.x += b.vx * 0.5f, b.y += b.vy * 0.5f, b.z += b.vz * 0.5f;
    }
}
__global__ void move_arrays(int n, float* x, float* y, float* z, const float* vx, const float* vy, const float* vz) {
    const int i = gid();
    if (i < n) x[i] += vx[i] * 0.5f, y[i] += vy[i] * 0.5f, z[i] += vz[i] * 0.5f;
}
__global__ void attract(int n, const float4* bodies, float4* out) {
    __shared__ float4 tile[128];
    const int i = gid();
    const float4 me = bodies[i];
    float ax = 0, ay = 0, az = 0;
    for (int first = 0; first < n; first += 128) {
        tile[threadIdx.x] = bodies[first + int(threadIdx.x)];
        __syncthreads();
        for (int k = 0; k < 128; ++k) {
            const float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z, d = dx * dx + dy * dy + dz * dz + 1, pull = tile[k].w * rsqrtf(d * d * d);
            ax += dx * pull, ay += dy * pull, az += dz * pull;
        }
        __syncthreads();
    }
    out[i] = make_float4(ax, ay, az, me.w);
}
__global__ void price(int n, const float* spot, const float* strike, const float* years, float* call, float* put) {
    const int i = gid();
    if (i >= n) return;
    const float s = spot[i] + 1, k = strike[i] + 1, t = years[i] + 0.25f, root = sqrtf(t), d1 = (__logf(s / k) + 0.045f * t) / (0.3f * root), d2 = d1 - 0.3f * root;
    const auto normal = [](float d) {
        const float z = 1 / (1 + 0.2316419f * fabsf(d)), tail = 0.39894228f * __expf(-0.5f * d * d) * z * (0.31938153f + z * (-0.35656378f + z * (1.78147794f + z * (-1.82125598f + z * 1.33027443f))));
        return d > 0 ? 1 - tail : tail;
    };
    const float discounted = k * __expf(-0.02f * t);
    call[i] = s * normal(d1) - discounted * normal(d2);
    put[i] = discounted * (1 - normal(d2)) - s * (1 - normal(d1));
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
void sum(const char* name, const T* result, size_t n) {
    std::vector<T> values(n);
    CHECK(cudaMemcpy(values.data(), result, n * sizeof(T), cudaMemcpyDeviceToHost));
    double total = 0;
    for (size_t i = 0; i < n; ++i) total += double(values[i]) * double(i % 7 + 1);
    std::printf("%s %.5g\n", name, total);
}
void count_filled(const int* slots, size_t n) {
    std::vector<int> values(n);
    CHECK(cudaMemcpy(values.data(), slots, n * sizeof(int), cudaMemcpyDeviceToHost));
    size_t filled = 0;
    for (const int value : values) filled += value != -1;
    std::printf("insert %zu\n", filled);
}
unsigned state = 1;
unsigned random_bits() {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

int main() {
    const int n = 1 << 20, side = 1024;
    std::vector<int> ints(n + 64), picks(n), words(n / 64), sorted(n), neighbours(n), links(n), level(n, -1), empty(n, -1);
    std::vector<float> floats(2 * n), small(n);
    std::vector<double> doubles(n);
    std::vector<unsigned char> bytes(3 * n + 64), cells(n);
    std::vector<Body> bodies(n / 4);
    for (int i = 0; i < n + 64; ++i) ints[i] = int(random_bits() & 0xffff);
    for (int i = 0; i < n; ++i) {
        picks[i] = int(random_bits() & (n - 1));
        sorted[i] = i * 3;
        neighbours[i] = int(random_bits() & (n / 8 - 1));
        links[i] = int((unsigned(i) * 40503u + 12345u) & (n - 1));
        small[i] = float(int(random_bits() & 15) - 8);
        doubles[i] = double(random_bits() & 15);
        cells[i] = random_bits() % 3 == 0;
        if (random_bits() % 4 == 0) level[i] = 0;
    }
    for (int& word : words) word = int(random_bits() & (n / 32 - 1));
    for (int i = 0; i < 2 * n; ++i) floats[i] = float(random_bits() & 63);
    for (auto& byte : bytes) byte = (unsigned char)random_bits();
    for (auto& body : bodies) body = {small[&body - bodies.data()], 1, 2, 3, 4, 5, 6, 7};
    std::vector<int> first(n / 16 + 1), column;
    for (int row = 0; row < n / 16; ++row) {
        first[row] = int(column.size());
        for (int k = int(random_bits() % 31) + 1; k > 0; --k) column.push_back(int(random_bits() & (n / 16 - 1)));
    }
    first[n / 16] = int(column.size());
    column.resize(2 * n, 5);

    const int *x = device(ints), *pick = device(picks), *word = device(words), *table_sorted = device(sorted), *edge = device(neighbours), *link = device(links), *start = device(level);
    const int *row_first = device(first), *row_column = device(column);
    const float *f = device(floats), *g = device(small);
    const double* d = device(doubles);
    const unsigned char *b = device(bytes), *cell = device(cells);
    Body* body = device(bodies);
    int* slots = device(empty);
    float* out;
    float* more;
    CHECK(cudaMalloc(&out, size_t(n) * 16));
    CHECK(cudaMalloc(&more, size_t(n) * 16));
    CHECK(cudaMemset(out, 0, size_t(n) * 16));
    CHECK(cudaMemset(more, 0, size_t(n) * 16));
    CHECK(cudaMemcpyToSymbol(weights, small.data(), sizeof weights));
    CHECK(cudaMemcpyToSymbol(table, small.data(), sizeof table));
    int* iout = (int*)out;
    double* dout = (double*)out;
    unsigned char* bout = (unsigned char*)out;

    const int grid = n / 256;
    const dim3 tile(32, 8), tiles(side / 32, side / 8);
    saxpy<<<grid, 256>>>(n, 2, f, out), sum("saxpy", out, n);
    saxpy_quads<<<528, 256>>>(n / 2, 2, (const float4*)f, (float4*)out), sum("saxpy_quads", out, n);
    CHECK(cudaMemset(out, 0, n * 4));
    haxpy<<<264, 512>>>(n / 2, __float2half2_rn(1), (const __half2*)f, (__half2*)out), sum("haxpy", (unsigned short*)out, n);
    chunks<<<n / 8 / 128, 128>>>(n, f, out), sum("chunks", out, n);
    reverse_in_shared<<<grid, 256>>>(n, x, iout), sum("reverse_in_shared", iout, n);
    unaligned_bytes<<<grid, 256>>>(n, b, bout), sum("unaligned_bytes", bout, n);
    gray<<<grid, 256>>>(n, (const uchar3*)b, bout), sum("gray", bout, n);
    lookup_constant_table<<<grid / 4, 256>>>(n / 4, pick, out), sum("lookup_constant_table", out, n / 4);
    sum_tree<<<n / 512, 256>>>(n, x, iout), sum("sum_tree", iout, n / 512);
    CHECK(cudaMemset(out, 0, 4));
    sum_warps<<<264, 256>>>(n, x, iout), sum("sum_warps", iout, 1);
    scan_block<<<n / 512, 512>>>(n, x, iout), sum("scan_block", iout, n);
    rows_sum_by_thread<<<n / 64 / 128, 128>>>(n / 64, 64, x, iout), sum("rows_sum_by_thread", iout, n / 64);
    columns_sum_by_thread<<<64, 256>>>(64, n / 64, x, iout), sum("columns_sum_by_thread", iout, n / 64);
    layer_norm<<<n / 256 / 8, 256>>>(n / 256, g, out), sum("layer_norm", out, n);
    softmax_row<<<n / 1024, 256>>>(1024, g, out), sum("softmax_row", out, n);
    stencil_shared_1d<<<grid, 256>>>(n, x, iout), sum("stencil_shared_1d", iout, n);
    CHECK(cudaMemset(out, 0, n * 4));
    jacobi<<<tiles, tile>>>(side, side, f, out), sum("jacobi", out, n);
    CHECK(cudaMemset(out, 0, n * 8));
    stencil_3d<<<dim3(4, 16), dim3(32, 8)>>>(128, 128, 128, f, out), sum("stencil_3d", out, 2 * n);
    convolve_5x5<<<tiles, tile>>>(side, side, f, out), sum("convolve_5x5", out, n);
    blur_tile<<<tiles, tile>>>(side, side, f, out), sum("blur_tile", out, n);
    life<<<tiles, tile>>>(side, side, cell, bout), sum("life", bout, n);
    mandelbrot<<<dim3(16, 64), tile>>>(512, 512, iout), sum("mandelbrot", iout, n / 4);
    {
        const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
        cudaArray_t image, volume;
        CHECK(cudaMallocArray(&image, &format, 512, 512));
        CHECK(cudaMemcpy2DToArray(image, 0, 0, f, 2048, 2048, 512, cudaMemcpyDeviceToDevice));
        CHECK(cudaMalloc3DArray(&volume, &format, make_cudaExtent(128, 128, 128)));
        cudaMemcpy3DParms copy{};
        copy.srcPtr = make_cudaPitchedPtr((void*)f, 512, 128, 128), copy.dstArray = volume, copy.extent = make_cudaExtent(128, 128, 128), copy.kind = cudaMemcpyDeviceToDevice;
        CHECK(cudaMemcpy3D(&copy));
        cudaTextureObject_t of_image, of_volume;
        cudaResourceDesc resource{};
        cudaTextureDesc how{};
        how.readMode = cudaReadModeElementType, how.filterMode = cudaFilterModeLinear;
        resource.resType = cudaResourceTypeArray, resource.res.array.array = image;
        CHECK(cudaCreateTextureObject(&of_image, &resource, &how, nullptr));
        resource.res.array.array = volume, how.filterMode = cudaFilterModePoint;
        CHECK(cudaCreateTextureObject(&of_volume, &resource, &how, nullptr));
        resize<<<tiles, tile>>>(of_image, side, side, out), sum("resize", out, n);
        slice<<<dim3(4, 16), tile>>>(of_volume, 128, 128, out), sum("slice", out, 128 * 128);
    }
    multiply_plain<<<dim3(8, 32), tile>>>(256, f, g, out), sum("multiply_plain", out, 256 * 256);
    multiply_tiled<<<dim3(16, 16), dim3(32, 32)>>>(512, f, g, out), sum("multiply_tiled", out, 512 * 512);
    multiply_registers<<<dim3(8, 8), dim3(16, 16)>>>(512, f, g, out), sum("multiply_registers", out, 512 * 512);
    gemv_by_warp<<<side / 8, 256>>>(side, side, d, d, dout), sum("gemv_by_warp", dout, side);
    transpose<32, 8><<<dim3(32, 32), tile>>>(side, side, f, out), sum("transpose_32", out, n);
    transpose<64, 16><<<dim3(16, 16), dim3(64, 16)>>>(side, side, f, out), sum("transpose_64", out, n);
    spmv_by_thread<<<n / 16 / 128, 128>>>(n / 16, row_first, row_column, f, g, out), sum("spmv_by_thread", out, n / 16);
    spmv_by_warp<<<n / 16 / 8, 256>>>(n / 16, row_first, row_column, f, g, out), sum("spmv_by_warp", out, n / 16);
    spmv_ell<<<n / 16 / 128, 128>>>(n / 16, 16, row_column, f, g, out), sum("spmv_ell", out, n / 16);
    embed<<<grid, 256>>>(n / 64, word, f, out), sum("embed", out, n);
    CHECK(cudaMemset(out, 0, n * 4));
    scatter_add<<<grid / 2, 256>>>(n / 2, pick, x, iout, n - 1), sum("scatter_add", iout, n);
    CHECK(cudaMemset(out, 0, 4096 * 4));
    scatter_add<<<grid / 2, 256>>>(n / 2, pick, x, iout, 4095), sum("scatter_add", iout, 4096);
    CHECK(cudaMemset(out, 0, 1024));
    histogram_global<<<264, 256>>>(n, b, iout), sum("histogram_global", iout, 256);
    CHECK(cudaMemset(out, 0, 1024));
    histogram_shared<<<264, 256>>>(n, b, iout), sum("histogram_shared", iout, 256);
    CHECK(cudaMemset(more, 0, 4));
    CHECK(cudaMemset(out, 0, n * 4));
    compact<<<grid, 256>>>(n, x, iout, (int*)more), sum("compact", iout, n);
    search<<<grid / 4, 256>>>(n / 4, pick, n, table_sorted, iout), sum("search", iout, n / 4);
    insert<<<grid / 4, 256>>>(n / 4, pick, slots, n - 1), count_filled(slots, n);
    CHECK(cudaMemset(out, 0, n * 4));
    expand<<<n / 8 / 256, 256>>>(n / 8, edge, start, iout), sum("expand", iout, n / 8);
    chase<<<132, 128>>>(64, link, iout), sum("chase", iout, 132 * 128);
    CHECK(cudaMemcpy(iout, x, n * 4, cudaMemcpyDeviceToDevice));
    bitonic_step<<<grid, 256>>>(iout, 1, 2), sum("bitonic_step", iout, n);
    bitonic_step<<<grid, 256>>>(iout, 4096, 8192), sum("bitonic_step", iout, n);
    sort_few<<<n / 16 / 128, 128>>>(n, x, iout), sum("sort_few", iout, n);
    lookup_shared_table<<<264, 512>>>(n, pick, x, iout), sum("lookup_shared_table", iout, n);
    move_structs<<<n / 4 / 256, 256>>>(n / 4, body), sum("move_structs", (float*)body, 2 * n);
    CHECK(cudaMemset(out, 0, n * 8));
    move_arrays<<<grid / 2, 256>>>(n / 2, out, out + n / 2, out + n, f, f + n / 2, f + n), sum("move_arrays", out, n);
    attract<<<32, 128>>>(4096, (const float4*)f, (float4*)out), sum("attract", out, 4096 * 4);
    price<<<grid, 256>>>(n, f, f + n, f + n / 2, out, more), sum("price", out, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}
