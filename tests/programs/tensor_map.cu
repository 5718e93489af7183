// What an H200 prints too (driver 580, 2026-11-30).
// Boxes of tensors moved by the copy engine: loads with edges filled, swizzled, in steps, of three dimensions; stores that leave out what lies outside.
// FLAGS: -gencode arch=compute_90,code=compute_90
// ENV: LANESCOPE_GPU=h200
// OUT: corner: 120 of 120 inside, 136 of 136 zero
// OUT: swizzled: 1024 of 1024 in place
// OUT: steps: 0 1 2 3 / 128 129 130 131
// OUT: three dimensions: 64 of 64
// OUT: NaN outside: 4 of 4, 7ff77ff7
// OUT: stored: 48 of 48, 0 others touched
// OUT: prefetched
// OUT: invalid: 1 1 1
// OUT: off a boundary of 16 bytes: cudaErrorIllegalInstruction
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <vector>

#include "check.h"

__device__ uint32_t shared_address(const void* pointer) { return uint32_t(__cvta_generic_to_shared(pointer)); }

/// Loads the box at (x, y, z) and writes it out as it lies in shared memory.
template <int kRank>
__global__ void load(const __grid_constant__ CUtensorMap map, int x, int y, int z, unsigned bytes, float* out) {
    __shared__ alignas(1024) float tile[1024];
    __shared__ alignas(8) uint64_t barrier;
    const uint32_t to = shared_address(tile), bar = shared_address(&barrier);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\tfence.proxy.async.shared::cta;" ::"r"(bar) : "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
        if (kRank == 1)
            asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];" ::"r"(to), "l"(&map), "r"(x), "r"(bar) : "memory");
        if (kRank == 2)
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(&map), "r"(x), "r"(y), "r"(bar) : "memory");
        if (kRank == 3)
            asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to), "l"(&map), "r"(x), "r"(y), "r"(z), "r"(bar) : "memory");
    }
    uint32_t done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(bar) : "memory");
    for (unsigned i = threadIdx.x; i < bytes / 4; i += blockDim.x) out[i] = tile[i];
}

__global__ void store(const __grid_constant__ CUtensorMap map, int x, int y, unsigned n) {
    __shared__ alignas(128) float tile[256];
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) tile[i] = 1000 + i;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(x), "r"(y), "r"(shared_address(tile)) : "memory");
        asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
    }
}

__global__ void prefetch(const __grid_constant__ CUtensorMap map) {
    asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&map), "r"(0), "r"(0) : "memory");
}

static decltype(&cuTensorMapEncodeTiled) encode;

struct Tensor {
    std::vector<cuuint64_t> sizes;
    std::vector<cuuint32_t> box, steps = std::vector<cuuint32_t>(sizes.size(), 1);
    CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
};

static CUresult make(CUtensorMap* map, float* data, const Tensor& t) {
    std::vector<cuuint64_t> strides;
    strides.reserve(5);   // not a null pointer, even of one dimension
    cuuint64_t stride = sizeof(float);
    for (size_t d = 0; d + 1 < t.sizes.size(); ++d) strides.push_back(stride *= t.sizes[d]);
    return encode(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, cuuint32_t(t.sizes.size()), data, t.sizes.data(), strides.data(), t.box.data(), t.steps.data(),
                  CU_TENSOR_MAP_INTERLEAVE_NONE, t.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, t.fill);
}

static std::vector<float> host(const float* device, size_t n) {
    std::vector<float> out(n);
    CHECK(cudaMemcpy(out.data(), device, n * sizeof(float), cudaMemcpyDeviceToHost));
    return out;
}

int main() {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult query;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &query));
    encode = (decltype(encode))entry;
    const int n = 64;
    std::vector<float> values(n * n);
    for (int i = 0; i < n * n; ++i) values[i] = float(i);
    float *data, *out;
    CHECK(cudaMalloc(&data, n * n * sizeof(float)));
    CHECK(cudaMalloc(&out, 4096));
    CHECK(cudaMemcpy(data, values.data(), n * n * sizeof(float), cudaMemcpyHostToDevice));
    CUtensorMap map;

    // A box of 16 × 16 whose first 4 columns and 6 rows lie outside.
    if (make(&map, data, {{64, 64}, {16, 16}})) return 1;
    load<2><<<1, 32>>>(map, -4, -6, 0, 1024, out);
    std::vector<float> got = host(out, 256);
    int inside = 0, zeros = 0;
    for (int y = 0; y < 16; ++y)
        for (int x = 0; x < 16; ++x) {
            const bool in = x >= 4 && y >= 6;
            (in ? inside : zeros) += got[y * 16 + x] == (in ? float((y - 6) * n + x - 4) : 0.0f);
        }
    std::printf("corner: %d of 120 inside, %d of 136 zero\n", inside, zeros);

    // Rows of 128 bytes: piece p of row r lies where piece p ^ (r % 8) would.
    if (make(&map, data, {{64, 64}, {32, 32}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_128B})) return 1;
    load<2><<<1, 32>>>(map, 32, 8, 0, 4096, out);
    got = host(out, 1024);
    int placed = 0;
    for (int r = 0; r < 32; ++r)
        for (int x = 0; x < 32; ++x) placed += got[r * 32 + (((x / 4) ^ (r % 8)) * 4) + x % 4] == float((8 + r) * n + 32 + x);
    std::printf("swizzled: %d of 1024 in place\n", placed);

    if (make(&map, data, {{64, 64}, {8, 4}, {2, 2}})) return 1;
    load<2><<<1, 32>>>(map, 0, 0, 0, 64, out);   // every second row; the innermost dimension has no steps
    got = host(out, 16);
    std::printf("steps: %g %g %g %g / %g %g %g %g\n", got[0], got[1], got[2], got[3], got[8], got[9], got[10], got[11]);

    if (make(&map, data, {{16, 16, 16}, {4, 4, 4}})) return 1;
    load<3><<<1, 32>>>(map, 4, 8, 12, 256, out);
    got = host(out, 64);
    int right = 0;
    for (int i = 0; i < 64; ++i) right += got[i] == float((12 + i / 16) * 256 + (8 + i / 4 % 4) * 16 + 4 + i % 4);
    std::printf("three dimensions: %d of 64\n", right);

    if (make(&map, data, {{64}, {8}, {1}, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA})) return 1;
    load<1><<<1, 32>>>(map, 60, 0, 0, 32, out);
    got = host(out, 8);
    int nans = 0;
    for (int i = 4; i < 8; ++i) nans += std::isnan(got[i]);
    unsigned bits = 0;
    std::memcpy(&bits, &got[7], sizeof bits);
    std::printf("NaN outside: %d of 4, %08x\n", nans, bits);

    // A box of 8 × 8 of which 6 rows and 8 columns lie inside.
    if (make(&map, data, {{64, 64}, {8, 8}})) return 1;
    store<<<1, 32>>>(map, 56, 58, 64);
    got = host(data, n * n);
    int stored = 0, others = 0;
    for (int i = 0; i < n * n; ++i) {
        const int y = i / n - 58, x = i % n - 56;
        if (y >= 0 && x >= 0) stored += got[i] == float(1000 + y * 8 + x);
        else others += got[i] != values[i];
    }
    std::printf("stored: %d of 48, %d others touched\n", stored, others);
    prefetch<<<1, 1>>>(map);
    CHECK(cudaDeviceSynchronize());
    std::printf("prefetched\n");

    std::printf("invalid: %d %d %d\n", make(&map, data + 1, {{64, 64}, {8, 8}}), make(&map, data, {{64, 64}, {257, 1}}), make(&map, data, {{63, 64}, {8, 8}}));
    if (make(&map, data, {{64, 64}, {16, 16}})) return 1;
    load<2><<<1, 32>>>(map, 2, 0, 0, 1024, out);
    std::printf("off a boundary of 16 bytes: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
