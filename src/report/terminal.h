// The report for a terminal.
#pragma once

#include <string>

#include "analysis/summary.h"
#include "report/text.h"

namespace lanescope::report {

/// Kernels by cost; for each a verdict, then the lines that move most. Ends with a newline. Nothing of the program's names reaches the
/// terminal raw.
std::string terminal(const analysis::Summary& summary, const Style& style);

}  // namespace lanescope::report
