// Peak and effective bandwidth: read, write, copy, scale, add, triad, nstream and dot with accesses of 4, 8 and 16 bytes, and the driver's own
// copy, on arrays that fit in L2 and on arrays that don't; every result verified. Arguments: small=MEBIBYTES large=MEBIBYTES repeats=N (of
// one array)
#include "../lab.h"

constexpr int kBlock = 1024;

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
__device__ inline float dot(float x, float y) { return x * y; }
__device__ inline float dot(float2 x, float2 y) { return x.x * y.x + x.y * y.y; }
__device__ inline float dot(float4 x, float4 y) { return (x.x * y.x + x.y * y.y) + (x.z * y.z + x.w * y.w); }

// Bytes that one thread takes of each array. Enough loads in flight cover the latency of DRAM (Little's law): 2048 threads an SM with 16 bytes
// each are. Where reads and writes mix, small blocks of work keep the places that are read and written close together, which DRAM likes;
// reads alone gain a little from more.
constexpr int kReads = 64, kCopies = 32, kOthers = 16;

/// One thread's part of an array, N elements a block apart, so that every access of a warp is contiguous. All of it is loaded before anything
/// is stored, and marked to leave L2 first: nothing is used twice.
template <class T, int kBytes>
struct Part {
    static constexpr int N = kBytes / int(sizeof(T));
    T v[N];
    static __device__ size_t first() { return size_t(blockIdx.x) * kBlock * N + threadIdx.x; }
    __device__ void load(const T* from) {
#pragma unroll
        for (int k = 0; k < N; ++k) v[k] = __ldcs(from + first() + size_t(k) * kBlock);
    }
    __device__ void store(T* to) const {
#pragma unroll
        for (int k = 0; k < N; ++k) __stcs(to + first() + size_t(k) * kBlock, v[k]);
    }
    /// this = s × x + this
    __device__ void add(float s, const Part& x) {
#pragma unroll
        for (int k = 0; k < N; ++k) v[k] = axpy(s, x.v[k], v[k]);
    }
};

template <class T>
__global__ void __launch_bounds__(kBlock) bw_read(const T* a, float* out) {
    Part<T, kReads> x;
    x.load(a);
    float sum = 0;
#pragma unroll
    for (const T& v : x.v) sum += total(v);
    if (sum == -1.0f) out[blockIdx.x] = sum;  // never, but the compiler can't know: only the reads count
}
template <class T>
__global__ void __launch_bounds__(kBlock) bw_write(T* c, float value) {
    Part<T, kOthers> x;
#pragma unroll
    for (T& v : x.v) v = splat<T>(value);
    x.store(c);
}
template <class T>
__global__ void __launch_bounds__(kBlock) bw_copy(const T* a, T* c) {
    Part<T, kCopies> x;
    x.load(a);
    x.store(c);
}
template <class T>
__global__ void __launch_bounds__(kBlock) bw_scale(const T* a, T* c, float s) {
    Part<T, kCopies> x;
    x.load(a);
#pragma unroll
    for (T& v : x.v) v = axpy(s, v, splat<T>(0));
    x.store(c);
}
template <class T>
__global__ void __launch_bounds__(kBlock) bw_add(const T* a, const T* b, T* c) {
    Part<T, kOthers> x, y;
    x.load(a);
    y.load(b);
    x.add(1, y);
    x.store(c);
}
template <class T>
__global__ void __launch_bounds__(kBlock) bw_triad(const T* a, const T* b, T* c, float s) {
    Part<T, kOthers> x, y;
    x.load(a);
    y.load(b);
    x.add(s, y);
    x.store(c);
}
/// c = c + a + s × b: three arrays read, one written.
template <class T>
__global__ void __launch_bounds__(kBlock) bw_nstream(const T* a, const T* b, T* c, float s) {
    Part<T, kOthers> x, y, z;
    x.load(a);
    y.load(b);
    z.load(c);
    z.add(1, x);
    z.add(s, y);
    z.store(c);
}
template <class T>
__global__ void __launch_bounds__(kBlock) bw_dot(const T* a, const T* b, float* out) {
    Part<T, kReads> x, y;
    x.load(a);
    y.load(b);
    float sum = 0;
#pragma unroll
    for (int k = 0; k < x.N; ++k) sum += dot(x.v[k], y.v[k]);
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
    __shared__ float warps[kBlock / 32];
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < kBlock / 32; ++w) sum += warps[w];
        out[blockIdx.x] = sum;
    }
}

/// Arrays repeat a piece of small pseudo-random integers, so that whatever is computed is exact, and that gigabytes are filled and checked
/// through one pinned buffer.
struct Arrays {
    size_t piece;                           ///< floats
    std::vector<float> a_piece, b_piece;    ///< 0 … 15
    float *a, *b, *c, *parts;
    float* pinned;

    void fill(float* array, size_t count, const std::vector<float>& values) const {
        std::copy(values.begin(), values.end(), pinned);
        for (size_t at = 0; at < count; at += piece) CHECK(cudaMemcpy(array + at, pinned, piece * 4, cudaMemcpyHostToDevice));
    }
    bool holds(const float* array, size_t count, const std::vector<float>& values) const {
        bool same = true;
        for (size_t at = 0; at < count; at += piece) {
            CHECK(cudaMemcpy(pinned, array + at, piece * 4, cudaMemcpyDeviceToHost));
            same &= std::memcmp(pinned, values.data(), piece * 4) == 0;
        }
        return same;
    }
};

template <class T>
void measure(const Arrays& arrays, size_t mib, const char* size, int repeats) {
    constexpr double kSampleUs = 2000, s = 5;
    const size_t bytes = mib << 20, n = bytes / 4;
    const unsigned reads = unsigned(bytes / (kBlock * kReads)), copies = unsigned(bytes / (kBlock * kCopies)), others = unsigned(bytes / (kBlock * kOthers));
    const T *a = reinterpret_cast<T*>(arrays.a), *b = reinterpret_cast<T*>(arrays.b);
    T* c = reinterpret_cast<T*>(arrays.c);
    const auto report = [&](const char* kernel, double streams, bool correct, const lab::Timing& timing) {
        lab::Case(kernel).with("size", size).with("mib", double(mib)).with("width", double(sizeof(T))).with(timing, streams * double(bytes)).correct(correct);
    };
    const auto run = [&](const char* kernel, double streams, auto launch, auto expected) {
        CHECK(cudaMemset(c, 0xFF, bytes));
        const lab::Timing timing = lab::timed(repeats, launch, kSampleUs);
        std::vector<float> values(arrays.piece);
        for (size_t i = 0; i < values.size(); ++i) values[i] = float(expected(arrays.a_piece[i], arrays.b_piece[i]));
        report(kernel, streams, arrays.holds(arrays.c, n, values), timing);
    };
    report("bw_read", 1, true, lab::timed(repeats, [&] { bw_read<T><<<reads, kBlock>>>(a, arrays.parts); }, kSampleUs));
    run("bw_write", 1, [&] { bw_write<T><<<others, kBlock>>>(c, 3); }, [](float, float) { return 3; });
    run("bw_copy", 2, [&] { bw_copy<T><<<copies, kBlock>>>(a, c); }, [](float x, float) { return x; });
    run("bw_scale", 2, [&] { bw_scale<T><<<copies, kBlock>>>(a, c, s); }, [](float x, float) { return s * x; });
    run("bw_add", 3, [&] { bw_add<T><<<others, kBlock>>>(a, b, c); }, [](float x, float y) { return x + y; });
    run("bw_triad", 3, [&] { bw_triad<T><<<others, kBlock>>>(a, b, c, s); }, [](float x, float y) { return x + s * y; });
    // It changes what it reads, so that its result depends on how often it ran: it is checked on one run.
    const lab::Timing streams = repeats > 1 ? lab::timed(repeats, [&] { bw_nstream<T><<<others, kBlock>>>(a, b, c, s); }, kSampleUs) : lab::Timing{};
    if (repeats > 1) CHECK(cudaProfilerStop());
    CHECK(cudaMemset(c, 0, bytes));
    const lab::Timing once = lab::timed(1, [&] { bw_nstream<T><<<others, kBlock>>>(a, b, c, s); });
    if (repeats > 1) CHECK(cudaProfilerStart());
    std::vector<float> values(arrays.piece);
    for (size_t i = 0; i < values.size(); ++i) values[i] = float(arrays.a_piece[i] + s * arrays.b_piece[i]);
    report("bw_nstream", 4, arrays.holds(arrays.c, n, values), repeats > 1 ? streams : once);

    const lab::Timing timing = lab::timed(repeats, [&] { bw_dot<T><<<reads, kBlock>>>(a, b, arrays.parts); }, kSampleUs);
    double sum = 0, expected = 0;
    for (float part : lab::host(arrays.parts, reads)) sum += part;
    for (size_t i = 0; i < arrays.piece; ++i) expected += double(arrays.a_piece[i]) * arrays.b_piece[i];
    report("bw_dot", 2, sum == expected * double(n / arrays.piece), timing);
}

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv);
    const size_t small = arguments.number("small", 8), large = arguments.number("large", 4096);
    const int repeats = int(arguments.number("repeats", 21));
    arguments.done();

    int clock_khz = 0, bits = 0;
    CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrMemoryClockRate, 0));
    CHECK(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, 0));
    lab::Case("peak").with("bus_bits", bits).with("memory_mhz", clock_khz / 1e3).with("peak_gbs", bits / 8.0 * clock_khz * 2 / 1e6);

    Arrays arrays{};
    arrays.piece = std::min({small, large, size_t(64)}) << 18;
    lab::Random random;
    for (auto* piece : {&arrays.a_piece, &arrays.b_piece}) {
        piece->resize(arrays.piece);
        for (float& value : *piece) value = float(random.below(16));
    }
    const size_t most = std::max(small, large) << 18;
    arrays.a = lab::device<float>(most);
    arrays.b = lab::device<float>(most);
    arrays.c = lab::device<float>(most);
    arrays.parts = lab::device<float>(most / kBlock);
    CHECK(cudaMallocHost(&arrays.pinned, arrays.piece * 4));
    arrays.fill(arrays.a, most, arrays.a_piece);
    arrays.fill(arrays.b, most, arrays.b_piece);

    measure<float>(arrays, small, "l2", repeats);
    measure<float2>(arrays, small, "l2", repeats);
    measure<float4>(arrays, small, "l2", repeats);
    measure<float>(arrays, large, "dram", repeats);
    measure<float2>(arrays, large, "dram", repeats);
    measure<float4>(arrays, large, "dram", repeats);
    // The driver's copy, within the device.
    CHECK(cudaMemset(arrays.c, 0xFF, large << 20));
    const lab::Timing timing =
        lab::timed(repeats, [&] { CHECK(cudaMemcpyAsync(arrays.c, arrays.a, large << 20, cudaMemcpyDeviceToDevice)); }, 2000);
    lab::Case("cudaMemcpy").with("size", "dram").with("mib", double(large)).with(timing, 2.0 * double(large << 20))
        .correct(arrays.holds(arrays.c, large << 18, arrays.a_piece));
    return lab::finish();
}
