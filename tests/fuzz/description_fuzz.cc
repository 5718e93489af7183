// Any bytes as a GPU description: parsed or refused with places, never a crash; what is accepted can be shown.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "gpu/description.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto parsed = lanescope::gpu::parse({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
    if (parsed) {
        (void)lanescope::gpu::rows(*parsed);
        (void)lanescope::gpu::to_json(*parsed);
    } else {
        (void)lanescope::base::to_string(parsed.errors());
    }
    return 0;
}
