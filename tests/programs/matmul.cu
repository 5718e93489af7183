// Matrix products: naive and tiled, float and double.
#include <vector>

#include "check.h"

template <class T>
__global__ void naive(const T* a, const T* b, T* c, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n) return;
    T sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

template <class T>
__global__ void tiled(const T* a, const T* b, T* c, int n) {
    __shared__ T ta[16][16], tb[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    T sum = 0;
    for (int tile = 0; tile < n; tile += 16) {
        ta[threadIdx.y][threadIdx.x] = row < n && tile + threadIdx.x < n ? a[row * n + tile + threadIdx.x] : T(0);
        tb[threadIdx.y][threadIdx.x] = column < n && tile + threadIdx.y < n ? b[(tile + threadIdx.y) * n + column] : T(0);
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = sum;
}

template <class T>
void run(const char* name) {
    const int n = 75;
    std::vector<T> a(n * n), b(n * n), c(n * n);
    for (int i = 0; i < n * n; ++i) { a[i] = T(i % 7 - 3); b[i] = T(i % 5 - 2); }   // small integers: every order of summation is exact
    T *da, *db, *dc;
    CHECK(cudaMalloc(&da, n * n * sizeof(T))); CHECK(cudaMalloc(&db, n * n * sizeof(T))); CHECK(cudaMalloc(&dc, n * n * sizeof(T)));
    CHECK(cudaMemcpy(da, a.data(), n * n * sizeof(T), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b.data(), n * n * sizeof(T), cudaMemcpyHostToDevice));
    dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
    for (int kind = 0; kind < 2; ++kind) {
        CHECK(cudaMemset(dc, 0, n * n * sizeof(T)));
        if (kind) tiled<<<grid, block>>>(da, db, dc, n); else naive<<<grid, block>>>(da, db, dc, n);
        CHECK(cudaMemcpy(c.data(), dc, n * n * sizeof(T), cudaMemcpyDeviceToHost));
        int wrong = 0;
        for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) {
            T sum = 0;
            for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
            wrong += sum != c[i * n + j];
        }
        std::printf("%s %s: %d wrong\n", name, kind ? "tiled" : "naive", wrong);
    }
}

int main() { run<float>("float"); run<double>("double"); run<int>("int"); }
// OUT: float naive: 0 wrong
// OUT: float tiled: 0 wrong
// OUT: double naive: 0 wrong
// OUT: double tiled: 0 wrong
// OUT: int naive: 0 wrong
// OUT: int tiled: 0 wrong
