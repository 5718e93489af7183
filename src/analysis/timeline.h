// What ran when on the device: kernels and transfers by stream, and how much of it ran side by side.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/profile.h"

namespace lanescope::analysis {

struct TimelineItem {
    enum class Kind : uint8_t { kKernel, kToDevice, kToHost, kOnDevice };  ///< kOnDevice: memsets, copies inside the device
    Kind kind = Kind::kKernel;
    std::string name;                     ///< "add", "host to device, pinned"
    uint32_t stream = 0;
    uint64_t bytes = 0;                   ///< of transfers
    double start_ns = 0, end_ns = 0;
};

struct Timeline {
    std::vector<TimelineItem> items;      ///< by start; empty: not known when kernels ran
    std::vector<uint32_t> streams;        ///< ascending
    double end_ns = 0;
    double kernels_ns = 0, copies_ns = 0; ///< time in which at least one runs
    double both_ns = 0;                   ///< kernels and copies at the same time
    double several_kernels_ns = 0;
};

/// Transfers within a kernel's own time (page faults, zero-copy) are part of the kernel and no items.
Timeline timeline_of(const profile::Profile& profile);

}  // namespace lanescope::analysis
