#include "emulator/settings.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <string_view>

namespace lanescope::emulator {
namespace {

/// Index of the value of `name` among `choices`; an empty or absent variable is the first.
base::Result<size_t> choice(const Lookup& lookup, const char* name, std::initializer_list<std::string_view> choices) {
    const char* value = lookup(name);
    if (!value || !*value) return size_t(0);
    size_t index = 0;
    for (std::string_view c : choices) {
        if (c == value) return index;
        ++index;
    }
    return base::error(fmt::format("{}={}: expected {}", name, base::printable(value), fmt::join(choices, " or ")));
}

std::string text(const Lookup& lookup, const char* name, std::string otherwise) {
    const char* value = lookup(name);
    return value && *value ? value : std::move(otherwise);
}

}  // namespace

base::Result<Settings> settings_from_environment(const Lookup& lookup) {
    Settings settings;
    settings.gpu = text(lookup, "LANESCOPE_GPU", settings.gpu);
    settings.session = text(lookup, "LANESCOPE_SESSION", {});
    settings.ptxas = text(lookup, "LANESCOPE_PTXAS", {});

    base::Result<size_t> l1 = choice(lookup, "LANESCOPE_L1", {"default", "on", "off"});
    base::Result<size_t> caches = choice(lookup, "LANESCOPE_CACHES", {"cold", "warm"});
    base::Result<size_t> counts = choice(lookup, "LANESCOPE_COUNTS_ONLY", {"0", "1"});
    base::Result<size_t> leaks = choice(lookup, "LANESCOPE_LEAKS", {"0", "1"});
    for (const base::Result<size_t>* result : {&l1, &caches, &counts, &leaks})
        if (!*result) return result->errors();
    settings.l1 = Settings::L1(*l1);
    settings.cold = *caches == 0;
    settings.counts_only = *counts == 1;
    settings.report_leaks = *leaks == 1;

    std::string timeout = text(lookup, "LANESCOPE_KERNEL_TIMEOUT", "0");
    char* end = nullptr;
    settings.kernel_timeout_s = std::strtod(timeout.c_str(), &end);
    if (*end || !std::isfinite(settings.kernel_timeout_s) || settings.kernel_timeout_s < 0)
        return base::error(fmt::format("LANESCOPE_KERNEL_TIMEOUT={}: expected seconds", base::printable(timeout)));
    return settings;
}

std::map<std::string, std::string> to_environment(const Settings& settings) {
    static constexpr const char* kL1[] = {"default", "on", "off"};
    return {
        {"LANESCOPE_GPU", settings.gpu},
        {"LANESCOPE_L1", kL1[size_t(settings.l1)]},
        {"LANESCOPE_CACHES", settings.cold ? "cold" : "warm"},
        {"LANESCOPE_COUNTS_ONLY", settings.counts_only ? "1" : "0"},
        {"LANESCOPE_KERNEL_TIMEOUT", fmt::format("{}", settings.kernel_timeout_s)},
        {"LANESCOPE_LEAKS", settings.report_leaks ? "1" : "0"},
        {"LANESCOPE_SESSION", settings.session},
        {"LANESCOPE_PTXAS", settings.ptxas},
    };
}

std::map<std::string, std::string> describe(const Settings& settings) {
    static constexpr const char* kL1[] = {"default", "on", "off"};
    return {
        {"l1", kL1[size_t(settings.l1)]},
        {"caches", settings.counts_only ? "not modelled" : settings.cold ? "cold" : "warm"},
    };
}

}  // namespace lanescope::emulator
