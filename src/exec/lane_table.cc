// The one place that says which family of functions computes an opcode.
#include "exec/lane_form.h"

namespace lanescope::exec {
inline namespace LANESCOPE_LEVEL {
namespace {

using ptx::Opcode;
using ptx::Type;

/// Arithmetic that exists for integers and floats alike: the type decides.
LaneFunction numeric(const Form& form) {
    switch (form.type) {
        case Type::kF32: return form.type2 == Type::kF16 || form.type2 == Type::kBf16 ? mixed_function(form) : float_function(form);
        case Type::kF64:
        case Type::kF32x2: return float_function(form);
        case Type::kF16:
        case Type::kF16x2:
        case Type::kBf16:
        case Type::kBf16x2: return half_function(form);
        default: return integer_function(form);
    }
}

}  // namespace

LaneFunction find_at_level(const Form& form) {
    switch (form.opcode) {
        case Opcode::kAbs: case Opcode::kAdd: case Opcode::kDiv: case Opcode::kDp2a: case Opcode::kDp4a: case Opcode::kMad:
        case Opcode::kMad24: case Opcode::kMax: case Opcode::kMin: case Opcode::kMul: case Opcode::kMul24: case Opcode::kNeg:
        case Opcode::kRem: case Opcode::kSad: case Opcode::kSub: case Opcode::kCopysign: case Opcode::kCos: case Opcode::kEx2:
        case Opcode::kFma: case Opcode::kLg2: case Opcode::kRcp: case Opcode::kRsqrt: case Opcode::kSin: case Opcode::kSqrt:
        case Opcode::kTanh: return numeric(form);
        case Opcode::kAddc: case Opcode::kMadc: case Opcode::kSubc: return carry_function(form);
        case Opcode::kAnd: case Opcode::kBfe: case Opcode::kBfi: case Opcode::kBfind: case Opcode::kBmsk: case Opcode::kBrev:
        case Opcode::kClz: case Opcode::kCnot: case Opcode::kFns: case Opcode::kLop3: case Opcode::kNot: case Opcode::kOr:
        case Opcode::kPopc: case Opcode::kPrmt: case Opcode::kShf: case Opcode::kShl: case Opcode::kShr: case Opcode::kSzext:
        case Opcode::kXor: return bit_function(form);
        case Opcode::kSelp: case Opcode::kSet: case Opcode::kSetp: case Opcode::kSlct: case Opcode::kTestp: return compare_function(form);
        case Opcode::kMov: return move_function(form);
        case Opcode::kCvt: case Opcode::kCvtPack: return convert_function(form);
        case Opcode::kVabsdiff: case Opcode::kVabsdiff2: case Opcode::kVabsdiff4: case Opcode::kVadd: case Opcode::kVadd2:
        case Opcode::kVadd4: case Opcode::kVavrg2: case Opcode::kVavrg4: case Opcode::kVmad: case Opcode::kVmax: case Opcode::kVmax2:
        case Opcode::kVmax4: case Opcode::kVmin: case Opcode::kVmin2: case Opcode::kVmin4: case Opcode::kVset: case Opcode::kVset2:
        case Opcode::kVset4: case Opcode::kVshl: case Opcode::kVshr: case Opcode::kVsub: case Opcode::kVsub2: case Opcode::kVsub4:
            return video_function(form);
        default: return nullptr;
    }
}

}  // namespace LANESCOPE_LEVEL
}  // namespace lanescope::exec
