// Functions that are not implemented: each says its name once and answers 801, which is cudaErrorNotSupported and CUDA_ERROR_NOT_SUPPORTED.
// The definitions are weak, so that an implementation elsewhere replaces its stub; their signatures do not matter, as no argument is looked at.
#pragma once

#include <atomic>
#include <cstdio>

namespace lanescope::cudart {

inline int unsupported(const char* name, std::atomic<bool>& said) {
    if (!said.exchange(true)) std::fprintf(stderr, "lanescope: %s is not supported on the emulated GPU\n", name);
    return 801;
}

}  // namespace lanescope::cudart

#define NAME(name)                                                                    \
    extern "C" __attribute__((visibility("default"), weak)) int name() {              \
        static std::atomic<bool> said{false};                                         \
        return lanescope::cudart::unsupported(#name, said);                           \
    }
