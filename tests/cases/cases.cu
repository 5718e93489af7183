// Questions that people who tune CUDA programs ask in public, each as a small kernel with a known answer; cases_test.cc holds the answers.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                             \
    do {                                                                                        \
        const cudaError_t error = (call);                                                       \
        if (error != cudaSuccess) {                                                             \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
            std::exit(1);                                                                       \
        }                                                                                       \
    } while (0)

__device__ int global_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

// 1: one thread an element of C; A is the same word for the warp, B neighbours
__global__ void matmul(const float* a, const float* b, float* c, int n) {
    const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
// 2: no lane, one lane, 8 lanes, 32 lanes in 32 lines
__global__ void few_lanes(const float* a, float* out, int lanes, int step) {
    if (int(threadIdx.x) < lanes) out[threadIdx.x] = a[threadIdx.x * step];
}
// 3
__global__ void copy(const float* a, float* out) { out[global_thread()] = a[global_thread()]; }
// 4
__global__ void uniform(const float* a, float* out) { out[global_thread()] = *a + global_thread(); }
// 5
struct Pair { double x, y; };
__global__ void pair_at_once(const double2* p, double* out) {
    const double2 v = p[global_thread()];
    out[global_thread()] = v.x + v.y;
}
__global__ void pair_by_field(const Pair* p, double* out) { out[global_thread()] = p[global_thread()].x + p[global_thread()].y; }
// 6
struct Loose { float x, y, z, w; };
__global__ void quad_at_once(const float4* p, float* out) {
    const float4 v = p[global_thread()];
    out[global_thread()] = v.x + v.y + v.z + v.w;
}
__global__ void quad_by_field(const Loose* p, float* out) {
    const Loose& v = p[global_thread()];
    out[global_thread()] = v.x + v.y + v.z + v.w;
}
// 7
struct Triple { float x, y, z; };
__global__ void triple(const Triple* p, float* out) {
    const Triple& v = p[global_thread()];
    out[global_thread()] = v.x + v.y + v.z;
}
// 8
struct Four { double a, b, c, d; };
__global__ void one_of_four(const Four* p, double* out) { out[global_thread()] = p[global_thread()].b; }
__global__ void all_of_four(const Four* p, double* out) {
    const Four& v = p[global_thread()];
    out[global_thread()] = (v.a + v.b) * (v.c + v.d);
}
// 9
__global__ void transpose_doubles(const double* in, double* out, int n) {
    __shared__ double tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.x][threadIdx.y] = in[y * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    out[y * n + x] = tile[threadIdx.y][threadIdx.x];
}
// 10
template <int Width>
__global__ void tile_column(float* out) {
    __shared__ float tile[32][Width];
    tile[threadIdx.y][threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
// 11: neighbours, and every eighth
__global__ void wide_shared(float4* out, int step) {
    __shared__ float4 tile[256];
    for (int i = threadIdx.x; i < 256; i += 32) tile[i] = make_float4(i, i, i, i);
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x * step];
}
// 12
__global__ void small_box(const float* a, float* out, int width) {
    const int x = blockIdx.x * 4 + threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    out[threadIdx.x + 4 * (threadIdx.y + 4 * threadIdx.z)] = a[(z * 4 + y) * width + x];
}
// 13
__global__ void byte_image(const unsigned char* image, unsigned char* out, int width) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (image[y * width + x] > 200) out[0] = 1;
}
// 14
__global__ void rows(const float* a, float* out, int columns, int pitch) {
    float sum = 0;
#pragma unroll 1  // unrolled, lane 31 would run ahead of the others
    for (int x = threadIdx.x; x < columns; x += 32) sum += a[blockIdx.x * pitch + x];
    if (sum < 0) out[0] = sum;
}
// 15
__global__ void red_channel(const unsigned char* rgb, int* out) {
    if (rgb[3 * global_thread()] > 200) out[0] = 1;
}
// 16
__global__ void local_array(const int* pick, float* out, bool same) {
    float scratch[64];
    for (int k = 0; k < 64; ++k) scratch[k] = k * 0.5f + threadIdx.x;
    const int i = same ? pick[0] : pick[threadIdx.x];
    scratch[i & 63] += 1;
    out[threadIdx.x] = scratch[(i * 5) & 63];
}
// 17
__global__ void every(const float* a, float* out, int n, int step) {
    const int i = global_thread() * step;
    if (i < n && a[i] < -1) out[0] = 1;
}
// 18
__global__ void gather(const int* index, const float* a, float* out) { out[global_thread()] = a[index[global_thread()]]; }
// 19
__global__ void offset_by_one(const float* a, float* out) { out[global_thread()] = a[global_thread() + 1]; }
// 20
__constant__ float table[64];
__global__ void constant_uniform(float* out, int k) { out[global_thread()] = table[k & 63]; }
__global__ void constant_by_lane(float* out) { out[global_thread()] = table[threadIdx.x & 31]; }
// 21
__global__ void tail(const float* a, float* out, int n) {
    if (global_thread() >= n) return;
    out[global_thread()] = a[global_thread()];
}

// every second lane is predicated off; lanes that ended before take no part
__global__ void predicated(const float* a, float* out) {
    if (threadIdx.x >= 48) return;
    if (threadIdx.x % 2 == 0) out[threadIdx.x] = a[threadIdx.x];
}

int main() {
    constexpr int kBytes = 16 << 20;
    char *a, *b, *out;
    CHECK(cudaMalloc(&a, kBytes));
    CHECK(cudaMalloc(&b, kBytes));
    CHECK(cudaMalloc(&out, kBytes));
    CHECK(cudaMemset(a, 0, kBytes));
    CHECK(cudaMemset(b, 0, kBytes));
    int sorted[1024], random[1024];
    for (int i = 0; i < 1024; ++i) sorted[i] = i, random[i] = int(i * 2654435761u >> 12);
    int *sorted_index, *random_index;
    CHECK(cudaMalloc(&sorted_index, sizeof sorted));
    CHECK(cudaMalloc(&random_index, sizeof random));
    CHECK(cudaMemcpy(sorted_index, sorted, sizeof sorted, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(random_index, random, sizeof random, cudaMemcpyHostToDevice));
    float *fa = (float*)a, *fb = (float*)b, *fo = (float*)out;

    matmul<<<dim3(2, 8), dim3(32, 8)>>>(fa, fb, fo, 64);
    few_lanes<<<1, 32>>>(fa, fo, 0, 1);
    few_lanes<<<2, 32>>>(fa, fo, 1, 1);
    few_lanes<<<3, 32>>>(fa, fo, 8, 1);
    few_lanes<<<4, 32>>>(fa, fo, 32, 32);
    copy<<<8, 128>>>(fa, fo);
    uniform<<<8, 128>>>(fa, fo);
    pair_at_once<<<8, 128>>>((double2*)a, (double*)out);
    pair_by_field<<<8, 128>>>((Pair*)a, (double*)out);
    quad_at_once<<<8, 128>>>((float4*)a, fo);
    quad_by_field<<<8, 128>>>((Loose*)a, fo);
    triple<<<8, 128>>>((Triple*)a, fo);
    one_of_four<<<8, 128>>>((Four*)a, (double*)out);
    all_of_four<<<8, 128>>>((Four*)a, (double*)out);
    transpose_doubles<<<dim3(8, 8), dim3(32, 32)>>>((double*)a, (double*)out, 256);
    tile_column<32><<<1, dim3(32, 32)>>>(fo);
    tile_column<33><<<1, dim3(32, 32)>>>(fo);
    wide_shared<<<1, 32>>>((float4*)out, 1);
    wide_shared<<<2, 32>>>((float4*)out, 8);
    small_box<<<16, dim3(4, 4, 6)>>>(fa, fo, 4096);
    byte_image<<<dim3(8, 8), dim3(16, 16)>>>((unsigned char*)a, (unsigned char*)out, 1024);
    byte_image<<<dim3(8, 8), dim3(32, 8)>>>((unsigned char*)a, (unsigned char*)out, 1024);
    rows<<<64, 32>>>(fa, fo, 511, 511);
    rows<<<128, 32>>>(fa, fo, 511, 512);
    red_channel<<<8, 128>>>((unsigned char*)a, (int*)out);
    local_array<<<1, 32>>>(sorted_index, fo, true);
    local_array<<<2, 32>>>(sorted_index, fo, false);
    every<<<4096, 256>>>(fa, fo, 1 << 20, 1);
    every<<<2048, 256>>>(fa, fo, 1 << 20, 2);
    gather<<<8, 128>>>(sorted_index, fa, fo);
    gather<<<4, 256>>>(random_index, fa, fo);
    offset_by_one<<<8, 128>>>(fa, fo);
    constant_uniform<<<8, 128>>>(fo, 5);
    constant_by_lane<<<8, 128>>>(fo);
    tail<<<1, 128>>>(fa, fo, 100);
    predicated<<<1, 64>>>(fa, fo);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    return 0;
}
