// Initialisation, errors, devices and contexts. Every context is the one emulated GPU's: what tells them apart is only who is current.
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "cudart/driver/driver.h"

struct CUctx_st {
    unsigned flags = 0;
};

namespace lanescope::driver {
namespace {

std::atomic<bool> called_init = false;
CUctx_st primary;
std::mutex mutex;
std::set<CUctx_st*> created;                      ///< by cuCtxCreate
thread_local std::vector<CUcontext> t_current;

/// By cuInit, or by the runtime, whose first use of the GPU makes the primary context current.
bool initialised() {
    if (called_init) return true;
    static bool (*const in_use)() = [] {
        constexpr cudaUUID_t kId = {{'l', 'a', 'n', 'e', 's', 'c', 'o', 'p', 'e', ' ', 'i', 'n', ' ', 'u', 's', 'e'}};
        const void* table = nullptr;
        const bool known = RUNTIME(cudaGetExportTable)(&table, &kId) == cudaSuccess;
        return known ? reinterpret_cast<bool (*)()>(const_cast<void*>(table)) : nullptr;
    }();
    return in_use && in_use();
}

CUcontext current() { return !t_current.empty() ? t_current.back() : initialised() ? &primary : nullptr; }

bool exists(CUcontext context) {
    std::lock_guard lock(mutex);
    return context == &primary || created.contains(context);
}

CUresult create(CUcontext* context, unsigned flags, CUdevice device) {
    if (!initialised()) return CUDA_ERROR_NOT_INITIALIZED;
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
    auto made = std::make_unique<CUctx_st>(CUctx_st{flags});
    std::lock_guard lock(mutex);
    *context = made.get();
    created.insert(made.release());
    t_current.push_back(*context);
    return result(RUNTIME(cudaFree)(nullptr));
}

constexpr int kDriverNames[][2] = {
    {cudaErrorInvalidConfiguration, CUDA_ERROR_INVALID_VALUE},      {cudaErrorInvalidPitchValue, CUDA_ERROR_INVALID_VALUE},
    {cudaErrorInvalidSymbol, CUDA_ERROR_NOT_FOUND},                 {cudaErrorInvalidHostPointer, CUDA_ERROR_INVALID_VALUE},
    {cudaErrorInvalidDevicePointer, CUDA_ERROR_INVALID_VALUE},      {cudaErrorInvalidTexture, CUDA_ERROR_INVALID_HANDLE},
    {cudaErrorInvalidMemcpyDirection, CUDA_ERROR_INVALID_VALUE},    {cudaErrorInvalidDeviceFunction, CUDA_ERROR_INVALID_HANDLE},
    {cudaErrorMissingConfiguration, CUDA_ERROR_INVALID_VALUE},      {cudaErrorInvalidChannelDescriptor, CUDA_ERROR_INVALID_VALUE},
    {cudaErrorInsufficientDriver, CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER},
};

}  // namespace

void* runtime_function(const char* name) {
    if (void* found = ::dlsym(RTLD_DEFAULT, name)) return found;
    for (const char* library : {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"})
        if (void* loaded = ::dlopen(library, RTLD_NOW | RTLD_NOLOAD))
            if (void* found = ::dlsym(loaded, name)) return found;
    void* loaded = ::dlopen("libcudart.so.13", RTLD_NOW);
    void* found = loaded ? ::dlsym(loaded, name) : nullptr;
    if (!found) {
        std::fprintf(stderr, "lanescope: the emulated CUDA runtime cannot be loaded: %s\n", ::dlerror());
        std::_Exit(125);
    }
    return found;
}

CUresult result(cudaError_t error) {
    for (auto [runtime, driver] : kDriverNames)
        if (error == runtime) return CUresult(driver);
    return CUresult(error);
}

}  // namespace lanescope::driver

using namespace lanescope::driver;

LANESCOPE_DRIVER_API CUresult cuInit(unsigned flags) {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    int devices = 0;
    const CUresult status = result(RUNTIME(cudaGetDeviceCount)(&devices));
    called_init = status == CUDA_SUCCESS;
    return status;
}

LANESCOPE_DRIVER_API CUresult cuDriverGetVersion(int* version) { return result(RUNTIME(cudaDriverGetVersion)(version)); }

LANESCOPE_DRIVER_API CUresult cuGetErrorName(CUresult error, const char** name) {
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    *name = nullptr;
    switch (error) {
#define ERROR(code) case code: *name = #code; break;
#include "cudart/driver/errors.def"
#undef ERROR
    }
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

LANESCOPE_DRIVER_API CUresult cuGetErrorString(CUresult error, const char** text) {
    const char* name = nullptr;
    if (!text) return CUDA_ERROR_INVALID_VALUE;
    *text = nullptr;
    if (const CUresult status = cuGetErrorName(error, &name)) return status;
    *text = RUNTIME(cudaGetErrorString)(cudaError_t(error));
    return CUDA_SUCCESS;
}

/// By what a program calls a function: the newest version that this library has.
LANESCOPE_DRIVER_API CUresult cuGetProcAddress(const char* symbol, void** function, int, cuuint64_t, CUdriverProcAddressQueryResult* found) {
    if (!symbol || !function) return CUDA_ERROR_INVALID_VALUE;
    static void* const self = [] {
        Dl_info info{};
        return ::dladdr(reinterpret_cast<void*>(&runtime_function), &info) ? ::dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD) : nullptr;
    }();
    *function = nullptr;
    const std::string name = symbol;
    for (const char* version : {"_v4", "_v3", "_v2", ""})
        if (!*function && self) *function = ::dlsym(self, (name + version).c_str());
    if (found) *found = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS;   // that there is none is told by `found` and the null pointer
}
#undef cuGetProcAddress
LANESCOPE_DRIVER_API CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags) {
    return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}

/// Tables that nobody has described, for NVIDIA's own runtime: it is inside of whoever asks.
LANESCOPE_DRIVER_API CUresult cuGetExportTable(const void**, const CUuuid*) {
    static std::atomic<bool> said = false;
    Dl_info who{};
    if (!said.exchange(true) && dladdr(__builtin_return_address(0), &who) != 0 && who.dli_fname) {
        const std::string path = who.dli_fname;
        std::fprintf(stderr, "lanescope: %s has NVIDIA's static CUDA runtime and machine code inside, which cannot run on the emulated GPU: its functions will fail\n",
                     path.substr(path.rfind('/') + 1).c_str());
    }
    return CUDA_ERROR_NOT_FOUND;
}

// --- devices

LANESCOPE_DRIVER_API CUresult cuDeviceGetCount(int* count) { return result(RUNTIME(cudaGetDeviceCount)(count)); }

LANESCOPE_DRIVER_API CUresult cuDeviceGet(CUdevice* device, int ordinal) {
    if (!initialised()) return CUDA_ERROR_NOT_INITIALIZED;
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    if (ordinal != 0) return CUDA_ERROR_INVALID_DEVICE;
    *device = 0;
    return CUDA_SUCCESS;
}

namespace {

/// cudaDeviceProp begins with the name and the uuid in every version of it; the largest is that of CUDA 12.
struct Properties {
    char name[256];
    CUuuid uuid;
    char others[4096];
};

CUresult properties(Properties& out, CUdevice device) {
    return result(reinterpret_cast<cudaError_t (*)(void*, int)>(runtime_function("cudaGetDeviceProperties"))(&out, device));
}

}  // namespace

LANESCOPE_DRIVER_API CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
    if (!name || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    Properties all{};
    const CUresult status = properties(all, device);
    if (status == CUDA_SUCCESS) std::snprintf(name, size_t(length), "%s", all.name);
    return status;
}

LANESCOPE_DRIVER_API CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
    if (!uuid) return CUDA_ERROR_INVALID_VALUE;
    Properties all{};
    const CUresult status = properties(all, device);
    if (status == CUDA_SUCCESS) *uuid = all.uuid;
    return status;
}

LANESCOPE_DRIVER_API CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
    size_t free = 0;
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
    return result(RUNTIME(cudaMemGetInfo)(&free, bytes));
}

/// Both interfaces number the attributes alike.
LANESCOPE_DRIVER_API CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
    return result(RUNTIME(cudaDeviceGetAttribute)(value, cudaDeviceAttr(attribute), device));
}

LANESCOPE_DRIVER_API CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
    if (const CUresult status = cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device)) return status;
    return cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
}

LANESCOPE_DRIVER_API CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
    return result(RUNTIME(cudaDeviceCanAccessPeer)(can, device, peer));
}

LANESCOPE_DRIVER_API CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device) { return result(RUNTIME(cudaDeviceGetPCIBusId)(text, length, device)); }
LANESCOPE_DRIVER_API CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* text) { return result(RUNTIME(cudaDeviceGetByPCIBusId)(device, text)); }

// --- contexts

LANESCOPE_DRIVER_API CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
    if (!initialised()) return CUDA_ERROR_NOT_INITIALIZED;
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
    *context = &primary;
    return result(RUNTIME(cudaFree)(nullptr));
}

LANESCOPE_DRIVER_API CUresult cuDevicePrimaryCtxRelease(CUdevice device) { return device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE; }
LANESCOPE_DRIVER_API CUresult cuDevicePrimaryCtxReset(CUdevice device) {
    return device == 0 ? result(RUNTIME(cudaDeviceReset)()) : CUDA_ERROR_INVALID_DEVICE;
}
LANESCOPE_DRIVER_API CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
    if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
    primary.flags = flags;
    return CUDA_SUCCESS;
}
LANESCOPE_DRIVER_API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
    if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
    if (flags) *flags = primary.flags;
    if (active) *active = initialised();
    return CUDA_SUCCESS;
}

LANESCOPE_DRIVER_API CUresult cuCtxCreate(CUcontext* context, CUctxCreateParams*, unsigned flags, CUdevice device) { return create(context, flags, device); }
LANESCOPE_DRIVER_API CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) { return create(context, flags, device); }
LANESCOPE_DRIVER_API CUresult cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam*, int, unsigned flags, CUdevice device) { return create(context, flags, device); }

LANESCOPE_DRIVER_API CUresult cuCtxDestroy(CUcontext context) {
    {
        std::lock_guard lock(mutex);
        if (created.erase(context) == 0) return CUDA_ERROR_INVALID_CONTEXT;
    }
    std::erase(t_current, context);
    delete context;
    return CUDA_SUCCESS;
}

LANESCOPE_DRIVER_API CUresult cuCtxPushCurrent(CUcontext context) {
    if (!exists(context)) return CUDA_ERROR_INVALID_CONTEXT;
    t_current.push_back(context);
    return CUDA_SUCCESS;
}

LANESCOPE_DRIVER_API CUresult cuCtxPopCurrent(CUcontext* context) {
    if (t_current.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    if (context) *context = t_current.back();
    t_current.pop_back();
    return CUDA_SUCCESS;
}

LANESCOPE_DRIVER_API CUresult cuCtxSetCurrent(CUcontext context) {
    if (context && !exists(context)) return CUDA_ERROR_INVALID_CONTEXT;
    if (!t_current.empty()) t_current.pop_back();
    if (context) t_current.push_back(context);
    return CUDA_SUCCESS;
}

LANESCOPE_DRIVER_API CUresult cuCtxGetCurrent(CUcontext* context) {
    if (!initialised()) return CUDA_ERROR_NOT_INITIALIZED;
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    *context = current();
    return CUDA_SUCCESS;
}

LANESCOPE_DRIVER_API CUresult cuCtxGetDevice(CUdevice* device) {
    if (!current()) return CUDA_ERROR_INVALID_CONTEXT;
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = 0;
    return CUDA_SUCCESS;
}

LANESCOPE_DRIVER_API CUresult cuCtxGetFlags(unsigned* flags) {
    if (!current()) return CUDA_ERROR_INVALID_CONTEXT;
    if (!flags) return CUDA_ERROR_INVALID_VALUE;
    *flags = current()->flags;
    return CUDA_SUCCESS;
}

LANESCOPE_DRIVER_API CUresult cuCtxGetApiVersion(CUcontext, unsigned* version) {
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    *version = 3020;
    return CUDA_SUCCESS;
}

LANESCOPE_DRIVER_API CUresult cuCtxSynchronize() { return result(RUNTIME(cudaDeviceSynchronize)()); }
LANESCOPE_DRIVER_API CUresult cuCtxSetLimit(CUlimit limit, size_t value) { return result(RUNTIME(cudaDeviceSetLimit)(cudaLimit(limit), value)); }
LANESCOPE_DRIVER_API CUresult cuCtxResetPersistingL2Cache() { return result(RUNTIME(cudaCtxResetPersistingL2Cache)()); }
LANESCOPE_DRIVER_API CUresult cuCtxGetLimit(size_t* value, CUlimit limit) { return result(RUNTIME(cudaDeviceGetLimit)(value, cudaLimit(limit))); }
LANESCOPE_DRIVER_API CUresult cuCtxSetCacheConfig(CUfunc_cache preference) { return result(RUNTIME(cudaDeviceSetCacheConfig)(cudaFuncCache(preference))); }
LANESCOPE_DRIVER_API CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) { return result(RUNTIME(cudaDeviceGetStreamPriorityRange)(least, greatest)); }
LANESCOPE_DRIVER_API CUresult cuCtxEnablePeerAccess(CUcontext, unsigned) { return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED; }

LANESCOPE_DRIVER_API CUresult cuProfilerStart() { return result(RUNTIME(cudaProfilerStart)()); }
LANESCOPE_DRIVER_API CUresult cuProfilerStop() { return result(RUNTIME(cudaProfilerStop)()); }
