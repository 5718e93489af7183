__device__ __forceinline__ float leaf(const float* p, int i) {
    return p[i];
}
__device__ __forceinline__ float mid(const float* p, int i) {
    float a = leaf(p, i);
    return a + leaf(p, i + 64);
}
__global__ void outer(const float* p, float* q) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    q[i] = mid(p, i) +
           mid(p, i + 1000);
}
__global__ void plain(float* q) { q[threadIdx.x] *= 2; }
