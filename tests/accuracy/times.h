// How well kernel times and bounds agree with what was recorded.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.h"
#include "table.h"

namespace lanescope::accuracy {

/// Prints each launch's time and bound beside the recorded ones. False: a limit of `limits` for `suite` is broken. No limits: nothing
/// is printed.
///
/// Limits: the median of the relative errors of gpu__time_duration, percent; the least rank correlation (Spearman); how many launches may
/// name another bound than ncu's highest throughput where that is above 60 %.
bool judge_times(const profile::Profile& profile, const std::vector<Row>& recorded, const std::string& limits, const std::string& suite);

/// Spearman's rank correlation; equal values share their mean rank.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace lanescope::accuracy
