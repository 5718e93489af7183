#include "memory/async_copies.h"

#include <algorithm>
#include <bit>

namespace lanescope::memory {
namespace {

constexpr uint32_t kHalfSector = 16;

Wavefronts against_packed(uint32_t actual, uint32_t active, uint32_t bytes) {
    return {actual, std::min(actual, (uint32_t(std::popcount(active)) * bytes + kLineBytes - 1) / kLineBytes)};
}

}  // namespace

Wavefronts copy_wavefronts(const uint64_t* from, const uint64_t* to, uint32_t active, uint32_t bytes) {
    const uint32_t together = kLineBytes / std::max(4u, bytes);   // lanes that fill all banks: as many groups of banks
    uint32_t passes = 0;
    for (uint32_t first = 0; first < kLanes; first += together) {
        uint32_t waiting = active & uint32_t(((uint64_t(1) << together) - 1) << first);
        for (; waiting != 0; ++passes) {
            uint32_t read = 0, written = 0;
            for (uint32_t rest = waiting; rest != 0; rest &= rest - 1) {
                const uint32_t lane = uint32_t(std::countr_zero(rest));
                const uint32_t source = 1u << (from[lane] / bytes % together), destination = 1u << (to[lane] / bytes % together);
                if ((read & source) != 0) continue;
                read |= source;
                if ((written & destination) != 0) continue;
                written |= destination;
                waiting &= ~(1u << lane);
            }
        }
    }
    return against_packed(passes, active, bytes);
}

Wavefronts split_past_l1(const uint64_t* from, const uint64_t* to, uint32_t active, Footprint& out) {
    struct Request {
        uint64_t from_line, to_line;
        uint32_t move;                    ///< 0: whole sectors, or halves that keep their place
        bool operator==(const Request&) const = default;
    };
    std::array<Request, kLanes> requests;
    std::array<std::pair<uint64_t, uint64_t>, kLanes> filled;   // line of global memory, sector of shared memory
    uint32_t count = 0, sectors = 0;
    for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
        const uint32_t lane = uint32_t(std::countr_zero(rest));
        const uint32_t distance = uint32_t(to[lane] / kHalfSector - from[lane] / kHalfSector) % 8;
        bool whole = distance == 0;
        for (uint32_t others = active; others != 0 && !whole; others &= others - 1) {
            const uint32_t other = uint32_t(std::countr_zero(others));
            whole = (from[other] ^ kHalfSector) == from[lane] && to[other] / kSectorBytes == to[lane] / kSectorBytes && to[other] != to[lane];
        }
        const uint32_t upper = uint32_t(from[lane] / kHalfSector % 2);
        const Request request{from[lane] / kLineBytes, to[lane] / kLineBytes, whole ? 0 : 2 * distance + (distance % 2 != 0 ? upper : 0)};
        const uint32_t at = uint32_t(std::find(requests.begin(), requests.begin() + count, request) - requests.begin());
        if (at == count) {
            requests[count] = request;
            out.parts[count++] = {request.from_line, {}};
        }
        out.parts[at].bytes.set(uint32_t(from[lane] % kLineBytes), kHalfSector);
        const std::pair fills(request.from_line, to[lane] / kSectorBytes);
        if (std::find(filled.begin(), filled.begin() + sectors, fills) == filled.begin() + sectors) filled[sectors++] = fills;
    }
    out.lines = count;
    out.sectors = sectors;
    return against_packed(count, active, kHalfSector);
}

}  // namespace lanescope::memory
