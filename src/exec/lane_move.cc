// mov: copies, and packing and unpacking of vectors.
#include <cstring>

#include "exec/alu_integer.h"
#include "exec/lane_form.h"

namespace lanescope::exec {
inline namespace LANESCOPE_LEVEL {
namespace {

using ptx::Type;

void move_predicate(const LaneOperands& operands, uint32_t mask) {
    const uint32_t bits = *static_cast<const uint32_t*>(operands.source[0]) ^ ((operands.control & 1) != 0 ? kFullMask : 0);
    write_predicate(operands.destination[0], bits, mask);
}

template <class T>
void copy_row(void* destination, const void* source, uint32_t mask) {
    auto* to = static_cast<T*>(destination);
    const auto* from = static_cast<const T*>(source);
    if (to == nullptr) return;
    if (mask == kFullMask) std::memmove(to, from, 32 * sizeof(T));
    else LANESCOPE_EACH_LANE(lane) to[lane] = (mask & uint32_t(1) << lane) != 0 ? from[lane] : to[lane];
}
template <class T>
void move(const LaneOperands& operands, uint32_t mask) { copy_row<T>(operands.destination[0], operands.source[0], mask); }

uint64_t* half_of_wide(void* row, unsigned half) { return static_cast<uint64_t*>(row) + 32 * half; }
const uint64_t* half_of_wide(const void* row, unsigned half) { return static_cast<const uint64_t*>(row) + 32 * half; }

void move_wide(const LaneOperands& operands, uint32_t mask) {
    for (unsigned half = 0; half < 2; ++half) copy_row<uint64_t>(half_of_wide(operands.destination[0], half), half_of_wide(operands.source[0], half), mask);
}

/// mov.bN d, {a, b, …} with kCount elements of kBits bits.
template <class D, class S, unsigned kBits, unsigned kCount>
void pack(const LaneOperands& operands, uint32_t mask) {
    const S* rows[kCount];
    for (unsigned i = 0; i < kCount; ++i) rows[i] = static_cast<const S*>(operands.source[i]);
    auto* to = static_cast<D*>(operands.destination[0]);
    LANESCOPE_EACH_LANE(lane) {
        D value = 0;
        for (unsigned i = 0; i < kCount; ++i) value = D(value | D(D(rows[i][lane]) & low_bits<D>(kBits)) << kBits * i);
        to[lane] = (mask & uint32_t(1) << lane) != 0 ? value : to[lane];
    }
}
template <class D, class S, unsigned kBits, unsigned kCount>
void unpack(const LaneOperands& operands, uint32_t mask) {
    const auto* from = static_cast<const S*>(operands.source[0]);
    S copy[32];  // an element's row may be the source's own
    std::memcpy(copy, from, sizeof copy);
    for (unsigned i = 0; i < kCount; ++i) {
        auto* to = static_cast<D*>(operands.destination[i]);
        if (to == nullptr) continue;
        LANESCOPE_EACH_LANE(lane) {
            const D value = D(S(copy[lane] >> kBits * i) & low_bits<S>(kBits));
            to[lane] = (mask & uint32_t(1) << lane) != 0 ? value : to[lane];
        }
    }
}

/// mov.b128: two 64-bit or four 32-bit elements.
template <class S, unsigned kCount>
void pack_wide(const LaneOperands& operands, uint32_t mask) {
    for (unsigned half = 0; half < 2; ++half) {
        LaneOperands part{};
        part.destination[0] = half_of_wide(operands.destination[0], half);
        for (unsigned i = 0; i < kCount / 2; ++i) part.source[i] = operands.source[half * kCount / 2 + i];
        if constexpr (kCount == 2) move<uint64_t>(part, mask);
        else pack<uint64_t, S, 32, 2>(part, mask);
    }
}
template <class D, unsigned kCount>
void unpack_wide(const LaneOperands& operands, uint32_t mask) {
    for (unsigned half = 0; half < 2; ++half) {
        LaneOperands part{};
        part.source[0] = half_of_wide(operands.source[0], half);
        for (unsigned i = 0; i < kCount / 2; ++i) part.destination[i] = operands.destination[half * kCount / 2 + i];
        if constexpr (kCount == 2) move<uint64_t>(part, mask);
        else unpack<D, uint64_t, 32, 2>(part, mask);
    }
}

LaneFunction packing(Type type, unsigned count) {
    switch (as_bits(type)) {
        case Type::kU16: return count == 2 ? pack<uint16_t, uint16_t, 8, 2> : nullptr;
        case Type::kU32: return count == 2 ? pack<uint32_t, uint16_t, 16, 2> : count == 4 ? pack<uint32_t, uint16_t, 8, 4> : nullptr;
        case Type::kU64: return count == 2 ? pack<uint64_t, uint32_t, 32, 2> : count == 4 ? pack<uint64_t, uint16_t, 16, 4> : nullptr;
        default: break;
    }
    if (type != Type::kB128) return nullptr;
    return count == 2 ? pack_wide<uint64_t, 2> : count == 4 ? pack_wide<uint32_t, 4> : nullptr;
}
LaneFunction unpacking(Type type, unsigned count) {
    switch (as_bits(type)) {
        case Type::kU16: return count == 2 ? unpack<uint16_t, uint16_t, 8, 2> : nullptr;
        case Type::kU32: return count == 2 ? unpack<uint16_t, uint32_t, 16, 2> : count == 4 ? unpack<uint16_t, uint32_t, 8, 4> : nullptr;
        case Type::kU64: return count == 2 ? unpack<uint32_t, uint64_t, 32, 2> : count == 4 ? unpack<uint16_t, uint64_t, 16, 4> : nullptr;
        default: break;
    }
    if (type != Type::kB128) return nullptr;
    return count == 2 ? unpack_wide<uint64_t, 2> : count == 4 ? unpack_wide<uint32_t, 4> : nullptr;
}

}  // namespace

LaneFunction move_function(const Form& form) {
    if (form.modifiers != 0) return nullptr;
    if (form.sources > 1) return form.destinations == 1 ? packing(form.type, form.sources) : nullptr;
    if (form.destinations > 1) return unpacking(form.type, form.destinations);
    switch (form.type) {
        case Type::kPred: return move_predicate;
        case Type::kB128: return move_wide;
        default: break;
    }
    switch (as_bits(form.type)) {
        case Type::kU8:
        case Type::kU16: return move<uint16_t>;
        case Type::kU32: return move<uint32_t>;
        case Type::kU64: return move<uint64_t>;
        default: return nullptr;
    }
}

}  // namespace LANESCOPE_LEVEL
}  // namespace lanescope::exec
