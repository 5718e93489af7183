#include "exec/lane_video.h"

namespace lanescope::exec {
namespace {

using ptx::Opcode;
using ptx::Type;

VideoOperation operation_of(Opcode opcode) {
    using enum Opcode;
    switch (opcode) {
        case kVadd: case kVadd2: case kVadd4: return VideoOperation::kAdd;
        case kVsub: case kVsub2: case kVsub4: return VideoOperation::kSub;
        case kVavrg2: case kVavrg4: return VideoOperation::kAverage;
        case kVabsdiff: case kVabsdiff2: case kVabsdiff4: return VideoOperation::kDifference;
        case kVmin: case kVmin2: case kVmin4: return VideoOperation::kMin;
        case kVmax: case kVmax2: case kVmax4: return VideoOperation::kMax;
        case kVshl: return VideoOperation::kShiftLeft;
        case kVshr: return VideoOperation::kShiftRight;
        case kVmad: return VideoOperation::kMultiplyAdd;
        default: return VideoOperation::kCompare;
    }
}

/// Digits of a source selector such as h32 or b7654; `first` is the element that the default begins with.
bool source_digits(uint16_t component, unsigned ways, unsigned first, unsigned& digits) {
    digits = 0;
    if (component == 0) {
        for (unsigned i = 0; i < ways; ++i) digits |= (first + i) << 3 * i;
        return true;
    }
    digits = component & 0xfff;
    if (ways == 2) return (component & ptx::kHalfSelector) != 0;
    return (component & ptx::kByteSelector) != 0 && (component >> 12 & 3) == 2;
}

/// The elements that a destination mask such as h1 or b310 names.
bool destination_mask(uint16_t component, unsigned ways, unsigned& mask) {
    mask = 0;
    if (component == 0) mask = (1u << ways) - 1;
    else if (ways == 2 && (component == 9 || component == 10)) mask = 1u << (component - 9);
    else if (ways == 4 && component >= 5 && component <= 8) mask = 1u << (component - 5);
    else if (ways == 2 && (component & ptx::kHalfSelector) != 0) mask = 3;
    else if (ways == 4 && (component & ptx::kByteSelector) != 0)
        for (unsigned i = 0; i < (component >> 12 & 3u) + 2; ++i) mask |= 1u << (component >> 3 * i & 7);
    return mask != 0 && mask < 1u << ways;
}

}  // namespace

uint64_t video_control(const Form& form, const ptx::Instruction& instruction) {
    const unsigned ways = video_ways(form.opcode);
    const auto component = [&](size_t i) { return instruction.operands[i].component; };
    VideoControl control;
    control.operation = operation_of(form.opcode);
    const bool compares = control.operation == VideoOperation::kCompare;
    const Type a = compares ? form.type : form.type2, b = compares ? form.type2 : form.type3;
    for (const Type type : {form.type, a, b})
        if (type != Type::kU32 && type != Type::kS32) return 0;
    if (compares != (form.compare != Compare::kNone)) return 0;
    if (!form.only(kSat | kThenAdd | kThenMin | kThenMax | kClamp | kWrap | kPlusOne | kShr7 | kShr15)) return 0;
    control.compare = form.compare;
    control.then = form.has(kThenAdd) ? VideoThen::kAdd : form.has(kThenMin) ? VideoThen::kMin : form.has(kThenMax) ? VideoThen::kMax : VideoThen::kNothing;
    control.a_signed = a == Type::kS32;
    control.b_signed = b == Type::kS32;
    control.d_signed = !compares && form.type == Type::kS32;
    control.saturate = form.has(kSat);
    control.wrap = form.has(kWrap);
    control.plus_one = form.has(kPlusOne);
    control.scale = form.has(kShr7) ? 7 : form.has(kShr15) ? 15 : 0;
    control.has_c = form.sources == 3;
    if (ways == 1) {
        for (size_t i = 0; i < 3; ++i)
            if (component(i) > 10 || (component(i) > 0 && component(i) < 5)) return 0;
        control.d = component(0);
        control.a = component(1);
        control.b = component(2);
        control.valid = form.sources == 3 || (form.sources == 2 && control.d == 0 && control.then == VideoThen::kNothing);
    } else {
        control.valid = form.sources == 3 && destination_mask(component(0), ways, control.d) && source_digits(component(1), ways, 0, control.a) &&
                        source_digits(component(2), ways, ways, control.b);
    }
    return control.valid ? control.word() : 0;
}

}  // namespace lanescope::exec
