// What the three steps share: a matrix of 1024 × 1024 numbers is transposed once, and the result is checked.
#pragma once

#include <cstdio>
#include <vector>

inline int run(void (*transpose)(const float*, float*, int)) {
    constexpr int n = 1024;
    constexpr size_t kBytes = sizeof(float) * n * n;
    std::vector<float> in(n * n), out(n * n);
    for (int i = 0; i < n * n; ++i) in[i] = float(i);
    float *from = nullptr, *to = nullptr;
    bool right = cudaMalloc(&from, kBytes) == cudaSuccess && cudaMalloc(&to, kBytes) == cudaSuccess;
    right &= cudaMemcpy(from, in.data(), kBytes, cudaMemcpyHostToDevice) == cudaSuccess;
    transpose<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(from, to, n);
    right &= cudaMemcpy(out.data(), to, kBytes, cudaMemcpyDeviceToHost) == cudaSuccess;
    for (int y = 0; y < n; ++y)
        for (int x = 0; x < n; ++x) right &= out[x * n + y] == in[y * n + x];
    std::printf("%s\n", right ? "right" : "WRONG");
    return right ? 0 : 1;
}
