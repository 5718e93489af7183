#include "memory/shared_banks.h"

#include <algorithm>
#include <array>
#include <bit>

namespace lanescope::memory {
namespace {

constexpr uint32_t kMaxBanks = 32;

struct Banks {
    uint32_t count, bytes;                ///< banks, and the width of one
    bool exclusive;                       ///< atomics: lanes of one word do not share
};

/// Highest number of rows that the lanes of `lanes` want of one bank: distinct ones, unless lanes do not share.
uint32_t passes(const uint64_t* addresses, uint32_t lanes, uint32_t bytes, Banks shape) {
    // Banks are interleaved by words of 4 bytes. One 8 bytes wide (Kepler, in its default mode) delivers two words 32 apart in a pass, if
    // both lie in one aligned row of 64.
    const uint32_t words_per_lane = std::max(1u, bytes / 4), row_words = shape.count * shape.bytes / 4;
    const bool powers = std::has_single_bit(shape.count) && std::has_single_bit(row_words);
    const uint32_t row_shift = uint32_t(std::countr_zero(row_words));
    const auto bank_of = [&](uint64_t word) { return uint32_t(powers ? word & (shape.count - 1) : word % shape.count); };
    const auto row_of = [&](uint64_t word) { return powers ? word >> row_shift : word / row_words; };

    // Most accesses want one row of each bank.
    std::array<uint64_t, kMaxBanks> rows;
    uint32_t wanted = 0;                                    // banks, by bit
    bool conflict = shape.exclusive;
    for (uint32_t rest = lanes; rest != 0 && !conflict; rest &= rest - 1) {
        const uint64_t word = addresses[std::countr_zero(rest)] / 4;
        for (uint32_t k = 0; k < words_per_lane; ++k) {
            const uint32_t bank = bank_of(word + k);
            const uint64_t row = row_of(word + k);
            if ((wanted >> bank & 1) != 0) conflict |= rows[bank] != row;
            wanted |= 1u << bank;
            rows[bank] = row;
        }
    }
    if (!conflict) return lanes != 0;

    std::array<uint8_t, kMaxBanks> first{};                 // 1 + index into words: head of the bank's list
    std::array<uint8_t, kMaxBanks> depth{};
    std::array<uint64_t, 256> words;
    std::array<uint8_t, 256> next;
    uint32_t count = 0, worst = 0;
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        const uint64_t word = addresses[std::countr_zero(rest)] / 4;
        for (uint32_t k = 0; k < words_per_lane; ++k) {
            const uint32_t bank = bank_of(word + k);
            const uint64_t row = row_of(word + k);
            uint32_t at = first[bank];
            while (at != 0 && words[at - 1] != row) at = next[at - 1];
            if (at != 0 && !shape.exclusive) continue;
            words[count] = row;
            next[count] = first[bank];
            first[bank] = uint8_t(++count);
            worst = std::max<uint32_t>(worst, ++depth[bank]);
        }
    }
    return worst;
}

/// Each active lane of `lanes` has the address of lane ^ distance, or that lane is off.
bool paired(const uint64_t* addresses, uint32_t lanes, uint32_t distance) {
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        const uint32_t lane = uint32_t(std::countr_zero(rest)), other = lane ^ distance;
        if ((lanes >> other & 1) != 0 && addresses[lane] != addresses[other]) return false;
    }
    return true;
}

/// Passes of two neighbouring parts, `low` and `high`, of a wide access.
uint32_t two_parts(const uint64_t* addresses, uint32_t low, uint32_t high, uint32_t bytes, Banks shape, bool may_share) {
    if (may_share && (paired(addresses, low | high, 1) || paired(addresses, low | high, 2)) && passes(addresses, low | high, bytes, shape) == 1) return 1;
    return passes(addresses, low, bytes, shape) + passes(addresses, high, bytes, shape);
}

}  // namespace

Wavefronts shared_wavefronts(const uint64_t* addresses, uint32_t active, uint32_t bytes, Sharing sharing, uint32_t banks, uint32_t bank_bytes) {
    const Banks shape{banks, bank_bytes, sharing == Sharing::kAtomic};
    const uint32_t pass_bytes = banks * bank_bytes;
    const uint32_t packed = (uint32_t(std::popcount(active)) * bytes + pass_bytes - 1) / pass_bytes;
    const bool may_share = sharing == Sharing::kLoad;
    Wavefronts result;
    if (bytes <= bank_bytes) {
        uint64_t not_contiguous = ~0ull, not_uniform = ~0ull;
        if (active == ~0u && sharing != Sharing::kAtomic) {
            not_contiguous = not_uniform = 0;
            for (uint32_t lane = 0; lane < 32; ++lane) {
                const uint64_t distance = addresses[lane] - addresses[0];
                not_contiguous |= distance ^ (uint64_t(lane) * bank_bytes);
                not_uniform |= distance;
            }
        }
        result.actual = banks >= 32 && (not_contiguous == 0 || not_uniform == 0) ? 1 : passes(addresses, active, bytes, shape);
    } else if (bytes == 2 * bank_bytes) {
        result.actual = two_parts(addresses, active & 0x0000ffffu, active & 0xffff0000u, bytes, shape, may_share);
    } else {
        result.actual = two_parts(addresses, active & 0x000000ffu, active & 0x0000ff00u, bytes, shape, may_share) +
                        two_parts(addresses, active & 0x00ff0000u, active & 0xff000000u, bytes, shape, may_share);
    }
    result.ideal = std::min(result.actual, packed);
    return result;
}

uint32_t distinct_words(const uint64_t* addresses, uint32_t active, uint32_t bytes) {
    std::array<uint64_t, 128> seen;
    uint32_t count = 0;
    const uint32_t words_per_lane = std::max(1u, bytes / 4);
    for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
        const uint64_t word = addresses[std::countr_zero(rest)] / 4;
        for (uint64_t w = word; w < word + words_per_lane; ++w)
            if (std::find(seen.begin(), seen.begin() + count, w) == seen.begin() + count) seen[count++] = w;
    }
    return count;
}

}  // namespace lanescope::memory
