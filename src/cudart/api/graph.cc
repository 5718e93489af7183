// Graphs: making, asking and changing their nodes.
#include "cudart/api/graph.h"

#include <algorithm>
#include <cstdio>

using namespace lanescope::cudart;
using lanescope::emulator::Context;

namespace lanescope::cudart {
namespace {

cudaGraphNode_t handle(const Node* node) { return reinterpret_cast<cudaGraphNode_t>(const_cast<Node*>(node)); }

Graph* graph_of(Runtime& runtime, cudaGraph_t graph) {
    const auto found = runtime.graphs.find(graph);
    if (found != runtime.graphs.end()) return found->second.get();
    // A child's graph is owned by its node and has a handle all the same.
    for (const auto& [own, each] : runtime.graphs)
        for (const std::unique_ptr<Node>& node : each->nodes)
            if (const auto* child = std::get_if<ChildCall>(&node->call); child && reinterpret_cast<cudaGraph_t>(child->graph.get()) == graph) return child->graph.get();
    return nullptr;
}

Node* node_of(Runtime& runtime, cudaGraphNode_t node) {
    Node* wanted = reinterpret_cast<Node*>(node);
    const auto among = [&](const Graph& graph) {
        return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const std::unique_ptr<Node>& each) { return each.get() == wanted; });
    };
    for (const auto& [own, graph] : runtime.graphs) {
        if (among(*graph)) return wanted;
        for (const std::unique_ptr<Node>& each : graph->nodes)
            if (const auto* child = std::get_if<ChildCall>(&each->call); child && among(*child->graph)) return wanted;
    }
    return nullptr;
}

/// Copies what there is room for; with no place to copy to only the number is told.
template <class T>
void give(const std::vector<T>& all, T* out, size_t* count) {
    if (out) std::copy_n(all.begin(), std::min(*count, all.size()), out);
    *count = out ? std::min(*count, all.size()) : all.size();
}

/// `make(Runtime&, Call&)` fills in the call of a new node behind `after`.
template <class Make>
cudaError_t add_node_with(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, Make&& make) {
    return call([&](Runtime& runtime, Context&) {
        Graph* known = graph_of(runtime, graph);
        if (!out || !known || (count && !after)) return cudaErrorInvalidValue;
        std::vector<Node*> before;
        for (size_t i = 0; i < count; ++i) {
            Node* node = node_of(runtime, after[i]);
            if (!node || node->graph != known) return cudaErrorInvalidValue;
            before.push_back(node);
        }
        Call work;
        if (cudaError_t error = make(runtime, work)) return error;
        *out = handle(&add(*known, std::move(work), std::move(before)));
        return cudaSuccess;
    });
}

cudaError_t kernel_call(Runtime& runtime, const cudaKernelNodeParams* p, Call& out) {
    if (!p || p->extra) return cudaErrorInvalidValue;
    Function* function = runtime.function(p->func);
    if (!function) return cudaErrorInvalidDeviceFunction;
    LaunchOptions options;
    options.grid = p->gridDim;
    options.block = p->blockDim;
    options.shared = p->sharedMemBytes;
    options.window.emplace();                               // a node's own, not that of the stream in which its graph runs
    return pack(runtime, *function, options, p->kernelParams, out.emplace<KernelCall>());
}

cudaError_t fill_call(const cudaMemsetParams* p, Call& out) {
    if (!p) return cudaErrorInvalidValue;
    out = FillCall{p->dst, p->pitch, 0, p->value, p->elementSize, p->width, p->height, 1};
    return cudaSuccess;
}

cudaError_t copy_call(Runtime& runtime, const cudaMemcpy3DParms* p, Call& out) { return describe(runtime, p, out.emplace<CopyCall>()); }

cudaError_t allocate_call(Runtime& runtime, cudaMemAllocNodeParams* p, Call& out) {
    if (!p) return cudaErrorInvalidValue;
    const cudaError_t error = allocate_for_graph(runtime, &p->dptr, p->bytesize);
    out = NoCall{cudaGraphNodeTypeMemAlloc, p->dptr};
    return error;
}

cudaError_t free_call(void* memory, Call& out) {
    if (!memory) return cudaErrorInvalidValue;
    out = NoCall{cudaGraphNodeTypeMemFree, memory};
    return cudaSuccess;
}

cudaError_t host_call(const cudaHostNodeParams* p, Call& out) {
    if (!p || !p->fn) return cudaErrorInvalidValue;
    out = HostCall{p->fn, p->userData};
    return cudaSuccess;
}

cudaError_t event_call(Runtime& runtime, cudaEvent_t event, bool wait, Call& out) {
    if (!runtime.events.count(event)) return cudaErrorInvalidResourceHandle;
    out = EventCall{event, wait};
    return cudaSuccess;
}

cudaError_t child_call(Runtime& runtime, cudaGraph_t child, Call& out) {
    const Graph* known = graph_of(runtime, child);
    if (!known) return cudaErrorInvalidValue;
    out = ChildCall{clone(*known)};
    return cudaSuccess;
}

/// `change(Runtime&, Call&)` remakes the call of a node, or of the step that an executable made of it.
template <class Change>
cudaError_t change_node(cudaGraphNode_t node, Change&& change) {
    return call([&](Runtime& runtime, Context&) {
        Node* known = node_of(runtime, node);
        if (!known) return cudaErrorInvalidValue;
        Call fresh;
        if (cudaError_t error = change(runtime, fresh)) return error;
        if (fresh.index() != known->call.index()) return cudaErrorInvalidValue;
        known->call = std::move(fresh);
        return cudaSuccess;
    });
}

Executable::Step* step_of(Runtime& runtime, cudaGraphExec_t executable, cudaGraphNode_t node) {
    const auto found = runtime.executables.find(executable);
    if (found == runtime.executables.end()) return nullptr;
    for (Executable::Step& step : found->second->steps)
        if (handle(step.node) == node) return &step;
    return nullptr;
}

template <class Change>
cudaError_t change_step(cudaGraphExec_t executable, cudaGraphNode_t node, Change&& change) {
    return call([&](Runtime& runtime, Context&) {
        Executable::Step* step = step_of(runtime, executable, node);
        if (!step) return cudaErrorInvalidValue;
        Call fresh;
        if (cudaError_t error = change(runtime, fresh)) return error;
        if (fresh.index() != step->call.index()) return cudaErrorInvalidValue;
        step->call = std::move(fresh);
        return cudaSuccess;
    });
}

}  // namespace

cudaGraphNodeType type_of(const Call& call) {
    switch (call.index()) {
        case 1: return cudaGraphNodeTypeKernel;
        case 2: return cudaGraphNodeTypeMemcpy;
        case 3: return cudaGraphNodeTypeMemset;
        case 4: return cudaGraphNodeTypeHost;
        case 5: return std::get<EventCall>(call).wait ? cudaGraphNodeTypeWaitEvent : cudaGraphNodeTypeEventRecord;
        case 6: return cudaGraphNodeTypeGraph;
        default: return std::get<NoCall>(call).type;
    }
}

Node& add(Graph& graph, Call call, std::vector<Node*> after) {
    graph.nodes.push_back(std::make_unique<Node>());
    *graph.nodes.back() = {&graph, std::move(call), std::move(after)};
    return *graph.nodes.back();
}

std::unique_ptr<Graph> clone(const Graph& from, std::map<const Node*, Node*>* copies) {
    auto out = std::make_unique<Graph>();
    std::map<const Node*, Node*> own;
    for (const std::unique_ptr<Node>& node : from.nodes) own[node.get()] = &add(*out, node->call, {});
    for (const std::unique_ptr<Node>& node : from.nodes)
        for (const Node* before : node->after) own[node.get()]->after.push_back(own[before]);
    // Pointers to a kernel's parameters must point into the copy.
    for (const std::unique_ptr<Node>& node : out->nodes)
        if (auto* kernel = std::get_if<KernelCall>(&node->call))
            for (size_t i = 0; i < kernel->pointers.size(); ++i) kernel->pointers[i] = kernel->parameters.data() + kernel->function->kernel->parameters()[i].offset;
    if (copies) *copies = std::move(own);
    return out;
}

cudaError_t get_edges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data, size_t* count) {
    return call([&](Runtime& runtime, Context&) {
        const Graph* known = graph_of(runtime, graph);
        if (!known || !count || !from != !to) return cudaErrorInvalidValue;
        std::vector<cudaGraphNode_t> begins, ends;
        for (const std::unique_ptr<Node>& node : known->nodes)
            for (const Node* before : node->after) begins.push_back(handle(before)), ends.push_back(handle(node.get()));
        size_t room = *count;
        give(begins, from, count);
        give(ends, to, &room);
        if (data && from) std::fill_n(data, *count, cudaGraphEdgeData{});
        return cudaSuccess;
    });
}

cudaError_t get_neighbours(cudaGraphNode_t node, bool dependencies, cudaGraphNode_t* out, cudaGraphEdgeData* data, size_t* count) {
    return call([&](Runtime& runtime, Context&) {
        const Node* known = node_of(runtime, node);
        if (!known || !count) return cudaErrorInvalidValue;
        std::vector<cudaGraphNode_t> all;
        if (dependencies) {
            for (const Node* before : known->after) all.push_back(handle(before));
        } else {
            for (const std::unique_ptr<Node>& other : known->graph->nodes)
                if (std::find(other->after.begin(), other->after.end(), known) != other->after.end()) all.push_back(handle(other.get()));
        }
        give(all, out, count);
        if (data && out) std::fill_n(data, *count, cudaGraphEdgeData{});
        return cudaSuccess;
    });
}

cudaError_t change_edges(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, size_t count, bool add) {
    return call([&](Runtime& runtime, Context&) {
        const Graph* known = graph_of(runtime, graph);
        if (!known || (count && (!from || !to))) return cudaErrorInvalidValue;
        for (size_t i = 0; i < count; ++i) {
            Node *before = node_of(runtime, from[i]), *node = node_of(runtime, to[i]);
            if (!before || !node || before == node || before->graph != known || node->graph != known) return cudaErrorInvalidValue;
            const auto edge = std::find(node->after.begin(), node->after.end(), before);
            if ((edge != node->after.end()) == add) return cudaErrorInvalidValue;   // there already, or not there
            if (add) node->after.push_back(before);
            else node->after.erase(edge);
        }
        return cudaSuccess;
    });
}

cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, cudaGraphNodeParams* p) {
    if (!p) return record(cudaErrorInvalidValue);
    return add_node_with(node, graph, after, count, [&](Runtime& runtime, Call& out) {
        switch (p->type) {
            case cudaGraphNodeTypeKernel: {
                const cudaKernelNodeParamsV2& k = p->kernel;
                const cudaKernelNodeParams same{k.func, k.gridDim, k.blockDim, k.sharedMemBytes, k.kernelParams, k.extra};
                return kernel_call(runtime, &same, out);
            }
            case cudaGraphNodeTypeMemcpy: return copy_call(runtime, &p->memcpy.copyParams, out);
            case cudaGraphNodeTypeMemset: {
                const cudaMemsetParams same{p->memset.dst, p->memset.pitch, p->memset.value, p->memset.elementSize, p->memset.width, p->memset.height};
                return fill_call(&same, out);
            }
            case cudaGraphNodeTypeHost: {
                const cudaHostNodeParams same{p->host.fn, p->host.userData};
                return host_call(&same, out);
            }
            case cudaGraphNodeTypeGraph: return child_call(runtime, p->graph.graph, out);
            case cudaGraphNodeTypeEmpty: return cudaSuccess;
            case cudaGraphNodeTypeMemAlloc: {
                cudaMemAllocNodeParams same{};
                same.bytesize = p->alloc.bytesize;
                const cudaError_t error = allocate_call(runtime, &same, out);
                p->alloc.dptr = same.dptr;
                return error;
            }
            case cudaGraphNodeTypeMemFree: return free_call(p->free.dptr, out);
            case cudaGraphNodeTypeWaitEvent: return event_call(runtime, p->eventWait.event, true, out);
            case cudaGraphNodeTypeEventRecord: return event_call(runtime, p->eventRecord.event, false, out);
            default: return cudaErrorNotSupported;
        }
    });
}

}  // namespace lanescope::cudart

LANESCOPE_API cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
    return call([&](Runtime& runtime, Context&) {
        if (!graph || flags) return cudaErrorInvalidValue;
        auto made = std::make_unique<Graph>();
        *graph = reinterpret_cast<cudaGraph_t>(made.get());
        runtime.graphs[*graph] = std::move(made);
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    return call([&](Runtime& runtime, Context&) { return runtime.graphs.erase(graph) ? cudaSuccess : cudaErrorInvalidValue; });
}
LANESCOPE_API cudaError_t cudaGraphClone(cudaGraph_t* copy, cudaGraph_t graph) {
    return call([&](Runtime& runtime, Context&) {
        const Graph* known = graph_of(runtime, graph);
        if (!copy || !known) return cudaErrorInvalidValue;
        auto made = std::make_unique<Graph>();
        std::map<const Node*, Node*> copies;
        made = clone(*known, &copies);
        *copy = reinterpret_cast<cudaGraph_t>(made.get());
        for (const auto& [from, to] : copies) runtime.clones[{*copy, from}] = to;
        runtime.graphs[*copy] = std::move(made);
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* out, cudaGraphNode_t node, cudaGraph_t copy) {
    return call([&](Runtime& runtime, Context&) {
        const auto found = runtime.clones.find({copy, reinterpret_cast<const Node*>(node)});
        if (!out || found == runtime.clones.end() || !runtime.graphs.count(copy)) return cudaErrorInvalidValue;
        *out = handle(found->second);
        return cudaSuccess;
    });
}

LANESCOPE_API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, const cudaKernelNodeParams* p) {
    return add_node_with(node, graph, after, count, [&](Runtime& runtime, Call& out) { return kernel_call(runtime, p, out); });
}
LANESCOPE_API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, const cudaMemcpy3DParms* p) {
    return add_node_with(node, graph, after, count, [&](Runtime& runtime, Call& out) { return copy_call(runtime, p, out); });
}
LANESCOPE_API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, void* to, const void* from,
                                                   size_t bytes, cudaMemcpyKind kind) {
    return add_node_with(node, graph, after, count, [&](Runtime&, Call& out) { return out = contiguous(to, from, bytes, kind), cudaSuccess; });
}
LANESCOPE_API cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, const void* symbol,
                                                         const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
    return add_node_with(node, graph, after, count, [&](Runtime& runtime, Call& out) {
        return describe(runtime, symbol, const_cast<void*>(from), bytes, offset, kind, true, out.emplace<CopyCall>());
    });
}
LANESCOPE_API cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, void* to,
                                                           const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind) {
    return add_node_with(node, graph, after, count, [&](Runtime& runtime, Call& out) {
        return describe(runtime, symbol, to, bytes, offset, kind, false, out.emplace<CopyCall>());
    });
}
LANESCOPE_API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, const cudaMemsetParams* p) {
    return add_node_with(node, graph, after, count, [&](Runtime&, Call& out) { return fill_call(p, out); });
}
LANESCOPE_API cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, const cudaHostNodeParams* p) {
    return add_node_with(node, graph, after, count, [&](Runtime&, Call& out) { return host_call(p, out); });
}
LANESCOPE_API cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, cudaMemAllocNodeParams* p) {
    return add_node_with(node, graph, after, count, [&](Runtime& runtime, Call& out) { return allocate_call(runtime, p, out); });
}
LANESCOPE_API cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, void* memory) {
    return add_node_with(node, graph, after, count, [&](Runtime&, Call& out) { return free_call(memory, out); });
}
LANESCOPE_API cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* memory) {
    return call([&](Runtime& runtime, Context&) {
        const Node* known = node_of(runtime, node);
        const NoCall* freed = known ? std::get_if<NoCall>(&known->call) : nullptr;
        if (!memory || !freed || freed->type != cudaGraphNodeTypeMemFree) return cudaErrorInvalidValue;
        *static_cast<void**>(memory) = freed->memory;
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* p) {
    return call([&](Runtime& runtime, Context& context) {
        const Node* known = node_of(runtime, node);
        const NoCall* made = known ? std::get_if<NoCall>(&known->call) : nullptr;
        const auto* memory = made && made->type == cudaGraphNodeTypeMemAlloc ? context.memory().find(reinterpret_cast<uint64_t>(made->memory)) : nullptr;
        if (!p || !memory) return cudaErrorInvalidValue;
        *p = {};
        p->poolProps.allocType = cudaMemAllocationTypePinned;
        p->poolProps.location = {cudaMemLocationTypeDevice, {0}};
        p->bytesize = memory->bytes;
        p->dptr = made->memory;
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count) {
    return add_node_with(node, graph, after, count, [](Runtime&, Call&) { return cudaSuccess; });
}
LANESCOPE_API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, cudaGraph_t child) {
    return add_node_with(node, graph, after, count, [&](Runtime& runtime, Call& out) { return child_call(runtime, child, out); });
}
LANESCOPE_API cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, cudaEvent_t event) {
    return add_node_with(node, graph, after, count, [&](Runtime& runtime, Call& out) { return event_call(runtime, event, false, out); });
}
LANESCOPE_API cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, cudaEvent_t event) {
    return add_node_with(node, graph, after, count, [&](Runtime& runtime, Call& out) { return event_call(runtime, event, true, out); });
}
LANESCOPE_API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
    return call([&](Runtime& runtime, Context&) {
        Node* known = node_of(runtime, node);
        if (!known) return cudaErrorInvalidValue;
        Graph& graph = *known->graph;
        for (const std::unique_ptr<Node>& other : graph.nodes) std::erase(other->after, known);
        std::erase_if(graph.nodes, [&](const std::unique_ptr<Node>& each) { return each.get() == known; });
        return cudaSuccess;
    });
}

LANESCOPE_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
    return call([&](Runtime& runtime, Context&) {
        const Graph* known = graph_of(runtime, graph);
        if (!known || !count) return cudaErrorInvalidValue;
        std::vector<cudaGraphNode_t> all;
        for (const std::unique_ptr<Node>& node : known->nodes) all.push_back(handle(node.get()));
        give(all, nodes, count);
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
    return call([&](Runtime& runtime, Context&) {
        const Graph* known = graph_of(runtime, graph);
        if (!known || !count) return cudaErrorInvalidValue;
        std::vector<cudaGraphNode_t> all;
        for (const std::unique_ptr<Node>& node : known->nodes)
            if (node->after.empty()) all.push_back(handle(node.get()));
        give(all, nodes, count);
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
    return call([&](Runtime& runtime, Context&) {
        const Node* known = node_of(runtime, node);
        if (!known || !type) return cudaErrorInvalidValue;
        *type = type_of(known->call);
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* p) {
    return call([&](Runtime& runtime, Context&) {
        Node* known = node_of(runtime, node);
        KernelCall* kernel = known ? std::get_if<KernelCall>(&known->call) : nullptr;
        if (!kernel || !p) return cudaErrorInvalidValue;
        *p = {kernel->function, kernel->options.grid, kernel->options.block, unsigned(kernel->options.shared), kernel->pointers.data(), nullptr};
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID id, const cudaKernelNodeAttrValue* value) {
    return call([&](Runtime& runtime, Context& context) {
        Node* known = node_of(runtime, node);
        KernelCall* kernel = known ? std::get_if<KernelCall>(&known->call) : nullptr;
        if (!kernel || !value) return cudaErrorInvalidValue;
        if (id != cudaLaunchAttributeAccessPolicyWindow) return cudaErrorNotSupported;
        if (!is_window(context.gpu(), value->accessPolicyWindow)) return cudaErrorInvalidValue;
        kernel->options.window = value->accessPolicyWindow;
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID id, cudaKernelNodeAttrValue* value) {
    return call([&](Runtime& runtime, Context&) {
        Node* known = node_of(runtime, node);
        KernelCall* kernel = known ? std::get_if<KernelCall>(&known->call) : nullptr;
        if (!kernel || !value) return cudaErrorInvalidValue;
        if (id != cudaLaunchAttributeAccessPolicyWindow) return cudaErrorNotSupported;
        *value = {};
        value->accessPolicyWindow = kernel->options.window.value_or(cudaAccessPolicyWindow{});
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* p) {
    return call([&](Runtime& runtime, Context&) {
        const Node* known = node_of(runtime, node);
        const FillCall* fill = known ? std::get_if<FillCall>(&known->call) : nullptr;
        if (!fill || !p) return cudaErrorInvalidValue;
        *p = {fill->pointer, fill->pitch, fill->value, fill->element_bytes, fill->width, fill->height};
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* p) {
    return call([&](Runtime& runtime, Context&) {
        const Node* known = node_of(runtime, node);
        const HostCall* host = known ? std::get_if<HostCall>(&known->call) : nullptr;
        if (!host || !p) return cudaErrorInvalidValue;
        *p = {host->function, host->data};
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
    return call([&](Runtime& runtime, Context&) {
        const Node* known = node_of(runtime, node);
        const ChildCall* child = known ? std::get_if<ChildCall>(&known->call) : nullptr;
        if (!child || !graph) return cudaErrorInvalidValue;
        *graph = reinterpret_cast<cudaGraph_t>(child->graph.get());
        return cudaSuccess;
    });
}

LANESCOPE_API cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* p) {
    return change_node(node, [&](Runtime& runtime, Call& out) { return kernel_call(runtime, p, out); });
}
LANESCOPE_API cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* p) {
    return change_node(node, [&](Runtime& runtime, Call& out) { return copy_call(runtime, p, out); });
}
LANESCOPE_API cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    return change_node(node, [&](Runtime&, Call& out) { return out = contiguous(to, from, bytes, kind), cudaSuccess; });
}
LANESCOPE_API cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* p) {
    return change_node(node, [&](Runtime&, Call& out) { return fill_call(p, out); });
}
LANESCOPE_API cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* p) {
    return change_node(node, [&](Runtime&, Call& out) { return host_call(p, out); });
}
LANESCOPE_API cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node, const cudaKernelNodeParams* p) {
    return change_step(executable, node, [&](Runtime& runtime, Call& out) { return kernel_call(runtime, p, out); });
}
LANESCOPE_API cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node, const cudaMemcpy3DParms* p) {
    return change_step(executable, node, [&](Runtime& runtime, Call& out) { return copy_call(runtime, p, out); });
}
LANESCOPE_API cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node, void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    return change_step(executable, node, [&](Runtime&, Call& out) { return out = contiguous(to, from, bytes, kind), cudaSuccess; });
}
LANESCOPE_API cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node, const cudaMemsetParams* p) {
    return change_step(executable, node, [&](Runtime&, Call& out) { return fill_call(p, out); });
}
LANESCOPE_API cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node, const cudaHostNodeParams* p) {
    return change_step(executable, node, [&](Runtime&, Call& out) { return host_call(p, out); });
}
LANESCOPE_API cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node, unsigned enabled) {
    return call([&](Runtime& runtime, Context&) {
        Executable::Step* step = step_of(runtime, executable, node);
        if (!step) return cudaErrorInvalidValue;
        step->enabled = enabled != 0;
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node, unsigned* enabled) {
    return call([&](Runtime& runtime, Context&) {
        const Executable::Step* step = step_of(runtime, executable, node);
        if (!step || !enabled) return cudaErrorInvalidValue;
        *enabled = step->enabled;
        return cudaSuccess;
    });
}

// What CUDA 13 calls by the plain name and CUDA 12 by this one.
LANESCOPE_API cudaError_t get_edges_2(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data, size_t* count) __asm__("cudaGraphGetEdges_v2");
LANESCOPE_API cudaError_t get_dependencies_2(cudaGraphNode_t node, cudaGraphNode_t* out, cudaGraphEdgeData* data, size_t* count) __asm__("cudaGraphNodeGetDependencies_v2");
LANESCOPE_API cudaError_t get_dependents_2(cudaGraphNode_t node, cudaGraphNode_t* out, cudaGraphEdgeData* data, size_t* count) __asm__("cudaGraphNodeGetDependentNodes_v2");
LANESCOPE_API cudaError_t add_edges_2(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, const cudaGraphEdgeData* data, size_t count) __asm__("cudaGraphAddDependencies_v2");
LANESCOPE_API cudaError_t remove_edges_2(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, const cudaGraphEdgeData* data, size_t count) __asm__("cudaGraphRemoveDependencies_v2");
LANESCOPE_API cudaError_t add_node_2(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, const cudaGraphEdgeData* data, size_t count, cudaGraphNodeParams* p) __asm__("cudaGraphAddNode_v2");

cudaError_t get_edges_2(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data, size_t* count) { return get_edges(graph, from, to, data, count); }
cudaError_t get_dependencies_2(cudaGraphNode_t node, cudaGraphNode_t* out, cudaGraphEdgeData* data, size_t* count) { return get_neighbours(node, true, out, data, count); }
cudaError_t get_dependents_2(cudaGraphNode_t node, cudaGraphNode_t* out, cudaGraphEdgeData* data, size_t* count) { return get_neighbours(node, false, out, data, count); }
cudaError_t add_edges_2(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, const cudaGraphEdgeData*, size_t count) { return change_edges(graph, from, to, count, true); }
cudaError_t remove_edges_2(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, const cudaGraphEdgeData*, size_t count) { return change_edges(graph, from, to, count, false); }
cudaError_t add_node_2(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, const cudaGraphEdgeData*, size_t count, cudaGraphNodeParams* p) { return add_node(node, graph, after, count, p); }
