// What the runtime says of the described GPU: one table of attributes, from which every layout of cudaDeviceProp is filled.
#pragma once

#include <cuda_runtime_api.h>

#include <cstring>
#include <optional>

#include "gpu/description.h"

namespace lanescope::cudart {

/// Value of a cudaDeviceAttr (also of those that later toolkits dropped); nullopt: no such attribute.
std::optional<int> attribute(const gpu::Description& gpu, int id);

/// Bytes of device memory as the runtime reports them.
inline size_t total_memory(const gpu::Description& gpu) { return gpu.memory_bytes; }

/// Fills any version's cudaDeviceProp: members that only some versions have are filled where they are.
template <class Properties>
void fill_properties(const gpu::Description& gpu, Properties& p) {
    auto get = [&](int id) { return attribute(gpu, id).value_or(0); };
    std::memset(static_cast<void*>(&p), 0, sizeof p);
    std::strncpy(p.name, gpu.product.c_str(), sizeof p.name - 1);
    std::memcpy(&p.uuid, "lanescope", 9);
    p.totalGlobalMem = total_memory(gpu);
    p.sharedMemPerBlock = size_t(get(cudaDevAttrMaxSharedMemoryPerBlock));
    p.regsPerBlock = get(cudaDevAttrMaxRegistersPerBlock);
    p.warpSize = get(cudaDevAttrWarpSize);
    p.memPitch = size_t(get(cudaDevAttrMaxPitch));
    p.maxThreadsPerBlock = get(cudaDevAttrMaxThreadsPerBlock);
    for (int i = 0; i < 3; ++i) {
        p.maxThreadsDim[i] = get(cudaDevAttrMaxBlockDimX + i);
        p.maxGridSize[i] = get(cudaDevAttrMaxGridDimX + i);
        p.maxTexture3D[i] = get(cudaDevAttrMaxTexture3DWidth + i);
        p.maxTexture3DAlt[i] = get(cudaDevAttrMaxTexture3DWidthAlt + i);
        p.maxTexture2DLayered[i] = get(cudaDevAttrMaxTexture2DLayeredWidth + i);
        p.maxTexture2DLinear[i] = get(cudaDevAttrMaxTexture2DLinearWidth + i);
        p.maxSurface3D[i] = get(cudaDevAttrMaxSurface3DWidth + i);
        p.maxSurface2DLayered[i] = get(cudaDevAttrMaxSurface2DLayeredWidth + i);
    }
    for (int i = 0; i < 2; ++i) {
        p.maxTexture2D[i] = get(cudaDevAttrMaxTexture2DWidth + i);
        p.maxTexture2DMipmap[i] = get(cudaDevAttrMaxTexture2DMipmappedWidth + i);
        p.maxTexture2DGather[i] = get(cudaDevAttrMaxTexture2DGatherWidth + i);
        p.maxTexture1DLayered[i] = get(cudaDevAttrMaxTexture1DLayeredWidth + i);
        p.maxTextureCubemapLayered[i] = get(cudaDevAttrMaxTextureCubemapLayeredWidth + i);
        p.maxSurface2D[i] = get(cudaDevAttrMaxSurface2DWidth + i);
        p.maxSurface1DLayered[i] = get(cudaDevAttrMaxSurface1DLayeredWidth + i);
        p.maxSurfaceCubemapLayered[i] = get(cudaDevAttrMaxSurfaceCubemapLayeredWidth + i);
    }
    p.totalConstMem = size_t(get(cudaDevAttrTotalConstantMemory));
    p.major = get(cudaDevAttrComputeCapabilityMajor);
    p.minor = get(cudaDevAttrComputeCapabilityMinor);
    p.textureAlignment = size_t(get(cudaDevAttrTextureAlignment));
    p.texturePitchAlignment = size_t(get(cudaDevAttrTexturePitchAlignment));
    p.multiProcessorCount = get(cudaDevAttrMultiProcessorCount);
    p.integrated = get(cudaDevAttrIntegrated);
    p.canMapHostMemory = get(cudaDevAttrCanMapHostMemory);
    p.maxTexture1D = get(cudaDevAttrMaxTexture1DWidth);
    p.maxTexture1DMipmap = get(cudaDevAttrMaxTexture1DMipmappedWidth);
    p.maxTextureCubemap = get(cudaDevAttrMaxTextureCubemapWidth);
    p.maxSurface1D = get(cudaDevAttrMaxSurface1DWidth);
    p.maxSurfaceCubemap = get(cudaDevAttrMaxSurfaceCubemapWidth);
    p.surfaceAlignment = size_t(get(cudaDevAttrSurfaceAlignment));
    p.concurrentKernels = get(cudaDevAttrConcurrentKernels);
    p.ECCEnabled = get(cudaDevAttrEccEnabled);
    p.pciBusID = get(cudaDevAttrPciBusId);
    p.pciDeviceID = get(cudaDevAttrPciDeviceId);
    p.pciDomainID = get(cudaDevAttrPciDomainId);
    p.tccDriver = get(cudaDevAttrTccDriver);
    p.asyncEngineCount = get(cudaDevAttrAsyncEngineCount);
    p.unifiedAddressing = get(cudaDevAttrUnifiedAddressing);
    p.memoryBusWidth = get(cudaDevAttrGlobalMemoryBusWidth);
    p.l2CacheSize = get(cudaDevAttrL2CacheSize);
    p.persistingL2CacheMaxSize = get(cudaDevAttrMaxPersistingL2CacheSize);
    p.maxThreadsPerMultiProcessor = get(cudaDevAttrMaxThreadsPerMultiProcessor);
    p.streamPrioritiesSupported = get(cudaDevAttrStreamPrioritiesSupported);
    p.globalL1CacheSupported = get(cudaDevAttrGlobalL1CacheSupported);
    p.localL1CacheSupported = get(cudaDevAttrLocalL1CacheSupported);
    p.sharedMemPerMultiprocessor = size_t(get(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
    p.regsPerMultiprocessor = get(cudaDevAttrMaxRegistersPerMultiprocessor);
    p.managedMemory = get(cudaDevAttrManagedMemory);
    p.isMultiGpuBoard = get(cudaDevAttrIsMultiGpuBoard);
    p.multiGpuBoardGroupID = get(cudaDevAttrMultiGpuBoardGroupID);
    p.hostNativeAtomicSupported = get(cudaDevAttrHostNativeAtomicSupported);
    p.pageableMemoryAccess = get(cudaDevAttrPageableMemoryAccess);
    p.concurrentManagedAccess = get(cudaDevAttrConcurrentManagedAccess);
    p.computePreemptionSupported = get(cudaDevAttrComputePreemptionSupported);
    p.canUseHostPointerForRegisteredMem = get(cudaDevAttrCanUseHostPointerForRegisteredMem);
    p.cooperativeLaunch = get(cudaDevAttrCooperativeLaunch);
    p.sharedMemPerBlockOptin = size_t(get(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    p.maxBlocksPerMultiProcessor = get(cudaDevAttrMaxBlocksPerMultiprocessor);
    p.accessPolicyMaxWindowSize = get(cudaDevAttrMaxAccessPolicyWindowSize);
    p.reservedSharedMemPerBlock = size_t(get(cudaDevAttrReservedSharedMemoryPerBlock));
    if constexpr (requires { p.clockRate; }) {           // until CUDA 12
        p.clockRate = get(cudaDevAttrClockRate);
        p.memoryClockRate = get(cudaDevAttrMemoryClockRate);
        p.deviceOverlap = get(cudaDevAttrGpuOverlap);
        p.singleToDoublePrecisionPerfRatio = get(cudaDevAttrSingleToDoublePrecisionPerfRatio);
        p.maxTexture1DLinear = get(cudaDevAttrMaxTexture1DLinearWidth);
        p.cooperativeMultiDeviceLaunch = 0;
    }
    if constexpr (requires { p.hostRegisterSupported; }) {   // from CUDA 12 on
        p.hostRegisterSupported = get(cudaDevAttrHostRegisterSupported);
        p.memoryPoolsSupported = get(cudaDevAttrMemoryPoolsSupported);
        p.clusterLaunch = get(cudaDevAttrClusterLaunch);
        p.unifiedFunctionPointers = 0;
    }
    if constexpr (requires { p.hostNumaId; }) p.hostNumaId = get(cudaDevAttrHostNumaId);   // from CUDA 13 on
}

}  // namespace lanescope::cudart
