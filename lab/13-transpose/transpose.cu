// Transposing a matrix: the bounds (copies by rows, by columns, and by tiles with all that makes the fastest transpose fast), the two naive
// ways, and the ladder through shared memory: tiled, padded, swizzled, vectorised, and with the bulk-copy engine. Arguments: n=SIDE repeats=N
#include "../lab.h"

__global__ void copy_row(const int* a, int* b, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) b[y * n + x] = a[y * n + x];
}
__global__ void copy_col(const int* a, int* b, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) b[x * n + y] = a[x * n + y];
}
__global__ void naive_row(const int* a, int* b, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) b[x * n + y] = a[y * n + x];
}
__global__ void naive_col(const int* a, int* b, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) b[y * n + x] = a[x * n + y];
}

// --- 32 × 32 tiles, 32 × 8 threads -----------------------------------------------------
/// `place` says where the word of row r and column c lies in shared memory.
template <class Place>
__device__ inline void transpose_tile(const int* a, int* b, int n, int* tile, Place place) {
    const int left = blockIdx.x * 32, top = blockIdx.y * 32;
#pragma unroll
    for (int j = 0; j < 32; j += 8) tile[place(threadIdx.y + j, threadIdx.x)] = a[size_t(top + threadIdx.y + j) * n + left + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 32; j += 8) b[size_t(left + threadIdx.y + j) * n + top + threadIdx.x] = tile[place(threadIdx.x, threadIdx.y + j)];
}
__global__ void tiled(const int* a, int* b, int n) {
    __shared__ int tile[32 * 32];  // a column lies in one bank
    transpose_tile(a, b, n, tile, [](int r, int c) { return r * 32 + c; });
}
__global__ void padded(const int* a, int* b, int n) {
    __shared__ int tile[32 * 33];  // one word more a row: a column lies in 32 banks
    transpose_tile(a, b, n, tile, [](int r, int c) { return r * 33 + c; });
}
__global__ void swizzled(const int* a, int* b, int n) {
    __shared__ int tile[32 * 32];  // the same without the lost words: the row number turns the columns around
    transpose_tile(a, b, n, tile, [](int r, int c) { return r * 32 + (c ^ r); });
}

// --- 16 bytes a lane -------------------------------------------------------------------
constexpr int kTile = 64;  // words; 16 × 16 threads, each with 4 × 4 words
/// Each thread loads four quads below each other, transposes the 4 × 4 words in registers and stores four quads to shared memory, so that
/// all accesses to both memories are 16 bytes wide. A quad's column is turned by its row: no bank conflicts either way. Blocks go down a
/// column of tiles, so that the rows of b are written on and on; what is read and written once is marked to leave L2 first.
__global__ void __launch_bounds__(256) vectorised(const int* a, int* b, int n) {
    __shared__ int4 tile[kTile][kTile / 4];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const int left = blockIdx.y * kTile, top = blockIdx.x * kTile;
    int4 q[4];
#pragma unroll
    for (int r = 0; r < 4; ++r) q[r] = __ldcs(reinterpret_cast<const int4*>(a + size_t(top + ty * 4 + r) * n + left + tx * 4));
    const int4 columns[4] = {make_int4(q[0].x, q[1].x, q[2].x, q[3].x), make_int4(q[0].y, q[1].y, q[2].y, q[3].y),
                             make_int4(q[0].z, q[1].z, q[2].z, q[3].z), make_int4(q[0].w, q[1].w, q[2].w, q[3].w)};
#pragma unroll
    for (int c = 0; c < 4; ++c) tile[tx * 4 + c][ty ^ tx] = columns[c];
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 4; ++r) {
        const int row = ty + r * 16;  // of the transposed tile: each half warp stores 256 contiguous bytes
        __stcs(reinterpret_cast<int4*>(b + size_t(left + row) * n + top + tx * 4), tile[row][tx ^ (row / 4)]);
    }
}
/// The same accesses without the turn: what a transpose by tiles can reach.
__global__ void __launch_bounds__(256) copy_tiles(const int* a, int* b, int n) {
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const size_t first = size_t(blockIdx.y * kTile + ty * 4) * n + blockIdx.x * kTile + tx * 4;
    int4 q[4];
#pragma unroll
    for (int r = 0; r < 4; ++r) q[r] = __ldcs(reinterpret_cast<const int4*>(a + first + size_t(r) * n));
#pragma unroll
    for (int r = 0; r < 4; ++r) __stcs(reinterpret_cast<int4*>(b + first + size_t(r) * n), q[r]);
}

// --- the bulk-copy engine (compute capability 9.0) -------------------------------------
// Tiles of kTile × kTile words; a row has four words more in shared memory: 16-byte aligned as the engine needs it, and in other banks.
/// One thread orders the rows of a tile into shared memory as bulk copies and the block waits for their bytes; the transposed rows leave
/// as bulk copies too. No load or store instruction of the threads touches global memory.
__global__ void __launch_bounds__(256) bulk(const int* a, int* b, int n) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    constexpr int pitch = kTile + 4;
    __shared__ alignas(128) int in[kTile * pitch];
    __shared__ alignas(128) int out[kTile * pitch];
    __shared__ alignas(8) unsigned long long arrived;
    const int left = blockIdx.y * kTile, top = blockIdx.x * kTile;
    const unsigned barrier = unsigned(__cvta_generic_to_shared(&arrived));
    constexpr unsigned row_bytes = kTile * 4;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(row_bytes * kTile) : "memory");
    }
    __syncthreads();
    if (threadIdx.x < kTile) {
        const int* row = a + size_t(top + threadIdx.x) * n + left;
        const unsigned to = unsigned(__cvta_generic_to_shared(in + threadIdx.x * pitch));
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(row),
                     "r"(row_bytes), "r"(barrier)
                     : "memory");
    }
    unsigned done = 0;
    while (!done)
        asm volatile(
            "{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n\tselp.b32 %0, 1, 0, p;\n\t}"
            : "=r"(done)
            : "r"(barrier)
            : "memory");
    // A thread takes four words of each of four columns, 16 columns apart, and writes four quads: no bank conflicts either way.
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
#pragma unroll
    for (int c = 0; c < 4; ++c) {
        const int* column = in + ty * 4 * pitch + tx + c * 16;
        *reinterpret_cast<int4*>(out + (tx + c * 16) * pitch + ty * 4) = make_int4(column[0], column[pitch], column[2 * pitch], column[3 * pitch]);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x < kTile) {
        int* row = b + size_t(left + threadIdx.x) * n + top;
        const unsigned from = unsigned(__cvta_generic_to_shared(out + threadIdx.x * pitch));
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(row), "r"(from), "r"(row_bytes) : "memory");
        asm volatile("cp.async.bulk.commit_group;");
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
#endif
}

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv);
    const int n = int(arguments.number("n", 8192)), repeats = int(arguments.number("repeats", 21));
    arguments.done();
    if (n % kTile != 0) return std::fprintf(stderr, "n must be a multiple of %d\n", kTile), 2;

    std::vector<int> values(size_t(n) * n);
    for (size_t i = 0; i < values.size(); ++i) values[i] = int(i * 2654435761u);
    std::vector<int> turned(values.size());
    for (int y = 0; y < n; ++y)
        for (int x = 0; x < n; ++x) turned[size_t(y) * n + x] = values[size_t(x) * n + y];
    int *a = lab::device(values), *b = lab::device<int>(values.size());
    const double bytes = 8.0 * n * n;
    int major = 0;
    CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    cudaFuncAttributes attributes{};
    CHECK(cudaFuncGetAttributes(&attributes, bulk));
    const bool has_bulk = major >= 9 && attributes.ptxVersion >= 90 && attributes.sharedSizeBytes > 0;

    struct Step {
        const char* kernel;
        void (*launch)(const int*, int*, int);
        dim3 grid, block;
        bool transposes;
    };
    const dim3 rows(n / 32, n / 8), row_block(32, 8), tiles(n / 32, n / 32), quads(n / kTile, n / kTile);
    const Step steps[] = {{"copy_row", copy_row, rows, row_block, false},  {"copy_col", copy_col, rows, row_block, false},
                          {"copy_tiles", copy_tiles, quads, dim3(256), false},
                          {"naive_row", naive_row, rows, row_block, true}, {"naive_col", naive_col, rows, row_block, true},
                          {"tiled", tiled, tiles, row_block, true},        {"padded", padded, tiles, row_block, true},
                          {"swizzled", swizzled, tiles, row_block, true},  {"vectorised", vectorised, quads, dim3(256), true},
                          {"bulk", bulk, quads, dim3(256), true}};
    for (const Step& step : steps) {
        if (step.launch == bulk && !has_bulk) continue;
        CHECK(cudaMemset(b, 0, values.size() * 4));
        const lab::Timing timing = lab::timed(repeats, [&] { step.launch<<<step.grid, step.block>>>(a, b, n); }, 2000);
        lab::Case(step.kernel).with("n", n).with(timing, bytes).correct(lab::host(b, values.size()) == (step.transposes ? turned : values));
    }
    return lab::finish();
}
