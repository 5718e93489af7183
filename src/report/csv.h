// Tables that other tools read.
#pragma once

#include <string>

#include "profile/profile.h"

namespace lanescope::report {

/// The layout of `ncu --csv --page raw --print-units base`: a row of names, a row of units, one row a launch.
std::string ncu_csv(const profile::Profile& profile);
/// The layout of `nvprof --csv --metrics …`: one row for each kernel and metric, with least, most and mean over its launches.
std::string nvprof_csv(const profile::Profile& profile);

}  // namespace lanescope::report
