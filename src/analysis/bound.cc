#include "analysis/bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "profile/catalogue.h"

namespace lanescope::analysis {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kNames = {{
    {"dram", "device memory"}, {"l2", "L2"}, {"l2_atomics", "atomics on few addresses"}, {"l1", "L1"}, {"shared", "shared memory"},
    {"constant", "constant cache"}, {"issue", "instruction issue"}, {"link", "host link"}, {"block_launch", "launching blocks"},
    {"fp32", "single precision"}, {"fp64", "double precision"}, {"special", "special functions"},
}};

std::string shares(const profile::Launch& launch, const std::string& name) {
    const auto unit = std::find_if(launch.units.begin(), launch.units.end(), [&](const profile::Unit& each) { return each.name == name; });
    if (unit == launch.units.end()) return {};
    std::string out = fmt::format("{:.0f} % of peak", unit->of_peak);
    // Where the two differ much the unit cannot reach its peak, or the launch itself takes much of the time.
    if (unit->busy > unit->of_peak + 10) out += fmt::format(", busy {:.0f} % of the time", std::min(100.0, unit->busy));
    return out;
}

}  // namespace

std::string_view unit_name(std::string_view unit) {
    const auto at = std::find_if(kNames.begin(), kNames.end(), [&](const auto& each) { return each.first == unit; });
    return at == kNames.end() ? unit : at->second;
}

std::string describe_bound(const profile::Launch& launch) {
    if (launch.bound.empty()) return {};
    std::string out;
    if (launch.bound == "latency") out = "Bound by latency: no unit is busy, more loads in flight would help.";
    else if (launch.bound == "launch") out = "Bound by its launch: most of the time goes into starting it.";
    else if (launch.bound == "migration") out = "Bound by pages of managed memory on their way.";
    else out = fmt::format("Bound by {}: {}.", unit_name(launch.bound), shares(launch, launch.bound));
    if (!launch.second_bound.empty()) out += fmt::format(" Next is {}: {}.", unit_name(launch.second_bound), shares(launch, launch.second_bound));
    return out;
}

std::string describe_bandwidth(const profile::Metrics& metrics) {
    const auto effective = metrics.find("lanescope__effective_bandwidth"), peak = metrics.find("lanescope__theoretical_bandwidth");
    if (effective == metrics.end() || peak == metrics.end() || effective->second == 0) return {};
    const profile::Metric& rate = *profile::find_metric("lanescope__effective_bandwidth");
    return fmt::format("Effective bandwidth {}, {:.0f} % of the theoretical {}.", profile::human(rate, effective->second), 100 * effective->second / peak->second,
                       profile::human(rate, peak->second));
}

}  // namespace lanescope::analysis
