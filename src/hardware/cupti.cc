#include "hardware/cupti.h"

#if LANESCOPE_HAVE_CUPTI

#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#endif

namespace lanescope::hardware {

#if LANESCOPE_HAVE_CUPTI

namespace {

#define LANESCOPE_HOST_FUNCTIONS(X)         \
    X(cuptiGetVersion)                      \
    X(cuptiGetResultString)                 \
    X(cuptiProfilerInitialize)              \
    X(cuptiDeviceGetChipName)               \
    X(cuptiProfilerHostInitialize)          \
    X(cuptiProfilerHostDeinitialize)        \
    X(cuptiProfilerHostGetSupportedChips)   \
    X(cuptiProfilerHostConfigAddMetrics)    \
    X(cuptiProfilerHostGetConfigImageSize)  \
    X(cuptiProfilerHostGetConfigImage)      \
    X(cuptiProfilerHostGetNumOfPasses)      \
    X(cuptiProfilerHostEvaluateToGpuValues)

/// Where toolkits and their wheels put the library, best guess first.
std::vector<std::string> candidates() {
    namespace fs = std::filesystem;
    std::vector<std::string> out;
    auto folder = [&](const fs::path& path) {
        std::error_code ignored;
        for (auto& name : {"libcupti.so", "libcupti.so.13", "libcupti.so.12"})
            if (fs::exists(path / name, ignored)) out.push_back(path / name);
    };
    if (const char* path = std::getenv("LANESCOPE_CUPTI"); path && *path) return {path};
    for (auto& name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"}) out.push_back(name);
    std::vector<fs::path> toolkits;
    for (auto& variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const char* path = std::getenv(variable); path && *path) toolkits.emplace_back(path);
    toolkits.emplace_back("/usr/local/cuda");
    if (const char* path = std::getenv("PATH")) {  // beside nvcc, and the wheels beside python
        std::string_view rest = path;
        while (!rest.empty()) {
            size_t end = std::min(rest.find(':'), rest.size());
            fs::path bin(rest.substr(0, end));
            rest.remove_prefix(std::min(end + 1, rest.size()));
            std::error_code ignored;
            if (fs::exists(bin / "nvcc", ignored)) toolkits.push_back(bin.parent_path());
            if (!fs::exists(bin / "python3", ignored)) continue;
            for (auto& python : fs::directory_iterator(bin.parent_path() / "lib", ignored))
                if (python.path().filename().string().starts_with("python3"))
                    for (auto& wheel : {"cuda_cupti", "cu13", "cu12"}) folder(python.path() / "site-packages/nvidia" / wheel / "lib");
        }
    }
    for (auto& toolkit : toolkits)
        for (auto& inside : {"extras/CUPTI/lib64", "lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"})
            folder(toolkit / inside);
    return out;
}

}  // namespace

struct Cupti::Library {
    std::string path;
#define LANESCOPE_DECLARE(name) decltype(&::name) name = nullptr;
    LANESCOPE_HOST_FUNCTIONS(LANESCOPE_DECLARE)
#undef LANESCOPE_DECLARE

    /// Empty, or what is wrong.
    std::string open(const std::string& file) {
        void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!handle) return dlerror();
        const char* missing = nullptr;
        auto find = [&](const char* symbol, auto& function) {
            function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(handle, symbol));
            if (!function && !missing) missing = symbol;
        };
#define LANESCOPE_FIND(name) find(#name, name);
        LANESCOPE_HOST_FUNCTIONS(LANESCOPE_FIND)
#undef LANESCOPE_FIND
        if (missing) return fmt::format("{} has no {}: CUPTI of CUDA 12.6 or later is needed", file, missing);
        path = file;
        Dl_info info{};  // the injected library must load the very same file
        if (dladdr(reinterpret_cast<void*>(cuptiGetVersion), &info) && info.dli_fname) path = info.dli_fname;
        return {};
    }

    base::Diagnostic failed(const char* call, CUptiResult result) const {
        const char* text = nullptr;
        cuptiGetResultString(result, &text);
        return base::error(fmt::format("{} failed: {} ({})", call, text ? text : "unknown", int(result)));
    }
};

namespace {

/// One profiler host object; it can't be used again after a name that the chip doesn't have.
template <class Library>
class Host {
public:
    Host(const Library& library, const std::string& chip) : library_(library) {
        CUpti_Profiler_Host_Initialize_Params params{CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE};
        params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
        params.pChipName = chip.c_str();
        result_ = library_.cuptiProfilerHostInitialize(&params);
        object_ = params.pHostObject;
    }
    ~Host() {
        if (!object_) return;
        CUpti_Profiler_Host_Deinitialize_Params params{CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE};
        params.pHostObject = object_;
        library_.cuptiProfilerHostDeinitialize(&params);
    }
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    CUptiResult result() const { return result_; }
    CUpti_Profiler_Host_Object* object() const { return object_; }
    CUptiResult add(std::span<const std::string> metrics) {
        std::vector<const char*> names;
        for (auto& metric : metrics) names.push_back(metric.c_str());
        CUpti_Profiler_Host_ConfigAddMetrics_Params params{CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE};
        params.pHostObject = object_;
        params.ppMetricNames = names.data();
        params.numMetrics = names.size();
        return library_.cuptiProfilerHostConfigAddMetrics(&params);
    }

private:
    const Library& library_;
    CUpti_Profiler_Host_Object* object_ = nullptr;
    CUptiResult result_ = CUPTI_SUCCESS;
};

}  // namespace

base::Result<Cupti> Cupti::load() {
    auto library = std::make_shared<Library>();
    std::string first;
    for (auto& candidate : candidates()) {
        std::string problem = library->open(candidate);
        if (problem.empty()) {
            Cupti cupti;
            cupti.library_ = library;
            return cupti;
        }
        // What the last resort says tells most: the bare names fail wherever the library is not on the linker's path.
        if (candidate.find('/') != std::string::npos || first.empty()) first = problem;
    }
    return base::error("CUPTI can't be loaded (" + first +
                       "); install the toolkit's cuda-cupti package or the Python wheel nvidia-cuda-cupti, or name the library in "
                       "LANESCOPE_CUPTI");
}

const std::string& Cupti::path() const { return library_->path; }

uint32_t Cupti::version() const {
    uint32_t version = 0;
    library_->cuptiGetVersion(&version);
    return version;
}

std::vector<std::string> Cupti::chips() const {
    CUpti_Profiler_Host_GetSupportedChips_Params params{CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE};
    std::vector<std::string> out;
    if (library_->cuptiProfilerHostGetSupportedChips(&params) == CUPTI_SUCCESS)
        out.assign(params.ppChipNames, params.ppChipNames + params.numChips);
    return out;
}

base::Result<std::string> Cupti::chip_of(uint32_t device) const {
    // Without it the next call crashes instead of failing (CUPTI 13.0).
    CUpti_Profiler_Initialize_Params initialize{CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
    CUptiResult ready = library_->cuptiProfilerInitialize(&initialize);
    if (ready != CUPTI_SUCCESS) return library_->failed("cuptiProfilerInitialize", ready);
    CUpti_Device_GetChipName_Params params{CUpti_Device_GetChipName_Params_STRUCT_SIZE};
    params.deviceIndex = device;
    CUptiResult result = library_->cuptiDeviceGetChipName(&params);
    if (result != CUPTI_SUCCESS) return library_->failed("cuptiDeviceGetChipName", result);
    return std::string(params.pChipName);
}

std::vector<bool> Cupti::supported(const std::string& chip, std::span<const std::string> metrics) const {
    std::vector<bool> out(metrics.size(), true);
    if (Host all(*library_, chip); all.result() == CUPTI_SUCCESS && all.add(metrics) == CUPTI_SUCCESS) return out;
    for (size_t i = 0; i < metrics.size(); ++i) {
        Host one(*library_, chip);
        out[i] = one.result() == CUPTI_SUCCESS && one.add(metrics.subspan(i, 1)) == CUPTI_SUCCESS;
    }
    return out;
}

base::Result<Cupti::Plan> Cupti::plan(const std::string& chip, std::span<const std::string> metrics) const {
    Host host(*library_, chip);
    if (host.result() != CUPTI_SUCCESS) return library_->failed("cuptiProfilerHostInitialize", host.result());
    if (CUptiResult result = host.add(metrics); result != CUPTI_SUCCESS) return library_->failed("cuptiProfilerHostConfigAddMetrics", result);
    CUpti_Profiler_Host_GetConfigImageSize_Params size{CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE};
    size.pHostObject = host.object();
    if (CUptiResult result = library_->cuptiProfilerHostGetConfigImageSize(&size); result != CUPTI_SUCCESS)
        return library_->failed("cuptiProfilerHostGetConfigImageSize", result);
    Plan plan;
    plan.config.resize(size.configImageSize);
    CUpti_Profiler_Host_GetConfigImage_Params image{CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE};
    image.pHostObject = host.object();
    image.configImageSize = plan.config.size();
    image.pConfigImage = reinterpret_cast<uint8_t*>(plan.config.data());
    if (CUptiResult result = library_->cuptiProfilerHostGetConfigImage(&image); result != CUPTI_SUCCESS)
        return library_->failed("cuptiProfilerHostGetConfigImage", result);
    CUpti_Profiler_Host_GetNumOfPasses_Params passes{CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE};
    passes.configImageSize = plan.config.size();
    passes.pConfigImage = reinterpret_cast<uint8_t*>(plan.config.data());
    if (CUptiResult result = library_->cuptiProfilerHostGetNumOfPasses(&passes); result != CUPTI_SUCCESS)
        return library_->failed("cuptiProfilerHostGetNumOfPasses", result);
    plan.passes = uint32_t(passes.numOfPasses);
    return plan;
}

base::Result<std::vector<std::vector<double>>> Cupti::evaluate(const std::string& chip, const std::string& image,
                                                               std::span<const std::string> metrics, size_t ranges) const {
    Host host(*library_, chip);
    if (host.result() != CUPTI_SUCCESS) return library_->failed("cuptiProfilerHostInitialize", host.result());
    std::vector<const char*> names;
    for (auto& metric : metrics) names.push_back(metric.c_str());
    std::vector<std::vector<double>> out(ranges, std::vector<double>(metrics.size()));
    for (size_t range = 0; range < ranges; ++range) {
        CUpti_Profiler_Host_EvaluateToGpuValues_Params params{CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE};
        params.pHostObject = host.object();
        params.pCounterDataImage = reinterpret_cast<const uint8_t*>(image.data());
        params.counterDataImageSize = image.size();
        params.rangeIndex = range;
        params.ppMetricNames = names.data();
        params.numMetrics = names.size();
        params.pMetricValues = out[range].data();
        if (CUptiResult result = library_->cuptiProfilerHostEvaluateToGpuValues(&params); result != CUPTI_SUCCESS)
            return library_->failed("cuptiProfilerHostEvaluateToGpuValues", result);
    }
    return out;
}

#else  // built without CUPTI's headers

struct Cupti::Library {
    std::string path;
};

base::Result<Cupti> Cupti::load() {
    return base::error("this lanescope was built without CUPTI's headers: build it where the CUDA toolkit's cuda-cupti-dev package or the "
                       "Python wheel nvidia-cuda-cupti is installed");
}
const std::string& Cupti::path() const { return library_->path; }
uint32_t Cupti::version() const { return 0; }
std::vector<std::string> Cupti::chips() const { return {}; }
base::Result<std::string> Cupti::chip_of(uint32_t) const { return base::error("built without CUPTI's headers"); }
std::vector<bool> Cupti::supported(const std::string&, std::span<const std::string> metrics) const { return std::vector<bool>(metrics.size()); }
base::Result<Cupti::Plan> Cupti::plan(const std::string&, std::span<const std::string>) const {
    return base::error("built without CUPTI's headers");
}
base::Result<std::vector<std::vector<double>>> Cupti::evaluate(const std::string&, const std::string&, std::span<const std::string>, size_t) const {
    return base::error("built without CUPTI's headers");
}

#endif

}  // namespace lanescope::hardware
