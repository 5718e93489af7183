// A program that ends badly, or asks too much, in the way that its argument names. Each way launches `add` first.
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

__device__ unsigned sum;

__global__ void add(unsigned value) { atomicAdd(&sum, value); }
__global__ void endless(volatile unsigned* p) { while (*p == 0) {} }
__global__ void touch(char* p, size_t bytes) {
    for (size_t i = (size_t(blockIdx.x) * blockDim.x + threadIdx.x) * 16; i < bytes; i += size_t(gridDim.x) * blockDim.x * 16) *(uint4*)(p + i) = make_uint4(1, 2, 3, unsigned(i));
}

static int depth(int n) { volatile char here[4096]; here[n % 4096] = 1; return depth(n + 1) + here[n % 4096]; }

static void expect(const char* what, cudaError_t seen, cudaError_t wanted) {
    if (seen == wanted) return;
    std::printf("%s: %s, not %s\n", what, cudaGetErrorName(seen), cudaGetErrorName(wanted));
    std::exit(1);
}

static unsigned read_sum() {
    unsigned value = 0;
    expect("copy", cudaMemcpyFromSymbol(&value, sum, sizeof value), cudaSuccess);
    return value;
}

/// Sizes that nobody should ask for: each is refused, and the next call works.
static void sizes() {
    void* p = nullptr;
    size_t pitch = 0;
    expect("malloc 0", cudaMalloc(&p, 0), cudaSuccess);
    expect("malloc -1", cudaMalloc(&p, size_t(-1)), cudaErrorMemoryAllocation);
    expect("malloc 2^63", cudaMalloc(&p, size_t(1) << 63), cudaErrorMemoryAllocation);
    expect("host 2^62", cudaMallocHost(&p, size_t(1) << 62), cudaErrorMemoryAllocation);
    expect("managed -4096", cudaMallocManaged(&p, size_t(-4096)), cudaErrorMemoryAllocation);
    expect("pitch", cudaMallocPitch(&p, &pitch, size_t(1) << 30, size_t(1) << 30), cudaErrorMemoryAllocation);
    expect("malloc", cudaMalloc(&p, 64), cudaSuccess);
    expect("memset -1", cudaMemset(p, 0, size_t(-1)), cudaErrorInvalidValue);
    expect("memset 0", cudaMemset(p, 0, 0), cudaSuccess);
    static char host[64];
    expect("copy -1", cudaMemcpy(p, host, size_t(-1), cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    expect("copy 0", cudaMemcpy(p, host, 0, cudaMemcpyHostToDevice), cudaSuccess);
    expect("copy 2D", cudaMemcpy2D(p, size_t(-1), host, size_t(-1), 4, size_t(-1), cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    expect("symbol -1", cudaMemcpyToSymbol(sum, host, size_t(-1)), cudaErrorInvalidValue);
    cudaGetLastError();
    for (const dim3 grid : {dim3(0), dim3(1, 65536), dim3(1, 1, 65536), dim3(unsigned(-1)), dim3(unsigned(INT_MAX), 65535, 65535)}) {
        if (grid.x == unsigned(INT_MAX)) break;   // allowed, and longer than anybody waits
        add<<<grid, 1>>>(0);
        expect("grid", cudaGetLastError(), cudaErrorInvalidConfiguration);
    }
    for (const dim3 block : {dim3(0), dim3(1025), dim3(32, 33), dim3(1, 1, 65), dim3(unsigned(-1))}) {
        add<<<1, block>>>(0);
        expect("block", cudaGetLastError(), cudaErrorInvalidConfiguration);
    }
    add<<<1, 1, unsigned(-1)>>>(0);
    expect("shared", cudaGetLastError(), cudaErrorInvalidValue);
    add<<<1, 1>>>(1);
    expect("afterwards", cudaDeviceSynchronize(), cudaSuccess);
}

int main(int argc, char** argv) {
    const std::string way = argc > 1 ? argv[1] : "";
    const auto child = [](auto work) {
        std::fflush(stdout);
        const pid_t pid = fork();
        if (pid == 0) {
            work();
            std::exit(5);
        }
        int status = 0;
        waitpid(pid, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    };
    if (way == "fork_first") {   // before the first call: both may use the GPU
        std::printf("child %d\n", child([] { add<<<1, 32>>>(2); cudaDeviceSynchronize(); }));
        add<<<1, 32>>>(1);
        std::printf("sum %u\n", read_sum());
        return 0;
    }
    add<<<1, 32>>>(1);
    expect("add", cudaDeviceSynchronize(), cudaSuccess);
    if (way == "exit") return 3;
    if (way == "segfault") { volatile int* p = nullptr; *p = 1; }
    if (way == "abort") std::abort();
    if (way == "quick") _exit(4);
    if (way == "recursion") return depth(0);
    if (way == "killed") kill(getpid(), SIGKILL);
    if (way == "host_access") { int* p; cudaMalloc(&p, 64); p[3] = 1; }
    if (way == "leak") { void* p; cudaMalloc(&p, 1234); return 0; }
    if (way == "sizes") { sizes(); return 0; }
    if (way == "fork") {         // the child inherits a GPU in use
        std::printf("child %d\n", child([] { add<<<1, 32>>>(2); cudaDeviceSynchronize(); }));
        add<<<1, 32>>>(1);
        std::printf("sum %u\n", read_sum());
        return 0;
    }
    if (way == "exec") { execl(argv[0], argv[0], "exit", nullptr); return 9; }
    if (way == "shell") return WEXITSTATUS(std::system("exit 6"));
    if (way == "wait") { std::printf("waiting\n"); std::fflush(stdout); for (;;) pause(); }
    if (way == "endless") { unsigned* p; cudaMalloc(&p, 4); cudaMemset(p, 0, 4); std::printf("waiting\n"); std::fflush(stdout); endless<<<1, 32>>>(p); cudaDeviceSynchronize(); return 0; }
    if (way == "many") {
        for (int i = 0; i < std::atoi(argv[2]); ++i) add<<<1, 32>>>(1);
        std::printf("sum %u\n", read_sum());
        return 0;
    }
    if (way == "threads") {
        std::vector<std::thread> threads;
        for (int t = 0; t < 8; ++t)
            threads.emplace_back([] {
                cudaStream_t stream;
                cudaStreamCreate(&stream);
                void* p;
                for (int i = 0; i < 50; ++i) {
                    cudaMalloc(&p, 4096);
                    add<<<1, 32, 0, stream>>>(1);
                    cudaFree(p);
                }
                cudaStreamSynchronize(stream);
                cudaStreamDestroy(stream);
            });
        for (std::thread& thread : threads) thread.join();
        std::printf("sum %u\n", read_sum());
        return 0;
    }
    if (way == "memory") {       // as much as the GPU has, a piece at a time
        void* p;
        size_t free = 0, total = 0, pieces = 0;
        cudaMemGetInfo(&free, &total);
        while (cudaMalloc(&p, size_t(1) << 30) == cudaSuccess) ++pieces;
        expect("last", cudaGetLastError(), cudaErrorMemoryAllocation);
        std::printf("%s\n", pieces <= total >> 30 && pieces + 2 >= free >> 30 ? "full" : "not full");
        add<<<1, 32>>>(1);
        std::printf("sum %u\n", read_sum());
        return 0;
    }
    if (way == "gibibyte") {     // 1 GiB, all of it written
        char* p;
        const size_t bytes = size_t(1) << 30;
        expect("malloc", cudaMalloc(&p, bytes), cudaSuccess);
        expect("memset", cudaMemset(p, 1, bytes), cudaSuccess);
        touch<<<1024, 256>>>(p, bytes);
        expect("touch", cudaDeviceSynchronize(), cudaSuccess);
        return 0;
    }
    return 2;
}
