// In what portions a warp's atomic goes to L2.
#pragma once

#include "memory/coalescer.h"

namespace lanescope::memory {

/// The four sets of the tag stage among which lines are spread: 0 … 3. As an H200 does it: two parities of the address, found bit by bit
/// (bits 7 to 43: `hash` in tests/accuracy/programs/atomic_probes.cu). What lies above 16 TiB is not known and taken as equal.
uint32_t tag_set(uint64_t address);

/// The sectors that an atomic or reduction sends to L2; `sent`: by line of the footprint, which is the same lanes'. They go in rounds, each
/// set for itself: in a round the lowest lane left in the set has each of the 32 banks (words of a line, whatever the line) that it wants,
/// the next lane what it wants and nobody below has, and so on; of the lanes that so won their bank, those go whose line is the one of the
/// lowest lane: a sector each time, however many of them are in it. All others try again. A compare-and-swap carries two values a lane:
/// of its line only the half of the lowest lane goes.
/// Evidence: tests/accuracy/h200/atomics.csv, every pattern.
uint32_t atomic_sectors(const uint64_t* addresses, uint32_t active, const Footprint& footprint, bool compare_and_swap, uint32_t* sent);

}  // namespace lanescope::memory
