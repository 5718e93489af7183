// Peak and effective bandwidth: read, write, copy, scale, add, triad and dot with accesses of 4, 8 and 16 bytes, on arrays that fit in L2
// and on arrays that don't; every result verified. Arguments: small=MEBIBYTES large=MEBIBYTES repeats=N (of one array)
#include "../lab.h"

constexpr int kBlock = 512;

template <class T> __host__ __device__ inline T splat(float v);
template <> __host__ __device__ inline float splat<float>(float v) { return v; }
template <> __host__ __device__ inline float2 splat<float2>(float v) { return make_float2(v, v); }
template <> __host__ __device__ inline float4 splat<float4>(float v) { return make_float4(v, v, v, v); }
__device__ inline float total(float v) { return v; }
__device__ inline float total(float2 v) { return v.x + v.y; }
__device__ inline float total(float4 v) { return (v.x + v.y) + (v.z + v.w); }
__device__ inline float axpy(float s, float x, float y) { return s * x + y; }
__device__ inline float2 axpy(float s, float2 x, float2 y) { return make_float2(s * x.x + y.x, s * x.y + y.y); }
__device__ inline float4 axpy(float s, float4 x, float4 y) {
    return make_float4(s * x.x + y.x, s * x.y + y.y, s * x.z + y.z, s * x.w + y.w);
}

/// Elements that one thread handles: enough loads in flight to cover the latency of DRAM at full bandwidth (Little's law).
template <class T> constexpr int kEach = sizeof(T) == 16 ? 4 : 8;

/// Each block works on one contiguous piece; a thread's elements lie a block apart, so every access of a warp is contiguous. The
/// kernels load everything first (an array of kEach in registers) and then store, so that the loads overlap.
template <class T>
__device__ inline size_t first_element() { return size_t(blockIdx.x) * kBlock * kEach<T> + threadIdx.x; }

template <class T>
__global__ void __launch_bounds__(kBlock) bw_read(const T* a, float* out) {
    const size_t i = first_element<T>();
    T v[kEach<T>];
#pragma unroll
    for (int k = 0; k < kEach<T>; ++k) v[k] = a[i + size_t(k) * kBlock];
    float sum = 0;
#pragma unroll
    for (int k = 0; k < kEach<T>; ++k) sum += total(v[k]);
    if (sum == -1.0f) out[blockIdx.x] = sum;  // never, but the compiler can't know: only the reads count
}
template <class T>
__global__ void __launch_bounds__(kBlock) bw_write(T* c) {
    const size_t i = first_element<T>();
#pragma unroll
    for (int k = 0; k < kEach<T>; ++k) c[i + size_t(k) * kBlock] = splat<T>(3.0f);
}
template <class T>
__global__ void __launch_bounds__(kBlock) bw_copy(const T* a, T* c) {
    const size_t i = first_element<T>();
    T v[kEach<T>];
#pragma unroll
    for (int k = 0; k < kEach<T>; ++k) v[k] = a[i + size_t(k) * kBlock];
#pragma unroll
    for (int k = 0; k < kEach<T>; ++k) c[i + size_t(k) * kBlock] = v[k];
}
template <class T>
__global__ void __launch_bounds__(kBlock) bw_scale(const T* a, T* c, float s) {
    const size_t i = first_element<T>();
    T v[kEach<T>];
#pragma unroll
    for (int k = 0; k < kEach<T>; ++k) v[k] = a[i + size_t(k) * kBlock];
#pragma unroll
    for (int k = 0; k < kEach<T>; ++k) c[i + size_t(k) * kBlock] = axpy(s, v[k], splat<T>(0.0f));
}
template <class T>
__global__ void __launch_bounds__(kBlock) bw_add(const T* a, const T* b, T* c) {
    const size_t i = first_element<T>();
    T x[kEach<T>], y[kEach<T>];
#pragma unroll
    for (int k = 0; k < kEach<T>; ++k) x[k] = a[i + size_t(k) * kBlock], y[k] = b[i + size_t(k) * kBlock];
#pragma unroll
    for (int k = 0; k < kEach<T>; ++k) c[i + size_t(k) * kBlock] = axpy(1.0f, y[k], x[k]);
}
template <class T>
__global__ void __launch_bounds__(kBlock) bw_triad(const T* a, const T* b, T* c, float s) {
    const size_t i = first_element<T>();
    T x[kEach<T>], y[kEach<T>];
#pragma unroll
    for (int k = 0; k < kEach<T>; ++k) x[k] = a[i + size_t(k) * kBlock], y[k] = b[i + size_t(k) * kBlock];
#pragma unroll
    for (int k = 0; k < kEach<T>; ++k) c[i + size_t(k) * kBlock] = axpy(s, y[k], x[k]);
}
template <class T>
__global__ void __launch_bounds__(kBlock) bw_dot(const T* a, const T* b, float* out) {
    const size_t i = first_element<T>();
    T x[kEach<T>], y[kEach<T>];
#pragma unroll
    for (int k = 0; k < kEach<T>; ++k) x[k] = a[i + size_t(k) * kBlock], y[k] = b[i + size_t(k) * kBlock];
    float sum = 0;
    const float *xs = reinterpret_cast<const float*>(x), *ys = reinterpret_cast<const float*>(y);
#pragma unroll
    for (int k = 0; k < kEach<T> * int(sizeof(T) / 4); ++k) sum += xs[k] * ys[k];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
    __shared__ float warps[kBlock / 32];
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < kBlock / 32; ++w) sum += warps[w];
        out[blockIdx.x] = sum;
    }
}

struct Arrays {
    float *a, *b, *c, *parts;
};

template <class T>
void measure(const Arrays& arrays, size_t mib, const char* size, int repeats) {
    const size_t bytes = mib << 20, n = bytes / 4;
    const unsigned grid = unsigned(bytes / sizeof(T) / (kBlock * kEach<T>));
    const T *a = reinterpret_cast<T*>(arrays.a), *b = reinterpret_cast<T*>(arrays.b);
    T* c = reinterpret_cast<T*>(arrays.c);
    const auto report = [&](const char* kernel, double streams, bool correct, const lab::Timing& timing) {
        lab::Case(kernel).with("size", size).with("mib", double(mib)).with("width", double(sizeof(T))).with(timing, streams * double(bytes)).correct(correct);
    };
    // a is 1 and b is 2 everywhere: each result is one number, compared on every element.
    const auto holds = [&](float expected) {
        for (float value : lab::host(arrays.c, n))
            if (value != expected) return false;
        return true;
    };
    const auto run = [&](const char* kernel, double streams, float expected, auto launch) {
        CHECK(cudaMemset(c, 0xFF, bytes));
        const lab::Timing timing = lab::timed(repeats, launch);
        report(kernel, streams, holds(expected), timing);
    };
    report("bw_read", 1, true, lab::timed(repeats, [&] { bw_read<T><<<grid, kBlock>>>(a, arrays.parts); }));
    run("bw_write", 1, 3, [&] { bw_write<T><<<grid, kBlock>>>(c); });
    run("bw_copy", 2, 1, [&] { bw_copy<T><<<grid, kBlock>>>(a, c); });
    run("bw_scale", 2, 5, [&] { bw_scale<T><<<grid, kBlock>>>(a, c, 5); });
    run("bw_add", 3, 3, [&] { bw_add<T><<<grid, kBlock>>>(a, b, c); });
    run("bw_triad", 3, 11, [&] { bw_triad<T><<<grid, kBlock>>>(a, b, c, 5); });
    const lab::Timing timing = lab::timed(repeats, [&] { bw_dot<T><<<grid, kBlock>>>(a, b, arrays.parts); });
    double sum = 0;
    for (float part : lab::host(arrays.parts, grid)) sum += part;
    report("bw_dot", 2, sum == 2.0 * double(n), timing);
}

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv);
    const size_t small = arguments.number("small", 8), large = arguments.number("large", 1024);
    const int repeats = int(arguments.number("repeats", 21));
    arguments.done();

    int clock_khz = 0, bits = 0;
    CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrMemoryClockRate, 0));
    CHECK(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, 0));
    lab::Case("peak").with("bus_bits", bits).with("memory_mhz", clock_khz / 1e3).with("peak_gbs", bits / 8.0 * clock_khz * 2 / 1e6);

    const size_t most = std::max(small, large) << 18;
    const Arrays arrays{lab::device(std::vector<float>(most, 1)), lab::device(std::vector<float>(most, 2)), lab::device<float>(most),
                        lab::device<float>(most / kBlock)};
    measure<float>(arrays, small, "l2", repeats);
    measure<float2>(arrays, small, "l2", repeats);
    measure<float4>(arrays, small, "l2", repeats);
    measure<float>(arrays, large, "dram", repeats);
    measure<float2>(arrays, large, "dram", repeats);
    measure<float4>(arrays, large, "dram", repeats);
    return lab::finish();
}
