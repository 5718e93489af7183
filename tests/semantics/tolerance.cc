#include "tolerance.h"

#include <bit>
#include <cmath>
#include <iterator>
#include <regex>

namespace lanescope::semantics {
namespace {

struct Row {
    std::string_view prefix;
    Tolerance tolerance;
};
constexpr double kPi = 3.14159265358979323846;
// Bounds as the PTX ISA states them, in the order in which prefixes are tried. Gross f64 results have a mantissa of 20 bits.
const Row kRows[] = {
    {"div.approx", {0x1p-22, 0}},
    {"div.full", {0x1p-22, 0}},
    {"rcp.approx.ftz.f64", {0x1p-20, 0}},
    {"rcp.approx", {0x1p-23, 0}},
    {"sqrt.approx", {0x1p-23, 0}},
    {"rsqrt.approx.ftz.f64", {0x1p-20, 0}},
    {"rsqrt.approx.f64", {0x1p-52, 0}},
    {"rsqrt.approx", {1.072 * 0x1p-23, 0}},                       // 2^-22.9
    {"sin.approx", {0, 0x1p-14 / 1.625, 100 * kPi}},             // 2^-14.7; 2^-20.5 up to 2π
    {"cos.approx", {0, 0x1p-14 / 1.625, 100 * kPi}},
    {"lg2.approx", {0x1p-22, 0x1p-22}},
    {"ex2.approx.ftz.bf16", {0x1p-7, 0}},
    {"ex2.approx.f16", {1.072 * 0x1p-10, 0}},                     // 2^-9.9
    {"ex2.approx", {1.42 * 0x1p-23, 0}},                          // 2^-22.5
    {"tanh.approx.f16", {0, 1.01 * 0x1p-11}},                     // 2^-10.987
    {"tanh.approx.bf16", {0, 0x1p-8}},
    {"tanh.approx", {0x1p-11, 0}},
};

struct Layout { int mantissa, smallest; };
Layout layout_of(std::string_view type) {
    if (type == "f16") return {10, -14};
    if (type == "bf16") return {7, -126};
    return type == "f32" ? Layout{23, -126} : Layout{52, -1022};
}

}  // namespace

double value_of(uint64_t code, std::string_view type) {
    if (type == "f64") return std::bit_cast<double>(code);
    if (type == "f32") return std::bit_cast<float>(uint32_t(code));
    if (type == "bf16") return std::bit_cast<float>(uint32_t(code) << 16);
    const int exponent = int(code >> 10 & 31), mantissa = int(code & 1023);
    const double magnitude = exponent == 31 ? (mantissa != 0 ? NAN : INFINITY) : exponent != 0 ? std::ldexp(1024 + mantissa, exponent - 25) : std::ldexp(mantissa, -24);
    return (code & 0x8000) != 0 ? -magnitude : magnitude;
}

double spacing(double value, std::string_view type) {
    const Layout layout = layout_of(type);
    const int exponent = value == 0 ? layout.smallest : std::max(std::ilogb(value), layout.smallest);
    return std::ldexp(1, exponent - layout.mantissa);
}

bool within(uint64_t code, uint64_t expected, std::string_view type, const Tolerance& tolerance) {
    if (code == expected) return true;
    const double value = value_of(code, type), reference = value_of(expected, type);
    if (!std::isfinite(value) || !std::isfinite(reference)) return false;
    return std::fabs(value - reference) <= std::max(tolerance.relative * std::fabs(reference), tolerance.absolute) + spacing(reference, type);
}

const Tolerance* tolerance_of(std::string_view text) {
    for (const Row& row : kRows)
        if (text.starts_with(row.prefix)) return &row.tolerance;
    return nullptr;
}

bool departs_from_isa(const std::string& text) {
    static const std::regex kForms(R"((vadd|vsub|vabsdiff)\.u32\.[us]32\.[us]32\.sat .*|vsub\.s32\.s32\.s32\.sat b32\..*|vshl\..*\.sat\..*|vmad\..*\.(shr7|shr15|sat) .*)");
    return std::regex_match(text, kForms);
}

}  // namespace lanescope::semantics
