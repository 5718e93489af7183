#include "memory/coalescer.h"

namespace lanescope::memory {
namespace {

/// bytes [first, first + count) of memory, count <= 1024
void add_range(uint64_t first, uint32_t count, Footprint& out) {
    const uint64_t end = first + count;
    out.sectors = uint32_t((end - 1) / kSectorBytes - first / kSectorBytes) + 1;
    out.unique_bytes = count;
    uint32_t lines = 0;
    for (uint64_t at = first; at < end; ++lines) {
        const uint64_t line = at / kLineBytes, next = (line + 1) * kLineBytes;
        LinePart& part = out.parts[lines];
        part.line = line;
        part.bytes = {};
        part.bytes.set(uint32_t(at % kLineBytes), uint32_t((next < end ? next : end) - at));
        at = next;
    }
    out.lines = lines;
}

/// The general case: a small open hash from line to part, so that 32 scattered lanes cost 32 look-ups.
void add_lanes(const uint64_t* addresses, uint32_t active, uint32_t bytes, Footprint& out) {
    constexpr uint32_t kSlots = 64;
    std::array<uint8_t, kSlots> slots{};            // part index + 1
    const uint64_t lane_bytes = (1ull << bytes) - 1;
    uint32_t lines = 0, last = 0;
    out.parts[0].line = ~0ull;
    for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
        const uint64_t address = addresses[std::countr_zero(rest)], line = address / kLineBytes;
        if (out.parts[last].line != line) {
            uint32_t slot = uint32_t((line * 0x9E3779B97F4A7C15ull) >> 58);
            while (slots[slot] != 0 && out.parts[slots[slot] - 1u].line != line) slot = (slot + 1) % kSlots;
            if (slots[slot] == 0) {
                out.parts[lines] = {line, {}};
                slots[slot] = uint8_t(++lines);
            }
            last = slots[slot] - 1u;
        }
        (address & kLineBytes / 2 ? out.parts[last].bytes.high : out.parts[last].bytes.low) |= lane_bytes << address % (kLineBytes / 2);
    }
    out.lines = lines;
    out.sectors = out.unique_bytes = 0;
    for (uint32_t i = 0; i < lines; ++i) {
        out.sectors += uint32_t(std::popcount(out.parts[i].bytes.sectors()));
        out.unique_bytes += out.parts[i].bytes.count();
    }
}

}  // namespace

void coalesce(const uint64_t* addresses, uint32_t active, uint32_t bytes, Footprint& out) {
    out.requested_bytes = uint32_t(std::popcount(active)) * bytes;
    if (active == ~0u) {
        const uint64_t first = addresses[0];
        uint64_t not_contiguous = 0, not_uniform = 0;
        for (uint32_t lane = 0; lane < kLanes; ++lane) {
            const uint64_t distance = addresses[lane] - first;
            not_contiguous |= distance ^ (uint64_t(lane) * bytes);
            not_uniform |= distance;
        }
        if (not_contiguous == 0) return add_range(first, kLanes * bytes, out);
        if (not_uniform == 0) return add_range(first, bytes, out);
    } else if ((active & (active - 1)) == 0) {
        return add_range(addresses[std::countr_zero(active)], bytes, out);
    }
    add_lanes(addresses, active, bytes, out);
}

}  // namespace lanescope::memory
