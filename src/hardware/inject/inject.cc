// Entry of the library that CUDA loads into the program (CUDA_INJECTION64_PATH): listens to launches, contexts and modules,
// and hands them to the one collector that this run asked for.
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>

#include "hardware/inject/api.h"
#include "hardware/inject/collector.h"
#include "hardware/inject/session.h"

namespace lanescope::inject {

namespace {

thread_local int own_work = 0;
std::unique_ptr<Collector> collector;
std::mutex launch_mutex;
std::atomic<bool> ended = false;
std::atomic<bool> collecting = true;     // not between cudaProfilerStop and cudaProfilerStart
uint64_t next_launch = 0;
std::map<CUcontext, unsigned> contexts;  // → number in order of creation

struct LaunchArguments {
    CUstream stream = nullptr;
    unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
    unsigned shared = 0;
    bool launch = false, graph = false;
};

// A null stream means another stream in the per-thread variants of the driver's functions.
CUstream of_thread(CUstream stream) { return stream ? stream : CU_STREAM_PER_THREAD; }

template <class Parameters>
LaunchArguments plain(const void* parameters, bool per_thread) {
    auto& p = *static_cast<const Parameters*>(parameters);
    return {per_thread ? of_thread(p.hStream) : p.hStream, {p.gridDimX, p.gridDimY, p.gridDimZ}, {p.blockDimX, p.blockDimY, p.blockDimZ},
            p.sharedMemBytes, true, false};
}

LaunchArguments read_launch(CUpti_CallbackId id, const void* parameters) {
    switch (id) {
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel: return plain<cuLaunchKernel_params>(parameters, false);
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz: return plain<cuLaunchKernel_params>(parameters, true);
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel: return plain<cuLaunchCooperativeKernel_params>(parameters, false);
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz: return plain<cuLaunchCooperativeKernel_params>(parameters, true);
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz: {
            auto& c = *static_cast<const cuLaunchKernelEx_params*>(parameters)->config;
            bool per_thread = id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz;
            return {per_thread ? of_thread(c.hStream) : c.hStream, {c.gridDimX, c.gridDimY, c.gridDimZ},
                    {c.blockDimX, c.blockDimY, c.blockDimZ}, c.sharedMemBytes, true, false};
        }
        case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
        case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz: {
            CUstream stream = static_cast<const cuGraphLaunch_params*>(parameters)->hStream;
            return {id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz ? of_thread(stream) : stream, {0, 0, 0}, {0, 0, 0}, 0, true, true};
        }
        default: return {};
    }
}

constexpr CUpti_CallbackId kLaunches[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,           CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,         CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,            CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
};

// A launch into a capturing stream only adds a node to a graph: nothing runs, and work of ours would be captured too.
bool capturing(CUstream stream) {
    OwnWork own;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return api.cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void on_launch(CUpti_CallbackId id, const CUpti_CallbackData& data) {
    if (!collecting) return;
    LaunchArguments arguments = read_launch(id, data.functionParams);
    if (!arguments.launch || capturing(arguments.stream)) return;
    static thread_local bool locked = false;
    bool entering = data.callbackSite == CUPTI_API_ENTER;
    if (entering && collector->serialises()) {
        launch_mutex.lock();
        locked = true;
    }
    std::unique_lock counting(launch_mutex, std::defer_lock);
    if (!collector->serialises()) counting.lock();
    LaunchInfo launch{next_launch, arguments.stream, data.context, request.is_selected(next_launch), arguments.graph};
    {
        OwnWork own;
        if (entering) {
            collector->launch_starting(launch);
            return;
        }
        bool ran = *static_cast<const CUresult*>(data.functionReturnValue) == CUDA_SUCCESS;
        if (ran) {
            ++next_launch;
            events.line("launch", launch.index, data.correlationId, contexts[data.context], arguments.graph ? "graph" : "kernel",
                        arguments.grid[0], arguments.grid[1], arguments.grid[2], arguments.block[0], arguments.block[1], arguments.block[2],
                        arguments.shared, arguments.graph ? "" : data.symbolName);
        }
        collector->launch_finished(launch, ran);
        events.flush();
    }
    if (locked) {
        locked = false;
        launch_mutex.unlock();
    }
}

// cudaProfilerStart and cudaProfilerStop: launches outside are run, but neither collected nor numbered. How many they are may differ from run to run.
void on_profiler(CUpti_CallbackId id, const CUpti_CallbackData& data) {
    if (data.callbackSite != CUPTI_API_EXIT) return;
    bool on = id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart;
    if (collecting.exchange(on) == on) return;
    events.line("collect", unsigned(on), data.correlationId);
    OwnWork own;
    collector->collect(on);
}

void on_resource(CUpti_CallbackId id, const void* data) {
    OwnWork own;
    switch (id) {
        case CUPTI_CBID_RESOURCE_CONTEXT_CREATED: {
            CUcontext context = static_cast<const CUpti_ResourceData*>(data)->context;
            contexts[context] = unsigned(contexts.size());
            events.line("context", contexts[context]);
            timing("context");
            collector->context_created(context);
            break;
        }
        case CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING:
            collector->context_destroyed(static_cast<const CUpti_ResourceData*>(data)->context);
            break;
        case CUPTI_CBID_RESOURCE_MODULE_LOADED:
            collector->module_loaded(
                *static_cast<const CUpti_ModuleResourceData*>(static_cast<const CUpti_ResourceData*>(data)->resourceDescriptor));
            break;
        default: break;
    }
    events.flush();
}

void CUPTIAPI on_callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
    if (OwnWork::here() || ended) return;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
        auto& call = *static_cast<const CUpti_CallbackData*>(data);
        if (id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart || id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStop) on_profiler(id, call);
        else on_launch(id, call);
    }
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) on_resource(id, data);
    if (domain == CUPTI_CB_DOMAIN_SYNCHRONIZE) collector->synchronized();
}

void at_exit() {
    if (ended.exchange(true)) return;
    OwnWork own;
    timing("exit");
    events.flush();
    collector->end();
    events.line("end");
    timing("end");
    events.flush();
}

void start() {
    const char* folder = std::getenv("LANESCOPE_SESSION");
    if (!folder) return;
    std::string path = folder;
    if (!events.open(path + "/events")) {  // the program's first process answers; the others are only named
        events.open(path + "/other." + std::to_string(getpid()));
        return;
    }
    request = read_request(path + "/request");
    events.line("loaded", request.mode, getpid());
    timing("loaded");
    events.flush();
    if (std::string missing = api.load(request.cupti); !missing.empty()) {
        events.line("error", "load", 1, missing);
        events.flush();
        return;
    }
    if (request.mode == "activity") collector = make_activity_collector();
    if (request.mode == "sass") collector = make_sass_collector();
    if (request.mode == "range") collector = make_range_collector();
    if (!collector) return;
    uint32_t version = 0;
    api.cuptiGetVersion(&version);
    CUpti_SubscriberHandle subscriber;
    if (!succeeded("cuptiSubscribe", api.cuptiSubscribe(&subscriber, on_callback, nullptr))) return;
    auto enable = [&](CUpti_CallbackDomain domain, CUpti_CallbackId id) {
        succeeded("cuptiEnableCallback", api.cuptiEnableCallback(1, subscriber, domain, id));
    };
    for (CUpti_CallbackId id : kLaunches) enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
    for (CUpti_CallbackId id : {CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop}) enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
    enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
    enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
    if (request.mode == "sass") {
        enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED);
        enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_PROFILED);  // else only the first function is counted
    }
    if (request.mode == "activity") {
        enable(CUPTI_CB_DOMAIN_SYNCHRONIZE, CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED);
        enable(CUPTI_CB_DOMAIN_SYNCHRONIZE, CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED);
    }
    collector->begin();
    events.line("subscribed", version);
    timing("subscribed");
    events.flush();
    std::atexit(at_exit);
}

}  // namespace

OwnWork::OwnWork() {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (own_work++ == 0 && api.cuThreadExchangeStreamCaptureMode) api.cuThreadExchangeStreamCaptureMode(&mode);
    mode_ = int(mode);
}

OwnWork::~OwnWork() {
    auto mode = CUstreamCaptureMode(mode_);
    if (--own_work == 0 && api.cuThreadExchangeStreamCaptureMode) api.cuThreadExchangeStreamCaptureMode(&mode);
}

bool OwnWork::here() { return own_work != 0; }

}  // namespace lanescope::inject

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
    static std::once_flag once;
    std::call_once(once, lanescope::inject::start);
    return 1;
}
