// Templates, functors, lambdas, constexpr, variadic templates on the device.
#include <vector>

#include "check.h"

template <class T, class F>
__global__ void transform(const T* in, T* out, int n, F f) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = f(in[i]);
}

struct Scale { float factor; __device__ float operator()(float x) const { return factor * x; } };

template <int N> struct Power { __host__ __device__ static constexpr long long of(long long x) { return x * Power<N - 1>::of(x); } };
template <> struct Power<0> { __host__ __device__ static constexpr long long of(long long) { return 1; } };

template <class... Ts> __device__ int sum(Ts... values) { return (0 + ... + int(values)); }

template <class T> struct Traits;
template <> struct Traits<int> { static constexpr int code = 1; };
template <> struct Traits<double> { static constexpr int code = 2; };

template <class T> __global__ void several(T x, long long* out) {
    out[0] = Power<5>::of(3);
    out[1] = sum(1, 2.5, 'a', x);
    out[2] = Traits<T>::code;
    auto twice = [](auto v) { return v + v; };
    out[3] = twice(21);
}

int main() {
    std::vector<float> values(1000), result(1000);
    for (int i = 0; i < 1000; ++i) values[i] = float(i);
    float *in, *out; long long *answers, host[4];
    CHECK(cudaMalloc(&in, 4000)); CHECK(cudaMalloc(&out, 4000)); CHECK(cudaMalloc(&answers, 32));
    CHECK(cudaMemcpy(in, values.data(), 4000, cudaMemcpyHostToDevice));
    transform<<<3, 64>>>(in, out, 1000, Scale{2.5f});
    CHECK(cudaMemcpy(result.data(), out, 4000, cudaMemcpyDeviceToHost));
    std::printf("scaled %g\n", result[999]);
    float shift = 100;
    transform<<<2, 128>>>(in, out, 1000, [=] __device__(float x) { return x + shift; });
    CHECK(cudaMemcpy(result.data(), out, 4000, cudaMemcpyDeviceToHost));
    std::printf("shifted %g\n", result[999]);
    several<<<1, 1>>>(7, answers);
    CHECK(cudaMemcpy(host, answers, 32, cudaMemcpyDeviceToHost));
    std::printf("%lld %lld %lld %lld\n", host[0], host[1], host[2], host[3]);
    several<<<1, 1>>>(7.9, answers);
    CHECK(cudaMemcpy(host, answers, 32, cudaMemcpyDeviceToHost));
    std::printf("%lld %lld %lld %lld\n", host[0], host[1], host[2], host[3]);
}
// FLAGS: --extended-lambda
// sum: 1 + 2 + 97 + 7 = 107
// OUT: scaled 2497.5
// OUT: shifted 1099
// OUT: 243 107 1 42
// OUT: 243 107 2 42
