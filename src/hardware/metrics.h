// Which counters are asked for, and by what names a chip knows them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lanescope::hardware {

/// What hardware counts of the catalogue: without the launch's own numbers, the sums that the counts by line give, and the
/// quotients that follow from other metrics.
std::vector<std::string> default_metrics();

/// The names to try for `metric`, in order: its own, then what other chips call it.
std::vector<std::string> names_on_chips(const std::string& metric);

/// A count that CUPTI takes of every machine instruction: the short name of the profile, and CUPTI's names whose sum it is
/// (some chips count loads and stores apart).
struct SassMetric {
    std::string_view counter;
    std::vector<std::vector<std::string>> alternatives;
};
const std::vector<SassMetric>& sass_metrics();

}  // namespace lanescope::hardware
