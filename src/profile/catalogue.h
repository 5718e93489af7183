// The one catalogue of metrics: names, units, meanings, and the formulas by which everything derived is computed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"

namespace lanescope::profile {

/// What one access counts (short names, in Access::metrics).
struct Counter {
    std::string_view name, unit, meaning;
};

enum class Kind : uint8_t { kCount, kBytes, kNanoseconds, kRatio, kPercent, kRate };

struct Metric {
    std::string_view name;      ///< Nsight Compute's
    std::string_view nvprof;    ///< empty: nvprof has none
    std::string_view unit;
    Kind kind;
    std::string_view formula;   ///< empty: the backend's own number; grammar in catalogue.def
    std::string_view meaning;
};

std::span<const Counter> counters();
std::span<const Metric> catalogue();

/// By Nsight Compute's name, else by nvprof's; nullptr: not known.
const Metric* find_metric(std::string_view name);
const Counter* find_counter(std::string_view name);
/// Known names most like `name`, best first: for "did you mean".
std::vector<std::string_view> similar_names(std::string_view name, size_t most = 3);

/// Fills in the metrics of each line and of the launch that are sums over accesses, so that lines sum to their launch, then
/// derives the launch's ratios. A line gets the sums that are not 0 there. What the backend has already counted stays.
void roll_up(Launch& launch);
/// Adds every metric that follows by its formula from those present and is not there yet.
void derive(Metrics& metrics);
/// One metric of a line or launch: the stored value, or its formula over the metrics and accesses given. Unknown: nullopt.
std::optional<double> value_of(const Metric& metric, const Metrics& metrics, std::span<const Access* const> accesses = {});

/// "1234", "12.5", "0.333333": an integer where the value is one.
std::string number(double value);
/// For people, by kind: "12.5 %", "4.19 MB", "5.2 µs", "1.2 TB/s", "131072".
std::string human(const Metric& metric, double value);

}  // namespace lanescope::profile
