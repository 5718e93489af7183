// What a launch's time is bound by, in words.
#pragma once

#include <string>
#include <string_view>

#include "profile/profile.h"

namespace lanescope::analysis {

/// "device memory" for "dram"; unknown names as they are.
std::string_view unit_name(std::string_view unit);
/// "Bound by device memory: 86 % of peak. Next is L2: 43 % of peak, busy 71 % of the time." Empty: not known.
std::string describe_bound(const profile::Launch& launch);
/// "Effective bandwidth 4.1 TB/s, 85 % of the theoretical 4.81 TB/s." Empty: not known.
std::string describe_bandwidth(const profile::Metrics& metrics);

}  // namespace lanescope::analysis
