// How far an approximate instruction may be from what the hardware gave.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace lanescope::semantics {

/// The error that the PTX ISA allows: relative to the result, or absolute, for arguments of at most `domain`.
struct Tolerance {
    double relative = 0, absolute = 0;
    double domain = std::numeric_limits<double>::infinity();
};

/// The value of a f16, bf16, f32 or f64 code, as `type` says.
double value_of(uint64_t code, std::string_view type);
/// Distance of neighbouring numbers of the type at `value`.
double spacing(double value, std::string_view type);

/// Whether two results differ by no more than the tolerance and the rounding of one of them. NaNs and infinities must be equal.
bool within(uint64_t code, uint64_t expected, std::string_view type, const Tolerance& tolerance);

/// Of an instruction; nullptr where PTX defines every bit.
const Tolerance* tolerance_of(std::string_view text);

/// Forms whose machine code for sm_90 does not do what the PTX ISA says: video instructions, which no GPU since Kepler has in hardware.
/// Saturation is left out where 32 bits overflow and takes negative numbers for large ones in parts of words; shifted-out bits and
/// the scaling of vmad ignore what lies above bit 31. lanescope computes what the ISA says.
bool departs_from_isa(const std::string& text);

}  // namespace lanescope::semantics
