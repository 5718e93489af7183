#include "profile/selection.h"

#include <regex>
#include <utility>

#include "base/demangle.h"

namespace lanescope::profile {

base::Result<LaunchSelector> LaunchSelector::make(LaunchFilter filter) {
    LaunchSelector out;
    try {
        out.matches_ = [pattern = std::regex(filter.kernel)](const std::string& name) { return std::regex_search(name, pattern); };
    } catch (const std::regex_error& problem) {
        return base::error("'" + base::printable(filter.kernel) + "' is not a regular expression: " + problem.what());
    }
    out.filter_ = std::move(filter);
    return out;
}

bool LaunchSelector::takes(const std::string& symbol) {
    if (!filter_.kernel.empty()) {
        auto [found, is_new] = known_.try_emplace(symbol);
        if (is_new) found->second = matches_(base::demangle(symbol));
        if (!found->second) return false;
    }
    const uint64_t number = matching_++;
    return number >= filter_.skip && (!filter_.count || number - filter_.skip < *filter_.count);
}

}  // namespace lanescope::profile
