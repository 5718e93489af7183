// Times every kind of transfer from 4 KiB to 1 GiB, or of the sizes given, device events and host clock, median of repetitions. CSV on stdout.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>
#define CHECK(c) do { cudaError_t e = (c); if (e != cudaSuccess) { std::fprintf(stderr, "%d: %s\n", __LINE__, cudaGetErrorString(e)); std::exit(1); } } while (0)
template <class F> void measure(const char* kind, const char* memory, size_t bytes, F f, int reps) {
    cudaEvent_t a, b; CHECK(cudaEventCreate(&a)); CHECK(cudaEventCreate(&b));
    std::vector<double> event, host;
    for (int r = 0; r < reps + 2; ++r) {
        CHECK(cudaDeviceSynchronize());
        auto t0 = std::chrono::steady_clock::now();
        CHECK(cudaEventRecord(a)); f(); CHECK(cudaEventRecord(b)); CHECK(cudaEventSynchronize(b));
        auto t1 = std::chrono::steady_clock::now();
        float ms; CHECK(cudaEventElapsedTime(&ms, a, b));
        if (r >= 2) { event.push_back(ms * 1e6); host.push_back(std::chrono::duration<double, std::nano>(t1 - t0).count()); }
    }
    std::sort(event.begin(), event.end()); std::sort(host.begin(), host.end());
    std::printf("%s,%s,%zu,%.0f,%.0f,%.0f,%d\n", kind, memory, bytes, event[reps / 2], event[0], host[reps / 2], reps); std::fflush(stdout);
    cudaEventDestroy(a); cudaEventDestroy(b);
}
int main(int argc, char** argv) {
    const size_t top = size_t(1) << 30;
    char *d, *d2, *pinned, *wc, *managed; char* pageable = (char*)std::malloc(top);
    CHECK(cudaMalloc(&d, top)); CHECK(cudaMalloc(&d2, top)); CHECK(cudaMallocHost(&pinned, top)); CHECK(cudaHostAlloc(&wc, top, cudaHostAllocWriteCombined)); CHECK(cudaMallocManaged(&managed, size_t(256) << 20));
    std::memset(pageable, 1, top); std::memset(pinned, 1, top); std::memset(wc, 1, top);
    cudaStream_t s1, s2; CHECK(cudaStreamCreate(&s1)); CHECK(cudaStreamCreate(&s2));
    std::printf("kind,memory,bytes,event_ns_median,event_ns_min,host_ns_median,repetitions\n");
    std::vector<size_t> sizes;
    for (int i = 1; i < argc; ++i) sizes.push_back(std::strtoull(argv[i], nullptr, 10));
    for (size_t n = 4096; argc == 1 && n <= top; n *= 4) sizes.push_back(n);
    for (size_t n : sizes) {
        int reps = n <= (size_t(16) << 20) ? 21 : 7;
        measure("host_to_device", "pageable", n, [&] { CHECK(cudaMemcpy(d, pageable, n, cudaMemcpyHostToDevice)); }, reps);
        measure("device_to_host", "pageable", n, [&] { CHECK(cudaMemcpy(pageable, d, n, cudaMemcpyDeviceToHost)); }, reps);
        measure("host_to_device", "pinned", n, [&] { CHECK(cudaMemcpyAsync(d, pinned, n, cudaMemcpyHostToDevice)); }, reps);
        measure("device_to_host", "pinned", n, [&] { CHECK(cudaMemcpyAsync(pinned, d, n, cudaMemcpyDeviceToHost)); }, reps);
        measure("host_to_device", "write_combined", n, [&] { CHECK(cudaMemcpyAsync(d, wc, n, cudaMemcpyHostToDevice)); }, reps);
        measure("device_to_device", "device", n, [&] { CHECK(cudaMemcpyAsync(d2, d, n, cudaMemcpyDeviceToDevice)); }, reps);
        measure("memset", "device", n, [&] { CHECK(cudaMemsetAsync(d, 1, n)); }, reps);
        measure("empty", "none", n, [&] {}, reps);
        if (n <= (size_t(256) << 20)) {
            cudaMemLocation to{cudaMemLocationTypeDevice, 0}, back{cudaMemLocationTypeHost, 0};
            for (int r = 0; r < 3; ++r) {
                CHECK(cudaMemPrefetchAsync(managed, n, back, 0, 0)); CHECK(cudaDeviceSynchronize());
                measure("prefetch_to_device", "managed", n, [&] { CHECK(cudaMemPrefetchAsync(managed, n, to, 0, 0)); }, 1);
                break;
            }
            auto once = [&](const char* kind, cudaMemLocation first, cudaMemLocation second) {
                std::vector<double> t; cudaEvent_t a, b; CHECK(cudaEventCreate(&a)); CHECK(cudaEventCreate(&b));
                for (int r = 0; r < 7; ++r) { CHECK(cudaMemPrefetchAsync(managed, n, first, 0, 0)); CHECK(cudaDeviceSynchronize()); CHECK(cudaEventRecord(a)); CHECK(cudaMemPrefetchAsync(managed, n, second, 0, 0)); CHECK(cudaEventRecord(b)); CHECK(cudaEventSynchronize(b)); float ms; CHECK(cudaEventElapsedTime(&ms, a, b)); t.push_back(ms * 1e6); }
                std::sort(t.begin(), t.end()); std::printf("%s,managed,%zu,%.0f,%.0f,0,7\n", kind, n, t[3], t[0]);
            };
            once("migrate_to_device", back, to); once("migrate_to_host", to, back);
        }
        measure("both_directions", "pinned", n, [&] { CHECK(cudaStreamSynchronize(0)); CHECK(cudaMemcpyAsync(d, pinned, n, cudaMemcpyHostToDevice, s1)); CHECK(cudaMemcpyAsync(pinned + top / 2, d2, n / 2, cudaMemcpyDeviceToHost, s2)); CHECK(cudaStreamSynchronize(s1)); CHECK(cudaStreamSynchronize(s2)); }, reps);
    }
}
