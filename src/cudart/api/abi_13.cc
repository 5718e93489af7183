// What libcudart.so.13 has otherwise than its predecessors.
#include "cudart/api/copy.h"
#include "cudart/api/device.h"
#include "cudart/api/graph.h"
#include "cudart/api/runtime.h"

using namespace lanescope::cudart;

LANESCOPE_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    return call([&](Runtime&, lanescope::emulator::Context& context) {
        if (device != 0) return cudaErrorInvalidDevice;
        if (!properties) return cudaErrorInvalidValue;
        fill_properties(context.gpu(), *properties);
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location) {
    return advise(pointer, bytes, advice, location.type != cudaMemLocationTypeDevice);
}
LANESCOPE_API cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, cudaMemLocation location, unsigned, cudaStream_t stream) {
    return prefetch(pointer, bytes, location.type != cudaMemLocationTypeDevice, stream);
}
LANESCOPE_ALIAS(cudaMemPrefetchAsync, cudaMemPrefetchAsync_ptsz);

// Graphs: edges carry data.
LANESCOPE_API cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data, size_t* count) {
    return get_edges(graph, from, to, data, count);
}
LANESCOPE_API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* out, cudaGraphEdgeData* data, size_t* count) {
    return get_neighbours(node, true, out, data, count);
}
LANESCOPE_API cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* out, cudaGraphEdgeData* data, size_t* count) {
    return get_neighbours(node, false, out, data, count);
}
LANESCOPE_API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, const cudaGraphEdgeData*, size_t count) {
    return change_edges(graph, from, to, count, true);
}
LANESCOPE_API cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, const cudaGraphEdgeData*, size_t count) {
    return change_edges(graph, from, to, count, false);
}
LANESCOPE_API cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, const cudaGraphEdgeData*, size_t count,
                                           cudaGraphNodeParams* parameters) {
    return add_node(node, graph, after, count, parameters);
}
LANESCOPE_API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph,
                                                   const cudaGraphNode_t** last, const cudaGraphEdgeData** data, size_t* count) {
    return capture_info(stream, status, id, graph, last, data, count);
}
LANESCOPE_ALIAS(cudaStreamGetCaptureInfo, cudaStreamGetCaptureInfo_ptsz);
LANESCOPE_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
    return info ? update(executable, graph, &info->result, &info->errorNode) : record(cudaErrorInvalidValue);
}
