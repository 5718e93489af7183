// The device: count, properties, limits, versions, synchronisation, reset.
#include "cudart/api/device.h"

#include <algorithm>
#include <cstring>

#include "cudart/api/runtime.h"

namespace lanescope::cudart {

std::optional<int> attribute(const gpu::Description& gpu, int id) {
    const uint32_t cc = gpu.compute_capability;
    const bool pascal = cc >= 60, ampere = cc >= 80;
    const int wide = pascal ? 131072 : 65536;        // CUDA programming guide, technical specifications per compute capability
    auto bytes = [](uint64_t value) { return int(std::min<uint64_t>(value, INT32_MAX)); };
    switch (id) {
        case cudaDevAttrMaxThreadsPerBlock: return int(gpu.max_threads_per_block);
        case cudaDevAttrMaxBlockDimX:
        case cudaDevAttrMaxBlockDimY: return 1024;
        case cudaDevAttrMaxBlockDimZ: return 64;
        case cudaDevAttrMaxGridDimX: return INT32_MAX;
        case cudaDevAttrMaxGridDimY:
        case cudaDevAttrMaxGridDimZ: return 65535;
        case cudaDevAttrMaxSharedMemoryPerBlock: return bytes(gpu.max_shared_per_block);
        case cudaDevAttrTotalConstantMemory: return 65536;
        case cudaDevAttrWarpSize: return int(gpu.warp_lanes);
        case cudaDevAttrMaxPitch: return INT32_MAX;
        case cudaDevAttrMaxRegistersPerBlock: return int(std::min(65536u, gpu.registers_per_sm));
        case cudaDevAttrClockRate: return int(gpu.clock_mhz * 1000);
        case cudaDevAttrTextureAlignment: return 512;
        case cudaDevAttrGpuOverlap: return 1;
        case cudaDevAttrMultiProcessorCount: return int(gpu.sms);
        case cudaDevAttrKernelExecTimeout: return 0;
        case cudaDevAttrIntegrated: return 0;
        case cudaDevAttrCanMapHostMemory: return 1;
        case cudaDevAttrComputeMode: return cudaComputeModeDefault;
        case cudaDevAttrMaxTexture1DWidth:
        case cudaDevAttrMaxTexture2DWidth: return wide;
        case cudaDevAttrMaxTexture2DHeight: return 65536;
        case cudaDevAttrMaxTexture3DWidth:
        case cudaDevAttrMaxTexture3DHeight:
        case cudaDevAttrMaxTexture3DDepth: return pascal ? 16384 : 4096;
        case cudaDevAttrMaxTexture2DLayeredWidth:
        case cudaDevAttrMaxTexture2DLayeredHeight:
        case cudaDevAttrMaxTexture1DLayeredWidth: return pascal ? 32768 : 16384;
        case cudaDevAttrMaxTexture2DLayeredLayers:
        case cudaDevAttrMaxTexture1DLayeredLayers: return 2048;
        case cudaDevAttrSurfaceAlignment: return 512;
        case cudaDevAttrConcurrentKernels: return 1;
        case cudaDevAttrEccEnabled: return gpu.ecc;
        case cudaDevAttrPciBusId: return 1;
        case cudaDevAttrPciDeviceId:
        case cudaDevAttrPciDomainId:
        case cudaDevAttrTccDriver: return 0;
        case cudaDevAttrMemoryClockRate: return int(gpu.memory_clock_mhz * 1000);
        case cudaDevAttrGlobalMemoryBusWidth: return int(gpu.bus_bits);
        case cudaDevAttrL2CacheSize: return bytes(gpu.l2_bytes);
        case cudaDevAttrMaxThreadsPerMultiProcessor: return int(gpu.max_warps_per_sm * gpu.warp_lanes);
        case cudaDevAttrAsyncEngineCount: return 2;
        case cudaDevAttrUnifiedAddressing: return 1;
        case cudaDevAttrMaxTexture2DGatherWidth:
        case cudaDevAttrMaxTexture2DGatherHeight: return pascal ? 32768 : 16384;
        case cudaDevAttrMaxTexture3DWidthAlt:
        case cudaDevAttrMaxTexture3DHeightAlt: return pascal ? 8192 : 2048;
        case cudaDevAttrMaxTexture3DDepthAlt: return pascal ? 32768 : 16384;
        case cudaDevAttrTexturePitchAlignment: return 32;
        case cudaDevAttrMaxTextureCubemapWidth:
        case cudaDevAttrMaxTextureCubemapLayeredWidth: return pascal ? 32768 : 16384;
        case cudaDevAttrMaxTextureCubemapLayeredLayers: return 2046;
        case cudaDevAttrMaxSurface1DWidth: return pascal ? 32768 : 16384;
        case cudaDevAttrMaxSurface2DWidth: return wide;
        case cudaDevAttrMaxSurface2DHeight: return pascal ? 65536 : 32768;
        case cudaDevAttrMaxSurface3DWidth:
        case cudaDevAttrMaxSurface3DHeight:
        case cudaDevAttrMaxSurface3DDepth: return pascal ? 16384 : 4096;
        case cudaDevAttrMaxSurface1DLayeredWidth:
        case cudaDevAttrMaxSurface2DLayeredWidth:
        case cudaDevAttrMaxSurface2DLayeredHeight:
        case cudaDevAttrMaxSurfaceCubemapWidth:
        case cudaDevAttrMaxSurfaceCubemapLayeredWidth: return pascal ? 32768 : 16384;
        case cudaDevAttrMaxSurface1DLayeredLayers:
        case cudaDevAttrMaxSurface2DLayeredLayers: return 2048;
        case cudaDevAttrMaxSurfaceCubemapLayeredLayers: return 2046;
        case cudaDevAttrMaxTexture1DLinearWidth: return pascal ? 1 << 28 : 1 << 27;
        case cudaDevAttrMaxTexture2DLinearWidth: return wide;
        case cudaDevAttrMaxTexture2DLinearHeight: return 65000;
        case cudaDevAttrMaxTexture2DLinearPitch: return pascal ? 2097120 : 1048544;
        case cudaDevAttrMaxTexture2DMipmappedWidth:
        case cudaDevAttrMaxTexture2DMipmappedHeight:
        case cudaDevAttrMaxTexture1DMipmappedWidth: return pascal ? 32768 : 16384;
        case cudaDevAttrComputeCapabilityMajor: return int(cc / 10);
        case cudaDevAttrComputeCapabilityMinor: return int(cc % 10);
        case cudaDevAttrStreamPrioritiesSupported: return cc >= 35;
        case cudaDevAttrGlobalL1CacheSupported:
        case cudaDevAttrLocalL1CacheSupported: return 1;
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
            return bytes(gpu.shared_carveouts.empty() ? gpu.max_shared_per_block : gpu.shared_carveouts.back());
        case cudaDevAttrMaxRegistersPerMultiprocessor: return int(gpu.registers_per_sm);
        case cudaDevAttrManagedMemory: return 1;
        case cudaDevAttrIsMultiGpuBoard: return gpu.gpus_on_board > 1;
        case cudaDevAttrMultiGpuBoardGroupID: return 0;
        case cudaDevAttrHostNativeAtomicSupported: return 0;
        case cudaDevAttrSingleToDoublePrecisionPerfRatio: return cc == 35 || cc == 37 ? 3 : cc == 60 || cc == 70 || cc == 80 || cc == 90 || cc == 100 ? 2 : cc < 35 ? 24 : cc < 75 ? 32 : 64;
        case cudaDevAttrPageableMemoryAccess: return 0;
        case cudaDevAttrConcurrentManagedAccess:
        case cudaDevAttrComputePreemptionSupported: return pascal;
        case cudaDevAttrCanUseHostPointerForRegisteredMem: return 1;
        case cudaDevAttrCooperativeLaunch: return pascal;
        case cudaDevAttrMaxSharedMemoryPerBlockOptin: return bytes(std::max(gpu.max_shared_per_block, gpu.max_shared_per_block_optin));
        case cudaDevAttrCanFlushRemoteWrites: return 0;
        case cudaDevAttrHostRegisterSupported: return 1;
        case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
        case cudaDevAttrDirectManagedMemAccessFromHost: return 0;
        case cudaDevAttrMaxBlocksPerMultiprocessor: return int(gpu.max_blocks_per_sm);
        case cudaDevAttrMaxPersistingL2CacheSize: return ampere ? bytes(gpu.l2_bytes / 8 * 5) : 0;
        case cudaDevAttrMaxAccessPolicyWindowSize: return ampere ? 1 << 27 : 0;
        case cudaDevAttrReservedSharedMemoryPerBlock: return bytes(gpu.reserved_shared_per_block);
        case cudaDevAttrMemoryPoolsSupported: return 1;
        case cudaDevAttrClusterLaunch: return cc >= 90;
        case cudaDevAttrHostNumaId: return -1;
        case cudaDevAttrNumaId: return -1;
        case cudaDevAttrMemSyncDomainCount: return cc >= 90 ? 4 : 1;
        default: return id > 0 && id < int(cudaDevAttrMax) ? std::optional<int>(0) : std::nullopt;   // features that the emulated GPU lacks
    }
}

}  // namespace lanescope::cudart

using namespace lanescope::cudart;
using lanescope::emulator::Context;

LANESCOPE_API cudaError_t cudaGetDeviceCount(int* count) {
    return call([&](Runtime&, Context&) {
        if (!count) return cudaErrorInvalidValue;
        *count = 1;
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaGetDevice(int* device) {
    return call([&](Runtime&, Context&) {
        if (!device) return cudaErrorInvalidValue;
        *device = 0;
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaSetDevice(int device) {
    return call([&](Runtime&, Context&) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; });
}
LANESCOPE_API cudaError_t cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }
LANESCOPE_API cudaError_t cudaSetValidDevices(int* devices, int count) {
    return call([&](Runtime&, Context&) {
        for (int i = 0; i < count; ++i)
            if (devices[i] != 0) return cudaErrorInvalidDevice;
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) { return cudaGetDevice(device); }
LANESCOPE_API cudaError_t cudaSetDeviceFlags(unsigned flags) {
    return call([&](Runtime& runtime, Context&) {
        runtime.device_flags = flags;
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaGetDeviceFlags(unsigned* flags) {
    return call([&](Runtime& runtime, Context&) {
        if (!flags) return cudaErrorInvalidValue;
        *flags = runtime.device_flags | cudaDeviceMapHost;
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr id, int device) {
    return call([&](Runtime&, Context& context) {
        if (device != 0) return cudaErrorInvalidDevice;
        std::optional<int> known = attribute(context.gpu(), int(id));
        if (!value || !known) return cudaErrorInvalidValue;
        *value = *known;
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaDeviceSynchronize() {
    return call([](Runtime& runtime, Context& context) {
        if (runtime.captures) return cudaErrorStreamCaptureUnsupported;
        context.timeline().host_waits_for_all();
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
LANESCOPE_API cudaError_t cudaDeviceReset() {
    Runtime& runtime = Runtime::get();
    std::lock_guard lock(runtime.mutex);
    runtime.reset();
    last_error(true);
    return cudaSuccess;
}
LANESCOPE_API cudaError_t cudaThreadExit() { return cudaDeviceReset(); }

LANESCOPE_API cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
    return call([&](Runtime& runtime, Context& context) {
        switch (limit) {
            case cudaLimitStackSize: context.set_stack_bytes(value); return cudaSuccess;
            case cudaLimitMallocHeapSize: context.set_heap_bytes(value); return cudaSuccess;
            case cudaLimitPrintfFifoSize: runtime.printf_fifo_bytes = value; return cudaSuccess;
            case cudaLimitPersistingL2CacheSize:
                context.set_persisting_bytes(std::min(value, size_t(*attribute(context.gpu(), cudaDevAttrMaxPersistingL2CacheSize))));
                return cudaSuccess;
            case cudaLimitMaxL2FetchGranularity:
            case cudaLimitDevRuntimeSyncDepth:
            case cudaLimitDevRuntimePendingLaunchCount: return cudaSuccess;
            default: return cudaErrorUnsupportedLimit;
        }
    });
}
LANESCOPE_API cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
    return call([&](Runtime& runtime, Context& context) {
        if (!value) return cudaErrorInvalidValue;
        switch (limit) {
            case cudaLimitStackSize: *value = context.stack_bytes(); return cudaSuccess;
            case cudaLimitMallocHeapSize: *value = context.heap_bytes(); return cudaSuccess;
            case cudaLimitPrintfFifoSize: *value = runtime.printf_fifo_bytes; return cudaSuccess;
            case cudaLimitMaxL2FetchGranularity: *value = context.gpu().dram_fetch_bytes; return cudaSuccess;
            case cudaLimitPersistingL2CacheSize: *value = context.persisting_bytes(); return cudaSuccess;
            default: return cudaErrorUnsupportedLimit;
        }
    });
}
LANESCOPE_API cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
    return call([](Runtime&, Context&) { return cudaSuccess; });
}
LANESCOPE_API cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
    return call([&](Runtime&, Context&) {
        *config = cudaFuncCachePreferNone;
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
    return call([](Runtime&, Context&) { return cudaSuccess; });
}
LANESCOPE_API cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
    return call([&](Runtime&, Context&) {
        *config = cudaSharedMemBankSizeFourByte;
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaCtxResetPersistingL2Cache() {
    return call([](Runtime&, Context& context) {
        context.reset_persisting();
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
    return call([&](Runtime&, Context&) {
        if (device != 0 || peer != 0) return cudaErrorInvalidDevice;
        *can = 0;
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaDeviceGetP2PAttribute(int*, cudaDeviceP2PAttr, int, int) {
    return call([](Runtime&, Context&) { return cudaErrorInvalidDevice; });   // needs two GPUs
}
LANESCOPE_API cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
    return call([](Runtime&, Context&) { return cudaErrorInvalidDevice; });
}
LANESCOPE_API cudaError_t cudaDeviceDisablePeerAccess(int) {
    return call([](Runtime&, Context&) { return cudaErrorInvalidDevice; });
}
LANESCOPE_API cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
    return call([&](Runtime&, Context&) {
        static constexpr char kId[] = "0000:01:00.0";
        if (device != 0) return cudaErrorInvalidDevice;
        if (!id || length < int(sizeof kId)) return cudaErrorInvalidValue;
        std::memcpy(id, kId, sizeof kId);
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaDeviceGetByPCIBusId(int* device, const char*) { return cudaGetDevice(device); }

// CUDA 13: what a program built with it asks for. The older names of the library answer the same, so that newer objects run beside them.
LANESCOPE_API cudaError_t cudaRuntimeGetVersion(int* version) {
    if (!version) return record(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return cudaSuccess;
}
LANESCOPE_API cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }

LANESCOPE_API cudaError_t cudaProfilerStart() {
    return call([](Runtime&, Context& context) {
        context.collect(true);
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaProfilerStop() {
    return call([](Runtime&, Context& context) {
        context.collect(false);
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaProfilerInitialize(const char*, const char*, int) { return cudaSuccess; }
