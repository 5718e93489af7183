#include "analysis/bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "profile/catalogue.h"

namespace lanescope::analysis {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kNames = {{
    {"dram", "device memory"}, {"l2", "L2"}, {"l2_atomics", "atomics on few addresses"}, {"l1", "L1"}, {"shared", "shared memory"},
    {"constant", "constant cache"}, {"issue", "instruction issue"}, {"link", "host link"}, {"block_launch", "launching blocks"},
    {"fp32", "single precision"}, {"fp64", "double precision"}, {"special", "special functions"},
}};

constexpr double kFewWaves = 0.25;        ///< of the blocks that can be resident
constexpr double kWorthNaming = 1;        ///< percent of peak

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
    // Half-empty GPUs wait: say how many blocks there would be room for.
    const auto waves = launch.metrics.find("launch__waves_per_multiprocessor"), blocks = launch.metrics.find("launch__grid_size");
    if (launch.bound == "latency" && waves != launch.metrics.end() && blocks != launch.metrics.end() && waves->second > 0 && waves->second < kFewWaves)
        out += fmt::format(" The GPU has room for {:.0f} such blocks at once, the launch has {:.0f}.", blocks->second / waves->second, blocks->second);
    if (!launch.second_bound.empty()) out += fmt::format(" Next is {}: {}.", unit_name(launch.second_bound), shares(launch, launch.second_bound));
    std::vector<profile::Unit> others;
    for (const profile::Unit& unit : launch.units)
        if (unit.name != launch.bound && unit.name != launch.second_bound && unit.of_peak >= kWorthNaming) others.push_back(unit);
    std::stable_sort(others.begin(), others.end(), [](const auto& a, const auto& b) { return a.of_peak > b.of_peak; });
    const char* separator = " Others: ";
    for (const profile::Unit& unit : others) {
        out += fmt::format("{}{} {:.0f} %", separator, unit_name(unit.name), unit.of_peak);
        separator = ", ";
    }
    if (!others.empty()) out += '.';
    return out;
}

std::string describe_bandwidth(const profile::Metrics& metrics) {
    const auto effective = metrics.find("lanescope__effective_bandwidth"), peak = metrics.find("lanescope__theoretical_bandwidth");
    if (effective == metrics.end() || peak == metrics.end() || effective->second == 0) return {};
    const profile::Metric& rate = *profile::find_metric("lanescope__effective_bandwidth");
    std::string out = fmt::format("Effective bandwidth {}, {:.0f} % of the theoretical {}", profile::human(rate, effective->second),
                                  100 * effective->second / peak->second, profile::human(rate, peak->second));
    if (const auto board = metrics.find("lanescope__theoretical_bandwidth_of_board"); board != metrics.end())
        out += fmt::format(" (of one of the board's {:.0f} GPUs, which have {:.5g} GB/s)", board->second / peak->second, board->second / 1e9);
    return out + '.';
}

std::string describe_efficiency(const profile::Metrics& metrics) {
    std::string out;
    for (const auto& [what, suffix] : {std::pair{"loads", "ld"}, {"stores", "st"}}) {
        const auto unique = metrics.find(fmt::format("smsp__sass_average_data_bytes_per_sector_mem_global_op_{}.pct", suffix));
        const auto requested = metrics.find(fmt::format("lanescope__requested_per_moved_mem_global_op_{}.pct", suffix));
        if (unique == metrics.end() || requested == metrics.end() || unique->second == 0) continue;
        out += fmt::format("{}{} {:.3g} %", out.empty() ? "Of the bytes moved some lane uses (unique / moved): " : ", ", what, unique->second);
        if (std::abs(requested->second - unique->second) >= 1) out += fmt::format(" (lanes share: requested / moved is {:.3g} %)", requested->second);
    }
    return out.empty() ? out : out + '.';
}

}  // namespace lanescope::analysis
