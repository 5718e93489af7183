// Faulty and racy kernels, each beside one that looks like it and is right. `run` runs each case by its name and compares what was found.
//   CASE(name, expected) is followed by a kernel and how it is launched. expected: kinds of findings in order of their names, "" for
//   none; a warning has a question mark. A finding's line carries //! and its kinds.
#include <cassert>
#include <cstdio>
#include <cstring>

#define CASE(name, expected) static void name()

constexpr int kThreads = 64, kBlocks = 4, kWords = kThreads * kBlocks;
static int* words;   // kWords of them, all 0

__device__ int total, flag, lock;

__global__ void past_end(int* p) { p[blockIdx.x * blockDim.x + threadIdx.x + 1] = 1; }                      //! out_of_bounds
CASE(out_of_bounds, "out_of_bounds") { past_end<<<kBlocks, kThreads>>>(words); }
__global__ void to_end(int* p) { if (int i = blockIdx.x * blockDim.x + threadIdx.x; i + 1 < kWords) p[i + 1] = 1; }
CASE(in_bounds, "") { to_end<<<kBlocks, kThreads>>>(words); }

__global__ void store(int* p) { *p = 1; }                                                                   //! use_after_free
CASE(use_after_free, "use_after_free") { int* p; cudaMalloc(&p, 4); cudaFree(p); store<<<1, 1>>>(p); }
CASE(use_before_free, "") { int* p; cudaMalloc(&p, 4); store<<<1, 1>>>(p); cudaFree(p); }

__global__ void store_null(int* p) { *p = 1; }                                                              //! null_pointer
CASE(null_pointer, "null_pointer") { store_null<<<1, 1>>>(nullptr); }
__global__ void store_if(int* p) { if (p) *p = 1; }
CASE(null_tested, "") { store_if<<<1, 1>>>(nullptr); }

__global__ void store_odd(char* p) { *(int*)(p + 2) = 1; }                                                  //! misaligned
CASE(misaligned, "misaligned") { store_odd<<<1, 1>>>((char*)words); }
__global__ void store_bytes(char* p) { for (int i = 0; i < 4; ++i) p[2 + i] = 1; }
CASE(byte_by_byte, "") { store_bytes<<<1, 1>>>((char*)words); }

__global__ void store_host(int* p) { *p = 1; }                                                              //! wrong_space
CASE(wrong_space, "wrong_space") { static int host; store_host<<<1, 1>>>(&host); }
CASE(registered, "") { static int host; cudaHostRegister(&host, 4, 0); store_host<<<1, 1>>>(&host); cudaDeviceSynchronize(); cudaHostUnregister(&host); }

__global__ void check(int n) { assert(n < 5); }                                                             //! assert
CASE(failed_assert, "assert") { check<<<1, 1>>>(5); }
CASE(passed_assert, "") { check<<<1, 1>>>(4); }

__global__ void endless(volatile int* p) { while (*p == 0) {} }
CASE(never_ends, "runaway") { endless<<<1, 1>>>(words); }
__global__ void loop(volatile int* p) { while (*p < 100) *p = *p + 1; }
CASE(ends, "") { loop<<<1, 1>>>(words); }

__global__ void half_waits() { if (threadIdx.x < 32) asm volatile("barrier.sync 1, 64;"); }
CASE(barrier_divergence, "barrier_divergence") { half_waits<<<1, kThreads>>>(); }
__global__ void half_waits_right() { if (threadIdx.x < 32) asm volatile("barrier.sync 1, 32;"); }
CASE(barrier_of_half, "") { half_waits_right<<<1, kThreads>>>(); }

__global__ void stop() { __trap(); }                                                                        //! trap
CASE(trap, "trap") { stop<<<1, 1>>>(); }

__global__ void read(int* p, int* out) { out[threadIdx.x] = p[threadIdx.x]; }                               //! uninitialized?
CASE(uninitialized, "uninitialized?") { int* p; cudaMalloc(&p, 256); read<<<1, kThreads>>>(p, words); }
CASE(initialized, "") { int* p; cudaMalloc(&p, 256); cudaMemset(p, 0, 256), cudaDeviceSynchronize(); read<<<1, kThreads>>>(p, words); }
__global__ void read_shared(int* out) { __shared__ int s[kThreads]; if (out == nullptr) s[threadIdx.x] = 1; out[threadIdx.x] = s[threadIdx.x]; }  //! uninitialized?
CASE(uninitialized_shared, "uninitialized?") { read_shared<<<1, kThreads>>>(words); }

__global__ void add_plain() { total += 2; }                                                                 //! race
CASE(add_without_atomic, "race") { add_plain<<<2, 3>>>(); }
__global__ void add_atomic() { atomicAdd(&total, 2); }
CASE(add_with_atomic, "") { add_atomic<<<2, 3>>>(); }

__global__ void mark() { flag = 1; }                                                                        //! race?
CASE(same_value, "race?") { mark<<<2, 32>>>(); }
__global__ void mark_once() { if (blockIdx.x == 0 && threadIdx.x == 0) flag = 1; }
CASE(one_value, "") { mark_once<<<2, 32>>>(); }

template <bool kWaits> __global__ void neighbours(int* out) {
    __shared__ int s[kThreads];
    s[threadIdx.x] = threadIdx.x;
    if (kWaits) __syncthreads();
    out[threadIdx.x] = s[(threadIdx.x + 1) % kThreads];                                                     //! race uninitialized?
}
CASE(missing_barrier, "race uninitialized?") { neighbours<false><<<1, kThreads>>>(words); }
CASE(barrier, "") { neighbours<true><<<1, kThreads>>>(words); }

template <bool kWaits> __global__ void pairs(int* out) {
    __shared__ int s[32];
    s[threadIdx.x] = threadIdx.x;
    if (kWaits) __syncwarp();
    out[threadIdx.x] = s[threadIdx.x ^ 1];                                                                  //! race
}
CASE(missing_syncwarp, "race") { pairs<false><<<1, 32>>>(words); }
CASE(syncwarp, "") { pairs<true><<<1, 32>>>(words); }

template <bool kFence> __global__ void message(int* p) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *p = 42;
        if (kFence) __threadfence();
        *(volatile int*)&flag = 1;
    } else {
        while (*(volatile int*)&flag == 0) {}
        if (kFence) __threadfence();
        p[8] = *p;                                                                                          //! race
    }
}
CASE(message_without_fence, "race") { message<false><<<2, 32>>>(words); }
CASE(message_with_fence, "") { message<true><<<2, 32>>>(words); }

template <bool kLocks> __global__ void in_turn() {
    if (threadIdx.x != 0) return;
    if (kLocks) { while (atomicCAS(&lock, 0, 1) != 0) {} __threadfence(); }
    total = total + blockIdx.x + 1;                                                                         //! race
    if (kLocks) { __threadfence(); atomicExch(&lock, 0); }
}
CASE(no_lock, "race") { in_turn<false><<<kBlocks, 32>>>(); }
CASE(with_lock, "") { in_turn<true><<<kBlocks, 32>>>(); }

__global__ void in_place(int* p) { const int i = blockIdx.x * blockDim.x + threadIdx.x; p[i] = p[(i + 1) % kWords] + 1; }  //! race
CASE(stencil_in_place, "race") { in_place<<<kBlocks, kThreads>>>(words); }
__global__ void apart(int* p) { const int i = blockIdx.x * blockDim.x + threadIdx.x; p[i] = p[i] + 1; }
CASE(own_words, "") { apart<<<kBlocks, kThreads>>>(words); }

__global__ void fill(int* p, int value) { p[threadIdx.x] = value + threadIdx.x; }                           //! race
CASE(streams_apart, "race") {
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking), cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    fill<<<1, kThreads, 0, a>>>(words, 1), fill<<<1, kThreads, 0, b>>>(words, 2);
}
CASE(streams_with_event, "") {
    cudaStream_t a, b;
    cudaEvent_t event;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking), cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking), cudaEventCreate(&event);
    fill<<<1, kThreads, 0, a>>>(words, 1);
    cudaEventRecord(event, a), cudaStreamWaitEvent(b, event, 0);
    fill<<<1, kThreads, 0, b>>>(words, 2);
}
CASE(one_stream, "") { fill<<<1, kThreads>>>(words, 1), fill<<<1, kThreads>>>(words, 2); }

#define RUN(name) if (!std::strcmp(argv[1], #name)) name(), known = true
int main(int argc, char** argv) {
    bool known = false;
    if (argc != 2) return 2;
    check<<<1, 1>>>(0);   // loads the module: its variables are not to come where a case frees memory
    cudaMalloc(&words, kWords * sizeof(int));
    cudaMemset(words, 0, kWords * sizeof(int));
    cudaDeviceSynchronize();
    RUN(out_of_bounds); RUN(in_bounds); RUN(use_after_free); RUN(use_before_free); RUN(null_pointer); RUN(null_tested); RUN(misaligned);
    RUN(byte_by_byte); RUN(wrong_space); RUN(registered); RUN(failed_assert); RUN(passed_assert); RUN(never_ends); RUN(ends);
    RUN(barrier_divergence); RUN(barrier_of_half); RUN(trap); RUN(uninitialized); RUN(initialized); RUN(uninitialized_shared);
    RUN(add_without_atomic); RUN(add_with_atomic); RUN(same_value); RUN(one_value); RUN(missing_barrier); RUN(barrier); RUN(missing_syncwarp);
    RUN(syncwarp); RUN(message_without_fence); RUN(message_with_fence); RUN(no_lock); RUN(with_lock); RUN(stencil_in_place); RUN(own_words);
    RUN(streams_apart); RUN(streams_with_event); RUN(one_stream);
    cudaDeviceSynchronize();
    return known ? 0 : 2;
}
