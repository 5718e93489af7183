// Video instructions: scalar (vadd …) with sub-word selection, and two- and four-way SIMD (vadd2, vadd4 …).
#include "exec/lane_form.h"
#include "exec/lane_video.h"

namespace lanescope::exec {
inline namespace LANESCOPE_LEVEL {
namespace {

using ptx::Opcode;
using ptx::Type;

int64_t clamp(int64_t value, bool to_signed, unsigned bits) {
    const int64_t low = to_signed ? -(int64_t(1) << (bits - 1)) : 0, high = (int64_t(1) << (bits - to_signed)) - 1;
    return value < low ? low : value > high ? high : value;
}

/// The part of `word` at `shift`, extended.
int64_t part(uint32_t word, unsigned shift, unsigned bits, bool is_signed) {
    const int64_t value = int64_t(word >> shift) & ((int64_t(1) << bits) - 1);
    return is_signed && (value >> (bits - 1) & 1) != 0 ? value - (int64_t(1) << bits) : value;
}
unsigned part_bits(unsigned selector) { return selector == 0 ? 32 : selector <= 8 ? 8 : 16; }
unsigned part_shift(unsigned selector) { return selector == 0 ? 0 : selector <= 8 ? 8 * (selector - 5) : 16 * (selector - 9); }

bool compare(int64_t a, int64_t b, Compare how) {
    switch (how) {
        case Compare::kEq: return a == b;
        case Compare::kNe: return a != b;
        case Compare::kLt: return a < b;
        case Compare::kLe: return a <= b;
        case Compare::kGt: return a > b;
        default: return a >= b;
    }
}

int64_t apply(VideoOperation operation, int64_t a, int64_t b, const VideoControl& how) {
    switch (operation) {
        case VideoOperation::kAdd: return a + b;
        case VideoOperation::kSub: return a - b;
        case VideoOperation::kAverage: return (a + b + (a + b >= 0)) >> 1;
        case VideoOperation::kDifference: return a < b ? b - a : a - b;
        case VideoOperation::kMin: return a < b ? a : b;
        case VideoOperation::kMax: return a > b ? a : b;
        case VideoOperation::kCompare: return compare(a, b, how.compare);
        case VideoOperation::kShiftLeft:
        case VideoOperation::kShiftRight: {
            const auto count = static_cast<unsigned>(how.wrap ? b & 31 : b > 32 ? 32 : b);
            return operation == VideoOperation::kShiftLeft ? int64_t(uint64_t(a) << count) : a >> count;
        }
        default: return 0;
    }
}

uint32_t scalar(const VideoControl& how, uint32_t a, uint32_t b, uint32_t c) {
    const int64_t left = part(a, part_shift(how.a), part_bits(how.a), how.a_signed), right = part(b, part_shift(how.b), part_bits(how.b), how.b_signed);
    int64_t result = apply(how.operation, left, right, how);
    const unsigned bits = part_bits(how.d);
    if (how.saturate) result = clamp(result, how.d_signed, bits);
    const auto word = static_cast<uint32_t>(result);
    // Unsigned results are compared as they were before they were cut to 32 bits: a negative one is above every c.
    const bool below = how.d_signed ? int32_t(word) < int32_t(c) : uint64_t(result) < uint64_t(c);
    switch (how.then) {
        case VideoThen::kAdd: return word + c;
        case VideoThen::kMin: return below ? word : c;
        case VideoThen::kMax: return below ? c : word;
        case VideoThen::kNothing: break;
    }
    if (how.d == 0) return word;
    const uint32_t field = (uint32_t(1) << bits) - 1;
    return (c & ~(field << part_shift(how.d))) | (word & field) << part_shift(how.d);
}

uint32_t multiply_add(const VideoControl& how, uint32_t a, uint32_t b, uint32_t c) {
    const bool is_signed = how.a_signed || how.b_signed;
    __extension__ typedef __int128 Wide;
    Wide result = Wide(part(a, part_shift(how.a), part_bits(how.a), how.a_signed)) * part(b, part_shift(how.b), part_bits(how.b), how.b_signed);
    result += (is_signed ? Wide(int32_t(c)) : Wide(c)) + how.plus_one;
    result >>= how.scale;
    if (!how.saturate) return static_cast<uint32_t>(result);
    const Wide low = is_signed ? -(Wide(1) << 31) : 0, high = (Wide(1) << (is_signed ? 31 : 32)) - 1;
    return static_cast<uint32_t>(result < low ? low : result > high ? high : result);
}

/// kCount elements, each picked from the 2 × kCount ones of a and b.
template <unsigned kCount>
uint32_t simd(const VideoControl& how, uint32_t a, uint32_t b, uint32_t c) {
    constexpr unsigned kBits = 32 / kCount;
    const uint32_t field = (uint32_t(1) << kBits) - 1;
    const auto pick = [&](unsigned digits, unsigned i, bool is_signed) {
        const unsigned digit = digits >> 3 * i & 7;
        return part(digit < kCount ? a : b, kBits * (digit % kCount), kBits, is_signed);
    };
    uint32_t result = how.then == VideoThen::kAdd ? c : 0;
    for (unsigned i = 0; i < kCount; ++i) {
        int64_t element = apply(how.operation, pick(how.a, i, how.a_signed), pick(how.b, i, how.b_signed), how);
        if (how.saturate) element = clamp(element, how.d_signed, kBits);
        const bool chosen = (how.d >> i & 1) != 0;
        if (how.then == VideoThen::kAdd) result += chosen ? static_cast<uint32_t>(element) : 0;
        else result |= (chosen ? static_cast<uint32_t>(element) & field : c >> kBits * i & field) << kBits * i;
    }
    return result;
}

template <uint32_t (*kFunction)(const VideoControl&, uint32_t, uint32_t, uint32_t)>
void video(const LaneOperands& operands, uint32_t mask) {
    const VideoControl how(operands.control);
    const auto row = [&](unsigned i) { return static_cast<const uint32_t*>(operands.source[i]); };
    auto* d = static_cast<uint32_t*>(operands.destination[0]);
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
        d[lane] = kFunction(how, row(0)[lane], row(1)[lane], how.has_c ? row(2)[lane] : 0);
    }
}

}  // namespace

LaneFunction video_function(const Form& form) {
    if (!VideoControl(form.control).valid) return nullptr;
    switch (video_ways(form.opcode)) {
        case 2: return video<simd<2>>;
        case 4: return video<simd<4>>;
        default: return form.opcode == Opcode::kVmad ? video<multiply_add> : video<scalar>;
    }
}

}  // namespace LANESCOPE_LEVEL
}  // namespace lanescope::exec
