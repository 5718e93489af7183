// Limits on a profile's numbers, for CI.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profile/profile.h"

namespace lanescope::analysis {

/// "METRIC <= VALUE" for some kernels or one source line.
struct Limit {
    std::string metric;                   ///< of the catalogue: ncu's, nvprof's or lanescope's name
    bool is_max = true;
    double value = 0;
    std::string kernel;                   ///< regular expression searched in the kernel's name; empty: every kernel
    std::string file;                     ///< empty: the whole launch
    uint32_t line = 0;
    std::string where;                    ///< where the limit was written, for messages; may be empty
};

/// "METRIC=VALUE"; the metric must be in the catalogue. VALUE may end in %, k, M or G.
base::Result<Limit> parse_limit(const std::string& text, bool is_max);
/// "FILE:LINE" into the limit's place.
base::Status parse_place(const std::string& text, Limit& limit);

/// Limits of a lanescope.toml:
///   [[limit]]
///   max = "sectors_per_request=4"       # or min
///   kernel = "transpose"                # optional
///   line = "transpose.cu:12"            # optional
base::Result<std::vector<Limit>> parse_limits(std::string_view toml, const std::string& file);

struct Broken {
    const Limit* limit = nullptr;
    std::string message;                  ///< "sectors_per_request is 32, more than 4"
    std::string kernel;
    uint64_t launch = 0;
    std::string file, text;               ///< source line that contributes most to it; empty: not known
    uint32_t line = 0;
};

struct CheckResult {
    std::vector<Broken> broken;
    /// Limits that no launch or line was measured against: a limit that matches nothing must not pass silently.
    std::vector<std::string> unmatched;
    size_t compared = 0;
};

CheckResult check(const profile::Profile& profile, const std::vector<Limit>& limits);

/// Every kernel and line of `baseline` as limits: counts of requests, sectors, wavefronts and device memory bytes may not grow by more
/// than `tolerance` (0.02: 2 %).
std::vector<Broken> check_against(const profile::Profile& profile, const profile::Profile& baseline, double tolerance);

}  // namespace lanescope::analysis
