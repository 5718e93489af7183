// Texture objects over arrays, pitched and linear memory; filtering, addressing, normalised coordinates and values; surfaces.
#include <vector>

#include "check.h"

__global__ void fetch2d(cudaTextureObject_t t, const float2* at, float* out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = tex2D<float>(t, at[i].x, at[i].y);
}
__global__ void fetch1d(cudaTextureObject_t t, float* out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = tex1Dfetch<float>(t, i);
}
__global__ void fetch_vector(cudaTextureObject_t t, float4* out) { out[threadIdx.x] = tex2D<float4>(t, threadIdx.x + 0.5f, 0.5f); }
__global__ void fetch3d(cudaTextureObject_t t, float* out) { out[threadIdx.x] = tex3D<float>(t, threadIdx.x + 0.5f, 1.5f, 2.5f); }
__global__ void bump(cudaSurfaceObject_t s) {
    int v;
    surf2Dread(&v, s, threadIdx.x * 4, threadIdx.y);
    surf2Dwrite(v + 100, s, threadIdx.x * 4, threadIdx.y);
}

void show(const char* name, const float* device, int n) {
    std::vector<float> host(n);
    CHECK(cudaMemcpy(host.data(), device, n * 4, cudaMemcpyDeviceToHost));
    std::printf("%s:", name);
    for (float v : host) std::printf(" %g", v);
    std::printf("\n");
}

int main() {
    const int w = 8, h = 4;
    std::vector<float> image(w * h);
    for (int i = 0; i < w * h; ++i) image[i] = float(i);            // texel (x, y) = 8 y + x
    float* out; float2* at;
    CHECK(cudaMalloc(&out, 4096)); CHECK(cudaMalloc(&at, 4096));
    auto sample = [&](const char* name, cudaTextureObject_t t, std::vector<float2> where) {
        CHECK(cudaMemcpy(at, where.data(), where.size() * sizeof(float2), cudaMemcpyHostToDevice));
        fetch2d<<<1, 32>>>(t, at, out, int(where.size()));
        show(name, out, int(where.size()));
    };

    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &format, w, h));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
    cudaResourceDesc resource{}; resource.resType = cudaResourceTypeArray; resource.res.array.array = array;
    cudaTextureDesc how{}; how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp; how.filterMode = cudaFilterModePoint; how.readMode = cudaReadModeElementType;
    cudaTextureObject_t t;
    CHECK(cudaCreateTextureObject(&t, &resource, &how, nullptr));
    sample("point", t, {{0.5f, 0.5f}, {3.9f, 2.1f}, {-5, 1}, {100, 100}});
    CHECK(cudaDestroyTextureObject(t));

    how.filterMode = cudaFilterModeLinear;
    CHECK(cudaCreateTextureObject(&t, &resource, &how, nullptr));
    sample("linear", t, {{1, 0.5f}, {1.75f, 0.5f}, {1, 1}, {0, 0}, {8, 4}});
    CHECK(cudaDestroyTextureObject(t));

    how.filterMode = cudaFilterModePoint;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeBorder;
    CHECK(cudaCreateTextureObject(&t, &resource, &how, nullptr));
    sample("border", t, {{-1, 1}, {7.5f, 3.5f}, {8.5f, 1}});
    CHECK(cudaDestroyTextureObject(t));

    how.normalizedCoords = 1;
    how.addressMode[0] = cudaAddressModeWrap; how.addressMode[1] = cudaAddressModeMirror;
    CHECK(cudaCreateTextureObject(&t, &resource, &how, nullptr));
    sample("wrap, mirror", t, {{0.1f, 0.1f}, {1.1f, 0.1f}, {-0.1f, 1.1f}, {2.99f, 1.99f}});
    CHECK(cudaDestroyTextureObject(t));

    // pitched memory
    float* pitched; size_t pitch;
    CHECK(cudaMallocPitch(&pitched, &pitch, w * 4, h));
    CHECK(cudaMemcpy2D(pitched, pitch, image.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
    cudaResourceDesc flat{}; flat.resType = cudaResourceTypePitch2D;
    flat.res.pitch2D = {pitched, format, size_t(w), size_t(h), pitch};
    how = {}; how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    CHECK(cudaCreateTextureObject(&t, &flat, &how, nullptr));
    sample("pitched", t, {{5.5f, 3.5f}, {0.5f, 1.5f}});
    CHECK(cudaDestroyTextureObject(t));

    // linear memory of bytes, read as normalised floats: 255 is 1
    unsigned char bytes[4] = {0, 51, 102, 255}, *device_bytes;
    CHECK(cudaMalloc(&device_bytes, 4));
    CHECK(cudaMemcpy(device_bytes, bytes, 4, cudaMemcpyHostToDevice));
    cudaResourceDesc line{}; line.resType = cudaResourceTypeLinear;
    line.res.linear.devPtr = device_bytes; line.res.linear.desc = cudaCreateChannelDesc<unsigned char>(); line.res.linear.sizeInBytes = 4;
    how = {}; how.readMode = cudaReadModeNormalizedFloat;
    CHECK(cudaCreateTextureObject(&t, &line, &how, nullptr));
    fetch1d<<<1, 32>>>(t, out, 6);
    show("bytes", out, 6);                                          // outside: 0
    CHECK(cudaDestroyTextureObject(t));

    // four channels
    cudaChannelFormatDesc format4 = cudaCreateChannelDesc<float4>();
    cudaArray_t array4;
    CHECK(cudaMallocArray(&array4, &format4, 2, 1));
    CHECK(cudaMemcpy2DToArray(array4, 0, 0, image.data(), 32, 32, 1, cudaMemcpyHostToDevice));
    resource.res.array.array = array4;
    how = {};
    CHECK(cudaCreateTextureObject(&t, &resource, &how, nullptr));
    fetch_vector<<<1, 2>>>(t, (float4*)out);
    show("vectors", out, 8);
    CHECK(cudaDestroyTextureObject(t));
    CHECK(cudaFreeArray(array4));

    // three dimensions: texel (x, y, z) = 100 z + 10 y + x
    std::vector<float> box(4 * 3 * 3);
    for (int z = 0; z < 3; ++z) for (int y = 0; y < 3; ++y) for (int x = 0; x < 4; ++x) box[(z * 3 + y) * 4 + x] = float(100 * z + 10 * y + x);
    cudaArray_t volume;
    CHECK(cudaMalloc3DArray(&volume, &format, make_cudaExtent(4, 3, 3)));
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(box.data(), 16, 4, 3); copy.dstArray = volume; copy.extent = make_cudaExtent(4, 3, 3); copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    resource.res.array.array = volume;
    CHECK(cudaCreateTextureObject(&t, &resource, &how, nullptr));
    fetch3d<<<1, 4>>>(t, out);
    show("volume", out, 4);

    // surface
    cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>();
    cudaArray_t writable;
    CHECK(cudaMallocArray(&writable, &ints, 4, 2, cudaArraySurfaceLoadStore));
    int values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    CHECK(cudaMemcpy2DToArray(writable, 0, 0, values, 16, 16, 2, cudaMemcpyHostToDevice));
    resource.res.array.array = writable;
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    bump<<<1, dim3(4, 2)>>>(surface);
    CHECK(cudaMemcpy2DFromArray(values, 16, writable, 0, 0, 16, 2, cudaMemcpyDeviceToHost));
    std::printf("surface:");
    for (int v : values) std::printf(" %d", v);
    std::printf("\n");
}
// point: floor of the coordinate, clamped
// OUT: point: 0 19 8 31
// linear: between texel centres; (1, 0.5) is half way between texels 0 and 1, (1.75, 0.5) a quarter on from 1, (1, 1) the mean of 0 1 8 9
// OUT: linear: 0.5 1.25 4.5 0 31
// OUT: border: 0 31 0
// wrap in x, mirror in y of an 8 × 4 image: 0.1 → texel 0; -0.1 = 0.9 → 7; 1.1 mirrors to 0.9 → row 3; 1.99 to 0.01 → row 0
// OUT: wrap, mirror: 0 0 31 7
// OUT: pitched: 29 8
// OUT: bytes: 0 0.2 0.4 1 0 0
// OUT: vectors: 0 1 2 3 4 5 6 7
// OUT: volume: 210 211 212 213
// OUT: surface: 101 102 103 104 105 106 107 108
