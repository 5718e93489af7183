// One address space: mapped host memory through the host's pointer and through the device's, and managed memory that moves by itself,
// after a prefetch, and with advice. Arguments: n=ELEMENTS
#include "../lab.h"

__global__ void add(const int* a, const int* b, int* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

static int n = 1 << 20;

static void run(const char* how, const int* a, const int* b, int* c, double same_address) {
    const lab::Timing timing = lab::timed(1, [&] { add<<<(n + 511) / 512, 512>>>(a, b, c, n); });
    CHECK(cudaDeviceSynchronize());
    bool correct = true;
    for (int i = 0; i < n; ++i) correct &= c[i] == 2 * (i % 4093) && c[i] == a[i] + b[i];  // the host reads all three through the same pointers
    lab::Case("add").with("pointer", how).with("same_address", same_address).with("n", n).with(timing).correct(correct);
}

static int* managed(bool fill) {
    int* pointer = nullptr;
    CHECK(cudaMallocManaged(&pointer, n * sizeof(int)));
    for (int i = 0; i < n; ++i) pointer[i] = fill ? i % 4093 : 0;
    return pointer;
}

static void prefetch(const int* pointer) {
#if CUDART_VERSION >= 13000
    CHECK(cudaMemPrefetchAsync(pointer, n * sizeof(int), cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0));
#else
    CHECK(cudaMemPrefetchAsync(pointer, n * sizeof(int), 0));
#endif
}

static void mostly_read(const int* pointer) {
#if CUDART_VERSION >= 13000
    CHECK(cudaMemAdvise(pointer, n * sizeof(int), cudaMemAdviseSetReadMostly, cudaMemLocation{cudaMemLocationTypeDevice, 0}));
#else
    CHECK(cudaMemAdvise(pointer, n * sizeof(int), cudaMemAdviseSetReadMostly, 0));
#endif
}

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv);
    n = int(arguments.number("n", n));
    arguments.done();

    int *host[3], *device[3];
    double same = 1;
    for (int i = 0; i < 3; ++i) {
        CHECK(cudaHostAlloc(&host[i], n * sizeof(int), cudaHostAllocMapped));
        for (int k = 0; k < n; ++k) host[i][k] = i == 2 ? 0 : k % 4093;
        CHECK(cudaHostGetDevicePointer(&device[i], host[i], 0));
        same = same && device[i] == host[i];
    }
    run("host", host[0], host[1], host[2], same);
    run("device", device[0], device[1], device[2], same);

    int *a = managed(true), *b = managed(true), *c = managed(false);
    run("managed", a, b, c, 1);
    run("managed_again", a, b, c, 1);  // the host has read all of it since
    int concurrent = 0;
    CHECK(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, 0));
    if (!concurrent) return lab::finish();  // before Pascal there are neither prefetches nor advice
    a = managed(true), b = managed(true), c = managed(false);
    for (const int* pointer : {a, b, c}) prefetch(pointer);
    run("prefetched", a, b, c, 1);
    a = managed(true), b = managed(true), c = managed(false);
    mostly_read(a), mostly_read(b);
    for (const int* pointer : {a, b, c}) prefetch(pointer);
    run("advised", a, b, c, 1);
    run("advised_again", a, b, c, 1);
    return lab::finish();
}
