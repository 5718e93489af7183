// The driver's functions (libcuda.so.1) in terms of the runtime's, so that a process that uses both has one emulated GPU.
//
// Handles of streams, events, functions, kernels and libraries are the runtime's own; a CUmodule is a library.
#pragma once

#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>

#define LANESCOPE_DRIVER_API extern "C" __attribute__((visibility("default")))

namespace lanescope::driver {

/// The runtime's function of this name, in whichever runtime the program has brought, else in libcudart.so.13.
void* runtime_function(const char* name);

/// The error of a runtime's function. The two number most errors alike.
CUresult result(cudaError_t error);

inline void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

}  // namespace lanescope::driver

/// RUNTIME(cudaMalloc)(&pointer, bytes)
#define RUNTIME(name)                                                                              \
    (reinterpret_cast<decltype(&::name)>([] {                                                      \
        static void* const found = ::lanescope::driver::runtime_function(#name);                   \
        return found;                                                                              \
    }()))
