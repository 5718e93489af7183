// Integer arithmetic, logic, shifts, bit fields and carry chains.
#include "exec/alu_integer.h"
#include "exec/lane_form.h"

namespace lanescope::exec {
inline namespace LANESCOPE_LEVEL {
namespace {

using ptx::Opcode;
using ptx::Type;

#define LANESCOPE_UNSIGNED uint16_t, uint32_t, uint64_t
#define LANESCOPE_SIGNED int16_t, int32_t, int64_t

template <class F, size_t kSources>
LaneFunction any_sign(Type type) { return uniform<F, kSources, LANESCOPE_UNSIGNED>(as_bits(type)); }
template <class F, size_t kSources>
LaneFunction any_integer(Type type) { return uniform<F, kSources, LANESCOPE_UNSIGNED, LANESCOPE_SIGNED>(type); }
template <class F, size_t kSources>
LaneFunction word(Type type) { return uniform<F, kSources, uint32_t, int32_t>(type); }
template <class F, size_t kSources>
LaneFunction word_or_long(Type type) { return uniform<F, kSources, uint32_t, int32_t, uint64_t, int64_t>(type); }

bool is_pair(Type type) { return type == Type::kU16x2 || type == Type::kS16x2; }

/// F on both halves of u16x2 or s16x2.
template <class F>
LaneFunction pair(Type type) {
    return type == Type::kS16x2 ? lanes<Halves<F, int16_t>, uint32_t, uint32_t, uint32_t> : lanes<Halves<F, uint16_t>, uint32_t, uint32_t, uint32_t>;
}

LaneFunction add_or_sub(const Form& form) {
    const bool add = form.opcode == Opcode::kAdd;
    if (!form.only(kSat)) return nullptr;
    if (form.has(kSat)) {
        if (form.type != Type::kS32) return nullptr;
        return add ? lanes<AddSat, int32_t, int32_t, int32_t> : lanes<SubSat, int32_t, int32_t, int32_t>;
    }
    if (is_pair(form.type)) return add ? pair<Add>(form.type) : pair<Sub>(form.type);
    return add ? any_sign<Add, 2>(form.type) : any_sign<Sub, 2>(form.type);
}

template <template <class> class F, size_t kSources>
LaneFunction widening(Type type) {
    const auto choose = []<class T, class Wide>() {
        if constexpr (kSources == 2) return lanes<F<Wide>, Wide, T, T>;
        else return lanes<F<Wide>, Wide, T, T, Wide>;
    };
    switch (type) {
        case Type::kU16: return choose.template operator()<uint16_t, uint32_t>();
        case Type::kS16: return choose.template operator()<int16_t, int32_t>();
        case Type::kU32: return choose.template operator()<uint32_t, uint64_t>();
        case Type::kS32: return choose.template operator()<int32_t, int64_t>();
        default: return nullptr;
    }
}

LaneFunction multiply(const Form& form) {
    switch (form.modifiers) {
        case 0:
        case kLo: return any_sign<MulLo, 2>(form.type);
        case kHi: return any_integer<MulHi, 2>(form.type);
        case kWide: return widening<MulWide, 2>(form.type);
        default: return nullptr;
    }
}
LaneFunction multiply_add(const Form& form) {
    switch (form.modifiers) {
        case kLo: return any_sign<Mad<MulLo>, 3>(form.type);
        case kHi: return any_integer<Mad<MulHi>, 3>(form.type);
        case kWide: return widening<MadWide, 3>(form.type);
        case kHi | kSat: return form.type == Type::kS32 ? lanes<MadSat<MulHi>, int32_t, int32_t, int32_t, int32_t> : nullptr;
        default: return nullptr;
    }
}
LaneFunction multiply24(const Form& form) {
    if (!form.only(kLo | kHi)) return nullptr;
    return form.has(kHi) ? word<Mul24<16>, 2>(form.type) : word<Mul24<0>, 2>(form.type);
}
LaneFunction multiply_add24(const Form& form) {
    switch (form.modifiers) {
        case kLo: return word<Mad<Mul24<0>>, 3>(form.type);
        case kHi: return word<Mad<Mul24<16>>, 3>(form.type);
        case kHi | kSat: return form.type == Type::kS32 ? lanes<MadSat<Mul24<16>>, int32_t, int32_t, int32_t, int32_t> : nullptr;
        default: return nullptr;
    }
}

template <class F>
LaneFunction extreme(const Form& form) {
    if (!form.only(kRelu)) return nullptr;
    if (form.has(kRelu)) {
        if (form.type == Type::kS32) return lanes<Compose<Relu, F>, int32_t, int32_t, int32_t>;
        if (form.type == Type::kS16x2) return pair<Compose<Relu, F>>(form.type);
        return nullptr;
    }
    return is_pair(form.type) ? pair<F>(form.type) : any_integer<F, 2>(form.type);
}

template <template <class, class> class Dot>
LaneFunction dot(Type a, Type b) {
    const bool signed_a = a == Type::kS32, signed_b = b == Type::kS32;
    if ((!signed_a && a != Type::kU32) || (!signed_b && b != Type::kU32)) return nullptr;
    const auto choose = []<class A, class B>() { return lanes<Dot<A, B>, uint32_t, uint32_t, uint32_t, uint32_t>; };
    if (signed_a) return signed_b ? choose.template operator()<int16_t, int8_t>() : choose.template operator()<int16_t, uint8_t>();
    return signed_b ? choose.template operator()<uint16_t, int8_t>() : choose.template operator()<uint16_t, uint8_t>();
}
template <class A, class B> using DotBytes = Dp4a<std::conditional_t<kSigned<A>, int8_t, uint8_t>, B>;
template <class A, class B> using DotLow = Dp2a<A, B, 0>;
template <class A, class B> using DotHigh = Dp2a<A, B, 2>;

}  // namespace

LaneFunction integer_function(const Form& form) {
    switch (form.opcode) {
        case Opcode::kAdd:
        case Opcode::kSub: return form.has(kCc) ? carry_function(form) : add_or_sub(form);
        case Opcode::kMul: return multiply(form);
        case Opcode::kMad: return form.has(kCc) ? carry_function(form) : multiply_add(form);
        case Opcode::kMul24: return multiply24(form);
        case Opcode::kMad24: return multiply_add24(form);
        case Opcode::kMin: return extreme<Min>(form);
        case Opcode::kMax: return extreme<Max>(form);
        case Opcode::kDp2a: return form.modifiers == kLo ? dot<DotLow>(form.type, form.type2) : form.modifiers == kHi ? dot<DotHigh>(form.type, form.type2) : nullptr;
        default: break;
    }
    if (form.modifiers != 0) return nullptr;
    switch (form.opcode) {
        case Opcode::kSad: return any_integer<Sad, 3>(form.type);
        case Opcode::kDiv: return any_integer<Div, 2>(form.type);
        case Opcode::kRem: return any_integer<Rem, 2>(form.type);
        case Opcode::kAbs: return uniform<Abs, 1, LANESCOPE_SIGNED>(form.type);
        case Opcode::kNeg: return uniform<Neg, 1, LANESCOPE_SIGNED>(form.type);
        case Opcode::kDp4a: return dot<DotBytes>(form.type, form.type2);
        default: return nullptr;
    }
}

namespace {

/// Shifts and the like: second operand (and any after) is a 32-bit count.
template <class F, class... Counts>
LaneFunction counted(Type type) {
    LaneFunction function = nullptr;
    const auto offer = [&]<class T>() { if (is_type<T>(type)) function = lanes<F, T, T, Counts...>; };
    offer.template operator()<uint16_t>();
    offer.template operator()<uint32_t>();
    offer.template operator()<uint64_t>();
    offer.template operator()<int16_t>();
    offer.template operator()<int32_t>();
    offer.template operator()<int64_t>();
    return function;
}

/// One source of 32 or 64 bits, a 32-bit result.
template <class F>
LaneFunction counting(Type type) {
    switch (type) {
        case Type::kB32: case Type::kU32: return lanes<F, uint32_t, uint32_t>;
        case Type::kB64: case Type::kU64: return lanes<F, uint32_t, uint64_t>;
        case Type::kS32: return lanes<F, uint32_t, int32_t>;
        case Type::kS64: return lanes<F, uint32_t, int64_t>;
        default: return nullptr;
    }
}

template <class F, class... S>
constexpr LaneFunction kWord = lanes<F, uint32_t, S...>;

/// lop3.BoolOp: the second destination is BoolOp(d != 0, q).
void lop3_with_predicate(const LaneOperands& operands, uint32_t mask) {
    const Reader<uint32_t> a(operands.source[0]), b(operands.source[1]), c(operands.source[2]);
    const uint32_t q = *static_cast<const uint32_t*>(operands.source[4]);
    const Lop3 operation(operands.control & 0xff);
    const uint32_t nonzero = predicate_of([&](unsigned lane) { return operation(a(lane), b(lane), c(lane)) != 0; }, [](unsigned lane) { return lane; });
    const uint32_t other = (operands.control & 0x200) != 0 ? ~q : q;
    if (operands.destination[0] != nullptr) lanes<Lop3, uint32_t, uint32_t, uint32_t, uint32_t>(operands, mask);
    write_predicate(operands.destination[1], (operands.control & 0x100) != 0 ? nonzero & other : nonzero | other, mask);
}

template <class F>
void predicate_logic(const LaneOperands& operands, uint32_t mask) {
    const auto source = [&](unsigned i) { return *static_cast<const uint32_t*>(operands.source[i]) ^ ((operands.control >> i & 1) != 0 ? kFullMask : 0); };
    if constexpr (std::is_invocable_v<F, uint32_t>) write_predicate(operands.destination[0], F()(source(0)), mask);
    else write_predicate(operands.destination[0], F()(source(0), source(1)), mask);
}
struct NotBits { uint32_t operator()(uint32_t a) const { return ~a; } };
struct AndBits { uint32_t operator()(uint32_t a, uint32_t b) const { return a & b; } };
struct OrBits { uint32_t operator()(uint32_t a, uint32_t b) const { return a | b; } };
struct XorBits { uint32_t operator()(uint32_t a, uint32_t b) const { return a ^ b; } };

LaneFunction permute(PermuteMode mode) {
    const auto choose = []<PermuteMode kMode>() { return kWord<Prmt<kMode>, uint32_t, uint32_t, uint32_t>; };
    switch (mode) {
        case PermuteMode::kGeneric: return choose.template operator()<PermuteMode::kGeneric>();
        case PermuteMode::kF4e: return choose.template operator()<PermuteMode::kF4e>();
        case PermuteMode::kB4e: return choose.template operator()<PermuteMode::kB4e>();
        case PermuteMode::kRc8: return choose.template operator()<PermuteMode::kRc8>();
        case PermuteMode::kEcl: return choose.template operator()<PermuteMode::kEcl>();
        case PermuteMode::kEcr: return choose.template operator()<PermuteMode::kEcr>();
        case PermuteMode::kRc16: return choose.template operator()<PermuteMode::kRc16>();
    }
    return nullptr;
}

LaneFunction clamped_function(const Form& form) {
    const bool clamp = form.has(kClamp);
    if (clamp == form.has(kWrap)) return nullptr;
    switch (form.opcode) {
        case Opcode::kSzext: return clamp ? counted<Szext<true>, uint32_t>(form.type) : counted<Szext<false>, uint32_t>(form.type);
        case Opcode::kBmsk: return clamp ? kWord<Bmsk<true>, uint32_t, uint32_t> : kWord<Bmsk<false>, uint32_t, uint32_t>;
        case Opcode::kShf:
            if (form.has(kLeft)) return clamp ? kWord<Shf<true, false>, uint32_t, uint32_t, uint32_t> : kWord<Shf<true, true>, uint32_t, uint32_t, uint32_t>;
            return clamp ? kWord<Shf<false, false>, uint32_t, uint32_t, uint32_t> : kWord<Shf<false, true>, uint32_t, uint32_t, uint32_t>;
        default: return nullptr;
    }
}

}  // namespace

LaneFunction bit_function(const Form& form) {
    const bool predicate = form.type == Type::kPred;
    switch (form.opcode) {
        case Opcode::kAnd: return predicate ? predicate_logic<AndBits> : any_sign<And, 2>(form.type);
        case Opcode::kOr: return predicate ? predicate_logic<OrBits> : any_sign<Or, 2>(form.type);
        case Opcode::kXor: return predicate ? predicate_logic<XorBits> : any_sign<Xor, 2>(form.type);
        case Opcode::kNot: return predicate ? predicate_logic<NotBits> : any_sign<Not, 1>(form.type);
        case Opcode::kCnot: return any_sign<Cnot, 1>(form.type);
        case Opcode::kLop3:
            if (form.boolean == Boolean::kXor) return nullptr;
            return form.boolean == Boolean::kNone ? kWord<Lop3, uint32_t, uint32_t, uint32_t> : lop3_with_predicate;
        case Opcode::kShl: return counted<Shl, uint32_t>(as_bits(form.type));
        case Opcode::kShr: return counted<Shr, uint32_t>(form.type);
        case Opcode::kShf:
        case Opcode::kSzext:
        case Opcode::kBmsk: return clamped_function(form);
        case Opcode::kPrmt: return permute(form.permute);
        case Opcode::kPopc: return counting<Popc>(as_bits(form.type));
        case Opcode::kClz: return counting<Clz>(as_bits(form.type));
        case Opcode::kBfind: return form.has(kShiftAmount) ? counting<Bfind<true>>(form.type) : counting<Bfind<false>>(form.type);
        case Opcode::kBrev: return uniform<Brev, 1, uint32_t, uint64_t>(form.type);
        case Opcode::kBfe: return counted<Bfe, uint32_t, uint32_t>(form.type);
        case Opcode::kBfi:
            if (form.type == Type::kB64) return lanes<Bfi, uint64_t, uint64_t, uint64_t, uint32_t, uint32_t>;
            return form.type == Type::kB32 ? kWord<Bfi, uint32_t, uint32_t, uint32_t, uint32_t> : nullptr;
        case Opcode::kFns: return kWord<Fns, uint32_t, uint32_t, int32_t>;
        default: return nullptr;
    }
}

// ---- carry chains ----------------------------------------------------------------------------------------------------

namespace {

/// d = product-or-a ± b ± carry. Bit 0 of control: write the carry flag.
template <class T, class Mul, bool kSubtract, bool kCarryIn>
void carry_chain(const LaneOperands& operands, uint32_t mask) {
    constexpr bool kMultiply = !std::is_void_v<Mul>;
    const Reader<T> a(operands.source[0]), b(operands.source[1]), c(operands.source[kMultiply ? 2 : 1]);
    const uint32_t carry_in = kCarryIn ? *static_cast<const uint32_t*>(operands.source[kCarrySource]) : 0;
    auto* d = static_cast<Unsigned<T>*>(operands.destination[0]);
    uint32_t carry_out = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
        Unsigned<T> left = Unsigned<T>(a(lane)), result = 0;
        if constexpr (kMultiply) left = Unsigned<T>(Mul()(a(lane), b(lane)));
        const auto right = Unsigned<T>(c(lane)), in = Unsigned<T>(carry_in >> lane & 1);
        bool out = false;
        if constexpr (kSubtract) {
            out = __builtin_sub_overflow(left, right, &result);
            out |= __builtin_sub_overflow(result, in, &result);
        } else {
            out = __builtin_add_overflow(left, right, &result);
            out |= __builtin_add_overflow(result, in, &result);
        }
        carry_out |= uint32_t(out) << lane;
        if ((mask >> lane & 1) != 0) d[lane] = result;
    }
    if ((operands.control & 1) != 0) write_predicate(operands.destination[kCarryDestination], carry_out, mask);
}

template <class Mul, bool kSubtract, bool kCarryIn>
LaneFunction carry_type(Type type) {
    switch (type) {
        case Type::kU32: return carry_chain<uint32_t, Mul, kSubtract, kCarryIn>;
        case Type::kS32: return carry_chain<int32_t, Mul, kSubtract, kCarryIn>;
        case Type::kU64: return carry_chain<uint64_t, Mul, kSubtract, kCarryIn>;
        case Type::kS64: return carry_chain<int64_t, Mul, kSubtract, kCarryIn>;
        default: return nullptr;
    }
}

}  // namespace

LaneFunction carry_function(const Form& form) {
    if (!form.only(kCc | kLo | kHi)) return nullptr;
    switch (form.opcode) {
        case Opcode::kAdd: return carry_type<void, false, false>(form.type);
        case Opcode::kAddc: return carry_type<void, false, true>(form.type);
        case Opcode::kSub: return carry_type<void, true, false>(form.type);
        case Opcode::kSubc: return carry_type<void, true, true>(form.type);
        case Opcode::kMad: return form.has(kHi) ? carry_type<MulHi, false, false>(form.type) : carry_type<MulLo, false, false>(form.type);
        case Opcode::kMadc: return form.has(kHi) ? carry_type<MulHi, false, true>(form.type) : carry_type<MulLo, false, true>(form.type);
        default: return nullptr;
    }
}

}  // namespace LANESCOPE_LEVEL
}  // namespace lanescope::exec
