// Texture and surface requests: the texture unit takes a warp as eight quads of four lanes.
#pragma once

#include <array>
#include <cstdint>

#include "memory/coalescer.h"

namespace lanescope::memory {

struct QuadRequests {
    uint32_t requests = 0;                ///< quads with an active lane
    uint32_t sectors = 0;                 ///< distinct sectors of each quad, summed over quads
    uint32_t count = 0;                   ///< parts in use
    std::array<LinePart, kLanes * 8> parts;   ///< one for each line of each quad, in quad order
};

/// `texels`: `per_lane` (at most 8) addresses a lane; each texel is `bytes` wide and does not cross a sector.
void split_quads(const uint64_t* texels, uint32_t per_lane, uint32_t active, uint32_t bytes, QuadRequests& out);

}  // namespace lanescope::memory
