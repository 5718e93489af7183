// Sums a square matrix twice: down its columns, where the lanes of a warp read neighbours, and along its rows, where each lane
// reads 4 KiB away from the next. Same bytes, same answer; one of the two lines moves eight times the sectors.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                    \
    do {                                                                               \
        const cudaError_t error = (call);                                              \
        if (error != cudaSuccess) {                                                    \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
            std::exit(1);                                                              \
        }                                                                              \
    } while (0)

constexpr int kSide = 1024;

__global__ void sum_columns(const float* matrix, float* sums) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int row = 0; row < kSide; ++row)
        sum += matrix[row * kSide + column];
    sums[column] = sum;
}

__global__ void sum_rows(const float* matrix, float* sums) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int column = 0; column < kSide; ++column)
        sum += matrix[row * kSide + column];
    sums[row] = sum;
}

int main() {
    std::vector<float> matrix(kSide * kSide), columns(kSide), rows(kSide);
    for (int i = 0; i < kSide * kSide; ++i) matrix[i] = i % 7;

    float *on_gpu, *sums;
    CHECK(cudaMalloc(&on_gpu, matrix.size() * sizeof(float)));
    CHECK(cudaMalloc(&sums, kSide * sizeof(float)));
    CHECK(cudaMemcpy(on_gpu, matrix.data(), matrix.size() * sizeof(float), cudaMemcpyHostToDevice));
    sum_columns<<<kSide / 128, 128>>>(on_gpu, sums);
    CHECK(cudaMemcpy(columns.data(), sums, kSide * sizeof(float), cudaMemcpyDeviceToHost));
    sum_rows<<<kSide / 128, 128>>>(on_gpu, sums);
    CHECK(cudaMemcpy(rows.data(), sums, kSide * sizeof(float), cudaMemcpyDeviceToHost));

    double total[3] = {0, 0, 0};
    for (int i = 0; i < kSide * kSide; ++i) total[0] += matrix[i];
    for (int i = 0; i < kSide; ++i) total[1] += columns[i], total[2] += rows[i];
    const bool right = total[1] == total[0] && total[2] == total[0];
    std::printf("%s: the matrix sums to %.0f by columns and to %.0f by rows\n", right ? "right" : "WRONG", total[1], total[2]);
    return right ? 0 : 1;
}
