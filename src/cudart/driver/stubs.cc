// Every name that the driver's library exports and this folder does not implement: each says its name once and is not supported.
#include <atomic>
#include <cstdio>

namespace {

constexpr int kNotSupported = 801;  // CUDA_ERROR_NOT_SUPPORTED

int unsupported(const char* name, std::atomic<bool>& said) {
    if (!said.exchange(true)) std::fprintf(stderr, "lanescope: %s is not supported on the emulated GPU\n", name);
    return kNotSupported;
}

}  // namespace

#define NAME(name)                                                                    \
    extern "C" __attribute__((visibility("default"), weak)) int name() {              \
        static std::atomic<bool> said{false};                                         \
        return unsupported(#name, said);                                              \
    }
#include "driver_names.def"
