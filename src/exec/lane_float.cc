// Arithmetic on f32, f64 and pairs of f32 that PTX defines exactly.
#include "exec/alu_float.h"
#include "exec/lane_directed.h"

namespace lanescope::exec {
inline namespace LANESCOPE_LEVEL {
namespace {

using ptx::Opcode;
using ptx::Type;

template <class F, class T, size_t... kIndex>
LaneFunction rounded(Rounding rounding, std::index_sequence<kIndex...>) {
    return with_rounding<lanes<F, T, std::enable_if_t<(kIndex >= 0), T>...>>(rounding);
}

/// F with the rounding, .ftz and .sat that `form` asks for.
template <class F, size_t kSources, bool kMaySaturate>
LaneFunction arithmetic(const Form& form) {
    constexpr auto kIndices = std::make_index_sequence<kSources>{};
    switch (form.type) {
        case Type::kF32:
            if (!form.only(kMaySaturate ? kFtz | kSat : uint32_t(kFtz))) return nullptr;
            if constexpr (kMaySaturate) {
                if (form.has(kFtz | kSat)) return rounded<Ruled<F, true, true>, float>(form.rounding, kIndices);
                if (form.has(kSat)) return rounded<Ruled<F, false, true>, float>(form.rounding, kIndices);
            }
            if (form.has(kFtz)) return rounded<Ruled<F, true, false>, float>(form.rounding, kIndices);
            return rounded<Ruled<F, false, false>, float>(form.rounding, kIndices);
        case Type::kF64: return form.only(0) ? rounded<Ruled<F, false, false>, double>(form.rounding, kIndices) : nullptr;
        case Type::kF32x2:
            if (!kMaySaturate || !form.only(kFtz)) return nullptr;
            if (form.has(kFtz)) return rounded<OnPair<Ruled<F, true, false>>, FloatPair>(form.rounding, kIndices);
            return rounded<OnPair<Ruled<F, false, false>>, FloatPair>(form.rounding, kIndices);
        default: return nullptr;
    }
}

/// F of one or more sources, without rounding.
template <class F, size_t kSources>
LaneFunction plain(const Form& form) {
    if (form.type == Type::kF64) return form.only(0) ? uniform<Ruled<F, false, false>, kSources, double>(form.type) : nullptr;
    if (!form.only(kFtz) || form.type != Type::kF32) return nullptr;
    return form.has(kFtz) ? uniform<Ruled<F, true, false>, kSources, float>(form.type) : uniform<Ruled<F, false, false>, kSources, float>(form.type);
}

template <class F, size_t kSources>
LaneFunction extreme_function(const Form& form) {
    if (form.type == Type::kF64) return form.only(0) ? uniform<RuledExtreme<F, false>, kSources, double>(form.type) : nullptr;
    if (!form.only(kFtz) || form.type != Type::kF32) return nullptr;
    return form.has(kFtz) ? uniform<RuledExtreme<F, true>, kSources, float>(form.type) : uniform<RuledExtreme<F, false>, kSources, float>(form.type);
}

template <class F>
LaneFunction extreme_of(const Form& form) {
    Form rest = form;
    rest.modifiers &= ~uint32_t(kPropagateNan | kXorsign | kAbsolute);
    if (form.type == Type::kF64 && rest.modifiers != form.modifiers) return nullptr;
    if (form.sources == 3) {
        if (form.has(kXorsign) || form.type != Type::kF32) return nullptr;
        return form.has(kAbsolute) ? extreme_function<OfMagnitudes<F>, 3>(rest) : extreme_function<F, 3>(rest);
    }
    if (form.has(kXorsign) != form.has(kAbsolute)) return nullptr;
    return form.has(kXorsign) ? extreme_function<XorSign<F>, 2>(rest) : extreme_function<F, 2>(rest);
}
template <bool kMax>
LaneFunction extreme(const Form& form) {
    return form.has(kPropagateNan) ? extreme_of<FloatExtreme<kMax, true>>(form) : extreme_of<FloatExtreme<kMax, false>>(form);
}

}  // namespace

LaneFunction float_function(const Form& form) {
    if (form.has(kApprox) || form.has(kFull)) return approximate_function(form);
    switch (form.opcode) {
        case Opcode::kAdd: return arithmetic<FloatAdd, 2, true>(form);
        case Opcode::kSub: return arithmetic<FloatSub, 2, true>(form);
        case Opcode::kMul: return arithmetic<FloatMul, 2, true>(form);
        case Opcode::kFma:
        case Opcode::kMad: return arithmetic<FloatFma, 3, true>(form);
        case Opcode::kDiv: return arithmetic<FloatDiv, 2, false>(form);
        case Opcode::kRcp: return arithmetic<FloatRcp, 1, false>(form);
        case Opcode::kSqrt: return arithmetic<FloatSqrt, 1, false>(form);
        case Opcode::kAbs: return plain<FloatAbs, 1>(form);
        case Opcode::kNeg: return plain<FloatNeg, 1>(form);
        case Opcode::kCopysign: return form.only(0) ? uniform<Copysign, 2, float, double>(form.type) : nullptr;
        case Opcode::kMin: return extreme<false>(form);
        case Opcode::kMax: return extreme<true>(form);
        default: return nullptr;
    }
}

}  // namespace LANESCOPE_LEVEL
}  // namespace lanescope::exec
