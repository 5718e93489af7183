#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "profile/profile.h"

namespace lanescope::profile {
namespace {

bool same_place(const Line& a, const Line& b) { return std::tie(a.file, a.line, a.inlined_from) == std::tie(b.file, b.line, b.inlined_from); }

bool same_access(const Access& a, const Access& b) {
    return std::tie(a.instruction, a.space, a.operation, a.bytes) == std::tie(b.instruction, b.space, b.operation, b.bytes);
}

/// The element of `all` that `wanted` belongs to, added where there is none.
template <class T, class Same>
T& find_or_add(std::vector<T>& all, const T& wanted, Same same) {
    const auto at = std::find_if(all.begin(), all.end(), [&](const T& each) { return same(each, wanted); });
    return at != all.end() ? *at : all.emplace_back(wanted);
}

void merge(Launch& launch, const Launch& pass) {
    launch.metrics.insert(pass.metrics.begin(), pass.metrics.end());
    launch.absent.insert(pass.absent.begin(), pass.absent.end());
    std::erase_if(launch.absent, [&](const auto& absent) { return launch.metrics.contains(absent.first); });
    for (const std::string& note : pass.notes)
        if (std::find(launch.notes.begin(), launch.notes.end(), note) == launch.notes.end()) launch.notes.push_back(note);
    for (const Line& other : pass.lines) {
        Line& line = find_or_add(launch.lines, other, same_place);
        line.metrics.insert(other.metrics.begin(), other.metrics.end());
        for (const Access& more : other.accesses) {
            Access& access = find_or_add(line.accesses, more, same_access);
            access.metrics.insert(more.metrics.begin(), more.metrics.end());
            if (access.pattern.empty()) access.pattern = more.pattern;
            if (!access.example) access.example = more.example;
        }
    }
}

}  // namespace

void append(Profile& profile, Profile&& later) {
    const uint64_t before = profile.launches.size();
    for (Launch& launch : later.launches) {
        launch.index = profile.launches.size();
        profile.launches.push_back(std::move(launch));
    }
    for (Fault& fault : later.faults) {
        fault.launch += before;
        profile.faults.push_back(std::move(fault));
    }
    for (Transfer& transfer : later.transfers) {
        if (transfer.launch) *transfer.launch += before;
        profile.transfers.push_back(std::move(transfer));
    }
    profile.sources.merge(later.sources);
    profile.settings.merge(later.settings);
}

base::Status merge(Profile& profile, const Profile& pass) {
    if (profile.launches.size() != pass.launches.size())
        return base::error(fmt::format("the passes launched {} and {} kernels: they are not the same run", profile.launches.size(), pass.launches.size()));
    for (size_t i = 0; i < pass.launches.size(); ++i) {
        const Launch &a = profile.launches[i], &b = pass.launches[i];
        if (a.symbol != b.symbol || !std::equal(a.grid, a.grid + 3, b.grid) || !std::equal(a.block, a.block + 3, b.block))
            return base::error(fmt::format("launch {} is {} in one pass and {} in the other: they are not the same run", i, a.kernel, b.kernel));
    }
    for (size_t i = 0; i < pass.launches.size(); ++i) merge(profile.launches[i], pass.launches[i]);
    for (const auto& [file, lines] : pass.sources) profile.sources.emplace(file, lines);
    for (const auto& [name, value] : pass.settings) profile.settings.emplace(name, value);
    if (profile.transfers.empty()) profile.transfers = pass.transfers;
    if (profile.faults.empty()) profile.faults = pass.faults;
    return {};
}

}  // namespace lanescope::profile
