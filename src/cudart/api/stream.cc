// Streams, events, host functions. Work runs when it is enqueued, in the order of the calls, which every stream order allows; streams and
// events keep the predicted device time at which it would have run.
#include "cudart/api/graph.h"

using namespace lanescope::cudart;
using lanescope::emulator::Context;
namespace emulator = lanescope::emulator;

namespace {

Event* event_of(Runtime& runtime, cudaEvent_t handle) {
    auto found = runtime.events.find(handle);
    return found == runtime.events.end() ? nullptr : found->second.get();
}

template <class Body>
cudaError_t with_stream(cudaStream_t stream, Body&& body) {
    return call([&](Runtime& runtime, Context& context) {
        emulator::Stream id;
        return resolve(runtime, stream, id) ? body(runtime, context, id) : cudaErrorInvalidResourceHandle;
    });
}

}  // namespace

LANESCOPE_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
    return call([&](Runtime& runtime, Context& context) {
        if (!stream || (flags & ~unsigned(cudaStreamNonBlocking))) return cudaErrorInvalidValue;
        auto state = std::make_unique<StreamState>();
        state->id = context.timeline().create(!(flags & cudaStreamNonBlocking));
        state->flags = flags;
        state->priority = priority < -5 ? -5 : priority > 0 ? 0 : priority;
        *stream = reinterpret_cast<cudaStream_t>(state.get());
        runtime.streams[*stream] = std::move(state);
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) { return cudaStreamCreateWithPriority(stream, flags, 0); }
LANESCOPE_API cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }

LANESCOPE_API cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    return call([&](Runtime& runtime, Context& context) {
        auto found = runtime.streams.find(stream);
        if (found == runtime.streams.end()) return cudaErrorInvalidResourceHandle;
        abandon(runtime, *found->second);
        context.timeline().destroy(found->second->id);
        runtime.streams.erase(found);
        return cudaSuccess;
    });
}

LANESCOPE_API cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    return with_stream(stream, [&](Runtime& runtime, Context& context, emulator::Stream id) {
        if (const std::optional<cudaError_t> error = refused(runtime, stream)) return *error;
        context.timeline().host_waits(context.timeline().moment(id));
        return cudaSuccess;
    });
}
LANESCOPE_ALIAS(cudaStreamSynchronize, cudaStreamSynchronize_ptsz);

LANESCOPE_API cudaError_t cudaStreamQuery(cudaStream_t stream) {
    return with_stream(stream, [&](Runtime& runtime, Context&, emulator::Stream) { return refused(runtime, stream).value_or(cudaSuccess); });
}
LANESCOPE_ALIAS(cudaStreamQuery, cudaStreamQuery_ptsz);

LANESCOPE_API cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
    return with_stream(stream, [&](Runtime& runtime, Context&, emulator::Stream) {
        if (!flags) return cudaErrorInvalidValue;
        const StreamState* state = runtime.stream_state(stream);
        *flags = state ? state->flags : 0;
        return cudaSuccess;
    });
}
LANESCOPE_ALIAS(cudaStreamGetFlags, cudaStreamGetFlags_ptsz);
LANESCOPE_API cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
    return with_stream(stream, [&](Runtime& runtime, Context&, emulator::Stream) {
        if (!priority) return cudaErrorInvalidValue;
        const StreamState* state = runtime.stream_state(stream);
        *priority = state ? state->priority : 0;
        return cudaSuccess;
    });
}
LANESCOPE_ALIAS(cudaStreamGetPriority, cudaStreamGetPriority_ptsz);
LANESCOPE_API cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* out) {
    return with_stream(stream, [&](Runtime&, Context&, emulator::Stream id) {
        if (!out) return cudaErrorInvalidValue;
        *out = id;
        return cudaSuccess;
    });
}
LANESCOPE_ALIAS(cudaStreamGetId, cudaStreamGetId_ptsz);
LANESCOPE_API cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
    return with_stream(stream, [&](Runtime&, Context&, emulator::Stream) {
        *device = 0;
        return cudaSuccess;
    });
}
LANESCOPE_ALIAS(cudaStreamGetDevice, cudaStreamGetDevice_ptsz);
/// Of its attributes a stream keeps the window; the others have no effect here.
LANESCOPE_API cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID id, const cudaStreamAttrValue* value) {
    return with_stream(stream, [&](Runtime& runtime, Context& context, emulator::Stream) {
        if (!value) return cudaErrorInvalidValue;
        if (id != cudaLaunchAttributeAccessPolicyWindow) return cudaSuccess;
        if (!is_window(context.gpu(), value->accessPolicyWindow)) return cudaErrorInvalidValue;
        window_of(runtime, stream) = value->accessPolicyWindow;
        return cudaSuccess;
    });
}
LANESCOPE_ALIAS(cudaStreamSetAttribute, cudaStreamSetAttribute_ptsz);
LANESCOPE_API cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID id, cudaStreamAttrValue* value) {
    return with_stream(stream, [&](Runtime& runtime, Context&, emulator::Stream) {
        if (!value) return cudaErrorInvalidValue;
        *value = {};
        if (id == cudaLaunchAttributeAccessPolicyWindow) value->accessPolicyWindow = window_of(runtime, stream);
        return cudaSuccess;
    });
}
LANESCOPE_ALIAS(cudaStreamGetAttribute, cudaStreamGetAttribute_ptsz);
LANESCOPE_API cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
    return with_stream(to, [&](Runtime& runtime, Context&, emulator::Stream) {
        emulator::Stream source;
        if (!resolve(runtime, from, source)) return cudaErrorInvalidResourceHandle;
        window_of(runtime, to) = window_of(runtime, from);
        return cudaSuccess;
    });
}
LANESCOPE_ALIAS(cudaStreamCopyAttributes, cudaStreamCopyAttributes_ptsz);

LANESCOPE_API cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    return call([&](Runtime&, Context&) {
        if (least) *least = 0;
        if (greatest) *greatest = -5;
        return cudaSuccess;
    });
}

LANESCOPE_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
    return call([&](Runtime& runtime, Context&) {
        if (!event || (flags & ~unsigned(cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess))) return cudaErrorInvalidValue;
        auto state = std::make_unique<Event>();
        state->timing = !(flags & cudaEventDisableTiming);
        *event = reinterpret_cast<cudaEvent_t>(state.get());
        runtime.events[*event] = std::move(state);
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
LANESCOPE_API cudaError_t cudaEventDestroy(cudaEvent_t event) {
    return call([&](Runtime& runtime, Context&) { return runtime.events.erase(event) ? cudaSuccess : cudaErrorInvalidResourceHandle; });
}

LANESCOPE_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
    return with_stream(stream, [&](Runtime& runtime, Context& context, emulator::Stream id) {
        Event* state = event_of(runtime, event);
        if (!state) return cudaErrorInvalidResourceHandle;
        if (runtime.captures)
            if (const auto done = captured_record(runtime, stream, event, *state, flags & cudaEventRecordExternal)) return *done;
        context.settle_managed();   // what the host has touched until now is not part of what the event times
        state->recorded = true;
        state->moment = context.timeline().moment(id);
        return cudaSuccess;
    });
}
LANESCOPE_ALIAS(cudaEventRecordWithFlags, cudaEventRecordWithFlags_ptsz);
LANESCOPE_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) { return cudaEventRecordWithFlags(event, stream, 0); }
LANESCOPE_ALIAS(cudaEventRecord, cudaEventRecord_ptsz);

LANESCOPE_API cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return call([&](Runtime& runtime, Context& context) {
        Event* state = event_of(runtime, event);
        if (!state) return cudaErrorInvalidResourceHandle;
        if (state->capture && state->capture->active) return cudaErrorCapturedEvent;
        context.timeline().host_waits(state->moment);
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaEventQuery(cudaEvent_t event) {
    return call([&](Runtime& runtime, Context&) { return event_of(runtime, event) ? cudaSuccess : cudaErrorInvalidResourceHandle; });
}
LANESCOPE_API cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
    return call([&](Runtime& runtime, Context&) {
        Event *first = event_of(runtime, start), *second = event_of(runtime, end);
        if (!ms) return cudaErrorInvalidValue;
        if (!first || !second || !first->timing || !second->timing || !first->recorded || !second->recorded) return cudaErrorInvalidResourceHandle;
        *ms = float((second->moment.time - first->moment.time) / 1e6);
        return cudaSuccess;
    });
}
LANESCOPE_ALIAS(cudaEventElapsedTime, cudaEventElapsedTime_v2);

LANESCOPE_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    return with_stream(stream, [&](Runtime& runtime, Context& context, emulator::Stream id) {
        Event* state = event_of(runtime, event);
        if (!state) return cudaErrorInvalidResourceHandle;
        if (runtime.captures)
            if (const auto done = captured_wait(runtime, stream, event, *state, flags & cudaEventWaitExternal)) return *done;
        if (state->recorded) context.timeline().wait(id, state->moment);
        return cudaSuccess;
    });
}
LANESCOPE_ALIAS(cudaStreamWaitEvent, cudaStreamWaitEvent_ptsz);

LANESCOPE_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
    return with_stream(stream, [&](Runtime& runtime, Context&, emulator::Stream) {
        if (!function) return cudaErrorInvalidValue;
        if (runtime.captures)
            if (const std::optional<cudaError_t> done = captured(runtime, stream, HostCall{function, data})) return *done;
        function(data);
        return cudaSuccess;
    });
}
LANESCOPE_ALIAS(cudaLaunchHostFunc, cudaLaunchHostFunc_ptsz);

LANESCOPE_API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned flags) {
    return with_stream(stream, [&](Runtime& runtime, Context&, emulator::Stream) {
        if (!callback || flags) return cudaErrorInvalidValue;
        if (const std::optional<cudaError_t> error = refused(runtime, stream)) return *error;
        callback(stream, cudaSuccess, data);
        return cudaSuccess;
    });
}
LANESCOPE_ALIAS(cudaStreamAddCallback, cudaStreamAddCallback_ptsz);
