#include "emulator/settings.h"

#include <fmt/format.h>

#include <charconv>
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

constexpr uint64_t kAll = ~0ull;

base::Result<uint64_t> whole_number(const Lookup& lookup, const char* name, uint64_t otherwise) {
    const std::string value = text(lookup, name, {});
    if (value.empty()) return otherwise;
    uint64_t number = 0;
    const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (problem != std::errc() || end != value.data() + value.size()) return base::error(fmt::format("{}={}: expected a whole number", name, base::printable(value)));
    return number;
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
    base::Result<size_t> races = choice(lookup, "LANESCOPE_RACE_CHECK", {"on", "off"});
    base::Result<size_t> undefined = choice(lookup, "LANESCOPE_UNINITIALIZED", {"warn", "error", "off"});
    for (const base::Result<size_t>* result : {&l1, &caches, &counts, &leaks, &races, &undefined})
        if (!*result) return result->errors();
    settings.l1 = Settings::L1(*l1);
    settings.cold = *caches == 0;
    settings.counts_only = *counts == 1;
    settings.report_leaks = *leaks == 1;
    settings.race_check = *races == 0;
    settings.undefined = Settings::Undefined(*undefined);

    settings.launches.kernel = text(lookup, "LANESCOPE_KERNEL", {});
    base::Result<uint64_t> skip = whole_number(lookup, "LANESCOPE_LAUNCH_SKIP", 0), count = whole_number(lookup, "LANESCOPE_LAUNCH_COUNT", kAll);
    if (!skip) return skip.errors();
    if (!count) return count.errors();
    settings.launches.skip = *skip;
    if (*count != kAll) settings.launches.count = *count;
    if (auto selector = profile::LaunchSelector::make(settings.launches); !selector) return selector.errors();

    for (const auto& [name, value] : {std::pair{"LANESCOPE_KERNEL_TIMEOUT", &settings.kernel_timeout_s}, std::pair{"LANESCOPE_WHAT_IF", &settings.what_if_s}}) {
        const std::string given = text(lookup, name, fmt::format("{}", *value));
        char* end = nullptr;
        *value = std::strtod(given.c_str(), &end);
        if (*end || !std::isfinite(*value) || *value < 0) return base::error(fmt::format("{}={}: expected seconds", name, base::printable(given)));
    }
    return settings;
}

std::map<std::string, std::string> to_environment(const Settings& settings) {
    static constexpr const char* kUndefined[] = {"warn", "error", "off"};
    static constexpr const char* kL1[] = {"default", "on", "off"};
    return {
        {"LANESCOPE_GPU", settings.gpu},
        {"LANESCOPE_L1", kL1[size_t(settings.l1)]},
        {"LANESCOPE_CACHES", settings.cold ? "cold" : "warm"},
        {"LANESCOPE_COUNTS_ONLY", settings.counts_only ? "1" : "0"},
        {"LANESCOPE_KERNEL_TIMEOUT", fmt::format("{}", settings.kernel_timeout_s)},
        {"LANESCOPE_WHAT_IF", fmt::format("{}", settings.what_if_s)},
        {"LANESCOPE_LEAKS", settings.report_leaks ? "1" : "0"},
        {"LANESCOPE_KERNEL", settings.launches.kernel},
        {"LANESCOPE_LAUNCH_SKIP", fmt::format("{}", settings.launches.skip)},
        {"LANESCOPE_LAUNCH_COUNT", settings.launches.count ? fmt::format("{}", *settings.launches.count) : ""},
        {"LANESCOPE_RACE_CHECK", settings.race_check ? "on" : "off"},
        {"LANESCOPE_UNINITIALIZED", kUndefined[size_t(settings.undefined)]},
        {"LANESCOPE_SESSION", settings.session},
        {"LANESCOPE_PTXAS", settings.ptxas},
    };
}

std::map<std::string, std::string> describe(const Settings& settings) {
    static constexpr const char* kL1[] = {"default", "on", "off"};
    std::map<std::string, std::string> out{
        {"l1", kL1[size_t(settings.l1)]},
        {"caches", settings.counts_only ? "not modelled" : settings.cold ? "cold" : "warm"},
        {"race_check", settings.race_check ? "on" : "off"},
    };
    const profile::LaunchFilter& launches = settings.launches;
    if (!launches.takes_all())
        out["launches"] = fmt::format("{}{}{}; the others only ran, without caches and time", launches.kernel.empty() ? "any kernel" : "kernel " + launches.kernel,
                                      launches.skip ? fmt::format(", not the first {}", launches.skip) : "",
                                      launches.count ? fmt::format(", at most {}", *launches.count) : "");
    return out;
}

}  // namespace lanescope::emulator
