// Allocation of device, pinned, mapped, managed and pooled memory; what a pointer is.
#include <algorithm>
#include <cstring>

#include "cudart/api/graph.h"
#include "cudart/api/runtime.h"

using namespace lanescope::cudart;
using lanescope::emulator::Context;
using lanescope::exec::Allocation;
using lanescope::exec::Region;

namespace {

constexpr size_t kPitchAlignment = 512;   // what cudaMallocPitch gives on every GPU since Kepler

uint64_t address_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

cudaError_t allocate(Context& context, void** out, size_t bytes, Region region, const char* name) {
    if (!out) return cudaErrorInvalidValue;
    *out = nullptr;
    if (bytes == 0) return cudaSuccess;
    const Allocation* allocation = context.memory().allocate(bytes, region, name);
    if (!allocation) return cudaErrorMemoryAllocation;
    context.mapped(*allocation);
    if (region == Region::kDevice) context.undefined(*allocation);
    *out = reinterpret_cast<void*>(allocation->begin);
    return cudaSuccess;
}

cudaError_t release(Context& context, void* pointer, std::initializer_list<Region> regions) {
    if (!pointer) return cudaSuccess;
    const Allocation* allocation = context.memory().find(address_of(pointer));
    if (!allocation || allocation->begin != address_of(pointer) || std::find(regions.begin(), regions.end(), allocation->region) == regions.end())
        return cudaErrorInvalidValue;
    if (allocation->name == kGraphMemory) return cudaSuccess;
    if (allocation->region == Region::kManaged) context.settle_managed();
    context.unmapped(*allocation);
    context.timeline().host_waits_for_all();   // freeing waits for what may still use the memory
    return context.memory().release(allocation->begin) ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace

LANESCOPE_API cudaError_t cudaMalloc(void** pointer, size_t bytes) {
    return call([&](Runtime&, Context& context) { return allocate(context, pointer, bytes, Region::kDevice, "cudaMalloc"); });
}

LANESCOPE_API cudaError_t cudaFree(void* pointer) {
    return call([&](Runtime&, Context& context) { return release(context, pointer, {Region::kDevice, Region::kManaged}); });
}

LANESCOPE_API cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
    return call([&](Runtime&, Context& context) {
        if (!pitch || (height && width > SIZE_MAX / 2 / height)) return cudaErrorInvalidValue;
        *pitch = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
        return allocate(context, pointer, *pitch * height, Region::kDevice, "cudaMallocPitch");
    });
}

LANESCOPE_API cudaError_t cudaMalloc3D(cudaPitchedPtr* out, cudaExtent extent) {
    if (!out) return record(cudaErrorInvalidValue);
    size_t pitch = 0;
    void* pointer = nullptr;
    if (cudaError_t error = cudaMallocPitch(&pointer, &pitch, extent.width, extent.height * extent.depth)) return error;
    *out = {pointer, pitch, extent.width, extent.height};
    return cudaSuccess;
}

LANESCOPE_API cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
    return call([&](Runtime& runtime, Context& context) {
        if (flags & ~unsigned(cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined)) return cudaErrorInvalidValue;
        const cudaError_t error = allocate(context, pointer, bytes, Region::kHost, "cudaHostAlloc");
        if (!error && *pointer) runtime.host_flags[address_of(*pointer)] = flags;
        return error;
    });
}

LANESCOPE_API cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
    return call([&](Runtime&, Context& context) { return allocate(context, pointer, bytes, Region::kHost, "cudaMallocHost"); });
}

LANESCOPE_API cudaError_t cudaFreeHost(void* pointer) {
    return call([&](Runtime& runtime, Context& context) {
        const cudaError_t error = release(context, pointer, {Region::kHost});
        if (!error) runtime.host_flags.erase(address_of(pointer));
        return error;
    });
}

LANESCOPE_API cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
    return call([&](Runtime&, Context& context) {
        if ((flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) || bytes == 0) return cudaErrorInvalidValue;
        return allocate(context, pointer, bytes, Region::kManaged, "cudaMallocManaged");
    });
}

LANESCOPE_API cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
    return call([&](Runtime& runtime, Context& context) {
        if (!pointer || !bytes) return cudaErrorInvalidValue;
        if (context.memory().find(address_of(pointer))) return cudaErrorHostMemoryAlreadyRegistered;
        const Allocation* allocation = context.memory().adopt(pointer, bytes);
        if (!allocation) return cudaErrorHostMemoryAlreadyRegistered;
        context.mapped(*allocation);
        runtime.host_flags[address_of(pointer)] = flags & (cudaHostRegisterPortable | cudaHostRegisterMapped);   // as cudaHostAlloc's
        return cudaSuccess;
    });
}

LANESCOPE_API cudaError_t cudaHostUnregister(void* pointer) {
    return call([&](Runtime& runtime, Context& context) {
        if (!pointer || release(context, pointer, {Region::kRegistered}) != cudaSuccess) return cudaErrorHostMemoryNotRegistered;
        runtime.host_flags.erase(address_of(pointer));
        return cudaSuccess;
    });
}

LANESCOPE_API cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
    return call([&](Runtime&, Context& context) {
        const Allocation* allocation = context.memory().find(address_of(host));
        if (!device || !allocation || allocation->region == Region::kDevice) return cudaErrorInvalidValue;
        *device = host;                          // unified addressing: one address for both sides
        return cudaSuccess;
    });
}

LANESCOPE_API cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
    return call([&](Runtime& runtime, Context& context) {
        const Allocation* allocation = context.memory().find(address_of(host));
        if (!flags || !allocation || (allocation->region != Region::kHost && allocation->region != Region::kRegistered)) return cudaErrorInvalidValue;
        const auto known = runtime.host_flags.find(allocation->begin);
        *flags = (known == runtime.host_flags.end() ? 0 : known->second) | cudaHostAllocMapped;   // unified addressing maps all of it
        return cudaSuccess;
    });
}

LANESCOPE_API cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
    return call([&](Runtime&, Context& context) {
        if (!free || !total) return cudaErrorInvalidValue;
        *total = context.memory().capacity();
        *free = *total - std::min<uint64_t>(*total, context.memory().used());
        return cudaSuccess;
    });
}

LANESCOPE_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    return call([&](Runtime&, Context& context) {
        if (!attributes) return cudaErrorInvalidValue;
        *attributes = {};
        const Allocation* allocation = context.memory().find(address_of(pointer));
        void* same = const_cast<void*>(pointer);
        if (!allocation) {
            attributes->type = cudaMemoryTypeUnregistered;
            attributes->device = -1;             // cudaInvalidDeviceId is for managed memory
            attributes->hostPointer = same;
            return cudaSuccess;
        }
        attributes->type = allocation->region == Region::kDevice ? cudaMemoryTypeDevice
            : allocation->region == Region::kManaged             ? cudaMemoryTypeManaged
                                                                 : cudaMemoryTypeHost;
        attributes->devicePointer = same;
        attributes->hostPointer = allocation->region == Region::kDevice ? nullptr : same;
        return cudaSuccess;
    });
}

// --- stream-ordered allocation: the emulated GPU has run what was enqueued before, so it can be done at once

LANESCOPE_API cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
    return call([&](Runtime& runtime, Context& context) {
        lanescope::emulator::Stream id;
        if (!resolve(runtime, stream, id)) return cudaErrorInvalidResourceHandle;
        const StreamState* state = runtime.captures ? runtime.stream_state(stream) : nullptr;
        const cudaError_t error = allocate(context, pointer, bytes, Region::kDevice, state && state->capture ? kGraphMemory : "cudaMallocAsync");
        if (!error && runtime.captures) return captured(runtime, stream, NoCall{cudaGraphNodeTypeMemAlloc, *pointer}).value_or(cudaSuccess);
        return error;
    });
}
LANESCOPE_ALIAS(cudaMallocAsync, cudaMallocAsync_ptsz);

LANESCOPE_API cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
    return call([&](Runtime& runtime, Context& context) {
        lanescope::emulator::Stream id;
        if (!resolve(runtime, stream, id)) return cudaErrorInvalidResourceHandle;
        if (!pointer) return cudaErrorInvalidValue;
        const Allocation* allocation = context.memory().find(address_of(pointer));
        if (!allocation || allocation->begin != address_of(pointer) || allocation->region != Region::kDevice) return cudaErrorInvalidValue;
        if (runtime.captures)
            if (const std::optional<cudaError_t> done = captured(runtime, stream, NoCall{cudaGraphNodeTypeMemFree, pointer})) return *done;
        if (allocation->name == kGraphMemory) return cudaSuccess;
        context.unmapped(*allocation);
        return context.memory().release(allocation->begin) ? cudaSuccess : cudaErrorInvalidValue;
    });
}
LANESCOPE_ALIAS(cudaFreeAsync, cudaFreeAsync_ptsz);

cudaError_t lanescope::cudart::allocate_for_graph(Runtime& runtime, void** pointer, size_t bytes) {
    return bytes ? allocate(*runtime.context(), pointer, bytes, Region::kDevice, kGraphMemory) : cudaErrorInvalidValue;
}

// What graphs have allocated. None of it is ever given back.
LANESCOPE_API cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType, void* value) {
    return call([&](Runtime&, Context& context) {
        if (device != 0) return cudaErrorInvalidDevice;
        if (!value) return cudaErrorInvalidValue;
        uint64_t bytes = 0;
        for (const Allocation* each : context.memory().allocations())
            if (each->name == kGraphMemory) bytes += each->bytes;
        *static_cast<uint64_t*>(value) = bytes;
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType, void*) {
    return call([&](Runtime&, Context&) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; });
}
LANESCOPE_API cudaError_t cudaDeviceGraphMemTrim(int device) {
    return call([&](Runtime&, Context&) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; });
}

namespace {

/// Pools differ in name only: all of them are the device's memory.
struct Pool {
    uint64_t release_threshold = 0;
    int reuse[3] = {1, 1, 1};
};
Pool& default_pool() {
    static Pool* pool = new Pool;
    return *pool;
}
cudaMemPool_t handle(Pool& pool) { return reinterpret_cast<cudaMemPool_t>(&pool); }

}  // namespace

LANESCOPE_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
    return call([&](Runtime&, Context&) {
        if (device != 0) return cudaErrorInvalidDevice;
        *pool = handle(default_pool());
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) { return cudaDeviceGetDefaultMemPool(pool, device); }
LANESCOPE_API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t) {
    return call([&](Runtime&, Context&) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; });
}
LANESCOPE_API cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps*) {
    return call([&](Runtime&, Context&) {
        *pool = handle(*new Pool);               // as handles everywhere: never destroyed
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t) {
    return call([](Runtime&, Context&) { return cudaSuccess; });
}
LANESCOPE_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) {
    return call([](Runtime&, Context&) { return cudaSuccess; });
}
LANESCOPE_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    return call([&](Runtime&, Context&) {
        Pool& own = *reinterpret_cast<Pool*>(pool);
        if (attribute == cudaMemPoolAttrReleaseThreshold) own.release_threshold = *static_cast<uint64_t*>(value);
        else if (attribute >= cudaMemPoolReuseFollowEventDependencies && attribute <= cudaMemPoolReuseAllowInternalDependencies)
            own.reuse[attribute - cudaMemPoolReuseFollowEventDependencies] = *static_cast<int*>(value);
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    return call([&](Runtime&, Context& context) {
        Pool& own = *reinterpret_cast<Pool*>(pool);
        if (attribute >= cudaMemPoolReuseFollowEventDependencies && attribute <= cudaMemPoolReuseAllowInternalDependencies)
            *static_cast<int*>(value) = own.reuse[attribute - cudaMemPoolReuseFollowEventDependencies];
        else
            *static_cast<uint64_t*>(value) = attribute == cudaMemPoolAttrReleaseThreshold ? own.release_threshold : context.memory().used();
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc*, size_t) {
    return call([](Runtime&, Context&) { return cudaSuccess; });
}
LANESCOPE_API cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t, cudaMemLocation* location) {
    return call([&](Runtime&, Context&) {
        if (!flags || !location) return cudaErrorInvalidValue;
        *flags = location->type == cudaMemLocationTypeDevice && location->id == 0 ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t, cudaStream_t stream) { return cudaMallocAsync(pointer, bytes, stream); }
LANESCOPE_ALIAS(cudaMallocFromPoolAsync, cudaMallocFromPoolAsync_ptsz);
