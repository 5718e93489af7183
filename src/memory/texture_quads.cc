#include "memory/texture_quads.h"

namespace lanescope::memory {

void split_quads(const uint64_t* texels, uint32_t per_lane, uint32_t active, uint32_t bytes, QuadRequests& out, uint32_t group) {
    out.requests = out.sectors = out.count = 0;
    for (uint32_t first = 0; first < kLanes; first += group) {
        uint32_t lanes = active >> first & ((1u << group) - 1);
        if (lanes == 0) continue;
        ++out.requests;
        const uint32_t begin = out.count;
        for (; lanes != 0; lanes &= lanes - 1) {
            const uint64_t* lane = texels + (first + uint32_t(std::countr_zero(lanes))) * per_lane;
            for (uint32_t k = 0; k < per_lane; ++k) {
                uint32_t at = begin;
                while (at < out.count && out.parts[at].line != lane[k] / kLineBytes) ++at;
                if (at == out.count) out.parts[out.count++] = {lane[k] / kLineBytes, {}};
                out.parts[at].bytes.set(uint32_t(lane[k] % kLineBytes), bytes);
            }
        }
        for (uint32_t i = begin; i < out.count; ++i) out.sectors += uint32_t(std::popcount(out.parts[i].bytes.sectors()));
    }
}

}  // namespace lanescope::memory
