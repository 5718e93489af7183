// The 128 bytes of a CUtensorMap. Its layout is nobody's business but its maker's: the emulated driver writes this one.
#pragma once

#include <cstdint>
#include <type_traits>

namespace lanescope::exec {

struct TensorMap {
    static constexpr uint64_t kMagic = 0x70616d736e65746c;
    static constexpr unsigned kMaxRank = 5;

    uint64_t magic = kMagic;
    uint64_t address = 0;                 ///< global
    uint64_t strides[kMaxRank - 1]{};     ///< bytes from one index to the next, of the dimensions behind the first
    uint32_t last[kMaxRank]{};            ///< the highest index of each dimension (sizes go up to 2^32)
    uint16_t box[kMaxRank]{};             ///< elements that a copy covers in each dimension: 1 … 256
    uint8_t steps[kMaxRank]{};            ///< of these every n-th is copied: 1 … 8, in the innermost dimension 1
    uint8_t rank = 0;
    uint8_t element_bytes = 0;
    uint8_t swizzle_bits = 0;             ///< 1, 2, 3 for 32, 64, 128 bytes: so many bits of the place of a 16-byte piece are exclusive-or'ed with
                                          ///< those three places higher
    bool fill_nan = false;                ///< what lies outside is read as NaN, not zero

    uint32_t copied(unsigned dimension) const { return (box[dimension] + steps[dimension] - 1u) / steps[dimension]; }
};
static_assert(sizeof(TensorMap) <= 128 && std::is_trivially_copyable_v<TensorMap>);

/// Where byte `address` of shared memory goes in a swizzled tile.
constexpr uint64_t swizzled(uint64_t address, unsigned bits) { return address ^ (address >> 3 & ((1u << bits) - 1) << 4); }

}  // namespace lanescope::exec
