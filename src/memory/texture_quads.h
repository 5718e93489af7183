// Texture and surface requests: the texture unit takes a warp as eight quads of four lanes, surfaces and narrow texels of linear memory as
// four groups of eight (H200, texture_probes.cu).
#pragma once

#include <array>
#include <cstdint>

#include "memory/coalescer.h"

namespace lanescope::memory {

struct QuadRequests {
    uint32_t requests = 0;                ///< groups with an active lane
    uint32_t sectors = 0;                 ///< distinct sectors of each group, summed over groups
    uint32_t count = 0;                   ///< parts in use
    std::array<LinePart, kLanes * 8> parts;   ///< one for each line of each group, in their order
};

/// `texels`: `per_lane` (at most 8) addresses a lane; each texel is `bytes` wide and does not cross a sector. `group`: lanes of a request, 4 or 8.
void split_quads(const uint64_t* texels, uint32_t per_lane, uint32_t active, uint32_t bytes, QuadRequests& out, uint32_t group = 4);

}  // namespace lanescope::memory
