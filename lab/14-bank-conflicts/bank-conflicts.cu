// Shared memory's 32 banks: strides, structures, padding, and accesses of 8 and 16 bytes. Arguments: blocks=N
#include "../lab.h"

constexpr int kBlock = 256;
template <int words>
struct Record { float field[words]; };

/// Lane i reads word i × stride.
template <int stride>
__global__ void read_stride(float* out) {
    __shared__ float s[kBlock * stride];
    for (int i = threadIdx.x; i < kBlock * stride; i += kBlock) s[i] = float(i);
    __syncthreads();
    out[blockIdx.x * kBlock + threadIdx.x] = s[threadIdx.x * stride];
}
/// Each thread changes the first field of its own record.
template <int words>
__global__ void record_field(float* out) {
    __shared__ Record<words> s[kBlock];
    s[threadIdx.x].field[0] = float(threadIdx.x * words);
    __syncthreads();
    out[blockIdx.x * kBlock + threadIdx.x] = s[threadIdx.x ^ 1].field[0];
}
/// Writes a 32 × 32 tile by rows and reads it by columns; `pad` words more a row.
template <int pad>
__global__ void read_columns(float* out) {
    __shared__ float s[32][32 + pad];
    for (int row = threadIdx.x / 32; row < 32; row += kBlock / 32) s[row][threadIdx.x % 32] = float(row * 32 + threadIdx.x % 32);
    __syncthreads();
    float sum = 0;
    for (int column = threadIdx.x / 32; column < 32; column += kBlock / 32) sum += s[threadIdx.x % 32][column];
    out[blockIdx.x * kBlock + threadIdx.x] = sum;
}
/// Neighbouring lanes read neighbouring elements of 4, 8 or 16 bytes.
template <class T>
__global__ void read_wide(T* out) {
    __shared__ T s[kBlock];
    T value{};
    *reinterpret_cast<float*>(&value) = float(threadIdx.x);
    s[threadIdx.x] = value;
    __syncthreads();
    out[blockIdx.x * kBlock + threadIdx.x] = s[threadIdx.x ^ 1];
}
/// All lanes read one word: a broadcast, not a conflict.
__global__ void read_same(float* out) {
    __shared__ float s[kBlock];
    s[threadIdx.x] = float(threadIdx.x);
    __syncthreads();
    out[blockIdx.x * kBlock + threadIdx.x] = s[threadIdx.x / 32];
}

static int blocks = 64;
static float* out = nullptr;

template <class Expected>
void report(const char* kernel, const char* parameter, int value, const lab::Timing& timing, int words, Expected expected) {
    const std::vector<float> got = lab::host(out, size_t(blocks) * kBlock * words);
    bool correct = true;
    for (int i = 0; i < blocks * kBlock; ++i) correct &= got[size_t(i) * words] == float(expected(i % kBlock));
    lab::Case(kernel).with(parameter, value).with(timing).correct(correct);
}
template <int stride>
void stride_case() {
    report("read_stride", "stride", stride, lab::timed(1, [] { read_stride<stride><<<blocks, kBlock>>>(out); }), 1, [](int i) { return i * stride; });
}
template <int words>
void record_case() {
    report("record_field", "words", words, lab::timed(1, [] { record_field<words><<<blocks, kBlock>>>(out); }), 1, [](int i) { return (i ^ 1) * words; });
}
template <int pad>
void column_case() {
    report("read_columns", "pad", pad, lab::timed(1, [] { read_columns<pad><<<blocks, kBlock>>>(out); }), 1, [](int i) {
        int sum = 0;
        for (int column = i / 32; column < 32; column += kBlock / 32) sum += i % 32 * 32 + column;
        return sum;
    });
}
template <class T>
void wide_case() {
    report("read_wide", "width", sizeof(T), lab::timed(1, [] { read_wide<T><<<blocks, kBlock>>>(reinterpret_cast<T*>(out)); }), sizeof(T) / 4,
           [](int i) { return i ^ 1; });
}

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv);
    blocks = int(arguments.number("blocks", blocks));
    arguments.done();
    out = lab::device<float>(size_t(blocks) * kBlock * 4);
    stride_case<1>(), stride_case<2>(), stride_case<3>(), stride_case<4>(), stride_case<5>(), stride_case<8>();
    stride_case<16>(), stride_case<17>(), stride_case<32>(), stride_case<33>();
    record_case<1>(), record_case<2>(), record_case<3>(), record_case<4>(), record_case<5>();
    column_case<0>(), column_case<1>(), column_case<2>();
    wide_case<float>(), wide_case<float2>(), wide_case<float4>();
    report("read_same", "words", 1, lab::timed(1, [] { read_same<<<blocks, kBlock>>>(out); }), 1, [](int i) { return i / 32; });
    return lab::finish();
}
