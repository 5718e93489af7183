// How the allocators align: plain allocations of odd sizes, pitched rows, arrays; and what a kernel pays that walks rows which do not
// start on a boundary. Arguments: rows=N
#include "../lab.h"

/// The largest power of two that divides an address (at most 2^21).
static double alignment(const void* pointer) {
    const auto address = reinterpret_cast<uintptr_t>(pointer) | (uintptr_t(1) << 21);
    return double(address & (~address + 1));
}

__global__ void walk_rows(const float* a, size_t pitch, float* out, int width) {
    const float* row = reinterpret_cast<const float*>(reinterpret_cast<const char*>(a) + size_t(blockIdx.x) * pitch);
    for (int x = threadIdx.x; x < width; x += blockDim.x) out[size_t(blockIdx.x) * width + x] = row[x];
}
__global__ void walk_offset(const float* a, float* out, int n, int offset) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i + offset];
}
__global__ void walk_array(cudaTextureObject_t a, float* out, int width) {
    for (int x = threadIdx.x; x < width; x += blockDim.x) out[size_t(blockIdx.x) * width + x] = tex2D<float>(a, float(x), float(blockIdx.x));
}

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv);
    const int rows = int(arguments.number("rows", 256));
    arguments.done();

    for (size_t bytes : {1, 3, 100, 257, 4096, 1 << 20}) {
        char *first = lab::device<char>(bytes), *second = lab::device<char>(bytes);
        const double least = std::min(alignment(first), alignment(second));
        lab::Case("cudaMalloc").with("bytes", double(bytes)).with("alignment", least).correct(least >= 256);
    }
    cudaPitchedPtr volume{};
    CHECK(cudaMalloc3D(&volume, cudaExtent{300, 4, 4}));
    lab::Case("cudaMalloc3D").with("bytes", 300).with("pitch", double(volume.pitch)).with("alignment", alignment(volume.ptr)).correct(volume.pitch >= 300);

    for (int width : {100, 256, 300}) {
        const std::vector<float> values = lab::counting<float>(size_t(rows) * width);
        float *packed = lab::device(values), *out = lab::device<float>(values.size()), *pitched = nullptr;
        size_t pitch = 0;
        const size_t row_bytes = width * sizeof(float);
        CHECK(cudaMallocPitch(&pitched, &pitch, row_bytes, rows));
        CHECK(cudaMemcpy2D(pitched, pitch, values.data(), row_bytes, row_bytes, rows, cudaMemcpyHostToDevice));
        lab::Case("cudaMallocPitch").with("bytes", double(row_bytes)).with("pitch", double(pitch)).with("alignment", alignment(pitched)).correct(pitch >= row_bytes);

        lab::Timing timing = lab::timed(1, [&] { walk_rows<<<rows, 128>>>(packed, row_bytes, out, width); });
        lab::Case("walk_rows").with("layout", "packed").with("width", width).with(timing).correct(lab::host(out, values.size()) == values);
        timing = lab::timed(1, [&] { walk_rows<<<rows, 128>>>(pitched, pitch, out, width); });
        lab::Case("walk_rows").with("layout", "pitched").with("width", width).with(timing).correct(lab::host(out, values.size()) == values);

        cudaArray_t array;
        const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
        CHECK(cudaMallocArray(&array, &format, width, rows));
        CHECK(cudaMemcpy2DToArray(array, 0, 0, values.data(), row_bytes, row_bytes, rows, cudaMemcpyHostToDevice));
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array;
        cudaTextureDesc how{};
        how.readMode = cudaReadModeElementType;
        cudaTextureObject_t texture = 0;
        CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
        timing = lab::timed(1, [&] { walk_array<<<rows, 128>>>(texture, out, width); });
        lab::Case("walk_array").with("layout", "array").with("width", width).with(timing).correct(lab::host(out, values.size()) == values);
        CHECK(cudaDestroyTextureObject(texture));
        CHECK(cudaFreeArray(array));
    }

    // A pointer into an allocation is aligned no better than its offset.
    const int n = 1 << 14;
    const std::vector<float> values = lab::counting<float>(n + 64);
    float *a = lab::device(values), *out = lab::device<float>(n);
    for (int offset : {0, 1, 4, 8, 16, 32, 64}) {
        const lab::Timing timing = lab::timed(1, [&] { walk_offset<<<(n + 255) / 256, 256>>>(a, out, n, offset); });
        const std::vector<float> expected(values.begin() + offset, values.begin() + offset + n);
        lab::Case("walk_offset").with("offset", offset).with("alignment", alignment(a + offset)).with(timing).correct(lab::host(out, n) == expected);
    }
    return lab::finish();
}
