// Faulty kernels and reads of undefined memory, each beside one that looks like it and is right.
#include "case.h"

#include <cassert>

__global__ void past_end(int* p) { p[blockIdx.x * blockDim.x + threadIdx.x + 1] = 1; }                      //! out_of_bounds
CASE(out_of_bounds, "out_of_bounds", cudaErrorIllegalAddress) { past_end<<<kBlocks, kThreads>>>(words); }
__global__ void to_end(int* p) { if (int i = blockIdx.x * blockDim.x + threadIdx.x; i + 1 < kWords) p[i + 1] = 1; }
CASE(in_bounds, "", cudaSuccess) { to_end<<<kBlocks, kThreads>>>(words); }

__global__ void dynamic_tile(int* p) { extern __shared__ int s[]; s[threadIdx.x * 1024] = 1; __syncthreads(); p[threadIdx.x] = s[threadIdx.x * 1024]; }  //! out_of_bounds
CASE(shared_too_small, "out_of_bounds", cudaErrorIllegalAddress) { dynamic_tile<<<1, 8, 7 * 4096>>>(words); }
CASE(shared_large_enough, "", cudaSuccess) { dynamic_tile<<<1, 8, 7 * 4096 + 4>>>(words); }

__global__ void local_index(int* p, int i) { int a[8] = {}; a[i] = 1; p[threadIdx.x] = a[i / 2]; }            //! out_of_bounds
CASE(local_index_too_large, "out_of_bounds", cudaErrorIllegalAddress) { local_index<<<1, 1>>>(words, 1 << 20); }
CASE(local_index_inside, "", cudaSuccess) { local_index<<<1, 1>>>(words, 7); }

__global__ void store(int* p) { *p = 1; }                                                                   //! use_after_free
CASE(use_after_free, "use_after_free", cudaErrorIllegalAddress) { int* p; cudaMalloc(&p, 4); cudaFree(p); store<<<1, 1>>>(p); }
CASE(use_before_free, "", cudaSuccess) { int* p; cudaMalloc(&p, 4); store<<<1, 1>>>(p); cudaFree(p); }

__global__ void store_null(int* p) { *p = 1; }                                                              //! null_pointer
CASE(null_pointer, "null_pointer", cudaErrorIllegalAddress) { store_null<<<1, 1>>>(nullptr); }
__global__ void store_if(int* p) { if (p) *p = 1; }
CASE(null_tested, "", cudaSuccess) { store_if<<<1, 1>>>(nullptr); }

__global__ void store_odd(char* p) { *(int*)(p + 2) = 1; }                                                  //! misaligned
CASE(misaligned, "misaligned", cudaErrorMisalignedAddress) { store_odd<<<1, 1>>>((char*)words); }
__global__ void store_bytes(char* p) { for (int i = 0; i < 4; ++i) p[2 + i] = 1; }
CASE(byte_by_byte, "", cudaSuccess) { store_bytes<<<1, 1>>>((char*)words); }

__global__ void store_host(int* p) { *p = 1; }                                                              //! wrong_space
CASE(wrong_space, "wrong_space", cudaErrorIllegalAddress) { static int host; store_host<<<1, 1>>>(&host); }
CASE(registered, "", cudaSuccess) { static int host; cudaHostRegister(&host, 4, 0); store_host<<<1, 1>>>(&host); cudaDeviceSynchronize(); cudaHostUnregister(&host); }

__device__ __noinline__ int deep(int n) { volatile int here[64]; here[n % 64] = n; return n <= 0 ? 0 : here[n % 64] - deep(n - 1) * 3; }  //! stack_overflow
__global__ void recurse(int* p, int n) { *p = deep(n); }
CASE(recursion_too_deep, "stack_overflow", cudaErrorHardwareStackError) { recurse<<<1, 1>>>(words, 1 << 20); }
__device__ __noinline__ int count(int n, int m) { return n == 0 ? m : count(n - 1, m ^ n) * 3 + n; }         //! stack_overflow
__global__ void recurse_in_registers(int* p, int n) { *p = count(n, 1); }
CASE(endless_recursion, "stack_overflow", cudaErrorHardwareStackError) { recurse_in_registers<<<1, 1>>>(words, 1 << 30); }
CASE(recursion_in_registers, "", cudaSuccess) { recurse_in_registers<<<1, 1>>>(words, 20); }
CASE(recursion_in_limits, "", cudaSuccess) { cudaDeviceSetLimit(cudaLimitStackSize, 16384); recurse<<<1, 1>>>(words, 20); }

using Function = int (*)(int);
__device__ int twice(int x) { return 2 * x; }
__device__ Function known = twice, unknown;
__global__ void call(int* p, int i) { *p = (i == 0 ? known : unknown)(21); }                                //! illegal
CASE(call_of_nothing, "illegal", cudaErrorIllegalInstruction) { call<<<1, 1>>>(words, 1); }
CASE(call_through_pointer, "", cudaSuccess) { call<<<1, 1>>>(words, 0); }

__global__ void free_twice() { void* p = malloc(16); free(p); free(p); }                                    //! illegal
CASE(free_twice_in_kernel, "illegal", cudaErrorIllegalInstruction) { free_twice<<<1, 1>>>(); }
__global__ void free_once() { void* p = malloc(16); free(p); free(nullptr); }
CASE(free_in_kernel, "", cudaSuccess) { free_once<<<1, 1>>>(); }

__global__ void newer(int* p, int n) { if (n > 0) asm volatile("multimem.red.relaxed.sys.global.add.u32 [%0], 1;" :: "l"(p) : "memory"); *p = n; }  //! unsupported
CASE(instruction_not_known, "unsupported", cudaErrorNotSupported) { newer<<<1, 1>>>(words, 1); }
CASE(instruction_not_reached, "", cudaSuccess) { newer<<<1, 1>>>(words, 0); }

__global__ void check(int n) { assert(n < 5); }                                                             //! assert
CASE(failed_assert, "assert", cudaErrorAssert) { check<<<1, 1>>>(5); }
CASE(passed_assert, "", cudaSuccess) { check<<<1, 1>>>(4); }

__global__ void endless(volatile int* p) { while (*p == 0) {} }                                             //! runaway
CASE(never_ends, "runaway", cudaErrorLaunchTimeout) { endless<<<1, 1>>>(words); }
__global__ void loop(volatile int* p) { while (*p < 100) *p = *p + 1; }
CASE(ends, "", cudaSuccess) { loop<<<1, 1>>>(words); }

__global__ void half_waits() { if (threadIdx.x < 32) asm volatile("barrier.sync 1, 64;"); }                 //! barrier_divergence
CASE(barrier_not_reached, "barrier_divergence", cudaErrorLaunchFailure) { half_waits<<<1, kThreads>>>(); }
__global__ void half_waits_right() { if (threadIdx.x < 32) asm volatile("barrier.sync 1, 32;"); }
CASE(barrier_of_half, "", cudaSuccess) { half_waits_right<<<1, kThreads>>>(); }

__global__ void odd_wait(int* p) { if (threadIdx.x % 2) { __syncthreads(); p[0] = 1; } else { __syncthreads(); p[1] = 1; } }  //! barrier_divergence?
CASE(barrier_in_branches, "barrier_divergence? barrier_divergence?", cudaSuccess) { odd_wait<<<1, 2>>>(words); }

__global__ void stop(int n) { if (n > 0) __trap(); }                                                        //! trap
CASE(trap, "trap", cudaErrorLaunchFailure) { stop<<<1, 1>>>(1); }
CASE(trap_not_reached, "", cudaSuccess) { stop<<<1, 1>>>(0); }

__global__ void read(int* p, int* out) { out[threadIdx.x] = p[threadIdx.x]; }                               //! uninitialized?
CASE(uninitialized, "uninitialized?", cudaSuccess) { int* p; cudaMalloc(&p, 256); read<<<1, kThreads>>>(p, words); }
CASE(initialized, "", cudaSuccess) { int* p; cudaMalloc(&p, 256); cudaMemset(p, 0, 256), cudaDeviceSynchronize(); read<<<1, kThreads>>>(p, words); }
__global__ void read_shared(int* out, bool writes) { __shared__ int s[kThreads]; if (writes) s[threadIdx.x] = 1; out[threadIdx.x] = s[threadIdx.x]; }  //! uninitialized?
CASE(uninitialized_shared, "uninitialized?", cudaSuccess) { read_shared<<<1, kThreads>>>(words, false); }
CASE(initialized_shared, "", cudaSuccess) { read_shared<<<1, kThreads>>>(words, true); }
