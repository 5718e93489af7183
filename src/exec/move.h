// Moves the lanes of register rows from and to memory: the inner loops of loads and stores, compiled once for each instruction set level.
#pragma once

#include <cstdint>

namespace lanescope::exec {

/// Moves `vector` elements a lane between rows and memory. Lane i's first byte is at host address addresses[i] + delta.
struct Transfer {
    void* rows[8];                  ///< nullptr: `_`
    unsigned vector;
    const uint64_t* addresses;
    int64_t delta;
    uint32_t mask;
    bool contiguous;                ///< mask is full and lane i's address is lane 0's + i × width
};
using Move = void (*)(const Transfer& transfer);

/// What the addresses of a warp's access have in common.
struct Shape {
    uint64_t low = 0, high = 0;     ///< lowest and highest of the active lanes
    uint64_t bits = 0;              ///< all of them or-ed, for alignment and windows
    bool contiguous = false;        ///< mask is full and lane i's address is lane 0's + i × width
};
/// addresses[i] = base[i] + offset for active lanes (others: unspecified). `base`: a row of 64-bit, or 32-bit unsigned, values.
using FormAddresses = void (*)(uint64_t* addresses, const void* base, int64_t offset, uint32_t mask, uint64_t width, Shape& shape);

/// The smallest and second-smallest of `count` keys, a multiple of 8.
using LeastTwo = void (*)(const uint64_t* keys, unsigned count, uint64_t& first, uint64_t& second);

struct MoveFunctions {
    /// Rows of `register_bytes` a lane (2, 4, 8, 16); loads narrower than that are sign- or zero-extended. nullptr: no such move.
    Move (*find)(unsigned element_bytes, unsigned register_bytes, bool is_signed, bool store);
    FormAddresses from_64, from_32;
    LeastTwo least_two;
};
/// The best version that this machine runs.
const MoveFunctions& move_functions();

}  // namespace lanescope::exec
