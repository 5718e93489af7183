#include "memory/texture_quads.h"

namespace lanescope::memory {

void split_quads(const uint64_t* texels, uint32_t per_lane, uint32_t active, uint32_t bytes, QuadRequests& out) {
    out.requests = out.sectors = out.count = 0;
    for (uint32_t quad = 0; quad < kLanes / 4; ++quad) {
        uint32_t lanes = active >> (4 * quad) & 0xf;
        if (lanes == 0) continue;
        ++out.requests;
        const uint32_t begin = out.count;
        for (; lanes != 0; lanes &= lanes - 1) {
            const uint64_t* lane = texels + (4 * quad + uint32_t(std::countr_zero(lanes))) * per_lane;
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
