// SARIF 2.1.0, for code scanning.
#pragma once

#include <string>

#include "analysis/summary.h"

namespace lanescope::report {

/// Bad accesses and faults as results at their source lines, patterns as rules. `root`: paths below it are given relative to it, as code
/// scanning wants them.
std::string sarif(const analysis::Summary& summary, const std::string& root);

}  // namespace lanescope::report
