#include <cmath>
#include <cstdio>
#include <vector>

#include "kernel.h"

int main() {
    const int n = 5000;
    std::vector<float> x(n), y(n, 1.0f);
    for (int i = 0; i < n; ++i) x[i] = float(i);
    float *device_x, *device_y;
    cudaMalloc(&device_x, n * sizeof(float));
    cudaMalloc(&device_y, n * sizeof(float));
    cudaMemcpy(device_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_y, y.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    saxpy(n, 2.0f, device_x, device_y);
    cudaMemcpy(y.data(), device_y, n * sizeof(float), cudaMemcpyDeviceToHost);
    float error = 0;
    for (int i = 0; i < n; ++i) error = std::fmax(error, std::fabs(y[i] - (2.0f * i + 1.0f)));
    std::printf("y[1000] = %.1f, largest error %g\n", y[1000], error);
    cudaFree(device_x);
    cudaFree(device_y);
    return 0;
}
