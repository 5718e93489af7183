// A histogram of few bins, an atomic for each number; after: the lanes of a bin are combined first.
#include "pair.h"

__global__ void before(const unsigned char* data, unsigned* bins) { atomicAdd(&bins[data[thread()]], 1u); }

__global__ void after(const unsigned char* data, unsigned* bins) {
    const unsigned bin = data[thread()];
    const unsigned peers = __match_any_sync(~0u, bin);
    if (__ffs(peers) - 1 == int(threadIdx.x % 32)) atomicAdd(&bins[bin], unsigned(__popc(peers)));
}

int main(int argc, char** argv) {
    Pair pair(argc, argv, 1 << 18);
    const int n = pair.size;
    std::vector<unsigned char> bytes(n);
    for (int i = 0; i < n; ++i) bytes[i] = (unsigned char)(i * 2654435761u >> 30);  // four bins
    Buffer<unsigned char> data(bytes);
    Buffer<unsigned> a(256), b(256);
    pair.run(0, [&] { before<<<n / 256, 256>>>(data.data, a.data); });
    pair.run(1, [&] { after<<<n / 256, 256>>>(data.data, b.data); });
    return pair.finish(a.host(), b.host());
}
