// CUDA graphs and stream capture: work that is written down instead of done, and done when the graph is launched.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "cudart/api/copy.h"

namespace lanescope::cudart {

struct Graph;

struct KernelCall {
    Function* function = nullptr;
    LaunchOptions options;                        ///< its stream means nothing
    std::vector<std::byte> parameters;            ///< packed, copied when the node was made
    std::vector<void*> pointers;                  ///< to each of them, for cudaGraphKernelNodeGetParams
};
struct HostCall {
    cudaHostFn_t function = nullptr;
    void* data = nullptr;
};
struct EventCall {
    cudaEvent_t event = nullptr;
    bool wait = false;                            ///< else record
};
struct ChildCall {
    std::shared_ptr<Graph> graph;                 ///< a copy of its own
};
/// Nothing to do when it runs: empty nodes, and allocations, which exist from the time that their node is made (their addresses are fixed
/// by then) until the program ends.
struct NoCall {
    cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    void* memory = nullptr;
};
using Call = std::variant<NoCall, KernelCall, CopyCall, FillCall, HostCall, EventCall, ChildCall>;

struct Node {
    Graph* graph = nullptr;
    Call call;
    std::vector<Node*> after;                     ///< what it depends on
};

struct Graph {
    std::vector<std::unique_ptr<Node>> nodes;     ///< in the order of their making
};

/// A graph ready to run: its nodes in an order that its edges allow.
struct Executable {
    struct Step {
        const Node* node = nullptr;               ///< the handle by which programs change it; the node itself may be gone
        Call call;
        std::vector<size_t> after;                ///< earlier steps
        size_t lane = 0;                          ///< 0: the stream it is launched into; else lanes[lane - 1]
        bool enabled = true;
    };
    std::vector<Step> steps;
    std::vector<cudaStream_t> lanes;              ///< for what may run side by side
    unsigned long long flags = 0;
};

/// What streams that capture together have in common.
struct Capture {
    Graph* graph = nullptr;
    const StreamState* origin = nullptr;
    unsigned long long id = 0;
    bool valid = true, active = true;             ///< active: until cudaStreamEndCapture
};

cudaGraphNodeType type_of(const Call& call);
Node& add(Graph& graph, Call call, std::vector<Node*> after);
/// A copy with the same edges; `copies`, if given, receives for each node of `from` its copy.
std::unique_ptr<Graph> clone(const Graph& from, std::map<const Node*, Node*>* copies = nullptr);

/// Memory for a node (memory.cc), see kGraphMemory.
cudaError_t allocate_for_graph(Runtime& runtime, void** pointer, size_t bytes);

/// Packs a kernel's arguments, for the time after this call.
cudaError_t pack(Runtime& runtime, Function& function, const LaunchOptions& options, void** arguments, KernelCall& call);

/// Puts the nodes in order and gives them lanes. cudaErrorInvalidValue: its edges form a circle.
cudaError_t instantiate(Runtime& runtime, emulator::Context& context, const Graph& graph, Executable& out);
cudaError_t run(Runtime& runtime, emulator::Context& context, const Executable& executable, cudaStream_t stream);

/// Work on a stream while some stream captures (Runtime::captures): written down (success), not allowed (an error), or nothing: do it.
std::optional<cudaError_t> captured(Runtime& runtime, cudaStream_t stream, Call call);
/// A stream that is destroyed takes its capture with it.
void abandon(Runtime& runtime, StreamState& state);
/// For calls that no capturing stream may be given, as waiting for it; ends the capture's validity.
std::optional<cudaError_t> refused(Runtime& runtime, cudaStream_t stream);
/// Events tie captures of several streams together. As `captured`.
std::optional<cudaError_t> captured_record(Runtime& runtime, cudaStream_t stream, cudaEvent_t handle, Event& event, bool external);
std::optional<cudaError_t> captured_wait(Runtime& runtime, cudaStream_t stream, cudaEvent_t handle, const Event& event, bool external);

// Where the ABIs differ in whether edges carry data (there is none here: kernels run to their end before dependents start).
cudaError_t get_edges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data, size_t* count);
cudaError_t get_neighbours(cudaGraphNode_t node, bool dependencies, cudaGraphNode_t* out, cudaGraphEdgeData* data, size_t* count);
cudaError_t change_edges(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, size_t count, bool add);
cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, cudaGraphNodeParams* parameters);
cudaError_t capture_info(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph, const cudaGraphNode_t** last,
                         const cudaGraphEdgeData** data, size_t* count);
cudaError_t update(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphExecUpdateResult* result, cudaGraphNode_t* node);

}  // namespace lanescope::cudart
