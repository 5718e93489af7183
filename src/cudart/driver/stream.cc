// Streams and events: the runtime's.
#include "cudart/driver/driver.h"

using namespace lanescope::driver;

LANESCOPE_DRIVER_API CUresult cuStreamCreate(CUstream* stream, unsigned flags) { return result(RUNTIME(cudaStreamCreateWithFlags)(stream, flags)); }
LANESCOPE_DRIVER_API CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
    return result(RUNTIME(cudaStreamCreateWithPriority)(stream, flags, priority));
}
LANESCOPE_DRIVER_API CUresult cuStreamDestroy(CUstream stream) { return result(RUNTIME(cudaStreamDestroy)(stream)); }
LANESCOPE_DRIVER_API CUresult cuStreamSynchronize(CUstream stream) { return result(RUNTIME(cudaStreamSynchronize)(stream)); }
LANESCOPE_DRIVER_API CUresult cuStreamQuery(CUstream stream) { return result(RUNTIME(cudaStreamQuery)(stream)); }
LANESCOPE_DRIVER_API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    return result(RUNTIME(cudaStreamWaitEvent)(stream, event, flags));
}
LANESCOPE_DRIVER_API CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) { return result(RUNTIME(cudaStreamGetFlags)(stream, flags)); }
LANESCOPE_DRIVER_API CUresult cuStreamGetPriority(CUstream stream, int* priority) { return result(RUNTIME(cudaStreamGetPriority)(stream, priority)); }
/// Attributes have the runtime's numbers and layout.
LANESCOPE_DRIVER_API CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID id, const CUstreamAttrValue* value) {
    static_assert(sizeof(CUstreamAttrValue) == sizeof(cudaStreamAttrValue));
    return result(RUNTIME(cudaStreamSetAttribute)(stream, cudaStreamAttrID(id), reinterpret_cast<const cudaStreamAttrValue*>(value)));
}
LANESCOPE_DRIVER_API CUresult cuStreamGetAttribute(CUstream stream, CUstreamAttrID id, CUstreamAttrValue* value) {
    return result(RUNTIME(cudaStreamGetAttribute)(stream, cudaStreamAttrID(id), reinterpret_cast<cudaStreamAttrValue*>(value)));
}
LANESCOPE_DRIVER_API CUresult cuStreamCopyAttributes(CUstream to, CUstream from) { return result(RUNTIME(cudaStreamCopyAttributes)(to, from)); }
LANESCOPE_DRIVER_API CUresult cuStreamGetCtx(CUstream, CUcontext* context) { return cuCtxGetCurrent(context); }
LANESCOPE_DRIVER_API CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
    return result(RUNTIME(cudaLaunchHostFunc)(stream, function, data));
}
LANESCOPE_DRIVER_API CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* data, unsigned flags) {
    if (!callback || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    struct Call {
        CUstream stream;
        CUstreamCallback callback;
        void* data;
    };
    auto* call = new Call{stream, callback, data};
    const CUresult status = result(RUNTIME(cudaStreamAddCallback)(
        stream,
        [](cudaStream_t, cudaError_t error, void* given) {
            const Call made = *static_cast<Call*>(given);
            delete static_cast<Call*>(given);
            made.callback(made.stream, result(error), made.data);
        },
        call, 0));
    if (status != CUDA_SUCCESS) delete call;
    return status;
}
LANESCOPE_DRIVER_API CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t bytes, unsigned flags) {
    return result(RUNTIME(cudaStreamAttachMemAsync)(stream, pointer(address), bytes, flags));
}
LANESCOPE_DRIVER_API CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
    return result(RUNTIME(cudaStreamIsCapturing)(stream, reinterpret_cast<cudaStreamCaptureStatus*>(status)));
}
LANESCOPE_DRIVER_API CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
    return result(RUNTIME(cudaStreamBeginCapture)(stream, cudaStreamCaptureMode(mode)));
}
LANESCOPE_DRIVER_API CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) { return result(RUNTIME(cudaStreamEndCapture)(stream, graph)); }
LANESCOPE_DRIVER_API CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
    return result(RUNTIME(cudaThreadExchangeStreamCaptureMode)(reinterpret_cast<cudaStreamCaptureMode*>(mode)));
}
LANESCOPE_DRIVER_API CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph, unsigned long long flags) {
    return result(RUNTIME(cudaGraphInstantiateWithFlags)(executable, graph, flags));
}
LANESCOPE_DRIVER_API CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) { return result(RUNTIME(cudaGraphLaunch)(executable, stream)); }
LANESCOPE_DRIVER_API CUresult cuGraphExecDestroy(CUgraphExec executable) { return result(RUNTIME(cudaGraphExecDestroy)(executable)); }
LANESCOPE_DRIVER_API CUresult cuGraphDestroy(CUgraph graph) { return result(RUNTIME(cudaGraphDestroy)(graph)); }

LANESCOPE_DRIVER_API CUresult cuEventCreate(CUevent* event, unsigned flags) { return result(RUNTIME(cudaEventCreateWithFlags)(event, flags)); }
LANESCOPE_DRIVER_API CUresult cuEventRecord(CUevent event, CUstream stream) {
    return result(RUNTIME(cudaEventRecord)(event, stream));
}
LANESCOPE_DRIVER_API CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned) { return cuEventRecord(event, stream); }
LANESCOPE_DRIVER_API CUresult cuEventQuery(CUevent event) { return result(RUNTIME(cudaEventQuery)(event)); }
LANESCOPE_DRIVER_API CUresult cuEventSynchronize(CUevent event) { return result(RUNTIME(cudaEventSynchronize)(event)); }
LANESCOPE_DRIVER_API CUresult cuEventDestroy(CUevent event) { return result(RUNTIME(cudaEventDestroy)(event)); }
LANESCOPE_DRIVER_API CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
    return result(RUNTIME(cudaEventElapsedTime)(milliseconds, begin, end));
}
#undef cuEventElapsedTime
LANESCOPE_DRIVER_API CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) { return cuEventElapsedTime_v2(milliseconds, begin, end); }
