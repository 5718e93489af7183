// Loaded in front of NVRTC (`lanescope run` sets LD_PRELOAD): who asks for the machine code of what was compiled gets its PTX, which NVRTC has of
// every compilation and cuModuleLoadData takes as well. NVRTC itself is the program's own.
#include <dlfcn.h>

#include <cstddef>

namespace {

constexpr int kNotFound = 7;   // NVRTC_ERROR_BUILTIN_OPERATION_FAILURE: this NVRTC lacks the function

/// The program's NVRTC behind this library; nullptr: it has none.
template <class Function>
Function* next(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int nvrtcGetCUBINSize(void* program, size_t* bytes) {
    static const auto machine_code = next<int(void*, size_t*)>("nvrtcGetCUBINSize");
    static const auto ptx = next<int(void*, size_t*)>("nvrtcGetPTXSize");
    if (!machine_code || !ptx) return kNotFound;
    const int result = machine_code(program, bytes);
    return result == 0 && bytes && *bytes != 0 ? ptx(program, bytes) : result;   // 0 bytes: it was compiled for a virtual architecture
}

extern "C" __attribute__((visibility("default"))) int nvrtcGetCUBIN(void* program, char* code) {
    static const auto ptx = next<int(void*, char*)>("nvrtcGetPTX");
    return ptx ? ptx(program, code) : kNotFound;
}
