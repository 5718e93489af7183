// One self-contained page: no network, light and dark, readable on a phone. All texts of the program stay text.
#pragma once

#include <string>

#include "analysis/summary.h"

namespace lanescope::report {

std::string html(const analysis::Summary& summary);

}  // namespace lanescope::report
