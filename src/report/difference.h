// A comparison and the result of a check, for a terminal.
#pragma once

#include <string>

#include "analysis/check.h"
#include "analysis/compare.h"
#include "report/text.h"

namespace lanescope::report {

/// A name of a compared metric that a person understands without the catalogue.
std::string title_of(const std::string& metric);
/// Everything but efficiencies and hit rates.
bool less_is_better(const std::string& metric);
std::string difference(const analysis::Comparison& comparison, const Style& style);
std::string broken_limits(const std::vector<analysis::Broken>& broken, const Style& style);

}  // namespace lanescope::report
