// The CUPTI and driver functions that the injected library calls, found at run time: nothing of CUDA is linked, so the
// library loads into any program and says itself what is missing.
#pragma once

#include <cupti.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>

#include <string>

namespace lanescope::inject {

#define LANESCOPE_CUPTI_FUNCTIONS(X)           \
    X(cuptiSubscribe)                          \
    X(cuptiEnableCallback)                     \
    X(cuptiGetVersion)                         \
    X(cuptiGetResultString)                    \
    X(cuptiGetCubinCrc)                        \
    X(cuptiActivityRegisterCallbacks)          \
    X(cuptiActivityEnable)                     \
    X(cuptiActivityDisable)                    \
    X(cuptiActivityGetNextRecord)              \
    X(cuptiActivityGetNumDroppedRecords)       \
    X(cuptiActivityFlushAll)                   \
    X(cuptiActivityConfigureUnifiedMemoryCounter) \
    X(cuptiProfilerInitialize)                 \
    X(cuptiDeviceGetChipName)                  \
    X(cuptiSassMetricsGetProperties)           \
    X(cuptiSassMetricsSetConfig)               \
    X(cuptiSassMetricsUnsetConfig)             \
    X(cuptiSassMetricsEnable)                  \
    X(cuptiSassMetricsDisable)                 \
    X(cuptiSassMetricsGetDataProperties)       \
    X(cuptiSassMetricsFlushData)               \
    X(cuptiRangeProfilerEnable)                \
    X(cuptiRangeProfilerDisable)               \
    X(cuptiRangeProfilerSetConfig)             \
    X(cuptiRangeProfilerStart)                 \
    X(cuptiRangeProfilerStop)                  \
    X(cuptiRangeProfilerPushRange)             \
    X(cuptiRangeProfilerPopRange)              \
    X(cuptiRangeProfilerDecodeData)            \
    X(cuptiRangeProfilerGetCounterDataSize)    \
    X(cuptiRangeProfilerCounterDataImageInitialize) \
    X(cuptiRangeProfilerGetCounterDataInfo)

// cuMemAlloc is a macro for the versioned name, hence the two columns.
#define LANESCOPE_DRIVER_FUNCTIONS(X)                             \
    X(cuCtxGetCurrent, "cuCtxGetCurrent")                         \
    X(cuCtxGetDevice, "cuCtxGetDevice")                           \
    X(cuCtxPopCurrent, "cuCtxPopCurrent_v2")                      \
    X(cuCtxPushCurrent, "cuCtxPushCurrent_v2")                    \
    X(cuCtxSynchronize, "cuCtxSynchronize")                       \
    X(cuDeviceGetAttribute, "cuDeviceGetAttribute")               \
    X(cuDeviceGetPCIBusId, "cuDeviceGetPCIBusId")                 \
    X(cuStreamIsCapturing, "cuStreamIsCapturing")                 \
    X(cuThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode") \
    X(cuMemAlloc, "cuMemAlloc_v2")                                \
    X(cuModuleLoadData, "cuModuleLoadData")                       \
    X(cuModuleGetFunction, "cuModuleGetFunction")                 \
    X(cuLaunchKernel, "cuLaunchKernel")

struct Api {
#define LANESCOPE_DECLARE(name, ...) decltype(&::name) name = nullptr;
    LANESCOPE_CUPTI_FUNCTIONS(LANESCOPE_DECLARE)
    LANESCOPE_DRIVER_FUNCTIONS(LANESCOPE_DECLARE)
#undef LANESCOPE_DECLARE

    /// Empty on success, else what could not be loaded.
    std::string load(const std::string& cupti_path);
};

extern Api api;

}  // namespace lanescope::inject
