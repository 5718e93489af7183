// How long a kernel takes on the described GPU, what it is bound by, and how far each unit is from its peak: docs/timing-model.md.
#pragma once

#include <cstdint>

#include "gpu/description.h"
#include "memory/model.h"
#include "profile/profile.h"

namespace lanescope::timing {

/// Times around the work of a kernel, ns: the description's launch_overhead and [model].
struct LaunchCosts {
    double overhead = 0;                  ///< of a kernel that does nothing
    double parameters = 0;                ///< more for a kernel that has parameters
    double block_turnaround = 0;          ///< from the end of a block to the start of the one that takes its place
    double warp_launch = 0;               ///< from the start of a warp to that of the block's next
};
LaunchCosts launch_costs(const gpu::Description& gpu);

/// What the simulated launch did. Cycles are the SMs'.
struct KernelWork {
    uint64_t cycles = 0;                  ///< from the first block's start until all is done, stores too
    double migration_ns = 0;              ///< for which the kernel waited for pages of managed memory
    bool parameters = false;
    uint64_t blocks = 0, issued = 0;      ///< instructions that schedulers issued, but for `sequences`
    uint64_t active_cycles = 0, warp_cycles = 0;  ///< SMs with a block, resident warps; sums over SMs
    // cycles for which a pipe was taken up, sums over SMs
    double fp32 = 0, fp64 = 0, special = 0;
    double sequences = 0;                 ///< of all schedulers, by instructions that machine code makes many of
    memory::Busy memory;                  ///< the same of the memory system's units
    double dram_bytes = 0;
};

/// gpu__time_duration, ns.
double kernel_ns(const gpu::Description& gpu, uint64_t cycles, bool parameters);

/// Adds the launch's times, its units' shares of peak and its bounds.
void add_kernel_time(const gpu::Description& gpu, const KernelWork& work, profile::Launch& launch);

/// Names the bounds of a launch whose units are known. `idle`: what binds it where no unit does.
///
/// A unit binds if ncu would show it at 60 % of its peak or more, else if it was taken up for 60 % of the time or more; the highest does.
void name_bounds(profile::Launch& launch, const char* idle);

}  // namespace lanescope::timing
