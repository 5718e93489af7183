// What a launch's time is bound by, in words.
#pragma once

#include <string>
#include <string_view>

#include "profile/profile.h"

namespace lanescope::analysis {

/// "device memory" for "dram"; unknown names as they are.
std::string_view unit_name(std::string_view unit);
/// "Bound by device memory: 86 % of peak. Next is L2: 43 % of peak, busy 71 % of the time. Others: L1 15 %." Empty: not known.
std::string describe_bound(const profile::Launch& launch);
/// "Effective bandwidth 4.1 TB/s, 85 % of the theoretical 4.81 TB/s." Empty: not known.
std::string describe_bandwidth(const profile::Metrics& metrics);
/// "Of the bytes moved some lane uses (unique / moved): loads 12.5 % (lanes share: requested / moved is 400 %), stores 100 %." Empty: not known.
std::string describe_efficiency(const profile::Metrics& metrics);

}  // namespace lanescope::analysis
