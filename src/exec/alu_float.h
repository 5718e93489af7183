// Floating-point semantics of PTX on single values. The host rounds as its mode says: lane_float.cc sets it for .rz .rm .rp.
#pragma once

#include <cmath>
#include <cstdint>

#include "exec/half.h"

namespace lanescope::exec {
inline namespace LANESCOPE_LEVEL {

inline float magnitude(float value) { return float_of(bits_of(value) & 0x7fffffff); }
inline double magnitude(double value) { return double_of(bits_of(value) & 0x7fffffffffffffff); }
inline float negated(float value) { return float_of(bits_of(value) ^ 0x80000000); }
inline double negated(double value) { return double_of(bits_of(value) ^ 0x8000000000000000); }

// `scaled` computes the operation on a value 2^64 times as large: what rounding makes of a tiny result if the exponent has no lower
// limit, which is what .ftz looks at. Only mul, fma, div and rcp need it: small sums are exact.
constexpr float kScale = 0x1p64f;
struct FloatAdd { template <class T> T operator()(T a, T b) const { return a + b; } };
struct FloatSub { template <class T> T operator()(T a, T b) const { return a - b; } };
struct FloatMul {
    template <class T> T operator()(T a, T b) const { return a * b; }
    static float scaled(float a, float b) { return magnitude(a) < magnitude(b) ? a * kScale * b : a * (b * kScale); }
};
struct FloatDiv {
    static constexpr bool kFirstNan = true;  ///< of two NaNs the first comes out
    template <class T> T operator()(T a, T b) const { return a / b; }
    static float scaled(float a, float b) { return a * kScale / b; }
};
struct FloatRcp {
    template <class T> T operator()(T a) const { return 1 / a; }
    static float scaled(float a) { return kScale / a; }
};
struct FloatFma {
    float operator()(float a, float b, float c) const { return __builtin_fmaf(a, b, c); }
    double operator()(double a, double b, double c) const { return __builtin_fma(a, b, c); }
    static float scaled(float a, float b, float c) {
        const bool first = magnitude(a) < magnitude(b);
        return __builtin_fmaf(first ? a * kScale : a, first ? b : b * kScale, c * kScale);
    }
};
struct FloatSqrt {
    float operator()(float a) const { return __builtin_sqrtf(a); }
    double operator()(double a) const { return __builtin_sqrt(a); }
};
/// A NaN keeps its sign.
struct FloatAbs { template <class T> T operator()(T a) const { return is_nan(a) ? a : magnitude(a); } };
struct FloatNeg { template <class T> T operator()(T a) const { return is_nan(a) ? a : negated(a); } };
/// The sign of a on b.
struct Copysign {
    float operator()(float a, float b) const { return float_of((bits_of(a) & 0x80000000) | (bits_of(b) & 0x7fffffff)); }
    double operator()(double a, double b) const { return double_of((bits_of(a) & 0x8000000000000000) | (bits_of(b) & 0x7fffffffffffffff)); }
};

/// -0 is below +0. A NaN gives way to a number, or with kPropagate wins.
template <bool kMax, bool kPropagate>
struct FloatExtreme {
    template <class T> T operator()(T a, T b) const {
        using U = decltype(bits_of(a));
        const U equal = kMax ? bits_of(a) & bits_of(b) : bits_of(a) | bits_of(b);
        const T chosen = a == b ? __builtin_bit_cast(T, equal) : (kMax ? a > b : a < b) ? a : b;
        if (kPropagate) return is_nan(a) ? a : is_nan(b) ? b : chosen;
        return is_nan(a) ? b : is_nan(b) ? a : chosen;
    }
    template <class T> T operator()(T a, T b, T c) const { return (*this)((*this)(a, b), c); }
};
/// .xorsign.abs: the extreme magnitude with the product's sign.
template <class Extreme>
struct XorSign {
    template <class T> T operator()(T a, T b) const {
        const T result = Extreme()(magnitude(a), magnitude(b));
        return (bits_of(a) ^ bits_of(b)) >> (8 * sizeof(T) - 1) != 0 ? negated(result) : result;
    }
};
/// .abs of the three-input forms.
template <class Extreme>
struct OfMagnitudes { template <class... T> auto operator()(T... a) const { return Extreme()(magnitude(a)...); } };

/// The last NaN among the operands, made quiet, is the result of f64 arithmetic; `result` where there is none.
inline double propagate(double result) { return result; }
template <class... Rest>
inline double propagate(double result, double first, Rest... rest) { return propagate(is_nan(first) ? quiet(first) : result, rest...); }
template <class... T>
inline float propagate(float result, T...) { return canonical(result); }

template <class T>
inline T first_nan(T result, T a, T b) { return propagate(result, b, a); }
/// A fused operation prefers b's NaN to c's, and that to a's.
template <class T>
inline T fused_nan(T result, T a, T b, T c) { return propagate(result, a, c, b); }

/// F with the rules around it: .ftz on the way in and out, .sat, which NaN comes out.
template <class F, bool kFlush, bool kSaturate>
struct Ruled {
    template <class... T> auto operator()(T... a) const {
        auto result = kFlush ? compute(flush(a)...) : F()(a...);
        if constexpr (requires { F::kFirstNan; }) result = first_nan(result, a...);
        else if constexpr (sizeof...(T) == 3) result = fused_nan(result, a...);
        else result = propagate(result, a...);
        return kSaturate ? saturate(result) : result;
    }
    template <class... T> static auto compute(T... a) {
        auto result = flush(F()(a...));
        if constexpr (requires { F::scaled(a...); })
            result = magnitude(result) == 0x1p-126f && magnitude(F::scaled(a...)) < 0x1p-126f * kScale ? result * 0 : result;
        return result;
    }
};
/// The same for min and max, where a NaN does not always win.
template <class F, bool kFlush>
struct RuledExtreme {
    template <class... T> auto operator()(T... a) const {
        const auto result = kFlush ? flush(F()(flush(a)...)) : F()(a...);
        return is_nan(result) ? propagate(result, result) : result;
    }
};
/// F on both floats of a pair.
template <class F>
struct OnPair {
    template <class... T> FloatPair operator()(T... a) const {
        const uint32_t low = bits_of(F()(float_of(static_cast<uint32_t>(a.bits))...));
        const uint32_t high = bits_of(F()(float_of(static_cast<uint32_t>(a.bits >> 32))...));
        return {uint64_t(high) << 32 | low};
    }
};

}  // namespace LANESCOPE_LEVEL
}  // namespace lanescope::exec
