// Which launches of a program are profiled: those of chosen kernels, some skipped first, at most so many.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/diagnostic.h"

namespace lanescope::profile {

struct LaunchFilter {
    std::string kernel;                   ///< regular expression (ECMAScript), searched in the demangled name; empty: all
    uint64_t skip = 0;                    ///< the first so many of these launches
    std::optional<uint64_t> count;        ///< no more than so many of the rest

    bool takes_all() const { return kernel.empty() && skip == 0 && !count; }
    friend bool operator==(const LaunchFilter&, const LaunchFilter&) = default;
};

/// Applies a filter to launches in their order.
class LaunchSelector {
public:
    /// An error names an expression that is none.
    static base::Result<LaunchSelector> make(LaunchFilter filter);
    /// Whether the next launch, of the kernel with this mangled name, is one of those wanted.
    bool takes(const std::string& symbol);

private:
    LaunchFilter filter_;
    std::function<bool(const std::string& name)> matches_;
    std::unordered_map<std::string, bool> known_;   ///< symbol → its name has a match
    uint64_t matching_ = 0;
};

}  // namespace lanescope::profile
