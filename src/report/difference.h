// A comparison and the result of a check, for a terminal.
#pragma once

#include <string>

#include "analysis/check.h"
#include "analysis/compare.h"
#include "report/text.h"

namespace lanescope::report {

std::string difference(const analysis::Comparison& comparison, const Style& style);
std::string broken_limits(const std::vector<analysis::Broken>& broken, const Style& style);

}  // namespace lanescope::report
