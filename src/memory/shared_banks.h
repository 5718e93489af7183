// Passes ("wavefronts") that a shared memory access needs because of its banks.
#pragma once

#include <cstdint>

namespace lanescope::memory {

struct Wavefronts {
    uint32_t actual = 0, ideal = 0;
    friend bool operator==(const Wavefronts&, const Wavefronts&) = default;
};

/// How the lanes of an access may share a pass.
enum class Sharing : uint8_t {
    kLoad,        ///< any number of lanes read one word together; neighbouring parts of wide loads may go together, see below
    kStore,       ///< lanes write one word together
    kAtomic,      ///< each lane needs its bank for itself
};

/// Lanes of one pass use words of different banks, or (unless kAtomic) the same word. Up to the width of a bank the whole warp goes
/// together, accesses of two banks' width by half-warps and of four by quarter-warps. Two neighbouring parts of a load share a pass
/// when every lane finds its own address also at lane xor 1, or every lane at lane xor 2, as broadcasts do, and one pass suffices.
/// Equals ncu's memory_l1_wavefronts_shared on recorded patterns (docs/memory-model.md).
/// `addresses` are byte offsets in shared memory; `bank_bytes` is 4, or 8 on Kepler's wide banks.
Wavefronts shared_wavefronts(const uint64_t* addresses, uint32_t active, uint32_t bytes, Sharing sharing = Sharing::kLoad, uint32_t banks = 32,
                             uint32_t bank_bytes = 4);

/// Distinct 4-byte words that the active lanes read: what the indexed constant cache serialises.
uint32_t distinct_words(const uint64_t* addresses, uint32_t active, uint32_t bytes);

}  // namespace lanescope::memory
