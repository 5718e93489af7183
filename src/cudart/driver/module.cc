// Modules, functions and their launch.
#include <cstdio>
#include <string>
#include <vector>

#include "cudart/driver/driver.h"

/// What cuLinkCreate makes: the PTX that was added.
struct CUlinkState_st {
    std::vector<std::string> ptx;
};

namespace lanescope::driver {
namespace {

cudaLibrary_t library(CUmodule module) { return reinterpret_cast<cudaLibrary_t>(module); }
const void* symbol(CUfunction function) { return function; }

/// The logs that a program has asked for are empty: what is wrong with its PTX is said on standard error, with its place.
void empty_logs(unsigned count, CUjit_option* options, void** values) {
    for (unsigned i = 0; i < count && options && values; ++i) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER || options[i] == CU_JIT_INFO_LOG_BUFFER)
            if (values[i]) *static_cast<char*>(values[i]) = 0;
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES || options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES) values[i] = nullptr;
    }
}

/// A module's code is looked at when it is loaded, a library's when something in it is asked for.
CUresult loaded(cudaError_t error, CUmodule* module) {
    unsigned kernels = 0;
    if (error == cudaSuccess) {
        error = RUNTIME(cudaLibraryGetKernelCount)(&kernels, library(*module));
        if (error != cudaSuccess) RUNTIME(cudaLibraryUnload)(library(*module));
    }
    return result(error);
}

CUresult load(CUmodule* module, const void* image) {
    return loaded(RUNTIME(cudaLibraryLoadData)(reinterpret_cast<cudaLibrary_t*>(module), image, nullptr, nullptr, 0, nullptr, nullptr, 0), module);
}

/// Where the arguments lie: as given, or in one buffer laid out as the kernel's parameters.
CUresult arguments_of(CUfunction function, void** parameters, void** extra, std::vector<void*>& out, void**& used) {
    used = parameters;
    if (parameters || !extra) return CUDA_SUCCESS;
    char* buffer = nullptr;
    size_t bytes = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = static_cast<char*>(extra[1]);
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) bytes = *static_cast<size_t*>(extra[1]);
        else return CUDA_ERROR_INVALID_VALUE;
    }
    size_t offset = 0, size = 0, end = 0;
    for (size_t i = 0; RUNTIME(cudaFuncGetParamInfo)(symbol(function), i, &offset, &size) == cudaSuccess; ++i) {
        out.push_back(buffer + offset);
        end = offset + size;
    }
    RUNTIME(cudaGetLastError)();  // of the question behind the last parameter
    if (!buffer) return CUDA_ERROR_INVALID_VALUE;
    if (bytes != end) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;   // seen on an H200: padding at the end is too much
    used = out.data();
    return CUDA_SUCCESS;
}

CUresult launch(const cudaLaunchConfig_t& config, CUfunction function, void** parameters, void** extra) {
    std::vector<void*> unpacked;
    void** arguments = nullptr;
    if (const CUresult status = arguments_of(function, parameters, extra, unpacked, arguments)) return status;
    return result(RUNTIME(cudaLaunchKernelExC)(
        &config, symbol(function), arguments));
}

cudaLaunchConfig_t configuration(unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream stream) {
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(gx, gy, gz);
    config.blockDim = dim3(bx, by, bz);
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    return config;
}

}  // namespace
}  // namespace lanescope::driver

using namespace lanescope::driver;

LANESCOPE_DRIVER_API CUresult cuModuleLoadData(CUmodule* module, const void* image) { return load(module, image); }
LANESCOPE_DRIVER_API CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) { return load(module, image); }
LANESCOPE_DRIVER_API CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, CUjit_option* options, void** values) {
    empty_logs(count, options, values);
    return load(module, image);
}
LANESCOPE_DRIVER_API CUresult cuModuleLoad(CUmodule* module, const char* file) {
    return loaded(RUNTIME(cudaLibraryLoadFromFile)(reinterpret_cast<cudaLibrary_t*>(module), file, nullptr, nullptr, 0, nullptr, nullptr, 0), module);
}
LANESCOPE_DRIVER_API CUresult cuModuleUnload(CUmodule module) { return result(RUNTIME(cudaLibraryUnload)(library(module))); }
LANESCOPE_DRIVER_API CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
    return result(RUNTIME(cudaLibraryGetKernel)(reinterpret_cast<cudaKernel_t*>(function), library(module), name));
}
LANESCOPE_DRIVER_API CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module) { return result(RUNTIME(cudaLibraryGetKernelCount)(count, library(module))); }
LANESCOPE_DRIVER_API CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned most, CUmodule module) {
    return result(RUNTIME(cudaLibraryEnumerateKernels)(reinterpret_cast<cudaKernel_t*>(functions), most, library(module)));
}
LANESCOPE_DRIVER_API CUresult cuModuleGetGlobal(CUdeviceptr* address, size_t* bytes, CUmodule module, const char* name) {
    void** out = reinterpret_cast<void**>(address);
    const cudaError_t error = RUNTIME(cudaLibraryGetGlobal)(out, bytes, library(module), name);
    return result(error == cudaErrorSymbolNotFound ? RUNTIME(cudaLibraryGetManaged)(out, bytes, library(module), name) : error);
}

LANESCOPE_DRIVER_API CUresult cuLibraryLoadData(CUlibrary* out, const void* image, CUjit_option* options, void** values, unsigned count, CUlibraryOption*, void**, unsigned) {
    empty_logs(count, options, values);
    return result(RUNTIME(cudaLibraryLoadData)(reinterpret_cast<cudaLibrary_t*>(out), image, nullptr, nullptr, 0, nullptr, nullptr, 0));
}
LANESCOPE_DRIVER_API CUresult cuLibraryLoadFromFile(CUlibrary* out, const char* file, CUjit_option*, void**, unsigned, CUlibraryOption*, void**, unsigned) {
    return result(RUNTIME(cudaLibraryLoadFromFile)(reinterpret_cast<cudaLibrary_t*>(out), file, nullptr, nullptr, 0, nullptr, nullptr, 0));
}
LANESCOPE_DRIVER_API CUresult cuLibraryUnload(CUlibrary which) { return cuModuleUnload(reinterpret_cast<CUmodule>(which)); }
LANESCOPE_DRIVER_API CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary which, const char* name) {
    return cuModuleGetFunction(reinterpret_cast<CUfunction*>(kernel), reinterpret_cast<CUmodule>(which), name);
}
LANESCOPE_DRIVER_API CUresult cuLibraryGetModule(CUmodule* module, CUlibrary which) {
    *module = reinterpret_cast<CUmodule>(which);
    return CUDA_SUCCESS;
}
LANESCOPE_DRIVER_API CUresult cuLibraryGetGlobal(CUdeviceptr* address, size_t* bytes, CUlibrary which, const char* name) {
    return cuModuleGetGlobal(address, bytes, reinterpret_cast<CUmodule>(which), name);
}
LANESCOPE_DRIVER_API CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
    *function = reinterpret_cast<CUfunction>(kernel);
    return CUDA_SUCCESS;
}

LANESCOPE_DRIVER_API CUresult cuLibraryGetManaged(CUdeviceptr* address, size_t* bytes, CUlibrary which, const char* name) {
    return result(RUNTIME(cudaLibraryGetManaged)(reinterpret_cast<void**>(address), bytes, reinterpret_cast<cudaLibrary_t>(which), name));
}
LANESCOPE_DRIVER_API CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary which) { return cuModuleGetFunctionCount(count, reinterpret_cast<CUmodule>(which)); }
LANESCOPE_DRIVER_API CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned most, CUlibrary which) {
    return cuModuleEnumerateFunctions(reinterpret_cast<CUfunction*>(kernels), most, reinterpret_cast<CUmodule>(which));
}
LANESCOPE_DRIVER_API CUresult cuKernelGetName(const char** name, CUkernel kernel) { return cuFuncGetName(name, reinterpret_cast<CUfunction>(kernel)); }
LANESCOPE_DRIVER_API CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice) {
    return cuFuncGetAttribute(value, attribute, reinterpret_cast<CUfunction>(kernel));
}
LANESCOPE_DRIVER_API CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice) {
    return cuFuncSetAttribute(reinterpret_cast<CUfunction>(kernel), attribute, value);
}
LANESCOPE_DRIVER_API CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache preference, CUdevice) {
    return cuFuncSetCacheConfig(reinterpret_cast<CUfunction>(kernel), preference);
}
LANESCOPE_DRIVER_API CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* bytes) {
    return cuFuncGetParamInfo(reinterpret_cast<CUfunction>(kernel), index, offset, bytes);
}
LANESCOPE_DRIVER_API CUresult cuFuncLoad(CUfunction) { return CUDA_SUCCESS; }
LANESCOPE_DRIVER_API CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction) {
    if (!state) return CUDA_ERROR_INVALID_VALUE;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
}
LANESCOPE_DRIVER_API CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
    if (!mode) return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}

// Linking one piece of PTX is handing it on: the emulated GPU needs no machine code.
LANESCOPE_DRIVER_API CUresult cuLinkCreate(unsigned count, CUjit_option* options, void** values, CUlinkState* state) {
    if (!state) return CUDA_ERROR_INVALID_VALUE;
    empty_logs(count, options, values);
    *state = new CUlinkState_st;
    return CUDA_SUCCESS;
}
LANESCOPE_DRIVER_API CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, size_t bytes, const char* name, unsigned, CUjit_option*, void**) {
    if (!state || !data) return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_JIT_INPUT_PTX || !state->ptx.empty()) {
        std::fprintf(stderr, "lanescope: cuLinkAddData (%s): only one input, of PTX, can be linked on the emulated GPU\n", name ? "a named input" : "an input");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    state->ptx.emplace_back(static_cast<const char*>(data), bytes);
    return CUDA_SUCCESS;
}
LANESCOPE_DRIVER_API CUresult cuLinkComplete(CUlinkState state, void** image, size_t* bytes) {
    if (!state || !image || state->ptx.empty()) return CUDA_ERROR_INVALID_VALUE;
    *image = state->ptx.front().data();
    if (bytes) *bytes = state->ptx.front().size() + 1;
    return CUDA_SUCCESS;
}
LANESCOPE_DRIVER_API CUresult cuLinkDestroy(CUlinkState state) {
    delete state;
    return CUDA_SUCCESS;
}

// --- functions

LANESCOPE_DRIVER_API CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    cudaFuncAttributes all{};
    if (const CUresult status = result(RUNTIME(cudaFuncGetAttributes)(&all, symbol(function)))) return status;
    switch (attribute) {
        case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = all.maxThreadsPerBlock; break;
        case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = int(all.sharedSizeBytes); break;
        case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = int(all.constSizeBytes); break;
        case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = int(all.localSizeBytes); break;
        case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = all.numRegs; break;
        case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = all.ptxVersion; break;
        case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = all.binaryVersion; break;
        case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: *value = all.cacheModeCA; break;
        case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = all.maxDynamicSharedSizeBytes; break;
        case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = all.preferredShmemCarveout; break;
        default: return CUDA_ERROR_NOT_SUPPORTED;
    }
    return CUDA_SUCCESS;
}

/// The attributes that can be set have the runtime's numbers.
LANESCOPE_DRIVER_API CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    return result(RUNTIME(cudaFuncSetAttribute)(
        symbol(function), cudaFuncAttribute(attribute), value));
}
LANESCOPE_DRIVER_API CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache preference) {
    return result(RUNTIME(cudaFuncSetCacheConfig)(symbol(function), cudaFuncCache(preference)));
}
LANESCOPE_DRIVER_API CUresult cuFuncGetName(const char** name, CUfunction function) {
    return result(RUNTIME(cudaFuncGetName)(name, symbol(function)));
}
LANESCOPE_DRIVER_API CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* bytes) {
    return result(RUNTIME(cudaFuncGetParamInfo)(symbol(function), index, offset, bytes));
}

LANESCOPE_DRIVER_API CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                             CUstream stream, void** parameters, void** extra) {
    return launch(configuration(gx, gy, gz, bx, by, bz, shared, stream), function, parameters, extra);
}

LANESCOPE_DRIVER_API CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                                        unsigned shared, CUstream stream, void** parameters) {
    cudaLaunchConfig_t config = configuration(gx, gy, gz, bx, by, bz, shared, stream);
    cudaLaunchAttribute cooperative{};
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    config.attrs = &cooperative;
    config.numAttrs = 1;
    return launch(config, function, parameters, nullptr);
}

/// Attributes have the runtime's numbers and layout.
LANESCOPE_DRIVER_API CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra) {
    if (!config) return CUDA_ERROR_INVALID_VALUE;
    static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));
    cudaLaunchConfig_t same = configuration(config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX, config->blockDimY, config->blockDimZ,
                                            config->sharedMemBytes, config->hStream);
    same.attrs = reinterpret_cast<cudaLaunchAttribute*>(config->attrs);
    same.numAttrs = config->numAttrs;
    return launch(same, function, parameters, extra);
}

LANESCOPE_DRIVER_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function, int threads, size_t shared, unsigned flags) {
    return result(RUNTIME(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)(blocks, symbol(function), threads, shared, flags));
}
LANESCOPE_DRIVER_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads, size_t shared) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}

/// The block of most threads on an SM; of equal ones the largest.
LANESCOPE_DRIVER_API CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function, CUoccupancyB2DSize shared_of, size_t shared, int limit) {
    int most = 0, sms = 0, best = 0;
    if (!grid || !block) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult status = cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function)) return status;
    if (const CUresult status = cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0)) return status;
    if (limit > 0 && limit < most) most = limit;
    for (int threads = (most + 31) / 32 * 32; threads > 0; threads -= 32) {
        const int tried = threads < most ? threads : most;
        int blocks = 0;
        if (const CUresult status = cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, tried, shared_of ? shared_of(tried) : shared)) return status;
        if (blocks * tried <= best) continue;
        best = blocks * tried;
        *block = tried;
        *grid = blocks * sms;
    }
    return CUDA_SUCCESS;
}
LANESCOPE_DRIVER_API CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function, CUoccupancyB2DSize shared_of, size_t shared,
                                                                        int limit, unsigned) {
    return cuOccupancyMaxPotentialBlockSize(grid, block, function, shared_of, shared, limit);
}
LANESCOPE_DRIVER_API CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction function, int blocks, int threads) {
    return result(RUNTIME(cudaOccupancyAvailableDynamicSMemPerBlock)(bytes, symbol(function), blocks, threads));
}
