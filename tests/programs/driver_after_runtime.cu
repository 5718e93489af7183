// A program that uses the runtime first and the driver's functions without cuInit: the runtime has made the primary context current.
// FLAGS: -lcuda
// OUT: before: CUDA_ERROR_NOT_INITIALIZED
// OUT: after: device 0, a context, 64 bytes
#include <cstdio>
#include <cuda.h>

#include "check.h"

int main() {
    CUdevice device = -1;
    const char* name = "?";
    CUcontext context = nullptr;
    cuGetErrorName(cuCtxGetCurrent(&context), &name);
    std::printf("before: %s\n", name);
    CHECK(cudaFree(nullptr));
    CUdeviceptr memory = 0;
    const bool fine = cuCtxGetDevice(&device) == CUDA_SUCCESS && cuCtxGetCurrent(&context) == CUDA_SUCCESS && cuMemAlloc(&memory, 64) == CUDA_SUCCESS;
    std::printf("after: device %d, %s, %s\n", device, context ? "a context" : "no context", fine && memory ? "64 bytes" : "an error");
    return 0;
}
