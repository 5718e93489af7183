// Memory and copies.
#include "cudart/driver/driver.h"

using namespace lanescope::driver;

namespace {

/// A pattern of several bytes that differ has no function of the runtime's but a node of a graph.
CUresult fill(CUdeviceptr address, size_t pitch, unsigned value, unsigned element, size_t width, size_t height, CUstream stream, bool wait) {
    const bool bytes_alike = value % 0x101 == 0 && (element < 4 || value % 0x1010101 == 0);
    if (element == 1 || bytes_alike) {
        const int byte = int(value & 0xff);
        const size_t row = width * element;
        if (height == 1) return result(wait ? RUNTIME(cudaMemset)(pointer(address), byte, row) : RUNTIME(cudaMemsetAsync)(pointer(address), byte, row, stream));
        return result(wait ? RUNTIME(cudaMemset2D)(pointer(address), pitch, byte, row, height)
                           : RUNTIME(cudaMemset2DAsync)(pointer(address), pitch, byte, row, height, stream));
    }
    if (address % element) return CUDA_ERROR_INVALID_VALUE;
    cudaMemsetParams parameters{};
    parameters.dst = pointer(address);
    parameters.pitch = pitch;
    parameters.value = value;
    parameters.elementSize = element;
    parameters.width = width;
    parameters.height = height;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    cudaGraphNode_t node = nullptr;
    cudaError_t error = RUNTIME(cudaGraphCreate)(&graph, 0);
    if (!error) error = RUNTIME(cudaGraphAddMemsetNode)(&node, graph, nullptr, 0, &parameters);
    if (!error) error = RUNTIME(cudaGraphInstantiateWithFlags)(&executable, graph, 0);
    if (!error) error = RUNTIME(cudaGraphLaunch)(executable, stream);
    if (executable) RUNTIME(cudaGraphExecDestroy)(executable);
    if (graph) RUNTIME(cudaGraphDestroy)(graph);
    return result(error);
}

CUresult attribute(void* out, CUpointer_attribute attribute, const cudaPointerAttributes& all) {
    const bool unknown = all.type == cudaMemoryTypeUnregistered;
    switch (attribute) {
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            if (unknown) return CUDA_ERROR_INVALID_VALUE;
            *static_cast<unsigned*>(out) = all.type == cudaMemoryTypeHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
            if (unknown) return CUDA_ERROR_INVALID_VALUE;
            *static_cast<CUdeviceptr*>(out) = reinterpret_cast<CUdeviceptr>(all.devicePointer);
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_HOST_POINTER:
            if (!all.hostPointer || unknown) return CUDA_ERROR_INVALID_VALUE;
            *static_cast<void**>(out) = all.hostPointer;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_IS_MANAGED: *static_cast<unsigned*>(out) = all.type == cudaMemoryTypeManaged; return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *static_cast<int*>(out) = unknown ? -1 : 0; return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_CONTEXT: return cuCtxGetCurrent(static_cast<CUcontext*>(out));
        default: return CUDA_ERROR_NOT_SUPPORTED;
    }
}

}  // namespace

LANESCOPE_DRIVER_API CUresult cuMemGetInfo(size_t* free, size_t* total) { return result(RUNTIME(cudaMemGetInfo)(free, total)); }

// A size of 0 is an error here, in the runtime it is not.
LANESCOPE_DRIVER_API CUresult cuMemAlloc(CUdeviceptr* address, size_t bytes) {
    if (!address || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    return result(RUNTIME(cudaMalloc)(reinterpret_cast<void**>(address), bytes));
}
LANESCOPE_DRIVER_API CUresult cuMemAllocPitch(CUdeviceptr* address, size_t* pitch, size_t width, size_t height, unsigned) {
    return result(RUNTIME(cudaMallocPitch)(
        reinterpret_cast<void**>(address), pitch, width, height));
}
LANESCOPE_DRIVER_API CUresult cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned flags) {
    return result(RUNTIME(cudaMallocManaged)(reinterpret_cast<void**>(address), bytes, flags));
}
LANESCOPE_DRIVER_API CUresult cuMemFree(CUdeviceptr address) { return result(RUNTIME(cudaFree)(pointer(address))); }
LANESCOPE_DRIVER_API CUresult cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream stream) {
    return result(RUNTIME(cudaMallocAsync)(
        reinterpret_cast<void**>(address), bytes, stream));
}
LANESCOPE_DRIVER_API CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) { return result(RUNTIME(cudaFreeAsync)(pointer(address), stream)); }

LANESCOPE_DRIVER_API CUresult cuMemHostAlloc(void** host, size_t bytes, unsigned flags) {
    return result(RUNTIME(cudaHostAlloc)(host, bytes, flags));
}
LANESCOPE_DRIVER_API CUresult cuMemAllocHost(void** host, size_t bytes) { return cuMemHostAlloc(host, bytes, 0); }
LANESCOPE_DRIVER_API CUresult cuMemFreeHost(void* host) { return result(RUNTIME(cudaFreeHost)(host)); }
LANESCOPE_DRIVER_API CUresult cuMemHostRegister(void* host, size_t bytes, unsigned flags) { return result(RUNTIME(cudaHostRegister)(host, bytes, flags)); }
LANESCOPE_DRIVER_API CUresult cuMemHostUnregister(void* host) { return result(RUNTIME(cudaHostUnregister)(host)); }
LANESCOPE_DRIVER_API CUresult cuMemHostGetDevicePointer(CUdeviceptr* address, void* host, unsigned flags) {
    return result(RUNTIME(cudaHostGetDevicePointer)(
        reinterpret_cast<void**>(address), host, flags));
}
LANESCOPE_DRIVER_API CUresult cuMemHostGetFlags(unsigned* flags, void* host) { return result(RUNTIME(cudaHostGetFlags)(flags, host)); }

LANESCOPE_DRIVER_API CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return result(RUNTIME(cudaMemcpy)(pointer(to), pointer(from), bytes, cudaMemcpyDefault));
}
LANESCOPE_DRIVER_API CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
    return result(RUNTIME(cudaMemcpy)(pointer(to), from, bytes, cudaMemcpyHostToDevice));
}
LANESCOPE_DRIVER_API CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
    return result(RUNTIME(cudaMemcpy)(to, pointer(from), bytes, cudaMemcpyDeviceToHost));
}
LANESCOPE_DRIVER_API CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return result(RUNTIME(cudaMemcpy)(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice));
}
LANESCOPE_DRIVER_API CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return result(RUNTIME(cudaMemcpyAsync)(pointer(to), pointer(from), bytes, cudaMemcpyDefault, stream));
}
LANESCOPE_DRIVER_API CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
    return result(RUNTIME(cudaMemcpyAsync)(pointer(to), from, bytes, cudaMemcpyHostToDevice, stream));
}
LANESCOPE_DRIVER_API CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return result(RUNTIME(cudaMemcpyAsync)(to, pointer(from), bytes, cudaMemcpyDeviceToHost, stream));
}
LANESCOPE_DRIVER_API CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return result(RUNTIME(cudaMemcpyAsync)(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice, stream));
}

// One device: copies between contexts are copies.
LANESCOPE_DRIVER_API CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes) { return cuMemcpyDtoD(to, from, bytes); }
LANESCOPE_DRIVER_API CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes, CUstream stream) {
    return cuMemcpyDtoDAsync(to, from, bytes, stream);
}

LANESCOPE_DRIVER_API CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t n) { return fill(to, 0, value, 1, n, 1, nullptr, true); }
LANESCOPE_DRIVER_API CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, size_t n) { return fill(to, 0, value, 2, n, 1, nullptr, true); }
LANESCOPE_DRIVER_API CUresult cuMemsetD32(CUdeviceptr to, unsigned value, size_t n) { return fill(to, 0, value, 4, n, 1, nullptr, true); }
LANESCOPE_DRIVER_API CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t n, CUstream stream) { return fill(to, 0, value, 1, n, 1, stream, false); }
LANESCOPE_DRIVER_API CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t n, CUstream stream) { return fill(to, 0, value, 2, n, 1, stream, false); }
LANESCOPE_DRIVER_API CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t n, CUstream stream) { return fill(to, 0, value, 4, n, 1, stream, false); }
LANESCOPE_DRIVER_API CUresult cuMemsetD2D8(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height) {
    return fill(to, pitch, value, 1, width, height, nullptr, true);
}
LANESCOPE_DRIVER_API CUresult cuMemsetD2D32(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height) {
    return fill(to, pitch, value, 4, width, height, nullptr, true);
}

LANESCOPE_DRIVER_API CUresult cuMemsetD2D16(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height) {
    return fill(to, pitch, value, 2, width, height, nullptr, true);
}
LANESCOPE_DRIVER_API CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height, CUstream stream) {
    return fill(to, pitch, value, 1, width, height, stream, false);
}
LANESCOPE_DRIVER_API CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height, CUstream stream) {
    return fill(to, pitch, value, 2, width, height, stream, false);
}
LANESCOPE_DRIVER_API CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height, CUstream stream) {
    return fill(to, pitch, value, 4, width, height, stream, false);
}

LANESCOPE_DRIVER_API CUresult cuPointerGetAttribute(void* out, CUpointer_attribute which, CUdeviceptr address) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    cudaPointerAttributes all{};
    if (const CUresult status = result(RUNTIME(cudaPointerGetAttributes)(&all, pointer(address)))) return status;
    return attribute(out, which, all);
}
LANESCOPE_DRIVER_API CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* which, void** out, CUdeviceptr address) {
    for (unsigned i = 0; i < count; ++i)
        if (const CUresult status = cuPointerGetAttribute(out[i], which[i], address)) return status;
    return CUDA_SUCCESS;
}

// Pools: attributes, properties and access have the runtime's numbers and layout.
LANESCOPE_DRIVER_API CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) { return result(RUNTIME(cudaDeviceGetDefaultMemPool)(pool, device)); }
LANESCOPE_DRIVER_API CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) { return result(RUNTIME(cudaDeviceGetMemPool)(pool, device)); }
LANESCOPE_DRIVER_API CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) { return result(RUNTIME(cudaDeviceSetMemPool)(device, pool)); }
LANESCOPE_DRIVER_API CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
    static_assert(sizeof(CUmemPoolProps) == sizeof(cudaMemPoolProps));
    return result(RUNTIME(cudaMemPoolCreate)(pool, reinterpret_cast<const cudaMemPoolProps*>(properties)));
}
LANESCOPE_DRIVER_API CUresult cuMemPoolDestroy(CUmemoryPool pool) { return result(RUNTIME(cudaMemPoolDestroy)(pool)); }
LANESCOPE_DRIVER_API CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes) { return result(RUNTIME(cudaMemPoolTrimTo)(pool, bytes)); }
LANESCOPE_DRIVER_API CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
    return result(RUNTIME(cudaMemPoolSetAttribute)(pool, cudaMemPoolAttr(attribute), value));
}
LANESCOPE_DRIVER_API CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
    return result(RUNTIME(cudaMemPoolGetAttribute)(pool, cudaMemPoolAttr(attribute), value));
}
LANESCOPE_DRIVER_API CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* access, size_t count) {
    return result(RUNTIME(cudaMemPoolSetAccess)(pool, reinterpret_cast<const cudaMemAccessDesc*>(access), count));
}
LANESCOPE_DRIVER_API CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location) {
    return result(RUNTIME(cudaMemPoolGetAccess)(reinterpret_cast<cudaMemAccessFlags*>(flags), pool, reinterpret_cast<cudaMemLocation*>(location)));
}
LANESCOPE_DRIVER_API CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t bytes, CUmemoryPool pool, CUstream stream) {
    return result(RUNTIME(cudaMallocFromPoolAsync)(reinterpret_cast<void**>(address), bytes, pool, stream));
}

LANESCOPE_DRIVER_API CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned flags, CUstream stream) {
    const cudaMemLocation same{cudaMemLocationType(location.type), {location.id}};
    return result(reinterpret_cast<cudaError_t (*)(const void*, size_t, cudaMemLocation, unsigned, cudaStream_t)>(runtime_function("cudaMemPrefetchAsync_v2"))(
        pointer(address), bytes, same, flags, stream));
}
LANESCOPE_DRIVER_API CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation location) {
    const cudaMemLocation same{cudaMemLocationType(location.type), {location.id}};
    return result(reinterpret_cast<cudaError_t (*)(const void*, size_t, cudaMemoryAdvise, cudaMemLocation)>(runtime_function("cudaMemAdvise_v2"))(
        pointer(address), bytes, cudaMemoryAdvise(advice), same));
}
#undef cuMemPrefetchAsync
#undef cuMemAdvise
LANESCOPE_DRIVER_API CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream) {
    return cuMemPrefetchAsync_v2(address, bytes, {device < 0 ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE, {device < 0 ? 0 : device}}, 0, stream);
}
LANESCOPE_DRIVER_API CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device) {
    return cuMemAdvise_v2(address, bytes, advice, {device < 0 ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE, {device < 0 ? 0 : device}});
}
