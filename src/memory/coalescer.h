// From the addresses of a warp to the lines and sectors it touches.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace lanescope::memory {

constexpr uint32_t kLanes = 32;
constexpr uint32_t kLineBytes = 128, kSectorBytes = 32, kSectorsPerLine = kLineBytes / kSectorBytes;

/// Some bytes of one 128-byte line: bit i of the mask is byte i.
struct ByteMask {
    uint64_t low = 0, high = 0;
    void set(uint32_t first, uint32_t count) {      ///< first + count <= 128
        if (first < 64) low |= (count >= 64 ? ~0ull : (1ull << count) - 1) << first;
        if (first + count > 64) {
            const uint32_t begin = first > 64 ? first - 64 : 0, end = first + count - 64;
            high |= (end >= 64 ? ~0ull : (1ull << end) - 1) & ~((1ull << begin) - 1);
        }
    }
    void add(const ByteMask& other) {
        low |= other.low;
        high |= other.high;
    }
    uint32_t sector(uint32_t index) const { return uint32_t((index < 2 ? low : high) >> (32 * (index & 1))); }
    uint32_t count() const { return uint32_t(std::popcount(low) + std::popcount(high)); }
    /// Bit s: sector s has a byte set.
    uint32_t sectors() const { return (sector(0) != 0) | (sector(1) != 0) << 1 | (sector(2) != 0) << 2 | (sector(3) != 0) << 3; }
    /// Bit s: every byte of sector s is set.
    uint32_t whole_sectors() const { return (sector(0) == ~0u) | (sector(1) == ~0u) << 1 | (sector(2) == ~0u) << 2 | (sector(3) == ~0u) << 3; }
    friend bool operator==(const ByteMask&, const ByteMask&) = default;
};

struct LinePart {
    uint64_t line = 0;                    ///< address / 128
    ByteMask bytes;
};

/// What one warp request touches. Lines stand in the order of the first lane that touches them.
struct Footprint {
    uint32_t lines = 0, sectors = 0;
    uint32_t requested_bytes = 0;         ///< active lanes × width
    uint32_t unique_bytes = 0;
    std::array<LinePart, kLanes> parts;
};

/// `addresses` of the active lanes are multiples of `bytes` (1, 2, 4, 8, 16, 32); `active` is not 0. Reuses `out`'s storage.
void coalesce(const uint64_t* addresses, uint32_t active, uint32_t bytes, Footprint& out);

/// Sectors that the same lanes would need at best: their bytes packed, but never more than they touch now (a warp-uniform load is
/// ideal with one). This is what ncu's memory_l2_theoretical_sectors_global_ideal counts.
inline uint32_t ideal_sectors(const Footprint& footprint) {
    const uint32_t packed = (footprint.requested_bytes + kSectorBytes - 1) / kSectorBytes;
    return packed < footprint.sectors ? packed : footprint.sectors;
}

}  // namespace lanescope::memory
