// The approximate functions. PTX bounds their error, not their value: results here are those of the host's library, rounded to f32,
// which is within every bound; special values are the documented ones.
#include "exec/alu_float.h"
#include "exec/lane_form.h"

namespace lanescope::exec {
inline namespace LANESCOPE_LEVEL {
namespace {

using ptx::Opcode;
using ptx::Type;

struct ApproxRcp { float operator()(float a) const { return 1 / a; } };
struct ApproxSqrt { float operator()(float a) const { return __builtin_sqrtf(a); } };
struct ApproxRsqrt {
    float operator()(float a) const { return float(1 / __builtin_sqrt(double(a))); }
    double operator()(double a) const { return 1 / __builtin_sqrt(a); }
};
/// Beyond 2^126 the reciprocal of the divisor is taken as zero.
struct ApproxDiv {
    float operator()(float a, float b) const {
        const bool huge = magnitude(b) > 0x1p126f && magnitude(b) < __builtin_inff();
        return huge ? a * Copysign()(b, 0.0f) : a / b;
    }
};
template <float (*kFunction)(float)>
struct Library {
    static constexpr bool kSlow = true;
    float operator()(float a) const { return kFunction(a); }
};
inline float sine(float a) { return __builtin_sinf(a); }
inline float cosine(float a) { return __builtin_cosf(a); }
inline float logarithm(float a) { return __builtin_log2f(a); }
inline float exponential(float a) { return __builtin_exp2f(a); }
inline float hyperbolic_tangent(float a) { return __builtin_tanhf(a); }

template <class F>
struct RuledSlow : Ruled<F, false, false> { static constexpr bool kSlow = true; };
template <class F>
struct FlushedSlow : Ruled<F, true, false> { static constexpr bool kSlow = true; };

template <float (*kFunction)(float)>
LaneFunction library(const Form& form) {
    using F = Library<kFunction>;
    return form.has(kFtz) ? lanes<FlushedSlow<F>, float, float> : lanes<RuledSlow<F>, float, float>;
}
template <class F, class... S>
LaneFunction quick(const Form& form) {
    return form.has(kFtz) ? lanes<Ruled<F, true, false>, float, S...> : lanes<Ruled<F, false, false>, float, S...>;
}

/// The gross f64 approximations look at the upper 32 bits and give the upper 32 bits; subnormals count as zero.
template <class F>
struct Gross {
    double operator()(double a) const {
        uint64_t bits = bits_of(a) & 0xffffffff00000000;
        if ((bits & 0x7ff0000000000000) == 0) bits &= uint64_t(1) << 63;
        double result = F()(double_of(bits));
        uint64_t out = bits_of(result) & 0xffffffff00000000;
        if ((out & 0x7ff0000000000000) == 0) out &= uint64_t(1) << 63;
        return double_of(is_nan(result) ? 0x7fffffff00000000 : out);
    }
};

}  // namespace

LaneFunction approximate_function(const Form& form) {
    if (!form.only(kApprox | kFull | kFtz) || form.rounding != Rounding::kNone) return nullptr;
    if (form.type == Type::kF64) {
        if (form.opcode == Opcode::kRcp) return form.has(kFtz) ? lanes<Gross<FloatRcp>, double, double> : nullptr;
        if (form.opcode == Opcode::kRsqrt) return form.has(kFtz) ? lanes<Gross<ApproxRsqrt>, double, double> : lanes<ApproxRsqrt, double, double>;
        return nullptr;
    }
    if (form.type != Type::kF32) return nullptr;
    switch (form.opcode) {
        case Opcode::kDiv: return form.has(kFull) ? quick<FloatDiv, float, float>(form) : quick<ApproxDiv, float, float>(form);
        case Opcode::kRcp: return quick<ApproxRcp, float>(form);
        case Opcode::kSqrt: return quick<ApproxSqrt, float>(form);
        case Opcode::kRsqrt: return quick<ApproxRsqrt, float>(form);
        case Opcode::kSin: return library<sine>(form);
        case Opcode::kCos: return library<cosine>(form);
        case Opcode::kLg2: return library<logarithm>(form);
        case Opcode::kEx2: return library<exponential>(form);
        case Opcode::kTanh: return library<hyperbolic_tangent>(form);
        default: return nullptr;
    }
}

}  // namespace LANESCOPE_LEVEL
}  // namespace lanescope::exec
