// Streams over time, for a terminal.
#pragma once

#include <string>

#include "analysis/timeline.h"
#include "report/text.h"

namespace lanescope::report {

/// How busy the device was and what ran side by side, with one row a stream where there are several. Empty where nothing overlaps in a
/// single stream (the kernels' and transfers' own lines say it all) or no times are known. Ends with a newline.
std::string timeline_text(const Style& style, const analysis::Timeline& timeline);

}  // namespace lanescope::report
