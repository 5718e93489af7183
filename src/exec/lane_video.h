// What a video instruction does, as a control word.
#pragma once

#include <cstdint>

#include "exec/lane_form.h"

namespace lanescope::exec {

enum class VideoOperation : uint8_t { kAdd, kSub, kAverage, kDifference, kMin, kMax, kCompare, kShiftLeft, kShiftRight, kMultiplyAdd };
enum class VideoThen : uint8_t { kNothing, kAdd, kMin, kMax };

/// Scalar: a, b, d are component codes (0 the word, 5…8 bytes, 9 and 10 halves). SIMD: a and b hold three bits for the source
/// element of each element, d the mask of elements to write.
struct VideoControl {
    bool valid = false;
    VideoOperation operation{};
    Compare compare{};
    VideoThen then{};
    unsigned a = 0, b = 0, d = 0, scale = 0;
    bool a_signed = false, b_signed = false, d_signed = false, saturate = false, wrap = false, plus_one = false, has_c = false;

    VideoControl() = default;
    [[gnu::always_inline]] explicit VideoControl(uint64_t word)
        : valid((word & 1) != 0), operation(VideoOperation(word >> 1 & 15)), compare(Compare(word >> 5 & 15)), then(VideoThen(word >> 9 & 3)),
          a(word >> 11 & 0xfff), b(word >> 23 & 0xfff), d(word >> 35 & 15), scale(word >> 39 & 15), a_signed((word >> 43 & 1) != 0),
          b_signed((word >> 44 & 1) != 0), d_signed((word >> 45 & 1) != 0), saturate((word >> 46 & 1) != 0), wrap((word >> 47 & 1) != 0),
          plus_one((word >> 48 & 1) != 0), has_c((word >> 49 & 1) != 0) {}
    [[gnu::always_inline]] uint64_t word() const {
        return uint64_t(valid) | uint64_t(operation) << 1 | uint64_t(compare) << 5 | uint64_t(then) << 9 | uint64_t(a) << 11 | uint64_t(b) << 23 |
               uint64_t(d) << 35 | uint64_t(scale) << 39 | uint64_t(a_signed) << 43 | uint64_t(b_signed) << 44 | uint64_t(d_signed) << 45 |
               uint64_t(saturate) << 46 | uint64_t(wrap) << 47 | uint64_t(plus_one) << 48 | uint64_t(has_c) << 49;
    }
};

/// 1, 2 or 4 elements.
[[gnu::always_inline]] inline unsigned video_ways(ptx::Opcode opcode) {
    using enum ptx::Opcode;
    switch (opcode) {
        case kVabsdiff2: case kVadd2: case kVavrg2: case kVmax2: case kVmin2: case kVset2: case kVsub2: return 2;
        case kVabsdiff4: case kVadd4: case kVavrg4: case kVmax4: case kVmin4: case kVset4: case kVsub4: return 4;
        default: return 1;
    }
}

/// The control word of a video instruction; 0 where its form is none.
uint64_t video_control(const Form& form, const ptx::Instruction& instruction);

}  // namespace lanescope::exec
