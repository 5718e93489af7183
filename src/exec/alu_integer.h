// Integer semantics of PTX on single values.
#pragma once

#include <cstdint>
#include <type_traits>

#include "exec/lane_form.h"

namespace lanescope::exec {
inline namespace LANESCOPE_LEVEL {

template <class T> constexpr unsigned kBits = 8 * sizeof(T);
template <class T> constexpr bool kSigned = std::is_signed_v<T>;
template <class T> using Unsigned = std::make_unsigned_t<T>;
/// Where arithmetic on T wraps without promotion to a signed int.
template <class T> using Modular = std::conditional_t<(sizeof(T) < 4), uint32_t, Unsigned<T>>;
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;
/// Holds any product of two T.
template <class T>
using Product = std::conditional_t<sizeof(T) == 8, std::conditional_t<kSigned<T>, Int128, Uint128>,
                                   std::conditional_t<sizeof(T) == 4, std::conditional_t<kSigned<T>, int64_t, uint64_t>,
                                                      std::conditional_t<kSigned<T>, int32_t, uint32_t>>>;
template <class T> constexpr T kLowest = kSigned<T> ? T(Unsigned<T>(1) << (kBits<T> - 1)) : T(0);
template <class T> constexpr T kHighest = T(~kLowest<T>);

template <class T, class Wide>
inline T clamp_to(Wide value) {
    return value < Wide(kLowest<T>) ? kLowest<T> : value > Wide(kHighest<T>) ? kHighest<T> : T(value);
}

struct Add { template <class T> T operator()(T a, T b) const { return T(Modular<T>(a) + Modular<T>(b)); } };
struct Sub { template <class T> T operator()(T a, T b) const { return T(Modular<T>(a) - Modular<T>(b)); } };
struct AddSat { int32_t operator()(int32_t a, int32_t b) const { return clamp_to<int32_t>(int64_t(a) + b); } };
struct SubSat { int32_t operator()(int32_t a, int32_t b) const { return clamp_to<int32_t>(int64_t(a) - b); } };

struct MulLo { template <class T> T operator()(T a, T b) const { return T(Modular<T>(a) * Modular<T>(b)); } };
struct MulHi { template <class T> T operator()(T a, T b) const { return T(Product<T>(a) * Product<T>(b) >> kBits<T>); } };
template <class Wide>
struct MulWide { template <class T> Wide operator()(T a, T b) const { return Wide(Wide(a) * Wide(b)); } };
/// The 48-bit product of two 24-bit numbers, from bit kShift on.
template <unsigned kShift>
struct Mul24 {
    template <class T> T operator()(T a, T b) const { return T(low24(a) * low24(b) >> kShift); }
    template <class T> static Product<T> low24(T value) { return Product<T>(T(Unsigned<T>(value) << 8) >> 8); }
};
template <class Mul>
struct Mad { template <class T> T operator()(T a, T b, T c) const { return Add()(Mul()(a, b), c); } };
template <class Mul>
struct MadSat { int32_t operator()(int32_t a, int32_t b, int32_t c) const { return AddSat()(Mul()(a, b), c); } };
template <class Wide>
struct MadWide { template <class T> Wide operator()(T a, T b, Wide c) const { return Add()(MulWide<Wide>()(a, b), c); } };

struct Sad { template <class T> T operator()(T a, T b, T c) const { return Add()(c, a < b ? Sub()(b, a) : Sub()(a, b)); } };

/// Dividing by zero gives all ones, as the hardware's sequence does; the lowest number by -1 wraps.
struct Div {
    static constexpr bool kSlow = true;
    template <class T> T operator()(T a, T b) const {
        if (b == 0) return T(-1);
        if constexpr (kSigned<T>) if (b == -1) return Sub()(T(0), a);
        return T(a / b);
    }
};
struct Rem {
    static constexpr bool kSlow = true;
    template <class T> T operator()(T a, T b) const {
        if (b == 0) return T(-1);
        if constexpr (kSigned<T>) if (b == -1) return 0;
        return T(a % b);
    }
};

struct Neg { template <class T> T operator()(T a) const { return Sub()(T(0), a); } };
struct Abs { template <class T> T operator()(T a) const { return a < 0 ? Neg()(a) : a; } };
struct Min { template <class T> T operator()(T a, T b) const { return a < b ? a : b; } };
struct Max { template <class T> T operator()(T a, T b) const { return a > b ? a : b; } };
struct Relu { template <class T> T operator()(T a) const { return a < 0 ? T(0) : a; } };
/// Outer(Inner(…)).
template <class Outer, class Inner>
struct Compose { template <class... T> auto operator()(T... a) const { return Outer()(Inner()(a...)); } };
/// F on the two 16-bit halves.
template <class F, class T>
struct Halves {
    uint32_t operator()(auto... a) const { return uint16_t(F()(T(a)...)) | uint32_t(uint16_t(F()(T(a >> 16)...))) << 16; }
};

struct And { template <class T> T operator()(T a, T b) const { return a & b; } };
struct Or { template <class T> T operator()(T a, T b) const { return a | b; } };
struct Xor { template <class T> T operator()(T a, T b) const { return a ^ b; } };
struct Not { template <class T> T operator()(T a) const { return T(~a); } };
struct Cnot { template <class T> T operator()(T a) const { return a == 0; } };
struct Identity { template <class T> T operator()(T a) const { return a; } };

/// Any function of three bits, from its truth table.
struct Lop3 {
    uint32_t table[8];
    explicit Lop3(uint64_t control) { for (unsigned i = 0; i < 8; ++i) table[i] = control >> i & 1 ? UINT32_MAX : 0; }
    static uint32_t choose(uint32_t select, uint32_t one, uint32_t zero) { return zero ^ (select & (one ^ zero)); }
    uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
        return choose(a, choose(b, choose(c, table[7], table[6]), choose(c, table[5], table[4])),
                      choose(b, choose(c, table[3], table[2]), choose(c, table[1], table[0])));
    }
};

struct Shl { template <class T> T operator()(T a, uint32_t n) const { return n < kBits<T> ? T(Modular<T>(a) << n) : T(0); } };
struct Shr {
    template <class T> T operator()(T a, uint32_t n) const {
        if constexpr (kSigned<T>) return T(a >> (n < kBits<T> ? n : kBits<T> - 1));
        else return n < kBits<T> ? T(a >> n) : T(0);
    }
};
template <bool kLeft, bool kWrap>
struct Shf {
    uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
        const uint32_t n = kWrap ? c & 31 : c < 32 ? c : 32;
        const uint64_t both = uint64_t(b) << 32 | a;
        return kLeft ? uint32_t((both << n) >> 32) : uint32_t(both >> n);
    }
};

struct Popc { template <class T> uint32_t operator()(T a) const { return uint32_t(std::popcount(Unsigned<T>(a))); } };
struct Clz { template <class T> uint32_t operator()(T a) const { return uint32_t(std::countl_zero(Unsigned<T>(a))); } };
template <bool kShiftAmount>
struct Bfind {
    template <class T> uint32_t operator()(T a) const {
        const auto magnitude = Unsigned<T>(kSigned<T> && a < 0 ? ~a : a);
        if (magnitude == 0) return UINT32_MAX;
        const auto leading = uint32_t(std::countl_zero(magnitude));
        return kShiftAmount ? leading : kBits<T> - 1 - leading;
    }
};
struct Brev {
    template <class T> T operator()(T a) const {
        constexpr T k1 = T(0x5555555555555555), k2 = T(0x3333333333333333), k4 = T(0x0f0f0f0f0f0f0f0f);
        a = T((a >> 1 & k1) | (a & k1) << 1);
        a = T((a >> 2 & k2) | (a & k2) << 2);
        a = T((a >> 4 & k4) | (a & k4) << 4);
        if constexpr (sizeof(T) == 4) return __builtin_bswap32(a);
        else return __builtin_bswap64(a);
    }
};
template <class T>
inline T low_bits(uint32_t count) { return count >= kBits<T> ? T(~T(0)) : T((T(1) << count) - 1); }

/// Position or length of a bit field: eight bits count, but the sequences that serve 64-bit fields look at all of them.
template <class T>
inline uint32_t field_count(uint32_t count) { return sizeof(T) == 8 ? count : count & 0xff; }

struct Bfe {
    template <class T> T operator()(T a, uint32_t b, uint32_t c) const {
        const uint32_t position = field_count<T>(b), length = field_count<T>(c);
        const auto field = Unsigned<T>(Shr()(Unsigned<T>(a), position) & low_bits<Unsigned<T>>(length));
        if constexpr (!kSigned<T>) return field;
        const uint64_t last = uint64_t(position) + length - 1, sign = last < kBits<T> ? last : kBits<T> - 1;
        const bool negative = length != 0 && (Unsigned<T>(a) >> sign & 1) != 0;
        const uint32_t inside = position >= kBits<T> ? 0 : length < kBits<T> - position ? length : kBits<T> - position;
        return T(negative ? field | ~low_bits<Unsigned<T>>(inside) : field);
    }
};
struct Bfi {
    template <class T> T operator()(T a, T b, uint32_t c, uint32_t d) const {
        const uint32_t position = field_count<T>(c), length = field_count<T>(d);
        const T field = Shl()(low_bits<T>(length), position);
        return T((b & ~field) | (Shl()(a, position) & field));
    }
};
struct Fns {
    static constexpr bool kSlow = true;
    uint32_t operator()(uint32_t mask, uint32_t base, int32_t offset) const {
        int64_t left = offset == 0 ? 0 : (offset > 0 ? int64_t(offset) : -int64_t(offset)) - 1;
        for (int64_t position = base; position >= 0 && position < 32; position += offset < 0 ? -1 : 1) {
            if ((mask >> position & 1) != 0 && left-- == 0) return uint32_t(position);
            if (offset == 0) break;
        }
        return UINT32_MAX;
    }
};
template <bool kClamp>
struct Szext {
    template <class T> T operator()(T a, uint32_t b) const {
        if (kClamp && b >= 32) return a;
        const uint32_t count = b & 31, low = low_bits<uint32_t>(count);
        const bool negative = kSigned<T> && count != 0 && (uint32_t(a) >> (count - 1) & 1) != 0;
        return T(negative ? uint32_t(a) | ~low : uint32_t(a) & low);
    }
};
template <bool kClamp>
struct Bmsk {
    uint32_t operator()(uint32_t a, uint32_t b) const {
        if (kClamp && a >= 32) return 0;
        return low_bits<uint32_t>(kClamp ? b : b & 31) << (a & 31);
    }
};

template <class A, class B>
struct Dp4a {
    uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
        for (unsigned i = 0; i < 32; i += 8) c += uint32_t(int32_t(A(a >> i)) * int32_t(B(b >> i)));
        return c;
    }
};
/// A is the 16-bit, B the 8-bit type; kFrom is the first byte of b.
template <class A, class B, unsigned kFrom>
struct Dp2a {
    uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
        for (unsigned i = 0; i < 2; ++i) c += uint32_t(int32_t(A(a >> 16 * i)) * int32_t(B(b >> 8 * (kFrom + i))));
        return c;
    }
};


template <PermuteMode kMode>
struct Prmt {
    uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
        const uint64_t bytes = uint64_t(b) << 32 | a;
        uint32_t result = 0;
        for (uint32_t i = 0; i < 4; ++i) {
            const uint32_t selector = kMode == PermuteMode::kGeneric ? c >> 4 * i & 15 : pick(c & 3, i);
            uint32_t byte = uint32_t(bytes >> 8 * (selector & 7)) & 0xff;
            if (kMode == PermuteMode::kGeneric && (selector & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
            result |= byte << 8 * i;
        }
        return result;
    }
    static uint32_t pick(uint32_t control, uint32_t i) {
        switch (kMode) {
            case PermuteMode::kF4e: return control + i;
            case PermuteMode::kB4e: return (control - i) & 7;
            case PermuteMode::kRc8: return control;
            case PermuteMode::kEcl: return control > i ? control : i;
            case PermuteMode::kEcr: return control < i ? control : i;
            default: return (control & 1) * 2 + (i & 1);
        }
    }
};

}  // namespace LANESCOPE_LEVEL
}  // namespace lanescope::exec
