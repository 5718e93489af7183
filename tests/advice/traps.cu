// Kernels that need no advice: what looks wasteful here costs nothing, or is as good as it gets.
__device__ int thread() { return blockIdx.x * blockDim.x + threadIdx.x; }
struct Triple { float x, y, z; };
struct Quad { float x, y, z, w; };
struct Pair { double x, y; };
__global__ void offset_by_one(const float* a, float* o) { o[thread()] = a[thread() + 1]; }
__global__ void records_of_three(const Triple* p, float* o) { o[thread()] = p[thread()].x + p[thread()].y + p[thread()].z; }
__global__ void records_of_four(const Quad* p, float* o) { o[thread()] = p[thread()].x + p[thread()].y + p[thread()].z + p[thread()].w; }
__global__ void records_of_two_doubles(const Pair* p, double* o) { o[thread()] = p[thread()].x + p[thread()].y; }
__global__ void uniform(const float* a, float* o) { o[thread()] = *a + thread(); }
__global__ void copy(const float* a, float* o) { o[thread()] = a[thread()]; }
__global__ void stencil(const float* a, float* o, int n) { int i = thread() + 1; if (i < n - 1) o[i] = a[i-1] + a[i] + a[i+1]; }
__global__ void padded_tile(const float* in, float* out, int n) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
    out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void matmul(const float* a, const float* b, float* c, int n) {
    const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

int main() {
    constexpr int n = 1 << 20, blocks = n / 256;
    float *a, *o;
    if (cudaMalloc(&a, 64 << 20) != cudaSuccess || cudaMalloc(&o, 64 << 20) != cudaSuccess || cudaMemset(a, 0, 64 << 20) != cudaSuccess) return 1;
    offset_by_one<<<blocks, 256>>>(a, o);
    records_of_three<<<blocks, 256>>>((Triple*)a, o);
    records_of_four<<<blocks, 256>>>((Quad*)a, o);
    records_of_two_doubles<<<blocks, 256>>>((Pair*)a, (double*)o);
    uniform<<<blocks, 256>>>(a, o);
    copy<<<blocks, 256>>>(a, o);
    stencil<<<blocks, 256>>>(a, o, n);
    padded_tile<<<dim3(32, 32), dim3(32, 32)>>>(a, o, 1024);
    matmul<<<dim3(8, 32), dim3(32, 8)>>>(a, o, a + n, 256);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
