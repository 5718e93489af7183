// Errors of calls and of kernels, last error, sticky errors, reset.
#include <cstdio>

__global__ void fine(int* p) { *p = 1; }
__global__ void bounds(int* p, int i) { p[i] = 1; }
__global__ void big(int* p) { __shared__ int s[1024]; s[threadIdx.x] = 1; __syncthreads(); *p = s[0]; }

void say(const char* what, cudaError_t e) { std::printf("%s: %s (%s)\n", what, cudaGetErrorName(e), cudaGetErrorString(e)); }

int main() {
    int *p, *q;
    say("malloc", cudaMalloc(&p, 64));
    say("too much", cudaMalloc(&q, size_t(1) << 60));
    say("last", cudaGetLastError());
    say("last again", cudaGetLastError());
    fine<<<1, 2048>>>(p);
    say("block of 2048, peek", cudaPeekAtLastError());
    say("block of 2048", cudaGetLastError());
    fine<<<0, 1>>>(p);
    say("empty grid", cudaGetLastError());
    big<<<1, 32, 64 << 10>>>(p);
    say("64 KiB more", cudaGetLastError());
    say("bad kind", cudaMemcpy(p, p, 4, (cudaMemcpyKind)9));
    int h;
    say("swapped", cudaMemcpy(&h, p, 4, cudaMemcpyHostToDevice));
    say("too long", cudaMemcpy(&h, p, 128, cudaMemcpyDeviceToHost));
    say("bad device", cudaSetDevice(7));
    say("bad free", cudaFree((char*)p + 4));
    cudaGetLastError();
    fine<<<1, 1>>>(p);
    say("good launch", cudaDeviceSynchronize());
    bounds<<<1, 1>>>(p, 1 << 28);
    say("launch", cudaGetLastError());
    say("out of bounds", cudaDeviceSynchronize());
    say("sticky", cudaMalloc(&q, 4));
    say("reset", cudaDeviceReset());
    say("malloc", cudaMalloc(&p, 64));
    fine<<<1, 1>>>(p);
    say("after reset", cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost));
    std::printf("%d\n", h);
    bounds<<<1, 1>>>((int*)((char*)p + 2), 0);
    say("misaligned", cudaDeviceSynchronize());
    std::printf("%s, %s\n", cudaGetErrorString((cudaError_t)4242), cudaGetErrorName(cudaErrorNotSupported));
}
// OUT: malloc: cudaSuccess (no error)
// OUT: too much: cudaErrorMemoryAllocation (out of memory)
// OUT: last: cudaErrorMemoryAllocation (out of memory)
// OUT: last again: cudaSuccess (no error)
// OUT: block of 2048, peek: cudaErrorInvalidConfiguration (invalid configuration argument)
// OUT: block of 2048: cudaErrorInvalidConfiguration (invalid configuration argument)
// OUT: empty grid: cudaErrorInvalidConfiguration (invalid configuration argument)
// OUT: 64 KiB more: cudaErrorInvalidValue (invalid argument)
// OUT: bad kind: cudaErrorInvalidMemcpyDirection (invalid copy direction for memcpy)
// OUT: swapped: cudaErrorInvalidValue (invalid argument)
// OUT: too long: cudaErrorInvalidValue (invalid argument)
// OUT: bad device: cudaErrorInvalidDevice (invalid device ordinal)
// OUT: bad free: cudaErrorInvalidValue (invalid argument)
// OUT: good launch: cudaSuccess (no error)
// OUT: launch: cudaSuccess (no error)
// OUT: out of bounds: cudaErrorIllegalAddress (an illegal memory access was encountered)
// OUT: sticky: cudaErrorIllegalAddress (an illegal memory access was encountered)
// OUT: reset: cudaSuccess (no error)
// OUT: malloc: cudaSuccess (no error)
// OUT: after reset: cudaSuccess (no error)
// OUT: 1
// OUT: misaligned: cudaErrorMisalignedAddress (misaligned address)
// OUT: unrecognized error code, cudaErrorNotSupported
