// A PTX instruction reduced to what selects its arithmetic: plain data, so that code compiled for several instruction set levels
// can look at it without sharing inline functions.
#pragma once

#include <cstdint>

#include "exec/lane_rows.h"

namespace lanescope::exec {

enum class Rounding : uint8_t { kNone, kRn, kRna, kRz, kRm, kRp, kRs, kRni, kRzi, kRmi, kRpi };
/// Unsigned names (lo, ls, hi, hs) are the plain ones on unsigned types.
enum class Compare : uint8_t { kNone, kEq, kNe, kLt, kLe, kGt, kGe, kEqu, kNeu, kLtu, kLeu, kGtu, kGeu, kNum, kNan };
enum class Boolean : uint8_t { kNone, kAnd, kOr, kXor };
enum class FloatClass : uint8_t { kNone, kFinite, kInfinite, kNumber, kNotanumber, kNormal, kSubnormal };
enum class PermuteMode : uint8_t { kGeneric, kF4e, kB4e, kRc8, kEcl, kEcr, kRc16 };

/// One bit each in Form::modifiers.
enum Modifier : uint32_t {
    kFtz = 1u << 0, kSat = 1u << 1, kSatfinite = 1u << 2, kRelu = 1u << 3, kApprox = 1u << 4, kFull = 1u << 5, kHi = 1u << 6, kLo = 1u << 7,
    kWide = 1u << 8, kCc = 1u << 9, kOob = 1u << 10, kPropagateNan = 1u << 11, kXorsign = 1u << 12, kAbsolute = 1u << 13,
    kShiftAmount = 1u << 14, kClamp = 1u << 15, kWrap = 1u << 16, kLeft = 1u << 17, kRight = 1u << 18, kPlusOne = 1u << 19,
    kShr7 = 1u << 20, kShr15 = 1u << 21, kNoftz = 1u << 22, kThenAdd = 1u << 23, kThenMin = 1u << 24, kThenMax = 1u << 25,
    kScaled = 1u << 26,
};

struct Form {
    ptx::Opcode opcode{};
    ptx::Type type{}, type2{}, type3{}, type4{};  ///< the type suffixes in order
    Rounding rounding{};
    Compare compare{};
    Boolean boolean{};
    FloatClass float_class{};
    PermuteMode permute{};
    uint32_t modifiers = 0;
    uint8_t destinations = 0, sources = 0;        ///< rows, vectors and pairs flattened; at most 4 and 7
    uint8_t negated = 0;                          ///< bit i: source i is `!p`
    uint8_t destination_bits = 0, source_bits = 0;///< width of the first row where it is a register, else of its type (cvt)
    bool vector_source = false;                   ///< the first source is `{…}`
    uint64_t control = 0;

    [[gnu::always_inline]] bool has(uint32_t bits) const { return (modifiers & bits) == bits; }
    /// No modifier beyond `allowed`.
    [[gnu::always_inline]] bool only(uint32_t allowed) const { return (modifiers & ~allowed) == 0; }
};

inline namespace LANESCOPE_LEVEL {

/// What computes `form` at this level; nullptr: nothing here does.
LaneFunction find_at_level(const Form& form);

// Its parts, by family.
LaneFunction integer_function(const Form& form);
LaneFunction bit_function(const Form& form);
LaneFunction carry_function(const Form& form);
LaneFunction compare_function(const Form& form);
LaneFunction move_function(const Form& form);
LaneFunction float_function(const Form& form);
LaneFunction approximate_function(const Form& form);
LaneFunction half_function(const Form& form);
LaneFunction mixed_function(const Form& form);
LaneFunction convert_function(const Form& form);
LaneFunction narrow_convert_function(const Form& form);
LaneFunction video_function(const Form& form);

}  // namespace LANESCOPE_LEVEL
}  // namespace lanescope::exec
