// Which multiprocessors form a graphics processing cluster, and in which order they get blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/description.h"

namespace lanescope::gpu {

/// SMs are numbered in the order in which the blocks of a grid that gives each of them one go to them: cluster by cluster.
struct Clusters {
    std::vector<uint32_t> of_sm;          ///< by SM: its cluster
    std::vector<uint32_t> rank;           ///< by SM: of `n` blocks, fewer than there are SMs, it gets one if this is less than `n`
};

/// TPCs are shared out evenly, those left over from the middle cluster on. The first `gpc_first_sms` ([model]) SMs of cluster 0 come before all
/// others, the rest of it last. Evidence: docs/memory-model.md.
Clusters clusters(const Description& gpu);

}  // namespace lanescope::gpu
