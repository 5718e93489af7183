// Exact conversion between all number formats of PTX: any source becomes sign × mantissa × 2^exponent, and is rounded once.
#pragma once

#include <cstdint>

#include "exec/alu_integer.h"
#include "exec/half.h"
#include "exec/lane_form.h"

namespace lanescope::exec {
inline namespace LANESCOPE_LEVEL {

/// A floating-point format of at most 64 bits.
struct Format {
    uint8_t exponent_bits, mantissa_bits;
    bool infinity;                ///< the top exponent holds infinity and NaN; else finite numbers but for `nan`
    bool has_nan;                 ///< NaN exists
    uint64_t nan;                 ///< the code that results where NaN comes out
    uint64_t largest;             ///< the greatest finite code

    constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
    constexpr int smallest_exponent() const { return 1 - bias(); }
    constexpr uint64_t infinity_code() const { return ((uint64_t(1) << exponent_bits) - 1) << mantissa_bits; }
    constexpr unsigned sign_bit() const { return exponent_bits + mantissa_bits; }
};
constexpr Format with_infinity(uint8_t exponent_bits, uint8_t mantissa_bits, uint64_t nan) {
    Format format{exponent_bits, mantissa_bits, true, true, nan, 0};
    format.largest = format.infinity_code() - 1;
    return format;
}
constexpr Format kFormatF16 = with_infinity(5, 10, 0x7fff);
constexpr Format kFormatBf16 = with_infinity(8, 7, 0x7fff);
constexpr Format kFormatTf32 = with_infinity(8, 10, 0x3ffff);   // the upper 19 bits of the register
constexpr Format kFormatF32 = with_infinity(8, 23, kFloatNan);
constexpr Format kFormatF64 = with_infinity(11, 52, kDoubleNan);
constexpr Format kFormatE5m2 = with_infinity(5, 2, 0x7f);
constexpr Format kFormatE4m3{4, 3, false, true, 0x7f, 0x7e};
constexpr Format kFormatE2m3{2, 3, false, false, 0x1f, 0x1f};   // NaN becomes the greatest number
constexpr Format kFormatE3m2{3, 2, false, false, 0x1f, 0x1f};
constexpr Format kFormatE2m1{2, 1, false, false, 0x7, 0x7};

/// A number of any source format, without loss.
struct Exact {
    enum class Kind : uint8_t { kFinite, kInfinite, kNan };
    Kind kind = Kind::kFinite;
    bool negative = false;
    uint64_t mantissa = 0;        ///< value = mantissa × 2^exponent
    int exponent = 0;
    uint64_t payload = 0;         ///< NaN: the f64 bits
};

inline Exact exact(double value) {
    const uint64_t bits = bits_of(value), fraction = bits & 0xfffffffffffff;
    const int exponent = int(bits >> 52 & 0x7ff);
    Exact result;
    result.negative = bits >> 63 != 0;
    if (exponent == 0x7ff) {
        result.kind = fraction == 0 ? Exact::Kind::kInfinite : Exact::Kind::kNan;
        result.payload = bits;
    } else {
        result.mantissa = exponent == 0 ? fraction : fraction | uint64_t(1) << 52;
        result.exponent = (exponent == 0 ? 1 : exponent) - 1075;
    }
    return result;
}
inline Exact exact(uint64_t magnitude, bool negative) { return {Exact::Kind::kFinite, negative, magnitude, 0, 0}; }

/// Whether the bits below the last place move the number away from zero. `rest` < 2^shift, shift >= 1.
inline bool rounds_up(Rounding rounding, bool negative, bool odd, Uint128 rest, int shift) {
    const Uint128 half = Uint128(1) << (shift - 1);
    switch (rounding) {
        case Rounding::kRz: return false;
        case Rounding::kRm: return negative && rest != 0;
        case Rounding::kRp: return !negative && rest != 0;
        case Rounding::kRna: return rest >= half;
        default: return rest > half || (rest == half && odd);
    }
}

/// The code of `value` in `format`, its sign bit included. `finite` (.satfinite): what is beyond the range becomes the greatest number.
inline uint64_t encode(const Exact& value, const Format& format, Rounding rounding, bool finite) {
    const uint64_t sign = uint64_t(value.negative) << format.sign_bit();
    const uint64_t beyond = sign | (finite || !format.has_nan ? format.largest : format.infinity ? format.infinity_code() : format.nan);
    if (value.kind == Exact::Kind::kNan) return format.nan;
    if (value.kind == Exact::Kind::kInfinite) return beyond;
    if (value.mantissa == 0) return sign;
    const int exponent = value.exponent + 63 - __builtin_clzll(value.mantissa);
    const int scale = exponent > format.smallest_exponent() ? exponent : format.smallest_exponent();
    const int shift = scale - format.mantissa_bits - value.exponent;
    uint64_t kept = 0;
    if (shift <= 0) {
        kept = value.mantissa << -shift;
    } else if (shift > 65) {
        kept = rounds_up(rounding, value.negative, false, 1, 2);  // below a quarter of the last place
    } else {
        const Uint128 rest = value.mantissa & ((Uint128(1) << shift) - 1);
        kept = static_cast<uint64_t>(Uint128(value.mantissa) >> shift);
        kept += rounds_up(rounding, value.negative, (kept & 1) != 0, rest, shift);
    }
    const uint64_t code = (uint64_t(scale - format.smallest_exponent()) << format.mantissa_bits) + kept;
    if (code <= format.largest) return sign | code;
    const bool toward_zero = rounding == Rounding::kRz || rounding == (value.negative ? Rounding::kRp : Rounding::kRm);
    return toward_zero ? sign | format.largest : beyond;
}

/// The value of a code of a format below f64. Exact; NaN where the code is one.
inline double decode(uint64_t code, const Format& format) {
    const bool negative = (code >> format.sign_bit() & 1) != 0;
    const uint64_t magnitude = code & ((uint64_t(1) << format.sign_bit()) - 1);
    const uint64_t fraction = magnitude & ((uint64_t(1) << format.mantissa_bits) - 1);
    const int exponent = int(magnitude >> format.mantissa_bits);
    double value = 0;
    if (format.infinity && magnitude >= format.infinity_code()) value = fraction != 0 ? __builtin_nan("") : __builtin_inf();
    else if (!format.infinity && format.has_nan && magnitude == format.nan) value = __builtin_nan("");
    else if (exponent == 0) value = double(fraction) * double_of(uint64_t(format.smallest_exponent() - format.mantissa_bits + 1023) << 52);
    else value = double_of(uint64_t(exponent - format.bias() + 1023) << 52 | fraction << (52 - format.mantissa_bits));
    return negative ? -value : value;
}

}  // namespace LANESCOPE_LEVEL
}  // namespace lanescope::exec
