// Arithmetic on f16, bf16 and their pairs, each result rounded once; and f32 arithmetic with 16-bit operands.
#include "exec/alu_float.h"
#include "exec/lane_directed.h"

namespace lanescope::exec {
inline namespace LANESCOPE_LEVEL {
namespace {

using ptx::Opcode;
using ptx::Type;

constexpr uint16_t kOutOfBounds = 0xffff;  ///< .oob: the NaN that makes a result zero

// Float has more than twice the bits of either format: rounding to it first does no harm to sums and products.
struct WideFma {
    template <class T> static float apply(T a, T b, T c) {
        using Format = HalfFormat<T>;
        // Products of f16 are exact in float; those of bf16 may leave its range.
        if constexpr (std::is_same_v<T, Half>) return add_to_odd(Format::widen(a) * Format::widen(b), Format::widen(c));
        const double product = double(Format::widen(a)) * double(Format::widen(b));
        return odd_double_to_odd_float(add_to_odd(product, double(Format::widen(c))));
    }
};
template <class F>
struct Wide { template <class... T> static float apply(T... a) { return F()(HalfFormat<T>::widen(a)...); } };

template <class T>
inline bool is_nan16(T value) { return is_nan(HalfFormat<T>::widen(value)); }
template <class T>
constexpr uint16_t kOne = std::is_same_v<T, Half> ? 0x3c00 : 0x3f80;
template <class T>
inline T saturate16(T value) {
    const bool low = (value.bits & 0x8000) != 0 || is_nan16(value);
    return {static_cast<uint16_t>(low ? 0 : value.bits > kOne<T> ? kOne<T> : value.bits)};
}
template <class T>
inline T relu16(T value) { return {static_cast<uint16_t>((value.bits & 0x8000) != 0 && !is_nan16(value) ? 0 : value.bits)}; }

/// F (Wide<…> or WideFma) with .ftz, .sat, .relu, .oob around it.
template <class F, uint32_t kModifiers>
struct Ruled16 {
    template <class T> T operator()(T a) const { return finish<T>(F::apply(prepare(a))); }
    template <class T> T operator()(T a, T b) const { return finish<T>(F::apply(prepare(a), prepare(b))); }
    template <class T> T operator()(T a, T b, T c) const {
        const T result = finish<T>(F::apply(prepare(a), prepare(b), prepare(c)));
        if (!(kModifiers & kOob)) return result;
        const bool outside = a.bits == kOutOfBounds || b.bits == kOutOfBounds || c.bits == kOutOfBounds;
        return {static_cast<uint16_t>(outside ? 0 : result.bits)};
    }
    template <class T> static T prepare(T value) { return kModifiers & kFtz ? HalfFormat<T>::flush(value) : value; }
    template <class T> static T finish(float wide) {
        if (kModifiers & kFtz) wide = magnitude(wide) < HalfFormat<T>::kFlushed ? wide * 0 : wide;
        T value = HalfFormat<T>::narrow(wide);
        if (kModifiers & kSat) value = saturate16(value);
        if (kModifiers & kRelu) value = relu16(value);
        return value;
    }
};
/// F on both halves of a pair of T.
template <class F, class T>
struct OnHalves {
    template <class... Pair> auto operator()(Pair... a) const {
        const uint32_t low = F()(T{static_cast<uint16_t>(a.bits)}...).bits, high = F()(T{static_cast<uint16_t>(a.bits >> 16)}...).bits;
        return std::common_type_t<Pair...>{low | high << 16};
    }
};

template <class F, size_t kSources>
LaneFunction of_type(Type type) {
    switch (type) {
        case Type::kF16: return uniform<F, kSources, Half>(type);
        case Type::kBf16: return uniform<F, kSources, Bfloat>(type);
        case Type::kF16x2: return uniform<OnHalves<F, Half>, kSources, HalfPair>(type);
        case Type::kBf16x2: return uniform<OnHalves<F, Bfloat>, kSources, BfloatPair>(type);
        default: return nullptr;
    }
}

/// The variant of F for exactly `modifiers`, among those listed.
template <class F, size_t kSources, uint32_t... kVariants>
LaneFunction variant(Type type, uint32_t modifiers) {
    LaneFunction function = nullptr;
    ((modifiers == kVariants ? void(function = of_type<Ruled16<F, kVariants>, kSources>(type)) : void()), ...);
    return function;
}
template <class F>
LaneFunction sum_or_product(const Form& form) { return variant<Wide<F>, 2, 0u, kFtz, kSat, kFtz | kSat>(form.type, form.modifiers); }

template <class F>
LaneFunction extreme_of(const Form& form) {
    const uint32_t ftz = form.modifiers & kFtz;
    if (form.sources != 2 || form.has(kXorsign) != form.has(kAbsolute)) return nullptr;
    return form.has(kXorsign) ? variant<Wide<XorSign<F>>, 2, 0u, kFtz>(form.type, ftz) : variant<Wide<F>, 2, 0u, kFtz>(form.type, ftz);
}
template <bool kMax>
LaneFunction extreme(const Form& form) {
    if (!form.only(kFtz | kPropagateNan | kXorsign | kAbsolute)) return nullptr;
    return form.has(kPropagateNan) ? extreme_of<FloatExtreme<kMax, true>>(form) : extreme_of<FloatExtreme<kMax, false>>(form);
}

struct Exp2 { static constexpr bool kSlow = true; float operator()(float a) const { return std::exp2(a); } };
struct Tanh { static constexpr bool kSlow = true; float operator()(float a) const { return std::tanh(a); } };

}  // namespace

LaneFunction half_function(const Form& form) {
    if (form.rounding != Rounding::kNone && form.rounding != Rounding::kRn) return nullptr;
    switch (form.opcode) {
        case Opcode::kAdd: return sum_or_product<FloatAdd>(form);
        case Opcode::kSub: return sum_or_product<FloatSub>(form);
        case Opcode::kMul: return sum_or_product<FloatMul>(form);
        case Opcode::kFma:
            return variant<WideFma, 3, 0u, kFtz, kSat, kFtz | kSat, kRelu, kFtz | kRelu, kOob, kOob | kRelu>(form.type, form.modifiers);
        case Opcode::kAbs: return variant<Wide<FloatAbs>, 1, 0u, kFtz>(form.type, form.modifiers);
        case Opcode::kNeg: return variant<Wide<FloatNeg>, 1, 0u, kFtz>(form.type, form.modifiers);
        case Opcode::kMin: return extreme<false>(form);
        case Opcode::kMax: return extreme<true>(form);
        case Opcode::kEx2: return form.has(kApprox) ? variant<Wide<Exp2>, 1, 0u, kFtz>(form.type, form.modifiers & ~kApprox) : nullptr;
        case Opcode::kTanh: return form.has(kApprox) ? variant<Wide<Tanh>, 1, 0u>(form.type, form.modifiers & ~kApprox) : nullptr;
        default: return nullptr;
    }
}

// ---- f32 with 16-bit operands ----------------------------------------------------------------------------------------

namespace {

template <class F, bool kSaturate>
struct Mixed {
    template <class T> float operator()(T a, float c) const { return finish(F()(HalfFormat<T>::widen(a), c)); }
    template <class T> float operator()(T a, T b, float c) const { return finish(F()(HalfFormat<T>::widen(a), HalfFormat<T>::widen(b), c)); }
    static float finish(float value) { return kSaturate ? saturate(value) : canonical(value); }
};

template <class F, class... Narrow>
LaneFunction mixed(const Form& form) {
    if (!form.only(kSat)) return nullptr;
    return form.has(kSat) ? with_rounding<lanes<Mixed<F, true>, float, Narrow..., float>>(form.rounding)
                          : with_rounding<lanes<Mixed<F, false>, float, Narrow..., float>>(form.rounding);
}

}  // namespace

LaneFunction mixed_function(const Form& form) {
    const bool bfloat = form.type2 == Type::kBf16;
    switch (form.opcode) {
        case Opcode::kAdd: return bfloat ? mixed<FloatAdd, Bfloat>(form) : mixed<FloatAdd, Half>(form);
        case Opcode::kSub: return bfloat ? mixed<FloatSub, Bfloat>(form) : mixed<FloatSub, Half>(form);
        case Opcode::kFma: return bfloat ? mixed<FloatFma, Bfloat, Bfloat>(form) : mixed<FloatFma, Half, Half>(form);
        default: return nullptr;
    }
}

}  // namespace LANESCOPE_LEVEL
}  // namespace lanescope::exec
