// Any bytes as a profile: refused with a message, or read such that writing and reading again changes nothing.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "profile/catalogue.h"
#include "profile/profile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace lanescope;
    const auto read = profile::from_json({reinterpret_cast<const char*>(data), size}, "fuzz.json");
    if (!read.ok()) {
        if (base::to_string(read.errors()).empty()) std::abort();
        return 0;
    }
    profile::Profile profile = *read;
    const std::string json = profile::to_json(profile);
    const auto again = profile::from_json(json, "again.json");
    if (!again.ok() || profile::to_json(*again) != json) std::abort();
    for (profile::Launch& launch : profile.launches) profile::roll_up(launch);
    return 0;
}
