// Six threads in two blocks add to one static device variable: without an atomic, then with one.
#include <cmath>

#include "../lab.h"

__device__ float shared_total;

__global__ void add_plain() {
    const float seen = shared_total;
    shared_total = seen + 2.0f;  // read, add, write: nothing keeps the threads apart
    printf("seen block=%d thread=%d value=%.2f\n", blockIdx.x, threadIdx.x, seen);
}

__global__ void add_atomic() { atomicAdd(&shared_total, 2.0f); }

/// What the host reads from the variable, by its symbol and by its address.
static float read_back(bool* same) {
    float by_symbol = 0, by_address = 0;
    CHECK(cudaMemcpyFromSymbol(&by_symbol, shared_total, sizeof(float)));
    void* address = nullptr;
    CHECK(cudaGetSymbolAddress(&address, shared_total));
    CHECK(cudaMemcpy(&by_address, address, sizeof(float), cudaMemcpyDeviceToHost));
    *same = by_symbol == by_address;
    return by_symbol;
}

static void write(float value) { CHECK(cudaMemcpyToSymbol(shared_total, &value, sizeof(float))); }

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv);
    arguments.done();
    const float start = 3.14f;
    bool same = false;

    write(start);
    add_plain<<<2, 3>>>();
    CHECK(cudaDeviceSynchronize());
    float value = read_back(&same);
    // Between one addition that survives and all six, every result is a legal outcome of the race.
    bool legal = false;
    for (int survived = 1; survived <= 6; ++survived) legal |= std::abs(value - (start + 2 * survived)) < 1e-4f;
    lab::Case("add_plain").with("host", std::round(value * 100.0) / 100).correct(same && legal);

    write(start);
    add_atomic<<<2, 3>>>();
    value = read_back(&same);
    lab::Case("add_atomic").with("host", std::round(value * 100.0) / 100).correct(same && std::abs(value - 15.14f) < 1e-4f);
    return lab::finish();
}
