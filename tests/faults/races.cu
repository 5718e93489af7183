// Racy kernels between lanes, warps, blocks and streams, each beside one that looks like it and is right.
#include "case.h"

#include <cooperative_groups.h>

__device__ int total, flag, lock;
__device__ unsigned arrived;

__global__ void add_plain() { total += 2; }                                                                 //! race
CASE(add_without_atomic, "race", cudaSuccess) { add_plain<<<2, 3>>>(); }
__global__ void add_atomic() { atomicAdd(&total, 2); }
CASE(add_with_atomic, "", cudaSuccess) { add_atomic<<<2, 3>>>(); }

__global__ void mark() { flag = 1; }                                                                        //! race?
CASE(same_value, "race?", cudaSuccess) { mark<<<2, 32>>>(); }
__global__ void mark_once() { if (blockIdx.x == 0 && threadIdx.x == 0) flag = 1; }
CASE(one_value, "", cudaSuccess) { mark_once<<<2, 32>>>(); }

template <bool kWaits> __global__ void neighbours(int* out) {
    __shared__ int s[kThreads];
    s[threadIdx.x] = 0;                   // whether the race below also reads before the first store is up to the timing
    __syncthreads();
    s[threadIdx.x] = threadIdx.x;
    if (kWaits) __syncthreads();
    out[threadIdx.x] = s[(threadIdx.x + 1) % kThreads];                                                     //! race
}
CASE(missing_barrier, "race", cudaSuccess) { neighbours<false><<<1, kThreads>>>(words); }
CASE(barrier, "", cudaSuccess) { neighbours<true><<<1, kThreads>>>(words); }

template <bool kWaits> __global__ void pairs(int* out) {
    __shared__ int s[32];
    s[threadIdx.x] = threadIdx.x;
    if (kWaits) __syncwarp();
    out[threadIdx.x] = s[threadIdx.x ^ 1];                                                                  //! race
}
CASE(missing_syncwarp, "race", cudaSuccess) { pairs<false><<<1, 32>>>(words); }
CASE(syncwarp, "", cudaSuccess) { pairs<true><<<1, 32>>>(words); }

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
CASE(message_without_fence, "race", cudaSuccess) { message<false><<<2, 32>>>(words); }
CASE(message_with_fence, "", cudaSuccess) { message<true><<<2, 32>>>(words); }

template <bool kLocks> __global__ void in_turn() {
    if (threadIdx.x != 0) return;
    if (kLocks) { while (atomicCAS(&lock, 0, 1) != 0) {} __threadfence(); }
    total = total + blockIdx.x + 1;                                                                         //! race
    if (kLocks) { __threadfence(); atomicExch(&lock, 0); }
}
CASE(no_lock, "race", cudaSuccess) { in_turn<false><<<kBlocks, 32>>>(); }
CASE(with_lock, "", cudaSuccess) { in_turn<true><<<kBlocks, 32>>>(); }

__global__ void in_place(int* p) { const int i = blockIdx.x * blockDim.x + threadIdx.x; p[i] = p[(i + 1) % kWords] + 1; }  //! race
CASE(stencil_in_place, "race", cudaSuccess) { in_place<<<kBlocks, kThreads>>>(words); }
__global__ void apart(int* p) { const int i = blockIdx.x * blockDim.x + threadIdx.x; p[i] = p[i] + 1; }
CASE(own_words, "", cudaSuccess) { apart<<<kBlocks, kThreads>>>(words); }

__global__ void fill(int* p, int value) { p[threadIdx.x] = value + threadIdx.x; }                           //! race
CASE(streams_apart, "race", cudaSuccess) {
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking), cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    fill<<<1, kThreads, 0, a>>>(words, 1), fill<<<1, kThreads, 0, b>>>(words, 2);
}
CASE(streams_with_event, "", cudaSuccess) {
    cudaStream_t a, b;
    cudaEvent_t event;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking), cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking), cudaEventCreate(&event);
    fill<<<1, kThreads, 0, a>>>(words, 1);
    cudaEventRecord(event, a), cudaStreamWaitEvent(b, event, 0);
    fill<<<1, kThreads, 0, b>>>(words, 2);
}
CASE(one_stream, "", cudaSuccess) { fill<<<1, kThreads>>>(words, 1), fill<<<1, kThreads>>>(words, 2); }

CASE(copy_beside_kernel, "race", cudaSuccess) {
    cudaStream_t a, b;
    static int host[kThreads];
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking), cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    fill<<<1, kThreads, 0, a>>>(words, 1);
    cudaMemcpyAsync(host, words, sizeof host, cudaMemcpyDeviceToHost, b);
}
CASE(copy_after_kernel, "", cudaSuccess) {
    cudaStream_t a, b;
    static int host[kThreads];
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking), cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    fill<<<1, kThreads, 0, a>>>(words, 1);
    cudaStreamSynchronize(a);
    cudaMemcpyAsync(host, words, sizeof host, cudaMemcpyDeviceToHost, b);
}

// The sum over blocks of CUDA's sample threadFenceReduction: the last block adds what all have written.
template <bool kFence> __global__ void sum_of_blocks(int* partial, int* sum) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = blockIdx.x + 1;
        if (kFence) __threadfence();
        last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x) atomicAdd(sum, partial[threadIdx.x]);                              //! race
}
CASE(last_block_without_fence, "race", cudaSuccess) { sum_of_blocks<false><<<kBlocks, kThreads>>>(words, words + kBlocks); }
CASE(last_block_with_fence, "", cudaSuccess) { sum_of_blocks<true><<<kBlocks, kThreads>>>(words, words + kBlocks); }

template <bool kWhole> __global__ void message_in_block(int* p) {
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        *p = 42;
        if (kWhole) __threadfence(); else __threadfence_block();
        atomicExch(&flag, 1);
    } else if (threadIdx.x == 0) {
        while (atomicAdd(&flag, 0) == 0) {}
        __threadfence();
        p[8] = *p;                                                                                          //! race
    }
}
CASE(fence_of_block_between_blocks, "race", cudaSuccess) { message_in_block<false><<<2, 32>>>(words); }
CASE(fence_between_blocks, "", cudaSuccess) { message_in_block<true><<<2, 32>>>(words); }

// Halves of a warp that add up without and with a barrier in each step.
template <bool kWaits> __global__ void add_up(int* out) {
    __shared__ int s[32];
    s[threadIdx.x] = threadIdx.x;
    __syncwarp();
    for (int half = 16; half > 0; half /= 2) {
        if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];                                    //! race
        if (kWaits) __syncwarp();
    }
    if (threadIdx.x == 0) *out = s[0];
}
CASE(lanes_in_step_assumed, "race", cudaSuccess) { add_up<false><<<1, 32>>>(words); }
CASE(lanes_wait, "", cudaSuccess) { add_up<true><<<1, 32>>>(words); }

__global__ void add_by_shuffle(int* out) {
    int sum = threadIdx.x;
    for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(~0u, sum, half);
    if (threadIdx.x == 0) *out = sum;
}
CASE(lanes_shuffle, "", cudaSuccess) { add_by_shuffle<<<1, 32>>>(words); }

// A buffer that is filled again: all must have read before.
template <bool kWaits> __global__ void refill(int* out) {
    __shared__ int s[kThreads];
    int sum = 0;
    for (int round = 0; round < 4; ++round) {
        s[threadIdx.x] = round + threadIdx.x;                                                               //! race
        __syncthreads();
        sum += s[kThreads - 1 - threadIdx.x];
        if (kWaits) __syncthreads();
    }
    out[threadIdx.x] = sum;
}
CASE(buffer_filled_too_early, "race", cudaSuccess) { refill<false><<<1, kThreads>>>(words); }
CASE(buffer_filled_in_turn, "", cudaSuccess) { refill<true><<<1, kThreads>>>(words); }

template <bool kAtomic> __global__ void histogram(int* out) {
    __shared__ int bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    __syncthreads();
    if (kAtomic) atomicAdd(&bins[threadIdx.x % 8], 1); else bins[threadIdx.x % 8] += 1;                     //! race
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
CASE(histogram_plain, "race", cudaSuccess) { histogram<false><<<2, kThreads>>>(words); }
CASE(histogram_atomic, "", cudaSuccess) { histogram<true><<<2, kThreads>>>(words); }

template <bool kWaits> __global__ void exchange(int* p) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i] = i;
    if (kWaits) cooperative_groups::this_grid().sync();
    p[kWords / 2 + i] = p[kWords / 2 - 1 - i];                                                              //! race
}
CASE(grid_without_sync, "race", cudaSuccess) { exchange<false><<<kBlocks / 2, kThreads>>>(words); }
CASE(grid_with_sync, "", cudaSuccess) {
    void* arguments[] = {&words};
    cudaLaunchCooperativeKernel((void*)exchange<true>, dim3(kBlocks / 2), dim3(kThreads), arguments, 0, nullptr);
}

__global__ void count_and_look(int* p) { atomicAdd(p, 1); if (*p > 1000) p[1] = 1; }                        //! race
CASE(counter_read_plainly, "race", cudaSuccess) { count_and_look<<<kBlocks, kThreads>>>(words); }
__global__ void count_and_use(int* p) { if (atomicAdd(p, 1) > 1000) p[1] = 1; }
CASE(counter_result_used, "", cudaSuccess) { count_and_use<<<kBlocks, kThreads>>>(words); }

__global__ void bits(unsigned char* p) { const int i = blockIdx.x * blockDim.x + threadIdx.x; p[i / 8] |= 1 << i % 8; }  //! race
CASE(bits_of_a_byte, "race", cudaSuccess) { bits<<<1, kThreads>>>((unsigned char*)words); }
__global__ void bytes(unsigned char* p) { const int i = blockIdx.x * blockDim.x + threadIdx.x; p[i] |= 1; }
CASE(bytes_of_a_word, "", cudaSuccess) { bytes<<<kBlocks, kThreads>>>((unsigned char*)words); }
