// cvt with packed and narrow types (f16x2, bf16x2, tf32, fp8, fp6, fp4, ue8m0), and cvt.pack. Stochastic rounding (.rs) is not here:
// how its random bits line up is not documented for every format.
#include "exec/convert.h"
#include "exec/lane_conversion.h"

namespace lanescope::exec {
inline namespace LANESCOPE_LEVEL {
namespace {

using ptx::Opcode;
using ptx::Type;

/// One element of a packed type.
struct Packed {
    const Format* format = nullptr;  ///< nullptr with bits != 0: ue8m0
    unsigned bits = 0;               ///< from one element to the next; 0: not a packed type
};
Packed packed(Type type) {
    switch (type) {
        case Type::kF16x2: return {&kFormatF16, 16};
        case Type::kBf16x2: return {&kFormatBf16, 16};
        case Type::kE4m3x2: return {&kFormatE4m3, 8};
        case Type::kE5m2x2: return {&kFormatE5m2, 8};
        case Type::kE2m3x2: return {&kFormatE2m3, 8};
        case Type::kE3m2x2: return {&kFormatE3m2, 8};
        case Type::kE2m1x2: return {&kFormatE2m1, 4};
        case Type::kUe8m0x2: return {nullptr, 8};
        default: return {};
    }
}

constexpr uint64_t kScaleNan = 0xff;  ///< ue8m0: a power of two, 2^(code - 127), without sign or zero
double decode_scale(uint64_t code) { return code == kScaleNan ? __builtin_nan("") : __builtin_ldexp(1, int(code) - 127); }
/// The sign is dropped; .rz and .rp round the magnitude.
uint64_t encode_scale(const Exact& value, Rounding rounding, bool finite) {
    if (value.kind == Exact::Kind::kNan) return kScaleNan;
    if (value.kind == Exact::Kind::kInfinite) return kScaleNan - finite;
    if (value.mantissa == 0) return 0;
    const int lead = 63 - __builtin_clzll(value.mantissa);
    const bool power = (value.mantissa & (value.mantissa - 1)) == 0;
    const int exponent = value.exponent + lead + 127 + (rounding == Rounding::kRp && !power);
    return exponent < 0 ? 0 : exponent >= int(kScaleNan) ? kScaleNan - finite : uint64_t(exponent);
}

uint64_t code_of(const Conversion& how, const Exact& value, const Format& format) {
    if (how.has(kRelu) && value.negative && value.kind != Exact::Kind::kNan) return 0;
    return encode(value, format, how.rounding, how.has(kSatfinite));
}
uint64_t element_of(const Conversion& how, const Exact& value, const Packed& type) {
    return type.format == nullptr ? encode_scale(value, how.rounding, how.has(kSatfinite)) : code_of(how, value, *type.format);
}

/// Two f32, the upper element first.
void pack_floats(const LaneOperands& operands, uint32_t mask) {
    const Conversion how(operands.control);
    const Packed to = packed(how.to);
    active_lanes(mask, [&](unsigned lane) {
        const auto source = [&](unsigned i) { return exact(double(float_of(static_cast<const uint32_t*>(operands.source[i])[lane]))); };
        store(operands.destination[0], how.to_bits, lane, element_of(how, source(0), to) << to.bits | element_of(how, source(1), to));
    });
}
void repack(const LaneOperands& operands, uint32_t mask) {
    const Conversion how(operands.control);
    const Packed to = packed(how.to), from = packed(how.from);
    active_lanes(mask, [&](unsigned lane) {
        const uint64_t source = load(operands.source[0], how.from_bits, lane);
        uint64_t result = 0;
        for (unsigned i = 0; i < 2; ++i) {
            const uint64_t code = source >> from.bits * i & ((uint64_t(1) << from.bits) - 1);
            const double value = from.format == nullptr ? decode_scale(code) : decode(code, *from.format);
            result |= element_of(how, exact(value), to) << to.bits * i;
        }
        store(operands.destination[0], how.to_bits, lane, result);
    });
}
void to_tf32(const LaneOperands& operands, uint32_t mask) {
    const Conversion how(operands.control);
    active_lanes(mask, [&](unsigned lane) {
        const uint32_t bits = static_cast<const uint32_t*>(operands.source[0])[lane];
        // .rna is an addition on the bits, whatever they mean.
        const uint64_t code = how.rounding == Rounding::kRna && how.modifiers == 0 ? (bits + 0x1000) >> 13
                                                                                   : code_of(how, exact(double(float_of(bits))), kFormatTf32);
        static_cast<uint32_t*>(operands.destination[0])[lane] = static_cast<uint32_t>(code << 13);
    });
}

template <class T>
struct PackNearest {
    uint32_t operator()(float a, float b) const { return uint32_t(HalfFormat<T>::narrow(a).bits) << 16 | HalfFormat<T>::narrow(b).bits; }
};

/// cvt.pack: a and b saturated to narrow integers, put beside each other below what c held.
template <class T, unsigned kElementBits>
void pack_integers(const LaneOperands& operands, uint32_t mask) {
    constexpr int64_t kLow = std::is_signed_v<T> ? -(int64_t(1) << (kElementBits - 1)) : 0;
    constexpr int64_t kHigh = (int64_t(1) << (kElementBits - std::is_signed_v<T>)) - 1;
    constexpr uint32_t kField = (uint32_t(1) << kElementBits) - 1;
    const auto row = [&](unsigned i) { return static_cast<const uint32_t*>(operands.source[i]); };
    const auto narrow = [&](uint32_t value) {
        const int64_t wide = int32_t(value);
        return static_cast<uint32_t>(wide < kLow ? kLow : wide > kHigh ? kHigh : wide) & kField;
    };
    const bool has_c = kElementBits < 16;
    auto* d = static_cast<uint32_t*>(operands.destination[0]);
    active_lanes(mask, [&](unsigned lane) {
        const uint32_t above = has_c ? row(2)[lane] << 2 * kElementBits % 32 : 0;
        d[lane] = above | narrow(row(0)[lane]) << kElementBits | narrow(row(1)[lane]);
    });
}

LaneFunction pack_function(const Form& form) {
    if (!form.only(kSat) || !form.has(kSat) || form.type2 != Type::kS32) return nullptr;
    const bool with_c = form.type3 == Type::kB32 && form.sources == 3;
    switch (form.type) {
        case Type::kU16: return form.sources == 2 ? pack_integers<uint16_t, 16> : nullptr;
        case Type::kS16: return form.sources == 2 ? pack_integers<int16_t, 16> : nullptr;
        case Type::kU8: return with_c ? pack_integers<uint8_t, 8> : nullptr;
        case Type::kS8: return with_c ? pack_integers<int8_t, 8> : nullptr;
        case Type::kU4: return with_c ? pack_integers<uint8_t, 4> : nullptr;
        case Type::kS4: return with_c ? pack_integers<int8_t, 4> : nullptr;
        default: return nullptr;
    }
}

}  // namespace

LaneFunction narrow_convert_function(const Form& form) {
    if (form.opcode == Opcode::kCvtPack) return pack_function(form);
    if (!form.only(kRelu | kSatfinite) || form.rounding == Rounding::kRs || form.rounding >= Rounding::kRni) return nullptr;
    const bool from_floats = form.type2 == Type::kF32;
    if (form.type == Type::kTf32) return from_floats && form.sources == 1 ? to_tf32 : nullptr;
    if (packed(form.type).bits == 0) return nullptr;
    if (from_floats && form.sources == 2) {
        if (form.modifiers == 0 && form.rounding == Rounding::kRn && form.type == Type::kF16x2) return lanes<PackNearest<Half>, uint32_t, float, float>;
        if (form.modifiers == 0 && form.rounding == Rounding::kRn && form.type == Type::kBf16x2) return lanes<PackNearest<Bfloat>, uint32_t, float, float>;
        return pack_floats;
    }
    return packed(form.type2).bits != 0 && form.sources == 1 ? repack : nullptr;
}

}  // namespace LANESCOPE_LEVEL
}  // namespace lanescope::exec
