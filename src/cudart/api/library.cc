// What a program finds at run time: libraries of device code, and the driver's functions.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/file.h"
#include "cudart/api/runtime.h"

using namespace lanescope::cudart;
using lanescope::emulator::Context;

namespace {

Binary* binary_of(cudaLibrary_t library) { return reinterpret_cast<Binary*>(library); }

/// As on hardware, what is wrong with the code is told to who first asks for something in it.
cudaError_t add(Runtime& runtime, cudaLibrary_t* library, DeviceCode code) {
    Binary* binary = runtime.add_binary(nullptr);
    binary->brought = std::move(code);
    *library = reinterpret_cast<cudaLibrary_t>(binary);
    return cudaSuccess;
}

/// `body(Runtime&, Context&, Binary&)` with the library loaded.
template <class Body>
cudaError_t with_library(cudaLibrary_t library, Body&& body) {
    return call([&](Runtime& runtime, Context& context) {
        Binary* binary = binary_of(library);
        if (!runtime.has(binary)) return cudaErrorInvalidResourceHandle;
        if (cudaError_t error = runtime.load(*binary)) return error;
        return body(runtime, context, *binary);
    });
}

cudaError_t find_variable(void** pointer, size_t* bytes, cudaLibrary_t library, const char* name, bool managed) {
    return with_library(library, [&](Runtime&, Context&, Binary& binary) {
        if (!name) return cudaErrorInvalidValue;
        const auto symbol = binary.module->program().symbol(name);
        if (!symbol || symbol->managed != managed) return cudaErrorSymbolNotFound;
        if (pointer) *pointer = reinterpret_cast<void*>(symbol->address);
        if (bytes) *bytes = symbol->bytes;
        return cudaSuccess;
    });
}

}  // namespace

LANESCOPE_API cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**, unsigned, cudaLibraryOption*, void**, unsigned) {
    return call([&](Runtime& runtime, Context& context) {
        if (!library || !code) return cudaErrorInvalidValue;
        return add(runtime, library, code_of_image(code, context.gpu().compute_capability));
    });
}

LANESCOPE_API cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* file, cudaJitOption*, void**, unsigned, cudaLibraryOption*, void**, unsigned) {
    return call([&](Runtime& runtime, Context& context) {
        if (!library || !file) return cudaErrorInvalidValue;
        const auto bytes = lanescope::base::read_file(file);
        if (!bytes) {
            runtime.say_once(lanescope::base::to_string(bytes.errors()));
            return cudaErrorFileNotFound;
        }
        return add(runtime, library, code_of_file(*bytes, file, context.gpu().compute_capability));
    });
}

LANESCOPE_API cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
    return with_library(library, [&](Runtime& runtime, Context& context, Binary& binary) {
        context.unload(binary.module);
        binary.module = nullptr;
        binary.failed = cudaErrorInvalidResourceHandle;
        binary.brought.reset();
        for (Function* function : binary.functions) function->kernel = nullptr;
        runtime.remove_binary(&binary);
        return cudaSuccess;
    });
}

LANESCOPE_API cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
    return with_library(library, [&](Runtime& runtime, Context&, Binary& binary) {
        if (!kernel || !name) return cudaErrorInvalidValue;
        Function* function = runtime.function(binary, name);
        *kernel = reinterpret_cast<cudaKernel_t>(function);
        return function ? cudaSuccess : cudaErrorSymbolNotFound;
    });
}

LANESCOPE_API cudaError_t cudaLibraryGetGlobal(void** pointer, size_t* bytes, cudaLibrary_t library, const char* name) {
    return find_variable(pointer, bytes, library, name, false);
}

LANESCOPE_API cudaError_t cudaLibraryGetManaged(void** pointer, size_t* bytes, cudaLibrary_t library, const char* name) {
    return find_variable(pointer, bytes, library, name, true);
}

LANESCOPE_API cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
    return with_library(library, [&](Runtime&, Context&, Binary& binary) {
        if (!count) return cudaErrorInvalidValue;
        const auto& functions = binary.module->ptx().functions;
        *count = unsigned(std::count_if(functions.begin(), functions.end(), [](auto& function) { return function.entry; }));
        return cudaSuccess;
    });
}

LANESCOPE_API cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned most, cudaLibrary_t library) {
    return with_library(library, [&](Runtime& runtime, Context&, Binary& binary) {
        if (!kernels) return cudaErrorInvalidValue;
        unsigned next = 0;
        for (const auto& function : binary.module->ptx().functions)
            if (function.entry && next < most) kernels[next++] = reinterpret_cast<cudaKernel_t>(runtime.function(binary, function.name));
        return cudaSuccess;
    });
}

LANESCOPE_API cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute, int value, int device) {
    if (device != 0) return record(cudaErrorInvalidDevice);
    return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}

LANESCOPE_API cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version, unsigned long long flags,
                                                           cudaDriverEntryPointQueryResult* found) {
    if (!symbol || !function) return record(cudaErrorInvalidValue);
    using Find = int (*)(const char*, void**, int, unsigned long long, int*);
    static const Find find = [] {
        void* driver = ::dlopen("libcuda.so.1", RTLD_NOW);
        return driver ? reinterpret_cast<Find>(::dlsym(driver, "cuGetProcAddress_v2")) : nullptr;
    }();
    *function = nullptr;
    const bool there = find && find(symbol, function, int(version), flags, nullptr) == 0 && *function;
    if (found) *found = there ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;   // that there is none is told by `found`
}
LANESCOPE_ALIAS(cudaGetDriverEntryPointByVersion, cudaGetDriverEntryPointByVersion_ptsz);

LANESCOPE_API cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags, cudaDriverEntryPointQueryResult* found) {
    return cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, flags, found);
}
LANESCOPE_ALIAS(cudaGetDriverEntryPoint, cudaGetDriverEntryPoint_ptsz);

/// NVIDIA's own tables are not described; the one of ours is for libcuda.so.1.
LANESCOPE_API cudaError_t cudaGetExportTable(const void** table, const cudaUUID_t* id) {
    static constexpr InUse* kInUse = [] { return Runtime::get().existing_context() != nullptr; };
    if (!table || !id) return cudaErrorInvalidValue;
    if (std::memcmp(id, &kRuntimeInUse, sizeof *id) != 0) return cudaErrorNotSupported;
    *table = reinterpret_cast<const void*>(kInUse);
    return cudaSuccess;
}
