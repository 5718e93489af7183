// Asynchronous copies from global to shared memory (cp.async, LDGSTS): which lanes go together.
#pragma once

#include <cstdint>

#include "memory/coalescer.h"
#include "memory/shared_banks.h"

namespace lanescope::memory {

// Both equal ncu's memory_l1_wavefronts_shared on 168 recorded patterns of an H200 (tests/accuracy/h200/async-copies.csv). `from`: global
// addresses, `to`: offsets in shared memory, of the active lanes, multiples of `bytes`.

/// Copies through L1 (.ca), of 4, 8 or 16 bytes a lane: the whole warp, halves or quarters of it one after the other. In each pass the first
/// lane of every bank (or group of banks) that is read is a candidate, and of the candidates the first of every bank that is written goes.
Wavefronts copy_wavefronts(const uint64_t* from, const uint64_t* to, uint32_t active, uint32_t bytes);

/// Copies past L1 (.cg, 16 bytes a lane): L2 sends sectors straight to shared memory. A request is what goes from one line to one line of
/// shared memory: whole sectors to any sector of it; half sectors only with those that are moved as far, and by an odd number of halves the
/// upper ones apart from the lower. Leaves a part for each request in `out`; its `sectors` are those of shared memory that each line of
/// global memory fills. Returns the requests, each a pass.
Wavefronts split_past_l1(const uint64_t* from, const uint64_t* to, uint32_t active, Footprint& out);

}  // namespace lanescope::memory
