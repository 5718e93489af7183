// What the conversions share that go lane by lane: cvt as a control word, rows of any width.
#pragma once

#include <cstdint>

#include "exec/lane_form.h"

namespace lanescope::exec {
inline namespace LANESCOPE_LEVEL {

struct Conversion {
    ptx::Type to, from;
    Rounding rounding;
    uint8_t modifiers, to_bits, from_bits;  ///< modifiers: the low 8 of Form's; bits: of the rows
    explicit Conversion(uint64_t control)
        : to(ptx::Type(control & 0xff)), from(ptx::Type(control >> 8 & 0xff)), rounding(Rounding(control >> 16 & 0xff)),
          modifiers(uint8_t(control >> 24)), to_bits(uint8_t(control >> 32)), from_bits(uint8_t(control >> 40)) {}
    bool has(Modifier modifier) const { return (modifiers & modifier) != 0; }
};

inline uint64_t load(const void* row, unsigned bits, unsigned lane) {
    if (bits == 16) return static_cast<const uint16_t*>(row)[lane];
    return bits == 32 ? static_cast<const uint32_t*>(row)[lane] : static_cast<const uint64_t*>(row)[lane];
}
inline void store(void* row, unsigned bits, unsigned lane, uint64_t value) {
    if (bits == 16) static_cast<uint16_t*>(row)[lane] = static_cast<uint16_t>(value);
    else if (bits == 32) static_cast<uint32_t*>(row)[lane] = static_cast<uint32_t>(value);
    else static_cast<uint64_t*>(row)[lane] = value;
}
template <class F>
void active_lanes(uint32_t mask, const F& action) {
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) action(static_cast<unsigned>(__builtin_ctz(rest)));
}

}  // namespace LANESCOPE_LEVEL
}  // namespace lanescope::exec
