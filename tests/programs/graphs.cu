// CUDA graphs: captured from streams that fork and join, built by hand, changed, cloned, nested, launched again and again; what a capture
// forbids; and that independent branches run side by side on the predicted clock.
// OUT: captured: 5 nodes, nothing ran before the launch: 0
// OUT: launched three times: 6 7
// OUT: by hand: 10 20 30 host 1
// OUT: other parameters: 13
// OUT: updated: 6
// OUT: disabled: 6
// OUT: child: 103
// OUT: clone: 3 nodes, 2 edges, roots 1
// OUT: memory of the graph: 4
// OUT: memory nodes: 64 bytes, launched twice 6, freed outside 6
// OUT: forbidden: 900 906 901 901
// OUT: unjoined: 904
// OUT: circle: 1
// OUT: side by side: yes
#include <cstdio>
#include <vector>

#include "check.h"

__global__ void add(int* p, int value) { p[threadIdx.x] += value; }
__global__ void sum(const int* a, const int* b, int* out) { *out = a[0] + b[0]; }
__global__ void spin(int* p, int turns) {
    int value = *p;
    for (int i = 0; i < turns; ++i) value = value * 3 + 1;
    *p = value;
}

static int read(const int* device) {
    int value = 0;
    CHECK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

static int* ints(int count) {
    int* p = nullptr;
    CHECK(cudaMalloc(&p, count * sizeof(int)));
    CHECK(cudaMemset(p, 0, count * sizeof(int)));
    return p;
}

static void captured() {
    cudaStream_t a, b;
    cudaEvent_t fork, join;
    CHECK(cudaStreamCreate(&a));
    CHECK(cudaStreamCreate(&b));
    CHECK(cudaEventCreate(&fork));
    CHECK(cudaEventCreate(&join));
    int *x = ints(1), *y = ints(1), *z = ints(1), *host = nullptr;
    CHECK(cudaMallocHost(&host, sizeof(int)));
    *host = 0;
    CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, a>>>(x, 1);
    CHECK(cudaEventRecord(fork, a));
    CHECK(cudaStreamWaitEvent(b, fork, 0));
    add<<<1, 1, 0, b>>>(y, 1);
    add<<<1, 1, 0, a>>>(x, 1);
    CHECK(cudaEventRecord(join, b));
    CHECK(cudaStreamWaitEvent(a, join, 0));
    sum<<<1, 1, 0, a>>>(x, y, z);
    CHECK(cudaMemcpyAsync(host, z, sizeof(int), cudaMemcpyDeviceToHost, a));
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(a, &graph));
    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    std::printf("captured: %zu nodes, nothing ran before the launch: %d\n", nodes, read(x));
    cudaGraphExec_t run;
    CHECK(cudaGraphInstantiate(&run, graph, 0));
    for (int i = 0; i < 2; ++i) CHECK(cudaGraphLaunch(run, a));
    CHECK(cudaStreamSynchronize(a));
    const int two = *host;                       // x = 4, y = 2
    CHECK(cudaGraphLaunch(run, b));
    CHECK(cudaStreamSynchronize(b));
    std::printf("launched three times: %d %d\n", two, read(x) + (*host == 9));   // 6 + 1
    CHECK(cudaGraphExecDestroy(run));
    CHECK(cudaGraphDestroy(graph));
}

static void by_hand() {
    int* p = ints(3);
    int values[3] = {}, called = 0;
    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t set, kernel, copy, host;
    cudaMemsetParams fill{};
    fill.dst = p, fill.elementSize = 4, fill.value = 10, fill.width = 1, fill.height = 3, fill.pitch = 4;
    CHECK(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &fill));
    int ten = 10;
    int* second = p + 1;
    void* arguments[] = {&second, &ten};
    cudaKernelNodeParams call{};
    call.func = reinterpret_cast<void*>(add), call.gridDim = 1, call.blockDim = 2, call.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&kernel, graph, &set, 1, &call));
    ten = 1000;                                  // copied when the node was made
    int* third = p + 2;
    cudaGraphNode_t again;
    int more = 10;
    void* rest[] = {&third, &more};
    call.blockDim = 1, call.kernelParams = rest;
    CHECK(cudaGraphAddKernelNode(&again, graph, &kernel, 1, &call));
    CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &again, 1, values, p, sizeof values, cudaMemcpyDeviceToHost));
    cudaHostNodeParams function{[](void* data) { ++*static_cast<int*>(data); }, &called};
    CHECK(cudaGraphAddHostNode(&host, graph, &copy, 1, &function));
    cudaGraphExec_t run;
    CHECK(cudaGraphInstantiateWithFlags(&run, graph, 0));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaGraphLaunch(run, stream));
    CHECK(cudaStreamSynchronize(stream));
    std::printf("by hand: %d %d %d host %d\n", values[0], values[1], values[2], called);

    more = 3;
    CHECK(cudaGraphExecKernelNodeSetParams(run, again, &call));
    int three = -10;
    void* others[] = {&second, &three};
    cudaKernelNodeParams lower = call;
    lower.kernelParams = others, lower.blockDim = 2;
    CHECK(cudaGraphExecKernelNodeSetParams(run, kernel, &lower));
    CHECK(cudaGraphLaunch(run, stream));
    CHECK(cudaStreamSynchronize(stream));
    std::printf("other parameters: %d\n", values[2] + 10);    // 10 - 10 + 3, and 10

    more = -4;
    CHECK(cudaGraphKernelNodeSetParams(again, &call));
    cudaGraphExecUpdateResultInfo info;
    CHECK(cudaGraphExecUpdate(run, graph, &info));
    CHECK(cudaGraphLaunch(run, stream));
    CHECK(cudaStreamSynchronize(stream));
    std::printf("updated: %d\n", values[2] - 10);             // 10 + 10 - 4
    CHECK(cudaGraphNodeSetEnabled(run, again, 0));
    CHECK(cudaGraphLaunch(run, stream));
    CHECK(cudaStreamSynchronize(stream));
    std::printf("disabled: %d\n", values[2] - 14);            // 10 + 10
}

static void nested() {
    int* p = ints(1);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    cudaGraph_t inner, outer;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < 3; ++i) add<<<1, 1, 0, stream>>>(p, 1);
    CHECK(cudaStreamEndCapture(stream, &inner));
    CHECK(cudaGraphCreate(&outer, 0));
    cudaGraphNode_t child, after;
    CHECK(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, inner));
    int value = 100;
    void* arguments[] = {&p, &value};
    cudaKernelNodeParams call{};
    call.func = reinterpret_cast<void*>(add), call.gridDim = 1, call.blockDim = 1, call.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&after, outer, &child, 1, &call));
    cudaGraphExec_t run;
    CHECK(cudaGraphInstantiate(&run, outer, 0));
    CHECK(cudaGraphLaunch(run, nullptr));
    std::printf("child: %d\n", read(p));

    cudaGraph_t copy;
    CHECK(cudaGraphClone(&copy, inner));
    CHECK(cudaGraphDestroy(inner));
    size_t nodes = 0, edges = 0, roots = 0;
    CHECK(cudaGraphGetNodes(copy, nullptr, &nodes));
#if CUDART_VERSION >= 13000
    CHECK(cudaGraphGetEdges(copy, nullptr, nullptr, nullptr, &edges));
#else
    CHECK(cudaGraphGetEdges(copy, nullptr, nullptr, &edges));
#endif
    CHECK(cudaGraphGetRootNodes(copy, nullptr, &roots));
    std::printf("clone: %zu nodes, %zu edges, roots %zu\n", nodes, edges, roots);
}

static void memory() {
    int* result = ints(1);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    int* scratch = nullptr;
    CHECK(cudaMallocAsync(&scratch, sizeof(int), stream));
    cudaStream_t side;                           // forks, joins and is gone before the capture ends
    cudaEvent_t fork, join;
    CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&fork));
    CHECK(cudaEventCreate(&join));
    CHECK(cudaEventRecord(fork, stream));
    CHECK(cudaStreamWaitEvent(side, fork, 0));
    CHECK(cudaMemsetAsync(scratch, 0, sizeof(int), side));
    CHECK(cudaEventRecord(join, side));
    CHECK(cudaStreamWaitEvent(stream, join, 0));
    CHECK(cudaStreamDestroy(side));
    add<<<1, 1, 0, stream>>>(scratch, 2);
    sum<<<1, 1, 0, stream>>>(scratch, scratch, result);
    CHECK(cudaFreeAsync(scratch, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t run;
    CHECK(cudaGraphInstantiate(&run, graph, 0));
    for (int i = 0; i < 2; ++i) CHECK(cudaGraphLaunch(run, stream));
    std::printf("memory of the graph: %d\n", read(result));

    // By hand: made by a node, used by two, freed outside of the graph, launched again.
    cudaMemAllocNodeParams make{}, told{};
    make.bytesize = 64;
    make.poolProps.allocType = cudaMemAllocationTypePinned;
    make.poolProps.location.type = cudaMemLocationTypeDevice;
    cudaGraphNode_t made, filled, added;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemAllocNode(&made, graph, nullptr, 0, &make));
    CHECK(cudaGraphMemAllocNodeGetParams(made, &told));
    int* place = static_cast<int*>(make.dptr);
    cudaMemsetParams zero{};
    zero.dst = place, zero.elementSize = 4, zero.width = 1, zero.height = 1;
    CHECK(cudaGraphAddMemsetNode(&filled, graph, &made, 1, &zero));
    int six = 6;
    void* arguments[] = {&place, &six};
    cudaKernelNodeParams kernel{};
    kernel.func = (void*)add, kernel.gridDim = 1, kernel.blockDim = 1, kernel.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&added, graph, &filled, 1, &kernel));
    CHECK(cudaGraphInstantiate(&run, graph, 0));
    for (int i = 0; i < 2; ++i) CHECK(cudaGraphLaunch(run, stream));
    CHECK(cudaStreamSynchronize(stream));
    const int twice = read(place);
    CHECK(cudaFreeAsync(place, stream));
    CHECK(cudaGraphLaunch(run, stream));
    CHECK(cudaStreamSynchronize(stream));
    std::printf("memory nodes: %zu bytes, launched twice %d, freed outside %d\n", told.dptr == place ? told.bytesize : 0, twice, read(place));
}

static void forbidden() {
    int* p = ints(1);
    cudaStream_t stream, other;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreate(&other));
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    const int wait = cudaStreamSynchronize(stream);
    const int first = cudaStreamEndCapture(stream, &graph);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 1>>>(p, 1);                         // the legacy default stream would wait for the capturing one
    const int implicit = cudaGetLastError();
    const int second = cudaStreamEndCapture(stream, &graph);
    std::printf("forbidden: %d %d %d %d\n", wait, implicit, first, second);

    cudaEvent_t event;
    CHECK(cudaEventCreate(&event));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(p, 1);
    CHECK(cudaEventRecord(event, stream));
    CHECK(cudaStreamWaitEvent(other, event, 0));
    add<<<1, 1, 0, other>>>(p, 1);
    std::printf("unjoined: %d\n", cudaStreamEndCapture(stream, &graph));
    cudaGetLastError();

    cudaGraphNode_t nodes[2];
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddEmptyNode(&nodes[0], graph, nullptr, 0));
    CHECK(cudaGraphAddEmptyNode(&nodes[1], graph, &nodes[0], 1));
#if CUDART_VERSION >= 13000
    CHECK(cudaGraphAddDependencies(graph, &nodes[1], &nodes[0], nullptr, 1));
#else
    CHECK(cudaGraphAddDependencies(graph, &nodes[1], &nodes[0], 1));
#endif
    cudaGraphExec_t run;
    std::printf("circle: %d\n", cudaGraphInstantiate(&run, graph, 0));
    cudaGetLastError();
}

static float elapsed(bool parallel) {
    int *a = ints(1), *b = ints(1);
    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0));
    int turns = 2000;
    void *first[] = {&a, &turns}, *second[] = {&b, &turns};
    cudaGraphNode_t one, two;
    cudaKernelNodeParams call{};
    call.func = reinterpret_cast<void*>(spin), call.gridDim = 1, call.blockDim = 1, call.kernelParams = first;
    CHECK(cudaGraphAddKernelNode(&one, graph, nullptr, 0, &call));
    call.kernelParams = second;
    CHECK(cudaGraphAddKernelNode(&two, graph, &one, parallel ? 0 : 1, &call));
    cudaGraphExec_t run;
    CHECK(cudaGraphInstantiate(&run, graph, 0));
    cudaStream_t stream;
    cudaEvent_t begin, end;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(begin, stream));
    CHECK(cudaGraphLaunch(run, stream));
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaEventSynchronize(end));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    return ms;
}

int main() {
    captured();
    by_hand();
    nested();
    memory();
    forbidden();
    const float both = elapsed(true), chain = elapsed(false);
    std::printf("side by side: %s\n", both < 0.6f * chain ? "yes" : "no");
    return 0;
}
