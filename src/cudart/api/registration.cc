// What compiled host code calls before and around the program's own use of the runtime.
#include <fmt/format.h>

#include "cudart/api/runtime.h"

using namespace lanescope::cudart;

namespace {

/// `<<<>>>` pushes, the kernel's stub pops; they nest when an argument's conversion launches a kernel itself.
thread_local std::vector<CallConfiguration> t_configurations;

Binary* binary_of(void** handle) { return reinterpret_cast<Binary*>(handle); }

}  // namespace

LANESCOPE_API void** __cudaRegisterFatBinary(void* wrapper) {
    Runtime& runtime = Runtime::get();
    std::lock_guard lock(runtime.mutex);
    return reinterpret_cast<void**>(runtime.add_binary(wrapper));
}

LANESCOPE_API void __cudaRegisterFatBinaryEnd(void**) {}

LANESCOPE_API void __cudaUnregisterFatBinary(void** handle) {
    Runtime& runtime = Runtime::get();
    std::lock_guard lock(runtime.mutex);
    runtime.remove_binary(binary_of(handle));
}

LANESCOPE_API void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*, int*) {
    Runtime& runtime = Runtime::get();
    std::lock_guard lock(runtime.mutex);
    runtime.add_function(binary_of(handle), host, name);
}

LANESCOPE_API void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t bytes, int, int) {
    Runtime& runtime = Runtime::get();
    std::lock_guard lock(runtime.mutex);
    runtime.add_variable(binary_of(handle), host, name, bytes, nullptr);
}

LANESCOPE_API void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int, size_t bytes, int, int) {
    Runtime& runtime = Runtime::get();
    std::lock_guard lock(runtime.mutex);
    runtime.add_variable(binary_of(handle), host, name, bytes, host);
}

// Texture and surface references ended with CUDA 12; a kernel that uses one is refused when it is loaded or run.
LANESCOPE_API void __cudaRegisterTexture(void**, const void*, const void**, const char*, int, int, int) {}
LANESCOPE_API void __cudaRegisterSurface(void**, const void*, const void**, const char*, int, int) {}
LANESCOPE_API void __cudaRegisterHostVar(void**, const char*, char*, size_t) {}

/// Called before each use of a __managed__ variable on the host.
LANESCOPE_API char __cudaInitModule(void** handle) {
    Runtime& runtime = Runtime::get();
    std::lock_guard lock(runtime.mutex);
    record(runtime.load(*binary_of(handle)));
    return 1;
}

LANESCOPE_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
    t_configurations.push_back({grid, block, shared, stream});
    return 0;
}

LANESCOPE_API cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
    if (t_configurations.empty()) return record(cudaErrorMissingConfiguration);
    CallConfiguration top = t_configurations.back();
    t_configurations.pop_back();
    *grid = top.grid;
    *block = top.block;
    *shared = top.shared;
    *static_cast<cudaStream_t*>(stream) = top.stream;
    return cudaSuccess;
}

LANESCOPE_API cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
    Runtime& runtime = Runtime::get();
    std::lock_guard lock(runtime.mutex);
    Function* function = runtime.function(host);
    *kernel = reinterpret_cast<cudaKernel_t>(function);
    return function ? cudaSuccess : record(cudaErrorInvalidDeviceFunction);
}

LANESCOPE_API cudaError_t cudaLaunchKernel(const void* host, dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t stream) {
    return call([&](Runtime& runtime, lanescope::emulator::Context& context) {
        Function* function = runtime.function(host);
        return function ? launch(runtime, context, *function, {.grid = grid, .block = block, .shared = shared, .stream = stream}, arguments)
                        : cudaErrorInvalidDeviceFunction;
    });
}
LANESCOPE_API cudaError_t cudaLaunchKernel_ptsz(const void* host, dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t stream) {
    Runtime::get().per_thread_default = true;
    return cudaLaunchKernel(host, grid, block, arguments, shared, stream);
}

LANESCOPE_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t stream) {
    return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, arguments, shared, stream);
}
LANESCOPE_API cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t stream) {
    Runtime::get().per_thread_default = true;
    return __cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

LANESCOPE_API cudaError_t cudaLaunchCooperativeKernel(const void* host, dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t stream) {
    return call([&](Runtime& runtime, lanescope::emulator::Context& context) {
        Function* function = runtime.function(host);
        return function ? launch(runtime, context, *function, {.grid = grid, .block = block, .shared = shared, .stream = stream, .cooperative = true}, arguments)
                        : cudaErrorInvalidDeviceFunction;
    });
}
LANESCOPE_API cudaError_t cudaLaunchCooperativeKernel_ptsz(const void* host, dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t stream) {
    Runtime::get().per_thread_default = true;
    return cudaLaunchCooperativeKernel(host, grid, block, arguments, shared, stream);
}

LANESCOPE_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* host, void** arguments) {
    return call([&](Runtime& runtime, lanescope::emulator::Context& context) {
        Function* function = runtime.function(host);
        if (!function) return cudaErrorInvalidDeviceFunction;
        if (!config || (config->numAttrs && !config->attrs)) return cudaErrorInvalidValue;
        LaunchOptions options{.grid = config->gridDim, .block = config->blockDim, .shared = config->dynamicSmemBytes, .stream = config->stream};
        for (unsigned i = 0; i < config->numAttrs; ++i) {
            const cudaLaunchAttribute& attribute = config->attrs[i];
            if (attribute.id == cudaLaunchAttributeCooperative) options.cooperative = attribute.val.cooperative;
            if (attribute.id == cudaLaunchAttributeClusterDimension)
                options.cluster = {attribute.val.clusterDim.x, attribute.val.clusterDim.y, attribute.val.clusterDim.z};
            if (attribute.id == cudaLaunchAttributeAccessPolicyWindow) {
                if (!is_window(context.gpu(), attribute.val.accessPolicyWindow)) return cudaErrorInvalidValue;
                options.window = attribute.val.accessPolicyWindow;
            }
        }
        return launch(runtime, context, *function, options, arguments);
    });
}
LANESCOPE_API cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* host, void** arguments) {
    Runtime::get().per_thread_default = true;
    return cudaLaunchKernelExC(config, host, arguments);
}
