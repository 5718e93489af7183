// Graphs: made ready and run.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "cudart/api/graph.h"

using namespace lanescope::cudart;
using lanescope::emulator::Context;
using lanescope::emulator::Timeline;

namespace lanescope::cudart {
namespace {

/// Flattens into steps: a child's nodes stand in for it, behind what it waits for and before what waits for it.
/// Returns the steps that end `graph`; nothing: its edges form a circle.
std::optional<std::vector<size_t>> flatten(const Graph& graph, const std::vector<size_t>& begin, std::vector<Executable::Step>& steps) {
    std::map<const Node*, std::vector<size_t>> ends;   // of the nodes that are in
    std::vector<size_t> last;
    while (ends.size() < graph.nodes.size()) {
        const size_t before = ends.size();
        for (const std::unique_ptr<Node>& node : graph.nodes) {
            if (ends.count(node.get()) || std::any_of(node->after.begin(), node->after.end(), [&](const Node* each) { return !ends.count(each); })) continue;
            std::vector<size_t> after = node->after.empty() ? begin : std::vector<size_t>{};
            for (const Node* each : node->after) after.insert(after.end(), ends[each].begin(), ends[each].end());
            std::sort(after.begin(), after.end());
            after.erase(std::unique(after.begin(), after.end()), after.end());
            if (const auto* child = std::get_if<ChildCall>(&node->call); child && !child->graph->nodes.empty()) {
                std::optional<std::vector<size_t>> inner = flatten(*child->graph, after, steps);
                if (!inner) return std::nullopt;
                ends[node.get()] = *std::move(inner);
            } else {
                steps.push_back({node.get(), child ? Call(NoCall{}) : node->call, after});
                ends[node.get()] = {steps.size() - 1};
            }
        }
        if (ends.size() == before) return std::nullopt;
    }
    for (const std::unique_ptr<Node>& node : graph.nodes) {
        const bool waited_for = std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const std::unique_ptr<Node>& other) {
            return std::find(other->after.begin(), other->after.end(), node.get()) != other->after.end();
        });
        if (!waited_for) last.insert(last.end(), ends[node.get()].begin(), ends[node.get()].end());
    }
    return last;
}

cudaError_t perform(Runtime& runtime, Context& context, const Call& call, cudaStream_t stream) {
    struct Visitor {
        Runtime& runtime;
        Context& context;
        cudaStream_t stream;
        cudaError_t operator()(const NoCall&) { return cudaSuccess; }
        cudaError_t operator()(const ChildCall&) { return cudaSuccess; }   // flattened
        cudaError_t operator()(const KernelCall& kernel) {
            LaunchOptions options = kernel.options;
            options.stream = stream;
            return launch(runtime, context, *kernel.function, options, kernel.parameters);
        }
        cudaError_t operator()(const CopyCall& copy) { return cudart::copy(runtime, context, copy, stream, true); }
        cudaError_t operator()(const FillCall& fill) { return cudart::fill(runtime, context, fill, stream, true); }
        cudaError_t operator()(const HostCall& host) {
            host.function(host.data);
            return cudaSuccess;
        }
        cudaError_t operator()(const EventCall& event) {
            return event.wait ? cudaStreamWaitEvent(stream, event.event, 0) : cudaEventRecord(event.event, stream);
        }
    };
    return std::visit(Visitor{runtime, context, stream}, call);
}

}  // namespace

cudaError_t instantiate(Runtime& runtime, Context& context, const Graph& graph, Executable& out) {
    out.steps.clear();
    if (!flatten(graph, {}, out.steps)) return cudaErrorInvalidValue;
    // A step goes on in the lane of the first step before it that nobody else went on from; a first step of its own opens a lane.
    std::vector<bool> taken(out.steps.size());
    size_t lanes = 0;
    for (Executable::Step& step : out.steps) {
        const auto before = std::find_if(step.after.begin(), step.after.end(), [&](size_t each) { return !taken[each]; });
        step.lane = before == step.after.end() ? lanes++ : out.steps[*before].lane;
        if (before != step.after.end()) taken[*before] = true;
    }
    while (out.lanes.size() + 1 < lanes) {
        auto state = std::make_unique<StreamState>();
        state->id = context.timeline().create(false);
        state->flags = cudaStreamNonBlocking;
        out.lanes.push_back(reinterpret_cast<cudaStream_t>(state.get()));
        runtime.streams[out.lanes.back()] = std::move(state);
    }
    return cudaSuccess;
}

cudaError_t run(Runtime& runtime, Context& context, const Executable& executable, cudaStream_t stream) {
    Timeline& timeline = context.timeline();
    emulator::Stream whole;
    if (!resolve(runtime, stream, whole)) return cudaErrorInvalidResourceHandle;
    const Timeline::Moment start = timeline.moment(whole);
    std::vector<Timeline::Moment> ends;
    for (const Executable::Step& step : executable.steps) {
        const cudaStream_t lane = step.lane == 0 ? stream : executable.lanes[step.lane - 1];
        emulator::Stream id;
        if (!resolve(runtime, lane, id)) return cudaErrorInvalidResourceHandle;
        timeline.wait(id, start);
        for (const size_t before : step.after) timeline.wait(id, ends[before]);
        if (step.enabled)
            if (cudaError_t error = perform(runtime, context, step.call, lane)) return error;
        if (runtime.sticky != cudaSuccess) return cudaSuccess;   // as a launch: whoever waits for it is told
        ends.push_back(timeline.moment(id));
    }
    for (const Timeline::Moment& end : ends) timeline.wait(whole, end);
    return cudaSuccess;
}

cudaError_t update(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphExecUpdateResult* result, cudaGraphNode_t* node) {
    return call([&](Runtime& runtime, Context& context) {
        const auto known = runtime.executables.find(executable);
        const auto source = runtime.graphs.find(graph);
        if (known == runtime.executables.end() || source == runtime.graphs.end()) return cudaErrorInvalidValue;
        if (node) *node = nullptr;
        Executable fresh;
        fresh.lanes = known->second->lanes;
        if (cudaError_t error = instantiate(runtime, context, *source->second, fresh)) return error;
        const auto same = [](const Executable::Step& a, const Executable::Step& b) { return type_of(a.call) == type_of(b.call) && a.after == b.after; };
        const auto& old = known->second->steps;
        const bool matches = old.size() == fresh.steps.size() && std::equal(old.begin(), old.end(), fresh.steps.begin(), same);
        if (result) *result = matches ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged;
        known->second->lanes = fresh.lanes;
        if (!matches) return cudaErrorGraphExecUpdateFailure;
        // Programs go on naming the steps by the nodes that they were made of.
        for (size_t i = 0; i < old.size(); ++i) fresh.steps[i].node = old[i].node, fresh.steps[i].enabled = old[i].enabled;
        known->second->steps = std::move(fresh.steps);
        return cudaSuccess;
    });
}

}  // namespace lanescope::cudart

LANESCOPE_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long flags) {
    return call([&](Runtime& runtime, Context& context) {
        const auto found = runtime.graphs.find(graph);
        if (!out || found == runtime.graphs.end()) return cudaErrorInvalidValue;
        auto made = std::make_unique<Executable>();
        made->flags = flags;
        if (cudaError_t error = instantiate(runtime, context, *found->second, *made)) return error;
        *out = reinterpret_cast<cudaGraphExec_t>(made.get());
        runtime.executables[*out] = std::move(made);
        return cudaSuccess;
    });
}
/// Until CUDA 11 the third argument and two more said where to write what went wrong: they are not looked at.
LANESCOPE_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long) { return cudaGraphInstantiateWithFlags(out, graph, 0); }
LANESCOPE_API cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* out, cudaGraph_t graph, cudaGraphInstantiateParams* p) {
    if (!p) return record(cudaErrorInvalidValue);
    const cudaError_t error = cudaGraphInstantiateWithFlags(out, graph, p->flags);
    p->errNode_out = nullptr;
    p->result_out = error ? cudaGraphInstantiateError : cudaGraphInstantiateSuccess;
    return error;
}
LANESCOPE_ALIAS(cudaGraphInstantiateWithParams, cudaGraphInstantiateWithParams_ptsz);
LANESCOPE_API cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t executable, unsigned long long* flags) {
    return call([&](Runtime& runtime, Context&) {
        const auto found = runtime.executables.find(executable);
        if (!flags || found == runtime.executables.end()) return cudaErrorInvalidValue;
        *flags = found->second->flags;
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
    return call([&](Runtime& runtime, Context& context) {
        const auto found = runtime.executables.find(executable);
        if (found == runtime.executables.end()) return cudaErrorInvalidValue;
        for (const cudaStream_t lane : found->second->lanes) {
            context.timeline().destroy(runtime.streams[lane]->id);
            runtime.streams.erase(lane);
        }
        runtime.executables.erase(found);
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream) {
    return call([&](Runtime& runtime, Context&) {
        lanescope::emulator::Stream id;
        return !runtime.executables.count(executable) ? cudaErrorInvalidValue : resolve(runtime, stream, id) ? cudaSuccess : cudaErrorInvalidResourceHandle;
    });
}
LANESCOPE_ALIAS(cudaGraphUpload, cudaGraphUpload_ptsz);
LANESCOPE_API cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
    return call([&](Runtime& runtime, Context& context) {
        const auto found = runtime.executables.find(executable);
        if (found == runtime.executables.end()) return cudaErrorInvalidValue;
        if (runtime.captures) {
            // A graph of its steps becomes a child node.
            auto child = std::make_shared<Graph>();
            for (const Executable::Step& step : found->second->steps) {
                std::vector<Node*> after;
                for (const size_t before : step.after) after.push_back(child->nodes[before].get());
                add(*child, step.enabled ? step.call : Call(NoCall{}), std::move(after));
            }
            if (const std::optional<cudaError_t> done = captured(runtime, stream, ChildCall{std::move(child)})) return *done;
        }
        return run(runtime, context, *found->second, stream);
    });
}
LANESCOPE_ALIAS(cudaGraphLaunch, cudaGraphLaunch_ptsz);

LANESCOPE_API cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned) {
    return call([&](Runtime& runtime, Context&) {
        const auto found = runtime.graphs.find(graph);
        if (!path || found == runtime.graphs.end()) return cudaErrorInvalidValue;
        static constexpr const char* kNames[] = {"empty", "kernel", "memcpy", "memset", "host", "event", "graph"};
        std::map<const Node*, size_t> numbers;
        std::string text = "digraph graph_1 {\n";
        for (const std::unique_ptr<Node>& node : found->second->nodes) {
            const auto* kernel = std::get_if<KernelCall>(&node->call);
            const size_t number = numbers.size();
            numbers[node.get()] = number;
            text += fmt::format("  n{} [label=\"{}\\n{}\"];\n", number, number, kernel ? kernel->function->name : kNames[node->call.index()]);
        }
        for (const std::unique_ptr<Node>& node : found->second->nodes)
            for (const Node* before : node->after) text += fmt::format("  n{} -> n{};\n", numbers[before], numbers[node.get()]);
        std::ofstream file(path);
        file << text << "}\n";
        return file.flush() ? cudaSuccess : cudaErrorOperatingSystem;
    });
}
