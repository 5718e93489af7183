// Stream capture: what is enqueued becomes a graph. A stream joins a capture by waiting for an event that was recorded in it.
#include <algorithm>
#include <set>

#include "cudart/api/graph.h"

using namespace lanescope::cudart;
using lanescope::emulator::Context;

namespace lanescope::cudart {
namespace {

/// What a stream that captures with others may go on after: each node once.
void join(std::vector<Node*>& last, const std::vector<Node*>& more) {
    for (Node* node : more)
        if (std::find(last.begin(), last.end(), node) == last.end()) last.push_back(node);
}

/// Takes a stream out of its capture.
void leave(Runtime& runtime, StreamState& state) {
    state.capture.reset();
    state.last.clear();
    --runtime.captures;
}

cudaError_t invalidate(Capture& capture, cudaError_t error) {
    capture.valid = false;
    return error;
}

void collect(const Node* node, std::set<const Node*>& all) {
    if (all.insert(node).second)
        for (const Node* before : node->after) collect(before, all);
}

}  // namespace

std::optional<cudaError_t> captured(Runtime& runtime, cudaStream_t stream, Call call) {
    StreamState* state = runtime.stream_state(stream);
    if (state && state->capture) {
        if (!state->capture->valid) return cudaErrorStreamCaptureInvalidated;
        Node& node = add(*state->capture->graph, std::move(call), state->last);
        state->last = {&node};
        return cudaSuccess;
    }
    if (state) return std::nullopt;
    // The legacy default stream waits for all blocking streams: it would become part of their capture, which is not allowed.
    for (const auto& [handle, other] : runtime.streams)
        if (other->capture && !(other->flags & cudaStreamNonBlocking)) return invalidate(*other->capture, cudaErrorStreamCaptureImplicit);
    return std::nullopt;
}

void abandon(Runtime& runtime, StreamState& state) {
    if (!state.capture) return;
    // What it did is in the graph if another stream of the capture waits for it already.
    std::set<const Node*> joined;
    for (const auto& [handle, other] : runtime.streams)
        if (other.get() != &state && other->capture == state.capture)
            for (const Node* node : other->last) collect(node, joined);
    const bool all = std::all_of(state.last.begin(), state.last.end(), [&](const Node* node) { return joined.count(node) != 0; });
    if (state.capture->origin == &state || !all) state.capture->valid = false;
    leave(runtime, state);
}

std::optional<cudaError_t> refused(Runtime& runtime, cudaStream_t stream) {
    StreamState* state = runtime.stream_state(stream);
    if (!state || !state->capture) return std::nullopt;
    return invalidate(*state->capture, cudaErrorStreamCaptureUnsupported);
}

std::optional<cudaError_t> captured_record(Runtime& runtime, cudaStream_t stream, cudaEvent_t handle, Event& event, bool external) {
    if (external) return captured(runtime, stream, EventCall{handle, false});
    StreamState* state = runtime.stream_state(stream);
    event.capture = state ? state->capture : nullptr;
    if (!event.capture) return std::nullopt;
    event.captured = state->last;
    return event.capture->valid ? cudaSuccess : cudaErrorStreamCaptureInvalidated;
}

std::optional<cudaError_t> captured_wait(Runtime& runtime, cudaStream_t stream, cudaEvent_t handle, const Event& event, bool external) {
    if (external) return captured(runtime, stream, EventCall{handle, true});
    StreamState* state = runtime.stream_state(stream);
    if (!event.capture || !event.capture->active) return state && state->capture ? std::optional(invalidate(*state->capture, cudaErrorStreamCaptureIsolation)) : std::nullopt;
    if (!state) return invalidate(*event.capture, cudaErrorStreamCaptureImplicit);
    if (state->capture && state->capture != event.capture) return invalidate(*state->capture, cudaErrorStreamCaptureMerge);
    if (!state->capture) {
        state->capture = event.capture;
        ++runtime.captures;
    }
    join(state->last, event.captured);
    return cudaSuccess;
}

cudaError_t capture_info(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph, const cudaGraphNode_t** last,
                         const cudaGraphEdgeData** data, size_t* count) {
    return call([&](Runtime& runtime, Context&) {
        lanescope::emulator::Stream ignored;
        if (!status) return cudaErrorInvalidValue;
        if (!resolve(runtime, stream, ignored)) return cudaErrorInvalidResourceHandle;
        const StreamState* state = runtime.stream_state(stream);
        const Capture* capture = state ? state->capture.get() : nullptr;
        *status = !capture ? cudaStreamCaptureStatusNone : capture->valid ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusInvalidated;
        if (!capture) return cudaSuccess;
        if (id) *id = capture->id;
        if (graph) *graph = reinterpret_cast<cudaGraph_t>(capture->graph);
        if (last) *last = reinterpret_cast<const cudaGraphNode_t*>(state->last.data());
        if (data) *data = nullptr;
        if (count) *count = state->last.size();
        return cudaSuccess;
    });
}

}  // namespace lanescope::cudart

LANESCOPE_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    return call([&](Runtime& runtime, Context&) {
        if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) return cudaErrorInvalidValue;
        lanescope::emulator::Stream id;
        if (!resolve(runtime, stream, id)) return cudaErrorInvalidResourceHandle;
        StreamState* state = runtime.stream_state(stream);
        if (!state) return cudaErrorStreamCaptureUnsupported;       // the legacy default stream
        if (state->capture) return cudaErrorIllegalState;
        auto graph = std::make_unique<Graph>();
        state->capture = std::make_shared<Capture>();
        *state->capture = {graph.get(), state, runtime.next_object++};
        state->last.clear();
        runtime.graphs[reinterpret_cast<cudaGraph_t>(graph.get())] = std::move(graph);
        ++runtime.captures;
        return cudaSuccess;
    });
}
LANESCOPE_ALIAS(cudaStreamBeginCapture, cudaStreamBeginCapture_ptsz);

LANESCOPE_API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    return call([&](Runtime& runtime, Context&) {
        if (!graph) return cudaErrorInvalidValue;
        *graph = nullptr;
        StreamState* state = runtime.stream_state(stream);
        if (!state || !state->capture) return cudaErrorIllegalState;
        const std::shared_ptr<Capture> capture = state->capture;
        if (capture->origin != state) return invalidate(*capture, cudaErrorStreamCaptureUnmatched);
        capture->active = false;
        std::set<const Node*> joined;
        for (const Node* node : state->last) collect(node, joined);
        bool all = true;
        for (const auto& [handle, other] : runtime.streams) {
            if (other->capture != capture) continue;
            all &= std::all_of(other->last.begin(), other->last.end(), [&](const Node* node) { return joined.count(node) != 0; });
            leave(runtime, *other);
        }
        const auto handle = reinterpret_cast<cudaGraph_t>(capture->graph);
        if (!capture->valid || !all) {
            runtime.graphs.erase(handle);
            return capture->valid ? cudaErrorStreamCaptureUnjoined : cudaErrorStreamCaptureInvalidated;
        }
        *graph = handle;
        return cudaSuccess;
    });
}
LANESCOPE_ALIAS(cudaStreamEndCapture, cudaStreamEndCapture_ptsz);

LANESCOPE_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    return capture_info(stream, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}
LANESCOPE_ALIAS(cudaStreamIsCapturing, cudaStreamIsCapturing_ptsz);

/// Calls that are unsafe during a capture work here in every mode.
LANESCOPE_API cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
    thread_local cudaStreamCaptureMode t_mode = cudaStreamCaptureModeGlobal;
    if (!mode || *mode < cudaStreamCaptureModeGlobal || *mode > cudaStreamCaptureModeRelaxed) return record(cudaErrorInvalidValue);
    std::swap(t_mode, *mode);
    return cudaSuccess;
}

LANESCOPE_API cudaError_t capture_info_2(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph, const cudaGraphNode_t** last,
                                         size_t* count) __asm__("cudaStreamGetCaptureInfo_v2");
LANESCOPE_API cudaError_t capture_info_3(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph, const cudaGraphNode_t** last,
                                         const cudaGraphEdgeData** data, size_t* count) __asm__("cudaStreamGetCaptureInfo_v3");
cudaError_t capture_info_2(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph, const cudaGraphNode_t** last, size_t* count) {
    return capture_info(stream, status, id, graph, last, nullptr, count);
}
cudaError_t capture_info_3(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph, const cudaGraphNode_t** last,
                           const cudaGraphEdgeData** data, size_t* count) {
    return capture_info(stream, status, id, graph, last, data, count);
}
