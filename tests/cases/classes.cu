// A kernel for each class of access; classes_test.cc holds what lanescope calls it.
__device__ int thread() { return blockIdx.x * blockDim.x + threadIdx.x; }
struct Record { float mass, charge, age; };
__constant__ float table[256];

__global__ void coalesced(const float* a, float* out) { out[thread()] = a[thread()]; }
__global__ void misaligned(const float* a, float* out) { out[thread()] = a[thread() + 3]; }
__global__ void strided(const float* a, float* out) { out[thread()] = a[5 * thread()]; }
__global__ void records(const Record* r, float* out) { out[thread()] = r[thread()].mass * r[thread()].age; }
__global__ void chunks(const float* a, float* out) {   // a thread walks 16 words of its own: no record
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < 16; ++k) sum += a[16 * thread() + k];
    out[thread()] = sum;
}
__global__ void broadcast(const float* a, float* out) { out[thread()] = a[blockIdx.x]; }
__global__ void groups(const float* a, float* out) { out[thread()] = a[thread() / 8]; }
__global__ void reversed(const float* a, float* out, int n) { out[thread()] = a[n - 1 - thread()]; }
__global__ void transposed(const float* a, float* out, int n) {
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    out[x * n + y] = a[y * n + x];
}
__global__ void transposed_16(const float* a, float* out, int n) {
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    out[x * n + y] = a[y * n + x];
}
__global__ void rows(const float* a, float* out, int n) {
    const int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    out[y * n + x] = a[y * n + x];
}
__global__ void gather(const float* a, float* out) { out[thread()] = a[thread() * 7919 % 4096]; }
__global__ void scatter(const float* a, float* out) { out[thread() * 7919 % 4096] = a[thread()]; }
__global__ void partial(const float* a, float* out) {
    if (threadIdx.x % 4 == 0) out[thread()] = a[thread()];
}
__global__ void mixed(const float* a, float* out) {    // three of four warps in order, the others anywhere
    out[thread()] = a[threadIdx.x < 96 ? thread() : thread() * 7919 % 4096];
}
__global__ void reread(const float* a, float* out) {   // each warp of each block reads the same 4 KiB
    float sum = 0;
    for (int k = 0; k < 32; ++k) sum += a[32 * k + threadIdx.x % 32];
    out[thread()] = sum;
}
__global__ void bank_stride(float* out) {
    __shared__ float words[1024];
    for (int i = threadIdx.x; i < 1024; i += 256) words[i] = i;
    __syncthreads();
    out[thread()] = words[4 * threadIdx.x];
}
__global__ void bank_layout(float* out) {
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void constant_same(float* out, int k) { out[thread()] = table[k]; }
__global__ void constant_apart(float* out) { out[thread()] = table[threadIdx.x % 8]; }
__global__ void local(const int* pick, float* out, bool same) {
    float mine[32];
    for (int k = 0; k < 32; ++k) mine[k] = k + threadIdx.x;
    mine[pick[same ? 0 : thread()] & 31] += 1;
    out[thread()] = mine[(pick[same ? 0 : thread()] + 1) & 31];
}
__global__ void atomic_one(const float* zero, int* out) { atomicAdd(out + int(zero[thread()]), 1); }   // the compiler can't know
__global__ void atomic_some(int* out) { atomicAdd(out + threadIdx.x % 8 * 64, 1); }

int main() {
    constexpr int n = 1024;
    float *a, *out;
    int* pick;
    if (cudaMalloc(&a, 4 << 20) != cudaSuccess || cudaMalloc(&out, 4 << 20) != cudaSuccess || cudaMalloc(&pick, 4096 * sizeof(int)) != cudaSuccess) return 1;
    int picks[4096];
    for (int i = 0; i < 4096; ++i) picks[i] = i * 7;
    if (cudaMemset(a, 0, 4 << 20) != cudaSuccess || cudaMemcpy(pick, picks, sizeof picks, cudaMemcpyHostToDevice) != cudaSuccess) return 1;
    coalesced<<<8, 128>>>(a, out);
    misaligned<<<8, 128>>>(a, out);
    strided<<<8, 128>>>(a, out);
    records<<<8, 128>>>((Record*)a, out);
    chunks<<<8, 128>>>(a, out);
    broadcast<<<8, 128>>>(a, out);
    groups<<<8, 128>>>(a, out);
    reversed<<<8, 128>>>(a, out, n);
    transposed<<<dim3(4, 16), dim3(32, 8)>>>(a, out, 128);
    transposed_16<<<dim3(8, 8), dim3(16, 16)>>>(a, out, 128);
    rows<<<dim3(16, 16), dim3(8, 8)>>>(a, out, 128);
    gather<<<8, 128>>>(a, out);
    scatter<<<32, 128>>>(a, out);
    partial<<<8, 128>>>(a, out);
    mixed<<<8, 128>>>(a, out);
    reread<<<256, 256>>>(a, out);
    bank_stride<<<1, 256>>>(out);
    bank_layout<<<1, dim3(32, 32)>>>(out);
    constant_same<<<8, 128>>>(out, 3);
    constant_apart<<<8, 128>>>(out);
    local<<<8, 128>>>(pick, out, true);
    local<<<9, 128>>>(pick, out, false);
    atomic_one<<<8, 128>>>(a, (int*)out);
    atomic_some<<<8, 128>>>((int*)out);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
