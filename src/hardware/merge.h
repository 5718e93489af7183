// From what the runs of a program wrote to the one profile.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hardware/cubin.h"
#include "hardware/events.h"
#include "hardware/hardware.h"
#include "profile/profile.h"

namespace lanescope::hardware {

/// Launches that were asked for, as inclusive ranges of their indices, ascending.
using Selection = std::vector<std::pair<uint64_t, uint64_t>>;
Selection select(const std::vector<LaunchEvent>& launches, const Request& request);
bool contains(const Selection& selection, uint64_t launch);

/// Launches that share one counter image, [begin, end]: of one context, no more than `most`, without long stretches that
/// nobody asked for and without a cudaProfilerStop between them.
struct SegmentPlan {
    uint64_t begin = 0, end = 0;
};
std::vector<SegmentPlan> segments(const std::vector<LaunchEvent>& launches, const Selection& selection, uint64_t most = 256);

/// Empty when both runs launched the same, else a sentence that names the first difference.
std::string difference(const std::vector<LaunchEvent>& first, const std::vector<LaunchEvent>& later);

/// The kernel of a launch, as profiles name it; a graph lists its kernels.
std::string kernel_name(const LaunchEvent& launch, const std::vector<const KernelEvent*>& kernels);

/// Launches with times, registers, occupancy, and transfers, from the first run.
void add_times(profile::Profile& profile, const Events& events, const Selection& selection, const Device& device);

/// Counts by line and access of the launches that are already there. Cubins by their number.
void add_lines(profile::Profile& profile, const Events& events, const std::map<uint32_t, Cubin>& cubins, unsigned architecture);

/// Spaces and operations of the memory instructions that the selected launches executed, "instructions" besides; a generic one may be of any
/// space. Empty where it isn't known of all of them.
std::set<std::string> executed(const Events& events, const Selection& selection, const std::map<uint32_t, Cubin>& cubins, unsigned architecture);

/// values[range][metric] of one segment, ranges in the order of `events.ranges`. Empty, or why they can't be told apart.
std::string add_counters(profile::Profile& profile, const Events& events, uint64_t segment, const std::vector<std::string>& metrics,
                         const std::vector<std::vector<double>>& values);

/// Sums over lines and what follows by formula. What would follow only from counts that hardware doesn't take by line (hits,
/// distinct bytes, …) stays unknown instead of becoming 0.
void complete(profile::Launch& launch);

/// launch__occupancy_limit_* and launch__waves_per_multiprocessor by the rules of CUDA's occupancy calculator.
void add_occupancy(profile::Launch& launch, const KernelEvent& kernel, const Device& device);

}  // namespace lanescope::hardware
