// Managed memory: one address, always current on both sides, so that advice and migrations change the accounts only.
#include <algorithm>

#include "cudart/api/graph.h"

using namespace lanescope::cudart;
using lanescope::emulator::Context;
using lanescope::emulator::Place;
using lanescope::exec::Allocation;
using lanescope::exec::Region;

namespace {

uint64_t address_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

bool is_managed(Context& context, const void* pointer, size_t bytes) {
    const Allocation* allocation = context.memory().find(address_of(pointer));
    return allocation && allocation->region == Region::kManaged && bytes <= allocation->end() - address_of(pointer);
}

}  // namespace

LANESCOPE_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void* pointer, size_t, unsigned) {
    return call([&](Runtime&, Context& context) {
        return is_managed(context, pointer, 0) ? cudaSuccess : cudaErrorInvalidValue;
    });
}
LANESCOPE_ALIAS(cudaStreamAttachMemAsync, cudaStreamAttachMemAsync_ptsz);

namespace lanescope::cudart {

cudaError_t advise(const void* pointer, size_t bytes, int advice, bool host) {
    return call([&](Runtime&, Context& context) {
        if (!is_managed(context, pointer, bytes)) return cudaErrorInvalidValue;
        if (!context.gpu().page_faults) return cudaErrorInvalidDevice;   // needs concurrentManagedAccess
        using lanescope::emulator::Advice;
        const auto give = [&](Advice kind) {
            context.advise(address_of(pointer), bytes, kind);
            return cudaSuccess;
        };
        switch (advice) {
            case cudaMemAdviseSetReadMostly: return give(Advice::kReadMostly);
            case cudaMemAdviseUnsetReadMostly: return give(Advice::kNotReadMostly);
            case cudaMemAdviseSetPreferredLocation: return give(host ? Advice::kPreferHost : Advice::kPreferDevice);
            case cudaMemAdviseUnsetPreferredLocation: return give(Advice::kNoPreference);
            case cudaMemAdviseSetAccessedBy: return host ? cudaSuccess : give(Advice::kMapForDevice);   // the host reaches its own memory only
            case cudaMemAdviseUnsetAccessedBy: return host ? cudaSuccess : give(Advice::kDoNotMapForDevice);
            default: return cudaErrorInvalidValue;
        }
    });
}

cudaError_t prefetch(const void* pointer, size_t bytes, bool to_host, cudaStream_t stream) {
    return call([&](Runtime& runtime, Context& context) {
        if (!is_managed(context, pointer, bytes)) return cudaErrorInvalidValue;
        lanescope::emulator::Stream id;
        if (!resolve(runtime, stream, id)) return cudaErrorInvalidResourceHandle;
        if (!context.gpu().page_faults) return cudaErrorInvalidDevice;
        if (const std::optional<cudaError_t> error = refused(runtime, stream)) return *error;
        context.prefetch(address_of(pointer), bytes, to_host, id);
        return cudaSuccess;
    });
}

}  // namespace lanescope::cudart

LANESCOPE_API cudaError_t cudaMemRangeGetAttribute(void* data, size_t data_bytes, cudaMemRangeAttribute attribute, const void* pointer, size_t bytes) {
    return call([&](Runtime&, Context& context) {
        if (!data || data_bytes < sizeof(int) || data_bytes % sizeof(int) || !bytes || !is_managed(context, pointer, bytes)) return cudaErrorInvalidValue;
        const lanescope::emulator::RangeAdvice advice = context.advice_of(address_of(pointer), bytes);
        const auto device = [](Place place) { return place == Place::kHost ? cudaCpuDeviceId : place == Place::kDevice ? 0 : cudaInvalidDeviceId; };
        const auto type = [](Place place) {
            return place == Place::kHost ? cudaMemLocationTypeHost : place == Place::kDevice ? cudaMemLocationTypeDevice : cudaMemLocationTypeInvalid;
        };
        int* out = static_cast<int*>(data);
        switch (attribute) {
            case cudaMemRangeAttributeReadMostly: *out = advice.read_mostly; return cudaSuccess;
            case cudaMemRangeAttributePreferredLocation:
            case cudaMemRangeAttributePreferredLocationId: *out = device(advice.preferred); return cudaSuccess;
            case cudaMemRangeAttributePreferredLocationType: *out = type(advice.preferred); return cudaSuccess;
            case cudaMemRangeAttributeLastPrefetchLocation:
            case cudaMemRangeAttributeLastPrefetchLocationId: *out = device(advice.prefetched); return cudaSuccess;
            case cudaMemRangeAttributeLastPrefetchLocationType: *out = type(advice.prefetched); return cudaSuccess;
            case cudaMemRangeAttributeAccessedBy:
                std::fill_n(out, data_bytes / sizeof(int), cudaInvalidDeviceId);
                if (advice.mapped_for_device) *out = 0;
                return cudaSuccess;
        }
        return cudaErrorInvalidValue;
    });
}
LANESCOPE_API cudaError_t cudaMemRangeGetAttributes(void** data, size_t* data_bytes, cudaMemRangeAttribute* attributes, size_t count, const void* pointer, size_t bytes) {
    if (!data || !data_bytes || !attributes || !count) return record(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; ++i)
        if (cudaError_t error = cudaMemRangeGetAttribute(data[i], data_bytes[i], attributes[i], pointer, bytes)) return error;
    return cudaSuccess;
}
