// Loops over the 32 lanes of register rows. Everything here is compiled once for each instruction set level (see LANESCOPE_LEVEL),
// so nothing here may be emitted outside the level's namespace.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "exec/lane_op.h"

#ifndef LANESCOPE_LEVEL
#define LANESCOPE_LEVEL baseline
#endif

namespace lanescope::exec {
inline namespace LANESCOPE_LEVEL {

constexpr uint32_t kFullMask = UINT32_MAX;

// Lanes are independent even where a destination row is a source row.
#ifdef __clang__
#define LANESCOPE_EACH_LANE(lane) _Pragma("clang loop vectorize(assume_safety)") for (unsigned lane = 0; lane < 32; ++lane)
#else
#define LANESCOPE_EACH_LANE(lane) _Pragma("GCC ivdep") for (unsigned lane = 0; lane < 32; ++lane)
#endif

template <unsigned kBytes>
using UnsignedOf = std::conditional_t<kBytes == 1, uint8_t, std::conditional_t<kBytes == 2, uint16_t, std::conditional_t<kBytes == 4, uint32_t, uint64_t>>>;

/// A value type in a row of wider elements than its own: cvt may read and write such rows.
template <class T, class Element>
struct In {};

template <class T>
struct Cell {
    using Value = T;
    using Element = UnsignedOf<(sizeof(T) < 2 ? 2 : sizeof(T))>;
};
template <class T, class E>
struct Cell<In<T, E>> {
    using Value = T;
    using Element = E;
};

template <class T>
inline T from_element(auto element) {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(element);
    else return __builtin_bit_cast(T, static_cast<UnsignedOf<sizeof(T)>>(element));
}
template <class Element, class T>
inline Element to_element(T value) {
    if constexpr (std::is_integral_v<T>) return static_cast<Element>(value);
    else return static_cast<Element>(__builtin_bit_cast(UnsignedOf<sizeof(T)>, value));
}

/// Reads the lanes of a row as values of T (bool: a predicate's bits, as a word that is zero or not).
template <class T>
struct Reader {
    const typename Cell<T>::Element* row;
    explicit Reader(const void* source) : row(static_cast<decltype(row)>(source)) {}
    auto operator()(unsigned lane) const { return from_element<typename Cell<T>::Value>(row[lane]); }
};
template <>
struct Reader<bool> {
    uint32_t bits;
    explicit Reader(const void* source) : bits(*static_cast<const uint32_t*>(source)) {}
    uint32_t operator()(unsigned lane) const { return bits & uint32_t(1) << lane; }
};

/// An operation whose cost is far above a vector blend: it is not computed for inactive lanes.
template <class F>
concept Slow = requires { requires F::kSlow; };

template <class F>
inline F make_operation(uint64_t control) {
    if constexpr (std::is_constructible_v<F, uint64_t>) return F(control);
    else return F{};
}

template <class F, class... Readers>
inline uint32_t predicate_of(F operation, Readers... read) {
    uint32_t bits = 0;
    for (unsigned lane = 0; lane < 32; ++lane) bits |= operation(read(lane)...) ? uint32_t(1) << lane : 0;
    return bits;
}

inline void write_predicate(void* destination, uint32_t bits, uint32_t mask) {
    if (destination == nullptr) return;
    auto* word = static_cast<uint32_t*>(destination);
    *word = (*word & ~mask) | (bits & mask);
}

template <class D, class F, class... Readers>
inline void each_lane(F operation, void* destination, uint32_t mask, Readers... read) {
    if constexpr (std::is_same_v<D, bool>) {
        write_predicate(destination, predicate_of(operation, read...), mask);
    } else {
        using Element = typename Cell<D>::Element;
        using Value = typename Cell<D>::Value;
        auto* row = static_cast<Element*>(destination);
        const auto compute = [=](unsigned lane) { return to_element<Element>(static_cast<Value>(operation(read(lane)...))); };
        if constexpr (Slow<F>) {
            for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
                const unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
                row[lane] = compute(lane);
            }
        } else if (mask == kFullMask) {
            LANESCOPE_EACH_LANE(lane) row[lane] = compute(lane);
        } else {
            LANESCOPE_EACH_LANE(lane) {
                const auto selected = static_cast<Element>(Element(0) - static_cast<Element>(mask >> lane & 1));
                row[lane] = static_cast<Element>((compute(lane) & selected) | (row[lane] & ~selected));  // no branch: it vectorises
            }
        }
    }
}

/// The lane function that applies F to sources of types S… and writes a destination of type D.
template <class F, class D, class... S>
[[gnu::flatten]] void lanes(const LaneOperands& operands, uint32_t mask) {
    [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
        each_lane<D>(make_operation<F>(operands.control), operands.destination[0], mask, Reader<S>(operands.source[kIndex])...);
    }(std::index_sequence_for<S...>{});
}

// ---- from PTX types to C++ types -------------------------------------------------------------------------------------

/// Bits of f16 and bf16 values; packed pairs hold the lower element in the lower half.
struct Half { uint16_t bits; };
struct Bfloat { uint16_t bits; };
struct HalfPair { uint32_t bits; };
struct BfloatPair { uint32_t bits; };
struct FloatPair { uint64_t bits; };

template <class T>
constexpr bool is_type(ptx::Type type) {
    using enum ptx::Type;
    if constexpr (std::is_same_v<T, uint8_t>) return type == kU8 || type == kB8;
    else if constexpr (std::is_same_v<T, int8_t>) return type == kS8;
    else if constexpr (std::is_same_v<T, uint16_t>) return type == kU16 || type == kB16;
    else if constexpr (std::is_same_v<T, int16_t>) return type == kS16;
    else if constexpr (std::is_same_v<T, uint32_t>) return type == kU32 || type == kB32;
    else if constexpr (std::is_same_v<T, int32_t>) return type == kS32;
    else if constexpr (std::is_same_v<T, uint64_t>) return type == kU64 || type == kB64;
    else if constexpr (std::is_same_v<T, int64_t>) return type == kS64;
    else if constexpr (std::is_same_v<T, Half>) return type == kF16;
    else if constexpr (std::is_same_v<T, Bfloat>) return type == kBf16;
    else if constexpr (std::is_same_v<T, HalfPair>) return type == kF16x2;
    else if constexpr (std::is_same_v<T, BfloatPair>) return type == kBf16x2;
    else if constexpr (std::is_same_v<T, FloatPair>) return type == kF32x2;
    else if constexpr (std::is_same_v<T, float>) return type == kF32;
    else return std::is_same_v<T, double> && type == kF64;
}

/// The unsigned type of the same width, for operations that do not care about signs (nor about what the bits mean).
constexpr ptx::Type as_bits(ptx::Type type) {
    using enum ptx::Type;
    switch (type) {
        case kB8: case kU8: case kS8: return kU8;
        case kB16: case kU16: case kS16: case kF16: case kBf16: return kU16;
        case kB32: case kU32: case kS32: case kF32: case kF16x2: case kBf16x2: case kU16x2: case kS16x2: return kU32;
        case kB64: case kU64: case kS64: case kF64: case kF32x2: return kU64;
        default: return kNone;
    }
}

template <class F, class T, size_t... kIndex>
constexpr LaneFunction repeat(std::index_sequence<kIndex...>) {
    return lanes<F, T, std::enable_if_t<(kIndex >= 0), T>...>;
}

/// The function of `kSources` sources of the one type among Ts that `type` is, with a destination of that type too.
template <class F, size_t kSources, class... Ts>
constexpr LaneFunction uniform(ptx::Type type) {
    LaneFunction function = nullptr;
    ((is_type<Ts>(type) ? void(function = repeat<F, Ts>(std::make_index_sequence<kSources>{})) : void()), ...);
    return function;
}

}  // namespace LANESCOPE_LEVEL
}  // namespace lanescope::exec
