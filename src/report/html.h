// One self-contained page: no network, light and dark, readable on a phone. All texts of the program stay text.
#pragma once

#include <string>

#include "analysis/compare.h"
#include "analysis/summary.h"

namespace lanescope::report {

/// `beside`: a comparison with another profile, one side of which is the summary's: both values stand beside each other.
std::string html(const analysis::Summary& summary, const analysis::Comparison* beside = nullptr);

}  // namespace lanescope::report
