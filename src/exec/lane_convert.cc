// cvt between scalar types. The common conversions are loops that vectorise; the rest goes lane by lane through an exact number.
#include "exec/alu_float.h"
#include "exec/alu_integer.h"
#include "exec/convert.h"
#include "exec/lane_conversion.h"
#include "exec/lane_directed.h"

namespace lanescope::exec {
inline namespace LANESCOPE_LEVEL {
namespace {

using ptx::Opcode;
using ptx::Type;

// ---- any conversion, one lane at a time ------------------------------------------------------------------------------

unsigned integer_bits(Type type) {
    switch (type) {
        case Type::kU8: case Type::kS8: return 8;
        case Type::kU16: case Type::kS16: return 16;
        case Type::kU32: case Type::kS32: return 32;
        case Type::kU64: case Type::kS64: return 64;
        default: return 0;
    }
}
bool is_signed(Type type) { return type == Type::kS8 || type == Type::kS16 || type == Type::kS32 || type == Type::kS64; }

const Format* float_format(Type type) {
    switch (type) {
        case Type::kF16: return &kFormatF16;
        case Type::kBf16: return &kFormatBf16;
        case Type::kF32: return &kFormatF32;
        case Type::kF64: return &kFormatF64;
        default: return nullptr;
    }
}
unsigned row_bits_of(Type type) {
    const unsigned bits = float_format(type) != nullptr ? float_format(type)->sign_bit() + 1 : integer_bits(type);
    return bits < 16 ? 16 : bits;
}
bool is_convertible(Type type) { return integer_bits(type) != 0 || float_format(type) != nullptr; }

double to_integer(double value, Rounding rounding) {
    switch (rounding) {
        case Rounding::kRzi: return __builtin_trunc(value);
        case Rounding::kRmi: return __builtin_floor(value);
        case Rounding::kRpi: return __builtin_ceil(value);
        default: return __builtin_nearbyint(value);
    }
}

uint64_t integer_from_float(double value, const Conversion& how) {
    const unsigned bits = integer_bits(how.to);
    const bool from_double = how.from == Type::kF64;
    if (is_nan(value)) return !from_double && bits < 64 ? 0 : uint64_t(1) << (bits - 1);
    const double rounded = to_integer(value, how.rounding), limit = __builtin_ldexp(1, int(bits) - is_signed(how.to));
    if (rounded >= limit) return (is_signed(how.to) ? uint64_t(1) << (bits - 1) : 0) - 1;
    if (is_signed(how.to)) return rounded < -limit ? uint64_t(0) - (uint64_t(1) << (bits - 1)) : uint64_t(int64_t(rounded));
    return rounded <= 0 ? 0 : uint64_t(rounded);
}

uint64_t saturated_integer(uint64_t value, const Conversion& how) {
    const unsigned bits = integer_bits(how.to);
    const Int128 wide = is_signed(how.from) ? Int128(int64_t(value)) : Int128(value);
    const Int128 high = (Int128(1) << (bits - is_signed(how.to))) - 1, low = is_signed(how.to) ? -(Int128(1) << (bits - 1)) : 0;
    return uint64_t(wide < low ? low : wide > high ? high : wide);
}

uint64_t float_from(const Exact& value, const Conversion& how) {
    const Format& format = *float_format(how.to);
    const uint64_t sign = uint64_t(1) << format.sign_bit();
    const bool negative = value.negative && value.kind != Exact::Kind::kNan;
    if (how.has(kRelu) && negative) return 0;
    uint64_t code = encode(value, format, how.rounding, how.has(kSatfinite));
    const bool subnormal = (code & format.infinity_code()) == 0;
    if (how.has(kFtz) && how.to == Type::kF32 && subnormal) code &= sign;
    if (!how.has(kSat)) return code;
    const uint64_t one = uint64_t(format.bias()) << format.mantissa_bits;
    return value.kind == Exact::Kind::kNan || negative ? 0 : code > one ? one : code;
}

uint64_t extend(uint64_t value, Type type) {
    switch (type) {
        case Type::kU8: return uint8_t(value);
        case Type::kS8: return uint64_t(int64_t(int8_t(value)));
        case Type::kU16: return uint16_t(value);
        case Type::kS16: return uint64_t(int64_t(int16_t(value)));
        case Type::kU32: return uint32_t(value);
        case Type::kS32: return uint64_t(int64_t(int32_t(value)));
        default: return value;
    }
}

/// Between f64 and other formats a NaN keeps its sign and the top of its payload, and becomes quiet.
uint64_t move_nan(uint64_t raw, const Format& from, const Format& to) {
    const uint64_t sign = raw >> from.sign_bit() & 1, payload = raw & ((uint64_t(1) << from.mantissa_bits) - 1);
    const int shift = int(to.mantissa_bits) - from.mantissa_bits;
    const uint64_t moved = shift >= 0 ? payload << shift : payload >> -shift;
    return sign << to.sign_bit() | to.infinity_code() | uint64_t(1) << (to.mantissa_bits - 1) | moved;
}

uint64_t convert(uint64_t raw, const Conversion& how) {
    const Format* to = float_format(how.to);
    if (const Format* from = float_format(how.from)) {
        double value = how.from == Type::kF64 ? double_of(raw) : decode(raw, *from);
        const bool wide = how.from == Type::kF64 || how.to == Type::kF64;
        if (to != nullptr && wide && is_nan(value) && how.modifiers == 0) return move_nan(raw, *from, *to);
        if (how.has(kFtz) && how.from == Type::kF32 && how.to != Type::kF16 && how.to != Type::kBf16) value = static_cast<double>(flush(float_of(uint32_t(raw))));
        if (to == nullptr) return extend(integer_from_float(value, how), how.to);
        if (how.rounding >= Rounding::kRni) value = to_integer(value, how.rounding);
        Conversion plain = how;
        if (how.rounding >= Rounding::kRni) plain.rounding = Rounding::kRn;
        return float_from(exact(value), plain);
    }
    const uint64_t integer = extend(raw, how.from);
    if (to == nullptr) return extend(how.has(kSat) ? saturated_integer(integer, how) : integer, how.to);
    const bool negative = is_signed(how.from) && int64_t(integer) < 0;
    return float_from(exact(negative ? 0 - integer : integer, negative), how);
}

void convert_any(const LaneOperands& operands, uint32_t mask) {
    const Conversion how(operands.control);
    active_lanes(mask, [&](unsigned lane) {
        store(operands.destination[0], how.to_bits, lane, convert(load(operands.source[0], how.from_bits, lane), how));
    });
}

// ---- the common ones -------------------------------------------------------------------------------------------------

struct Cast { template <class T> T operator()(T value) const { return value; } };

template <Rounding kRounding, class T>
inline T round_to_integer(T value) {
    if constexpr (kRounding == Rounding::kRzi) return std::trunc(value);
    else if constexpr (kRounding == Rounding::kRmi) return std::floor(value);
    else if constexpr (kRounding == Rounding::kRpi) return std::ceil(value);
    else return std::nearbyint(value);
}
/// What a NaN becomes: zero, but half the range where 64 bits are involved.
template <class D, class F>
constexpr D kIntegerNan = sizeof(D) < 8 && sizeof(F) < 8 ? D(0) : D(Unsigned<D>(1) << (kBits<D> - 1));

template <class D, Rounding kRounding, bool kFlush>
struct ToInteger {
    template <class F> D operator()(F value) const {
        // Below 32 bits the conversion goes through a clamped int32, which vectorises.
        using Wide = std::conditional_t<(sizeof(D) < 4), int32_t, D>;
        constexpr F kLow = F(kLowest<D>), kAbove = F(kHighest<D> / 2 + 1) * 2;  // both exact
        const F rounded = round_to_integer<kRounding>(kFlush ? flush(value) : value);
        const bool high = rounded >= kAbove, low = !(rounded >= kLow);
        const Wide inside = static_cast<Wide>(high || low ? F(0) : rounded);
        const D clamped = high ? kHighest<D> : low ? kLowest<D> : D(inside);
        return is_nan(value) ? kIntegerNan<D, F> : clamped;
    }
};
template <class F>
struct FromInteger { template <class T> F operator()(T value) const { return static_cast<F>(value); } };

/// f32 → f32 or f64 → f64, rounded to an integer or not.
template <Rounding kRounding, bool kFlush, bool kSaturate>
struct SameFloat {
    template <class T> T operator()(T value) const {
        if (kRounding == Rounding::kNone && !kFlush && !kSaturate) return value;
        T result = kFlush ? flush(value) : value;
        if constexpr (kRounding != Rounding::kNone) result = round_to_integer<kRounding>(result);
        result = propagate(result, value);
        return kSaturate ? saturate(result) : result;
    }
};
// The host's own conversion treats NaNs as the hardware does.
template <bool kFlush>
struct Narrow {
    float operator()(double value) const {
        const auto result = static_cast<float>(value);
        return kFlush ? flush(result) : result;
    }
};
template <bool kFlush>
struct Widen { double operator()(float value) const { return static_cast<double>(kFlush ? canonical(flush(value)) : value); } };
struct FromHalf { float operator()(Half value) const { return canonical(half_to_float(value)); } };
struct FromBfloat { float operator()(Bfloat value) const { return bfloat_to_float(value); } };
struct ToHalf { Half operator()(float value) const { return float_to_half(value); } };  // .ftz changes nothing: such values round to zero
struct ToBfloat { Bfloat operator()(float value) const { return float_to_bfloat(value); } };

template <class Offer>
void each_integer(const Offer& offer) {
    offer.template operator()<uint8_t>();
    offer.template operator()<uint16_t>();
    offer.template operator()<uint32_t>();
    offer.template operator()<uint64_t>();
    offer.template operator()<int8_t>();
    offer.template operator()<int16_t>();
    offer.template operator()<int32_t>();
    offer.template operator()<int64_t>();
}

LaneFunction between_integers(const Form& form) {
    LaneFunction function = nullptr;
    if (form.modifiers != 0) return nullptr;
    each_integer([&]<class D>() {
        if (!is_type<D>(form.type)) return;
        each_integer([&]<class S>() {
            if (!is_type<S>(form.type2)) return;
            // Reading rows wider than the type is common: nvcc narrows 32-bit registers in place.
            if (form.source_bits == 8 * sizeof(typename Cell<S>::Element)) function = lanes<Cast, D, S>;
            else if constexpr (sizeof(S) < 4) {
                if (form.source_bits == 32) function = lanes<Cast, D, In<S, uint32_t>>;
                else function = lanes<Cast, D, In<S, uint64_t>>;
            } else if constexpr (sizeof(S) == 4) function = lanes<Cast, D, In<S, uint64_t>>;
        });
    });
    return function;
}

template <class F, bool kFlush>
LaneFunction integer_from_float_row(const Form& form) {
    LaneFunction function = nullptr;
    each_integer([&]<class D>() {
        if (!is_type<D>(form.type)) return;
        switch (form.rounding) {
            case Rounding::kRni: function = lanes<ToInteger<D, Rounding::kRni, kFlush>, D, F>; break;
            case Rounding::kRzi: function = lanes<ToInteger<D, Rounding::kRzi, kFlush>, D, F>; break;
            case Rounding::kRmi: function = lanes<ToInteger<D, Rounding::kRmi, kFlush>, D, F>; break;
            case Rounding::kRpi: function = lanes<ToInteger<D, Rounding::kRpi, kFlush>, D, F>; break;
            default: break;
        }
    });
    return function;
}

template <class F>
LaneFunction float_from_integer_row(const Form& form) {
    LaneFunction function = nullptr;
    if (form.source_bits != row_bits_of(form.type2)) return nullptr;
    each_integer([&]<class S>() { if (is_type<S>(form.type2)) function = with_rounding<lanes<FromInteger<F>, F, S>>(form.rounding); });
    return function;
}

template <class T, bool kFlush, bool kSaturate>
LaneFunction same_float(Rounding rounding) {
    switch (rounding) {
        case Rounding::kNone: return lanes<SameFloat<Rounding::kNone, kFlush, kSaturate>, T, T>;
        case Rounding::kRni: return lanes<SameFloat<Rounding::kRni, kFlush, kSaturate>, T, T>;
        case Rounding::kRzi: return lanes<SameFloat<Rounding::kRzi, kFlush, kSaturate>, T, T>;
        case Rounding::kRmi: return lanes<SameFloat<Rounding::kRmi, kFlush, kSaturate>, T, T>;
        case Rounding::kRpi: return lanes<SameFloat<Rounding::kRpi, kFlush, kSaturate>, T, T>;
        default: return nullptr;
    }
}

/// nullptr: not one of the common conversions.
LaneFunction common(const Form& form) {
    const Type to = form.type, from = form.type2;
    const bool ftz = form.has(kFtz), sat = form.has(kSat);
    if (integer_bits(to) != 0 && integer_bits(from) != 0) return between_integers(form);
    if (integer_bits(to) != 0 && from == Type::kF32) return ftz ? integer_from_float_row<float, true>(form) : integer_from_float_row<float, false>(form);
    if (integer_bits(to) != 0 && from == Type::kF64) return integer_from_float_row<double, false>(form);
    if (to == Type::kF32 && from == Type::kF32) {
        if (ftz) return sat ? same_float<float, true, true>(form.rounding) : same_float<float, true, false>(form.rounding);
        return sat ? same_float<float, false, true>(form.rounding) : same_float<float, false, false>(form.rounding);
    }
    if (to == Type::kF64 && from == Type::kF64) return sat ? same_float<double, false, true>(form.rounding) : same_float<double, false, false>(form.rounding);
    if (sat) return nullptr;
    if (to == Type::kF32 && integer_bits(from) != 0) return float_from_integer_row<float>(form);
    if (to == Type::kF64 && integer_bits(from) != 0) return float_from_integer_row<double>(form);
    if (to == Type::kF32 && from == Type::kF64) return ftz ? with_rounding<lanes<Narrow<true>, float, double>>(form.rounding) : with_rounding<lanes<Narrow<false>, float, double>>(form.rounding);
    if (to == Type::kF64 && from == Type::kF32) return ftz ? lanes<Widen<true>, double, float> : lanes<Widen<false>, double, float>;
    if (to == Type::kF32 && from == Type::kF16) return lanes<FromHalf, float, Half>;
    if (to == Type::kF32 && from == Type::kBf16) return lanes<FromBfloat, float, Bfloat>;
    if (form.rounding != Rounding::kRn || !form.only(kFtz)) return nullptr;
    if (to == Type::kF16 && from == Type::kF32) return lanes<ToHalf, Half, float>;
    if (to == Type::kBf16 && from == Type::kF32) return lanes<ToBfloat, Bfloat, float>;
    return nullptr;
}

}  // namespace

LaneFunction convert_function(const Form& form) {
    if (form.opcode == Opcode::kCvtPack || !is_convertible(form.type) || !is_convertible(form.type2)) return narrow_convert_function(form);
    if (form.sources != 1 || form.rounding == Rounding::kRs || !form.only(kFtz | kSat | kRelu | kSatfinite)) return nullptr;
    if (form.destination_bits == row_bits_of(form.type) && (form.source_bits == row_bits_of(form.type2) || integer_bits(form.type2) != 0))
        if (const LaneFunction function = common(form)) return function;
    return convert_any;
}

}  // namespace LANESCOPE_LEVEL
}  // namespace lanescope::exec
