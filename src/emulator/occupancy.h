// How many blocks of a kernel an SM holds at a time, and what limits them.
#pragma once

#include <cstdint>

#include "gpu/description.h"

namespace lanescope::emulator {

/// What one block of a launch takes.
struct BlockResources {
    uint32_t threads = 1;
    uint32_t registers_per_thread = 16;
    uint64_t shared_bytes = 0;            ///< static + dynamic
    int carveout_percent = -1;            ///< cudaFuncAttributePreferredSharedMemoryCarveout; -1: the driver chooses
};

struct Occupancy {
    uint32_t blocks_per_sm = 0;           ///< 0: not even one fits
    // blocks per SM that each resource alone would allow (launch__occupancy_limit_*)
    uint32_t limit_warps = 0, limit_blocks = 0, limit_registers = 0, limit_shared = 0;
    uint64_t shared_config_bytes = 0;     ///< carve-out (launch__shared_mem_config_size)
    uint64_t l1_bytes = 0;                ///< what the carve-out leaves of a unified array
    uint32_t warps_per_block = 0;
};

/// The carve-out that the driver would choose is the smallest that holds twice what the blocks need which the other limits allow; seen on
/// an H200 for 2, 8, 16, 24, 40 and 41 KiB: 8, 32, 32, 64, 100, 100 KiB.
Occupancy occupancy(const gpu::Description& gpu, const BlockResources& block);

}  // namespace lanescope::emulator
