// What libcudart.so.12 and libcudart.so.11.0 have otherwise than libcudart.so.13: layouts and signatures of their own.
#include "cudart/api/copy.h"
#include "cudart/api/device.h"
#include "cudart/api/graph.h"
#include "cudart/api/runtime.h"

using namespace lanescope::cudart;

namespace {

/// cudaDeviceProp of cudaGetDeviceProperties until CUDA 12, members in their order (an ABI fact: offsets follow from it).
struct Properties11 {
    char name[256];
    cudaUUID_t uuid;
    char luid[8];
    unsigned int luidDeviceNodeMask;
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment, texturePitchAlignment;
    int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode, maxTexture1D,
        maxTexture1DMipmap, maxTexture1DLinear, maxTexture2D[2], maxTexture2DMipmap[2], maxTexture2DLinear[3], maxTexture2DGather[2],
        maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap, maxTexture1DLayered[2], maxTexture2DLayered[3],
        maxTextureCubemapLayered[2], maxSurface1D, maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2], maxSurface2DLayered[3],
        maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
    size_t surfaceAlignment;
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount, unifiedAddressing,
        memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, streamPrioritiesSupported,
        globalL1CacheSupported, localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported,
        singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported,
        canUseHostPointerForRegisteredMem, cooperativeLaunch, cooperativeMultiDeviceLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
};

/// cudaDeviceProp of CUDA 12's cudaGetDeviceProperties_v2: the same, continued.
struct Properties12 : Properties11 {
    int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported, timelineSemaphoreInteropSupported,
        memoryPoolsSupported, gpuDirectRDMASupported;
    unsigned int gpuDirectRDMAFlushWritesOptions;
    int gpuDirectRDMAWritesOrdering;
    unsigned int memoryPoolSupportedHandleTypes;
    int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers, reserved[63];
};
static_assert(sizeof(Properties11) == 728 && sizeof(Properties12) == 1032);

template <class Properties>
cudaError_t get_properties(Properties* properties, int device) {
    return call([&](Runtime&, lanescope::emulator::Context& context) {
        if (device != 0) return cudaErrorInvalidDevice;
        if (!properties) return cudaErrorInvalidValue;
        fill_properties(context.gpu(), *properties);
        return cudaSuccess;
    });
}

}  // namespace

// The names are taken by CUDA 13's declarations.
LANESCOPE_API cudaError_t get_properties_11(Properties11* properties, int device) __asm__("cudaGetDeviceProperties");
LANESCOPE_API cudaError_t get_properties_12(Properties12* properties, int device) __asm__("cudaGetDeviceProperties_v2");
LANESCOPE_API cudaError_t advise_11(const void* pointer, size_t bytes, int advice, int device) __asm__("cudaMemAdvise");
LANESCOPE_API cudaError_t advise_12(const void* pointer, size_t bytes, int advice, cudaMemLocation location) __asm__("cudaMemAdvise_v2");
LANESCOPE_API cudaError_t prefetch_11(const void* pointer, size_t bytes, int device, cudaStream_t stream) __asm__("cudaMemPrefetchAsync");
LANESCOPE_API cudaError_t prefetch_11_ptsz(const void* pointer, size_t bytes, int device, cudaStream_t stream) __asm__("cudaMemPrefetchAsync_ptsz");
LANESCOPE_API cudaError_t prefetch_12(const void* pointer, size_t bytes, cudaMemLocation location, unsigned flags, cudaStream_t stream) __asm__("cudaMemPrefetchAsync_v2");

cudaError_t get_properties_11(Properties11* properties, int device) { return get_properties(properties, device); }
cudaError_t get_properties_12(Properties12* properties, int device) { return get_properties(properties, device); }
cudaError_t advise_11(const void* pointer, size_t bytes, int advice, int device) { return advise(pointer, bytes, advice, device == cudaCpuDeviceId); }
cudaError_t advise_12(const void* pointer, size_t bytes, int advice, cudaMemLocation location) {
    return advise(pointer, bytes, advice, location.type != cudaMemLocationTypeDevice);
}
cudaError_t prefetch_11(const void* pointer, size_t bytes, int device, cudaStream_t stream) { return prefetch(pointer, bytes, device == cudaCpuDeviceId, stream); }
cudaError_t prefetch_11_ptsz(const void* pointer, size_t bytes, int device, cudaStream_t stream) { return prefetch_11(pointer, bytes, device, stream); }
cudaError_t prefetch_12(const void* pointer, size_t bytes, cudaMemLocation location, unsigned, cudaStream_t stream) {
    return prefetch(pointer, bytes, location.type != cudaMemLocationTypeDevice, stream);
}

// Graphs: edges without data.
LANESCOPE_API cudaError_t get_edges_12(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, size_t* count) __asm__("cudaGraphGetEdges");
LANESCOPE_API cudaError_t get_dependencies_12(cudaGraphNode_t node, cudaGraphNode_t* out, size_t* count) __asm__("cudaGraphNodeGetDependencies");
LANESCOPE_API cudaError_t get_dependents_12(cudaGraphNode_t node, cudaGraphNode_t* out, size_t* count) __asm__("cudaGraphNodeGetDependentNodes");
LANESCOPE_API cudaError_t add_edges_12(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, size_t count) __asm__("cudaGraphAddDependencies");
LANESCOPE_API cudaError_t remove_edges_12(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, size_t count) __asm__("cudaGraphRemoveDependencies");
LANESCOPE_API cudaError_t add_node_12(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, cudaGraphNodeParams* parameters) __asm__("cudaGraphAddNode");
LANESCOPE_API cudaError_t capture_info_12(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id) __asm__("cudaStreamGetCaptureInfo");
LANESCOPE_API cudaError_t capture_info_12_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id) __asm__("cudaStreamGetCaptureInfo_ptsz");

cudaError_t get_edges_12(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, size_t* count) { return get_edges(graph, from, to, nullptr, count); }
cudaError_t get_dependencies_12(cudaGraphNode_t node, cudaGraphNode_t* out, size_t* count) { return get_neighbours(node, true, out, nullptr, count); }
cudaError_t get_dependents_12(cudaGraphNode_t node, cudaGraphNode_t* out, size_t* count) { return get_neighbours(node, false, out, nullptr, count); }
cudaError_t add_edges_12(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, size_t count) { return change_edges(graph, from, to, count, true); }
cudaError_t remove_edges_12(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, size_t count) { return change_edges(graph, from, to, count, false); }
cudaError_t add_node_12(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, cudaGraphNodeParams* p) { return add_node(node, graph, after, count, p); }
cudaError_t capture_info_12(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id) {
    return capture_info(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}
cudaError_t capture_info_12_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id) { return capture_info_12(stream, status, id); }

#if LANESCOPE_CUDART >= 12
LANESCOPE_API cudaError_t update_12(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) __asm__("cudaGraphExecUpdate");
cudaError_t update_12(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
    return info ? update(executable, graph, &info->result, &info->errorNode) : record(cudaErrorInvalidValue);
}
#else
LANESCOPE_API cudaError_t update_11(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphNode_t* node, cudaGraphExecUpdateResult* result) __asm__("cudaGraphExecUpdate");
cudaError_t update_11(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphNode_t* node, cudaGraphExecUpdateResult* result) { return update(executable, graph, result, node); }
#endif
