// Passes ("wavefronts") that a shared memory access needs because of its banks.
#pragma once

#include <cstdint>

namespace lanescope::memory {

struct Wavefronts {
    uint32_t actual = 0, ideal = 0;
    friend bool operator==(const Wavefronts&, const Wavefronts&) = default;
};

/// Lanes of one pass may read any words of different banks, and the same word any number of times. Up to 32 bits a lane the whole warp
/// goes together, 64-bit accesses by halves and 128-bit accesses by quarters; two neighbouring parts share a pass when each
/// lane finds its own address also at its neighbour (lane xor 1), or also at the next pair (lane xor 2), as a broadcast does.
/// `addresses` are byte offsets in shared memory; `bank_bytes` is 4, or 8 on Kepler's wide banks.
Wavefronts shared_wavefronts(const uint64_t* addresses, uint32_t active, uint32_t bytes, uint32_t banks = 32, uint32_t bank_bytes = 4);

/// Distinct 4-byte words that the active lanes read: what the indexed constant cache serialises.
uint32_t distinct_words(const uint64_t* addresses, uint32_t active, uint32_t bytes);

}  // namespace lanescope::memory
