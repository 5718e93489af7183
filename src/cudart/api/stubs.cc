// Every name that a CUDA runtime exports and api/ does not implement: each says its name once and is not supported. The definitions are
// weak, so that an implementation elsewhere replaces its stub; their signatures do not matter, as no argument is looked at.
#include <atomic>
#include <cstdio>

namespace {

constexpr int kNotSupported = 801;  // cudaErrorNotSupported

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
#include "names.def"
