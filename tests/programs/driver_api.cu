// The driver's interface beside the runtime's: one GPU, one memory, one context.
// FLAGS: -lcuda
// OUT: one device, contexts agree
// OUT: module: 0 2 4 6 8 10 12 14
// OUT: packed arguments: 0 3 6 9 12 15 18 21
// OUT: of another size: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
// OUT: runtime sees 7 of 7, 0x01020304 four times
// OUT: global: 4 bytes, 40
// OUT: occupancy agrees
// OUT: event time is positive
// OUT: copies: 5 6 9 10
// OUT: texture: 1.5 12 and 0.2 1
// OUT: 3D: 21 22 25 26 37 38 41 42 of 4 x 4 x 4
// OUT: callback with 5, pool gives memory, 16-bit rows: 1027 0
// OUT: entry point found, absent not
// OUT: errors: CUDA_ERROR_INVALID_VALUE CUDA_ERROR_NOT_FOUND CUDA_ERROR_FILE_NOT_FOUND CUDA_ERROR_INVALID_PTX CUDA_ERROR_INVALID_DEVICE CUDA_ERROR_INVALID_CONTEXT
// OUT: unsupported: CUDA_ERROR_NOT_SUPPORTED
// OUT: sticky: CUDA_ERROR_ILLEGAL_ADDRESS
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <cuda.h>

#include "check.h"

#define DRIVER(call)                                                                     \
    do {                                                                                 \
        const CUresult status_ = (call);                                                 \
        const char* name_ = "?";                                                         \
        cuGetErrorName(status_, &name_);                                                 \
        if (status_ != CUDA_SUCCESS) { std::printf("%s: %s\n", #call, name_); return 1; } \
    } while (0)

const char* const kPtx = R"(.version 8.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 last;
.visible .entry multiples(.param .u64 out, .param .u32 factor)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [factor];
    mov.u32 %r2, %tid.x;
    mul.lo.u32 %r3, %r2, %r1;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r3;
    mov.u64 %rd4, last;
    st.global.u32 [%rd4], 40;
    ret;
}
)";

__global__ void count(const int* in, int n, int* out) {
    for (int i = 0; i < n; ++i) *out += in[i] == 7;
}

__global__ void fetch(cudaTextureObject_t floats, cudaTextureObject_t bytes, float* out) {
    out[0] = tex2D<float>(floats, 2.0f, 0.5f);   // between the second and the third of the first row
    out[1] = tex2D<float>(floats, 9.0f, 3.5f);   // clamped to the last
    out[2] = tex2D<float>(bytes, 0.5f, 0.5f);    // 51 of 255
    out[3] = tex2D<float>(bytes, 1.5f, 0.5f);
}

static const char* name(CUresult status) {
    const char* text = "?";
    cuGetErrorName(status, &text);
    return text;
}

static void CUDA_CB note(CUstream, CUresult status, void* where) { *static_cast<int*>(where) = status == CUDA_SUCCESS ? 5 : 0; }

static int print(const char* before, CUdeviceptr from) {
    int host[8];
    DRIVER(cuMemcpyDtoH(host, from, sizeof host));
    std::printf("%s:", before);
    for (int value : host) std::printf(" %d", value);
    std::printf("\n");
    return 0;
}

int main() {
    CUdevice device = -1;
    if (cuDeviceGet(&device, 0) != CUDA_ERROR_NOT_INITIALIZED) return 1;
    DRIVER(cuInit(0));
    int devices = 0, sms = 0;
    DRIVER(cuDeviceGetCount(&devices));
    DRIVER(cuDeviceGet(&device, 0));
    CUcontext context, now;
    DRIVER(cuDevicePrimaryCtxRetain(&context, device));
    DRIVER(cuCtxPushCurrent(context));
    DRIVER(cuCtxGetCurrent(&now));
    DRIVER(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    char model[100];
    size_t bytes = 0;
    DRIVER(cuDeviceGetName(model, sizeof model, device));
    DRIVER(cuDeviceTotalMem(&bytes, device));
    const bool agree = now == context && sms == properties.multiProcessorCount && !std::strcmp(model, properties.name) && bytes == properties.totalGlobalMem;
    std::printf("%s device, contexts %s\n", devices == 1 ? "one" : "more than one", agree ? "agree" : "differ");

    CUmodule module;
    CUfunction multiples;
    DRIVER(cuModuleLoadData(&module, kPtx));
    DRIVER(cuModuleGetFunction(&multiples, module, "multiples"));
    CUdeviceptr out = 0, total = 0;
    DRIVER(cuMemAlloc(&out, 8 * sizeof(int)));
    unsigned factor = 2;
    void* arguments[] = {&out, &factor};
    DRIVER(cuLaunchKernel(multiples, 1, 1, 1, 8, 1, 1, 0, nullptr, arguments, nullptr));
    if (print("module", out)) return 1;

    struct { CUdeviceptr out; unsigned factor; } packed{out, 3};
    size_t size = offsetof(decltype(packed), factor) + sizeof packed.factor;
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    DRIVER(cuLaunchKernel(multiples, 1, 1, 1, 8, 1, 1, 0, nullptr, nullptr, extra));
    if (print("packed arguments", out)) return 1;
    size = sizeof packed;
    std::printf("of another size: %s\n", name(cuLaunchKernel(multiples, 1, 1, 1, 8, 1, 1, 0, nullptr, nullptr, extra)));
    size = offsetof(decltype(packed), factor) + sizeof packed.factor;

    DRIVER(cuMemAlloc(&total, sizeof(int)));
    DRIVER(cuMemsetD32(total, 0, 1));
    DRIVER(cuMemsetD32(out, 7, 7));
    count<<<1, 1>>>((const int*)out, 7, (int*)total);
    int counted = 0, patterns[4];
    CHECK(cudaMemcpy(&counted, (void*)total, sizeof counted, cudaMemcpyDeviceToHost));
    DRIVER(cuMemsetD32(out, 0x01020304, 4));
    CHECK(cudaMemcpy(patterns, (void*)out, sizeof patterns, cudaMemcpyDeviceToHost));
    int same = 0;
    for (int pattern : patterns) same += pattern == 0x01020304;
    std::printf("runtime sees %d of 7, 0x01020304 %s times\n", counted, same == 4 ? "four" : "not four");

    CUdeviceptr last;
    int value = 0;
    DRIVER(cuModuleGetGlobal(&last, &bytes, module, "last"));
    DRIVER(cuMemcpyDtoH(&value, last, sizeof value));
    std::printf("global: %zu bytes, %d\n", bytes, value);

    int by_driver = 0, by_runtime = 0, grid = 0, block = 0, attribute = 0;
    CUfunction handle;
    CHECK(cudaGetFuncBySymbol(&handle, (const void*)count));
    DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor(&by_driver, handle, 128, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&by_runtime, count, 128, 0));
    DRIVER(cuOccupancyMaxPotentialBlockSize(&grid, &block, handle, nullptr, 0, 0));
    DRIVER(cuFuncGetAttribute(&attribute, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, handle));
    std::printf("occupancy %s\n", by_driver == by_runtime && by_driver > 0 && grid > 0 && block == attribute ? "agrees" : "differs");

    CUstream stream;
    CUevent begin, end;
    float milliseconds = 0;
    DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DRIVER(cuEventCreate(&begin, 0));
    DRIVER(cuEventCreate(&end, 0));
    DRIVER(cuEventRecord(begin, stream));
    DRIVER(cuLaunchKernel(multiples, 1, 1, 1, 8, 1, 1, 0, stream, arguments, nullptr));
    DRIVER(cuEventRecord(end, stream));
    DRIVER(cuStreamSynchronize(stream));
    DRIVER(cuEventElapsedTime(&milliseconds, begin, end));
    std::printf("event time is %s\n", milliseconds > 0 ? "positive" : "not positive");

    // The middle of a matrix of 4 × 4.
    int matrix[16], middle[4];
    for (int i = 0; i < 16; ++i) matrix[i] = i;
    CUdeviceptr pitched;
    size_t pitch;
    DRIVER(cuMemAllocPitch(&pitched, &pitch, 4 * sizeof(int), 4, 4));
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = matrix, copy.srcPitch = 16;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE, copy.dstDevice = pitched, copy.dstPitch = pitch;
    copy.WidthInBytes = 16, copy.Height = 4;
    DRIVER(cuMemcpy2D(&copy));
    CUDA_MEMCPY2D back{};
    back.srcMemoryType = CU_MEMORYTYPE_DEVICE, back.srcDevice = pitched, back.srcPitch = pitch, back.srcXInBytes = 4, back.srcY = 1;
    back.dstMemoryType = CU_MEMORYTYPE_HOST, back.dstHost = middle, back.dstPitch = 8;
    back.WidthInBytes = 8, back.Height = 2;
    DRIVER(cuMemcpy2D(&back));
    std::printf("copies: %d %d %d %d\n", middle[0], middle[1], middle[2], middle[3]);

    // Textures of an array of 4 × 4 floats, and of 2 × 1 bytes read as fractions.
    CUarray floats, fractions;
    CUDA_ARRAY_DESCRIPTOR of_floats{4, 4, CU_AD_FORMAT_FLOAT, 1}, of_bytes{2, 1, CU_AD_FORMAT_UNSIGNED_INT8, 1};
    DRIVER(cuArrayCreate(&floats, &of_floats));
    DRIVER(cuArrayCreate(&fractions, &of_bytes));
    float picture[16];
    for (int i = 0; i < 16; ++i) picture[i] = float(i < 12 ? i : 12);
    const unsigned char two[2] = {51, 255};
    CUDA_MEMCPY2D fill{};
    fill.srcMemoryType = CU_MEMORYTYPE_HOST, fill.srcHost = picture, fill.dstMemoryType = CU_MEMORYTYPE_ARRAY, fill.dstArray = floats;
    fill.WidthInBytes = 16, fill.Height = 4;
    DRIVER(cuMemcpy2D(&fill));
    fill.srcHost = two, fill.dstArray = fractions, fill.WidthInBytes = 2, fill.Height = 1;
    DRIVER(cuMemcpy2D(&fill));
    CUDA_RESOURCE_DESC resource{};
    CUDA_TEXTURE_DESC linear{}, point{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    for (int d = 0; d < 3; ++d) linear.addressMode[d] = point.addressMode[d] = CU_TR_ADDRESS_MODE_CLAMP;
    linear.filterMode = CU_TR_FILTER_MODE_LINEAR;
    CUtexObject float_texture, byte_texture;
    resource.res.array.hArray = floats;
    DRIVER(cuTexObjectCreate(&float_texture, &resource, &linear, nullptr));
    resource.res.array.hArray = fractions;
    DRIVER(cuTexObjectCreate(&byte_texture, &resource, &point, nullptr));
    fetch<<<1, 1>>>(float_texture, byte_texture, (float*)out);
    float texels[4];
    DRIVER(cuMemcpyDtoH(texels, out, sizeof texels));
    std::printf("texture: %g %g and %g %g\n", texels[0], texels[1], texels[2], texels[3]);
    DRIVER(cuTexObjectDestroy(float_texture));
    DRIVER(cuTexObjectDestroy(byte_texture));
    DRIVER(cuArrayDestroy(floats));

    // The middle of 4 × 4 × 4 numbers, into an array and back.
    int cube[64], inside[8];
    for (int i = 0; i < 64; ++i) cube[i] = i;
    CUarray box;
    CUDA_ARRAY3D_DESCRIPTOR of_box{4, 4, 4, CU_AD_FORMAT_SIGNED_INT32, 1, 0}, told{};
    DRIVER(cuArray3DCreate(&box, &of_box));
    DRIVER(cuArray3DGetDescriptor(&told, box));
    CUDA_MEMCPY3D whole{}, core{};
    whole.srcMemoryType = CU_MEMORYTYPE_HOST, whole.srcHost = cube, whole.srcPitch = 16, whole.srcHeight = 4;
    whole.dstMemoryType = CU_MEMORYTYPE_ARRAY, whole.dstArray = box;
    whole.WidthInBytes = 16, whole.Height = 4, whole.Depth = 4;
    DRIVER(cuMemcpy3D(&whole));
    core.srcMemoryType = CU_MEMORYTYPE_ARRAY, core.srcArray = box, core.srcXInBytes = 4, core.srcY = 1, core.srcZ = 1;
    core.dstMemoryType = CU_MEMORYTYPE_HOST, core.dstHost = inside, core.dstPitch = 8, core.dstHeight = 2;
    core.WidthInBytes = 8, core.Height = 2, core.Depth = 2;
    DRIVER(cuMemcpy3D(&core));
    std::printf("3D:");
    for (int number : inside) std::printf(" %d", number);
    std::printf(" of %zu x %zu x %zu\n", told.Width, told.Height, told.Depth);

    int noted = 0;
    DRIVER(cuStreamAddCallback(stream, note, &noted, 0));
    DRIVER(cuStreamSynchronize(stream));
    CUmemoryPool pool;
    CUdeviceptr pooled = 0;
    DRIVER(cuDeviceGetDefaultMemPool(&pool, device));
    DRIVER(cuMemAllocFromPoolAsync(&pooled, 64, pool, stream));
    unsigned short halves[8] = {};
    DRIVER(cuMemsetD8(pooled, 0, 64));
    DRIVER(cuMemsetD2D16(pooled, 8, 1027, 1, 2));
    DRIVER(cuMemcpyDtoH(halves, pooled, sizeof halves));
    std::printf("callback with %d, pool gives %s, 16-bit rows: %d %d\n", noted, pooled ? "memory" : "nothing", halves[4], halves[5]);

    void *found = nullptr, *absent = nullptr;
    DRIVER(cuGetProcAddress("cuMemAlloc", &found, 12000, 0, nullptr));
    CUdriverProcAddressQueryResult status;
    DRIVER(cuGetProcAddress("cuNoSuchThing", &absent, 12000, 0, &status));
    const bool missing = status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    void* by_entry = nullptr;
    cudaDriverEntryPointQueryResult query;
    CHECK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &by_entry, 12000, cudaEnableDefault, &query));
    std::printf("entry point %s, absent %s\n", found && by_entry == found && query == cudaDriverEntryPointSuccess ? "found" : "not found", missing && !absent ? "not" : "found");

    std::printf("errors: %s", name(cuMemAlloc(&total, 0)));
    CUfunction none;
    std::printf(" %s", name(cuModuleGetFunction(&none, module, "none")));
    CUmodule bad;
    std::printf(" %s", name(cuModuleLoad(&bad, "/no/such/module.ptx")));
    std::printf(" %s", name(cuModuleLoadData(&bad, ".version 8.0\n.target sm_75\nnonsense")));
    std::printf(" %s", name(cuDeviceGet(&device, 1)));
    std::printf(" %s\n", name(cuCtxDestroy((CUcontext)&bad)));
    std::printf("unsupported: %s\n", name(cuMemAddressFree(0, 0)));

    packed.out = 16;
    DRIVER(cuLaunchKernel(multiples, 1, 1, 1, 8, 1, 1, 0, nullptr, nullptr, extra));
    std::printf("sticky: %s\n", name(cuCtxSynchronize()));
    return 0;
}
