// The 16-bit floating-point formats f16 (5 exponent, 10 mantissa bits) and bf16 (8, 7), and the narrow rules shared with f32.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "exec/lane_rows.h"

namespace lanescope::exec {
inline namespace LANESCOPE_LEVEL {

inline uint32_t bits_of(float value) { return __builtin_bit_cast(uint32_t, value); }
inline uint64_t bits_of(double value) { return __builtin_bit_cast(uint64_t, value); }
inline float float_of(uint32_t bits) { return __builtin_bit_cast(float, bits); }
inline double double_of(uint64_t bits) { return __builtin_bit_cast(double, bits); }

constexpr uint32_t kFloatNan = 0x7fffffff;
constexpr uint64_t kDoubleNan = 0xfff8000000000000;
constexpr uint16_t kHalfNan = 0x7fff;

/// Exact. NaN payloads are kept.
inline float half_to_float(Half value) {
    const uint32_t sign = uint32_t(value.bits & 0x8000) << 16, magnitude = uint32_t(value.bits & 0x7fff) << 13;
    const uint32_t exponent = magnitude & 0x0f800000;
    const uint32_t normal = magnitude + (112u << 23) + (exponent == 0x0f800000 ? 112u << 23 : 0);
    // A subnormal's mantissa, put below an implicit one, exceeds 2^-14 by the value.
    const uint32_t subnormal = bits_of(float_of(magnitude + (113u << 23)) - float_of(113u << 23));
    return float_of(sign | (exponent == 0 ? subnormal : normal));
}
inline float bfloat_to_float(Bfloat value) { return float_of(uint32_t(value.bits) << 16); }

/// To nearest, ties to even. NaN becomes 0x7fff.
inline Half float_to_half(float value) {
    const uint32_t bits = bits_of(value), magnitude = bits & 0x7fffffff;
    const uint32_t normal = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    // Adding 0.5 leaves a mantissa whose last place is 2^-24, the smallest half.
    const uint32_t subnormal = bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f);
    uint32_t result = magnitude < (113u << 23) ? subnormal : normal;
    result = magnitude >= (143u << 23) ? 0x7c00 : result;
    result |= bits >> 16 & 0x8000;
    return {static_cast<uint16_t>(magnitude > 0x7f800000 ? kHalfNan : result)};
}
inline Bfloat float_to_bfloat(float value) {
    const uint32_t bits = bits_of(value), rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return {static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? kHalfNan : rounded)};
}

/// The sum of two numbers rounded to odd: rounding it again to a format at least two bits narrower is exact rounding of the sum.
template <class T>
inline T add_to_odd(T a, T b) {
    const T sum = a + b, b_part = sum - a, error = (a - (sum - b_part)) + (b - b_part);
    // An inexact even mantissa moves to the odd one on the side of the error. Of infinities and NaNs the error is NaN.
    const auto bits = bits_of(sum);
    const bool away = (error > 0) == (sum > 0), inexact = (error > 0 || error < 0) && (bits & 1) == 0;
    const auto moved = away ? bits + 1 : bits - 1;
    return __builtin_bit_cast(T, inexact ? moved : bits);
}

/// A double that came from add_to_odd (or is exact in float) to the narrow format, to nearest.
inline float odd_double_to_odd_float(double value) {
    const float narrow = static_cast<float>(value);
    const double back = static_cast<double>(narrow);
    const uint32_t bits = bits_of(narrow);
    if (back == value || (bits & 1) != 0 || !std::isfinite(narrow)) return narrow;
    return float_of(bits + ((back < value) == (narrow > 0 || (narrow == 0 && value > 0)) ? 1 : -1));
}
template <class T> struct HalfFormat;
template <> struct HalfFormat<Half> {
    static constexpr float kSmallest = 0x1p-14f, kFlushed = 0x1.ffep-15f;  ///< below kFlushed eleven bits do not round up to kSmallest
    static float widen(Half value) { return half_to_float(value); }
    static Half narrow(float value) { return float_to_half(value); }
    static Half flush(Half value) { return {static_cast<uint16_t>((value.bits & 0x7c00) == 0 ? value.bits & 0x8000 : value.bits)}; }
};
template <> struct HalfFormat<Bfloat> {
    static constexpr float kSmallest = 0x1p-126f, kFlushed = 0x1.fep-127f;
    static float widen(Bfloat value) { return bfloat_to_float(value); }
    static Bfloat narrow(float value) { return float_to_bfloat(value); }
    static Bfloat flush(Bfloat value) { return {static_cast<uint16_t>((value.bits & 0x7f80) == 0 ? value.bits & 0x8000 : value.bits)}; }
};

template <class T> inline bool is_nan(T value) { return value != value; }
/// A NaN result: f32 has one, f64 keeps the payload of an operand.
inline float canonical(float value) { return value == value ? value : float_of(kFloatNan); }
inline double canonical(double value) { return value; }
/// The quiet form of a NaN.
inline double quiet(double value) { return double_of(bits_of(value) | 0x0008000000000000); }

/// Subnormals to zero of the same sign.
inline float flush(float value) { return (bits_of(value) & 0x7f800000) == 0 ? float_of(bits_of(value) & 0x80000000) : value; }
inline double flush(double value) { return value; }
/// To [0, 1]; NaN and -0 become +0.
template <class T> inline T saturate(T value) { return value > 0 ? (value < 1 ? value : T(1)) : T(0); }

}  // namespace LANESCOPE_LEVEL
}  // namespace lanescope::exec
