#include "hardware/inject/api.h"

#include <dlfcn.h>

namespace lanescope::inject {

Api api;

std::string Api::load(const std::string& cupti_path) {
    void* cupti = dlopen(cupti_path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!cupti) return dlerror();
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!driver) return dlerror();
    std::string missing;
    auto find = [&](void* library, const char* symbol, auto& function) {
        function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, symbol));
        if (!function && missing.empty()) missing = std::string(symbol) + " is missing";
    };
#define LANESCOPE_FIND_CUPTI(name) find(cupti, #name, name);
#define LANESCOPE_FIND_DRIVER(name, symbol) find(driver, symbol, name);
    LANESCOPE_CUPTI_FUNCTIONS(LANESCOPE_FIND_CUPTI)
    LANESCOPE_DRIVER_FUNCTIONS(LANESCOPE_FIND_DRIVER)
#undef LANESCOPE_FIND_CUPTI
#undef LANESCOPE_FIND_DRIVER
    return missing;
}

}  // namespace lanescope::inject
