// Comparisons and selections: setp, set, selp, slct, testp.
#include "exec/alu_float.h"
#include "exec/lane_form.h"

namespace lanescope::exec {
inline namespace LANESCOPE_LEVEL {
namespace {

using ptx::Opcode;
using ptx::Type;

/// What the control word of setp and set holds.
struct Combination {
    Boolean boolean;
    bool negate;               ///< the third operand is `!c`
    uint32_t truth;            ///< set: what true is in the destination
    explicit Combination(uint64_t control) : boolean(Boolean(control & 3)), negate((control & 4) != 0), truth(uint32_t(control >> 32)) {}
    uint32_t operator()(uint32_t result, const LaneOperands& operands) const {
        if (boolean == Boolean::kNone) return result;
        const uint32_t third = *static_cast<const uint32_t*>(operands.source[2]) ^ (negate ? kFullMask : 0);
        switch (boolean) {
            case Boolean::kAnd: return result & third;
            case Boolean::kOr: return result | third;
            default: return result ^ third;
        }
    }
};

template <Compare kCompare>
struct Comparison {
    template <class T> bool operator()(T a, T b) const {
        switch (kCompare) {
            case Compare::kEq: return a == b;
            case Compare::kNe: return std::is_integral_v<T> ? a != b : (a < b || a > b);
            case Compare::kLt: return a < b;
            case Compare::kLe: return a <= b;
            case Compare::kGt: return a > b;
            case Compare::kGe: return a >= b;
            case Compare::kEqu: return !(a < b || a > b);
            case Compare::kNeu: return !(a == b);
            case Compare::kLtu: return !(a >= b);
            case Compare::kLeu: return !(a > b);
            case Compare::kGtu: return !(a <= b);
            case Compare::kGeu: return !(a < b);
            case Compare::kNum: return a == a && b == b;
            default: return !(a == a && b == b);
        }
    }
};
template <class F>
struct Flushed { template <class... T> auto operator()(T... a) const { return F()(flush(a)...); } };
/// F on 16-bit floats, by way of float.
template <class F, bool kFlush>
struct Widened {
    template <class T> bool operator()(T a, T b) const {
        using Format = HalfFormat<T>;
        if (kFlush) return F()(Format::widen(Format::flush(a)), Format::widen(Format::flush(b)));
        return F()(Format::widen(a), Format::widen(b));
    }
};

template <class F, class T>
inline uint32_t compare(const LaneOperands& operands) {
    return predicate_of(F(), Reader<T>(operands.source[0]), Reader<T>(operands.source[1]));
}

template <class F, class T>
void setp(const LaneOperands& operands, uint32_t mask) {
    const Combination combine(operands.control);
    const uint32_t result = compare<F, T>(operands), first = combine(result, operands), second = combine(~result, operands);
    write_predicate(operands.destination[0], first, mask);
    write_predicate(operands.destination[1], second, mask);
}

inline void expand(void* destination, unsigned bits, uint32_t result, uint32_t truth, uint32_t mask) {
    const auto fill = [=](auto* row) {
        LANESCOPE_EACH_LANE(lane) {
            const uint32_t bit = uint32_t(1) << lane;
            const uint32_t value = (result & bit) != 0 ? truth : 0;
            row[lane] = (mask & bit) != 0 ? static_cast<std::remove_reference_t<decltype(row[0])>>(value) : row[lane];
        }
    };
    if (bits == 16) fill(static_cast<uint16_t*>(destination));
    else fill(static_cast<uint32_t*>(destination));
}
template <unsigned kBits, class F, class T>
void set(const LaneOperands& operands, uint32_t mask) {
    const Combination combine(operands.control);
    expand(operands.destination[0], kBits, combine(compare<F, T>(operands), operands), combine.truth, mask);
}

/// The packed forms compare the halves each for themselves: setp's p is the lower, q the upper result.
template <class T>
struct Element {
    const uint32_t* row;
    unsigned shift;
    T operator()(unsigned lane) const { return T{static_cast<uint16_t>(row[lane] >> shift)}; }
};
template <class F, class T>
inline uint32_t compare_half(const LaneOperands& operands, unsigned shift) {
    const auto row = [&](unsigned i) { return Element<T>{static_cast<const uint32_t*>(operands.source[i]), shift}; };
    return predicate_of(F(), row(0), row(1));
}
template <class F, class T>
void setp_pair(const LaneOperands& operands, uint32_t mask) {
    const Combination combine(operands.control);
    const uint32_t low = combine(compare_half<F, T>(operands, 0), operands), high = combine(compare_half<F, T>(operands, 16), operands);
    write_predicate(operands.destination[0], low, mask);
    write_predicate(operands.destination[1], high, mask);
}
template <class F, class T>
void set_pair(const LaneOperands& operands, uint32_t mask) {
    const Combination combine(operands.control);
    const uint32_t low = combine(compare_half<F, T>(operands, 0), operands), high = combine(compare_half<F, T>(operands, 16), operands);
    auto* row = static_cast<uint32_t*>(operands.destination[0]);
    for (unsigned lane = 0; lane < 32; ++lane) {
        const uint32_t value = ((low >> lane & 1) != 0 ? combine.truth & 0xffff : 0) | ((high >> lane & 1) != 0 ? combine.truth & 0xffff0000 : 0);
        if ((mask >> lane & 1) != 0) row[lane] = value;
    }
}

struct Kind {
    bool set = false;      ///< else setp
    unsigned bits = 0;     ///< set: of the destination
};

template <class F, class T>
LaneFunction scalar(const Kind& kind) {
    if (!kind.set) return setp<F, T>;
    return kind.bits == 16 ? set<16, F, T> : set<32, F, T>;
}
template <class F, class T>
LaneFunction packed(const Kind& kind) { return kind.set ? set_pair<F, T> : setp_pair<F, T>; }

template <Compare kCompare>
LaneFunction of_type(Type type, bool ftz, const Kind& kind) {
    using F = Comparison<kCompare>;
    constexpr bool kInteger = kCompare <= Compare::kGe;
    if constexpr (kInteger) {
        switch (type) {
            case Type::kB16: case Type::kU16: return scalar<F, uint16_t>(kind);
            case Type::kB32: case Type::kU32: return scalar<F, uint32_t>(kind);
            case Type::kB64: case Type::kU64: return scalar<F, uint64_t>(kind);
            case Type::kS16: return scalar<F, int16_t>(kind);
            case Type::kS32: return scalar<F, int32_t>(kind);
            case Type::kS64: return scalar<F, int64_t>(kind);
            default: break;
        }
    }
    switch (type) {
        case Type::kF32: return ftz ? scalar<Flushed<F>, float>(kind) : scalar<F, float>(kind);
        case Type::kF64: return scalar<F, double>(kind);
        case Type::kF16: return ftz ? scalar<Widened<F, true>, Half>(kind) : scalar<Widened<F, false>, Half>(kind);
        case Type::kBf16: return scalar<Widened<F, false>, Bfloat>(kind);
        case Type::kF16x2: return ftz ? packed<Widened<F, true>, Half>(kind) : packed<Widened<F, false>, Half>(kind);
        case Type::kBf16x2: return packed<Widened<F, false>, Bfloat>(kind);
        default: return nullptr;
    }
}

LaneFunction comparison(const Form& form) {
    const bool is_set = form.opcode == Opcode::kSet;
    if (!form.only(kFtz)) return nullptr;
    const Type type = is_set ? form.type2 : form.type;
    const Kind kind{is_set, as_bits(form.type) == Type::kU16 ? 16u : 32u};
    const auto choose = [&]<Compare kCompare>() { return of_type<kCompare>(type, form.has(kFtz), kind); };
    switch (form.compare) {
        case Compare::kEq: return choose.template operator()<Compare::kEq>();
        case Compare::kNe: return choose.template operator()<Compare::kNe>();
        case Compare::kLt: return choose.template operator()<Compare::kLt>();
        case Compare::kLe: return choose.template operator()<Compare::kLe>();
        case Compare::kGt: return choose.template operator()<Compare::kGt>();
        case Compare::kGe: return choose.template operator()<Compare::kGe>();
        case Compare::kEqu: return choose.template operator()<Compare::kEqu>();
        case Compare::kNeu: return choose.template operator()<Compare::kNeu>();
        case Compare::kLtu: return choose.template operator()<Compare::kLtu>();
        case Compare::kLeu: return choose.template operator()<Compare::kLeu>();
        case Compare::kGtu: return choose.template operator()<Compare::kGtu>();
        case Compare::kGeu: return choose.template operator()<Compare::kGeu>();
        case Compare::kNum: return choose.template operator()<Compare::kNum>();
        case Compare::kNan: return choose.template operator()<Compare::kNan>();
        default: return nullptr;
    }
}

struct Select { template <class T> T operator()(T a, T b, uint32_t c) const { return c != 0 ? a : b; } };
/// b where c is negative or NaN; -0 is not negative.
struct SelectBySign { template <class T, class C> T operator()(T a, T b, C c) const { return c >= 0 ? a : b; } };
struct SelectBySignFlushed { template <class T> T operator()(T a, T b, float c) const { return flush(c) >= 0 ? a : b; } };

template <class F, class C>
LaneFunction selection(Type type) {
    switch (as_bits(type)) {
        case Type::kU16: return lanes<F, uint16_t, uint16_t, uint16_t, C>;
        case Type::kU32: return lanes<F, uint32_t, uint32_t, uint32_t, C>;
        case Type::kU64: return lanes<F, uint64_t, uint64_t, uint64_t, C>;
        default: return nullptr;
    }
}

template <FloatClass kClass>
struct Test {
    template <class T> bool operator()(T value) const {
        using U = decltype(bits_of(value));
        constexpr U kInfinity = sizeof(T) == 4 ? U(0x7f800000) : U(0x7ff0000000000000), kSmallest = kInfinity & ~(kInfinity << 1);
        const U bits = bits_of(magnitude(value));
        switch (kClass) {
            case FloatClass::kFinite: return bits < kInfinity;
            case FloatClass::kInfinite: return bits == kInfinity;
            case FloatClass::kNumber: return bits <= kInfinity;
            case FloatClass::kNotanumber: return bits > kInfinity;
            case FloatClass::kNormal: return bits == 0 || (bits >= kSmallest && bits < kInfinity);  // zeros count as normal
            default: return bits != 0 && bits < kSmallest;
        }
    }
};
template <FloatClass kClass>
LaneFunction test(Type type) {
    if (type == Type::kF32) return lanes<Test<kClass>, bool, float>;
    return type == Type::kF64 ? lanes<Test<kClass>, bool, double> : nullptr;
}

}  // namespace

LaneFunction compare_function(const Form& form) {
    switch (form.opcode) {
        case Opcode::kSetp:
        case Opcode::kSet: return comparison(form);
        case Opcode::kSelp: return form.negated == 0 ? selection<Select, bool>(form.type) : nullptr;
        case Opcode::kSlct:
            if (form.type2 == Type::kS32) return selection<SelectBySign, int32_t>(form.type);
            if (form.type2 != Type::kF32) return nullptr;
            return form.has(kFtz) ? selection<SelectBySignFlushed, float>(form.type) : selection<SelectBySign, float>(form.type);
        case Opcode::kTestp:
            switch (form.float_class) {
                case FloatClass::kFinite: return test<FloatClass::kFinite>(form.type);
                case FloatClass::kInfinite: return test<FloatClass::kInfinite>(form.type);
                case FloatClass::kNumber: return test<FloatClass::kNumber>(form.type);
                case FloatClass::kNotanumber: return test<FloatClass::kNotanumber>(form.type);
                case FloatClass::kNormal: return test<FloatClass::kNormal>(form.type);
                case FloatClass::kSubnormal: return test<FloatClass::kSubnormal>(form.type);
                default: return nullptr;
            }
        default: return nullptr;
    }
}

}  // namespace LANESCOPE_LEVEL
}  // namespace lanescope::exec
