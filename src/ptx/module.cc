#include "ptx/module.h"

#include <algorithm>

namespace lanescope::ptx {

unsigned bits(Type type) {
    switch (type) {
        case Type::kNone: return 0;
        case Type::kPred: case Type::kB1: return 1;
        case Type::kB4: case Type::kS4: case Type::kU4: case Type::kE2m1: return 4;
        case Type::kB6: case Type::kE2m3: case Type::kE3m2: return 6;
        case Type::kB8: case Type::kU8: case Type::kS8: case Type::kE4m3: case Type::kE5m2: case Type::kUe8m0: case Type::kUe4m3:
        case Type::kE2m1x2: return 8;
        case Type::kB16: case Type::kU16: case Type::kS16: case Type::kF16: case Type::kBf16: case Type::kE4m3x2: case Type::kE5m2x2:
        case Type::kE2m3x2: case Type::kE3m2x2: case Type::kUe8m0x2: case Type::kE2m1x4: return 16;
        case Type::kB32: case Type::kU32: case Type::kS32: case Type::kF16x2: case Type::kBf16x2: case Type::kTf32: case Type::kF32:
        case Type::kU16x2: case Type::kS16x2: case Type::kU8x4: case Type::kS8x4: case Type::kE4m3x4: case Type::kE5m2x4:
        case Type::kE2m3x4: case Type::kE3m2x4: return 32;
        case Type::kB64: case Type::kU64: case Type::kS64: case Type::kF32x2: case Type::kF64: return 64;
        case Type::kTexref: case Type::kSamplerref: case Type::kSurfref: return 64;
        case Type::kB128: return 128;
    }
    return 0;
}

std::string_view to_string(Type type) {
    if (type == Type::kNone) return "none";
    for (unsigned i = 0; i < kSuffixes; ++i)
        if (type_of(Suffix(i)) == type) return to_string(Suffix(i));
    return "?";
}

std::string_view to_string(Space space) {
    if (space == Space::kGeneric) return "generic";
    for (unsigned i = 0; i < kSuffixes; ++i)
        if (space_of(Suffix(i)) == space) return to_string(Suffix(i));
    return "?";
}

uint16_t component(std::string_view text) {
    constexpr std::string_view kPlain[] = {"x", "y", "z", "w", "b0", "b1", "b2", "b3", "h0", "h1"};
    const auto* plain = std::find(std::begin(kPlain), std::end(kPlain), text);
    if (plain != std::end(kPlain)) return uint16_t(plain - std::begin(kPlain) + 1);
    if (text.size() < 3 || text.size() > 5 || (text[0] != 'b' && text[0] != 'h')) return 0;
    if (text[0] == 'h' && text.size() != 3) return 0;
    uint16_t digits = 0;
    for (const char c : text.substr(1)) {
        if (c < '0' || c > (text[0] == 'h' ? '3' : '7')) return 0;
        digits = uint16_t(digits << 3 | (c - '0'));
    }
    if (text[0] == 'h') return kHalfSelector | digits;
    return uint16_t(kByteSelector | (text.size() - 3) << 12 | digits);
}

std::string component_name(uint16_t code) {
    if (code == 0) return "";
    if (code <= 4) return std::string(1, "xyzw"[code - 1]);
    if (code <= 8) return "b" + std::to_string(code - 5);
    if (code <= 10) return "h" + std::to_string(code - 9);
    const unsigned digits = code & kByteSelector ? (code >> 12 & 3) + 2 : 2;
    std::string name(1, code & kByteSelector ? 'b' : 'h');
    for (unsigned i = digits; i-- > 0;) name += char('0' + (code >> 3 * i & 7));
    return name;
}

uint64_t Variable::bytes() const {
    uint64_t elements = vector;
    for (const uint64_t dimension : dimensions) elements *= dimension;
    return elements * ((bits(type) + 7) / 8);
}

}  // namespace lanescope::ptx
