#include "memory/atomic_rounds.h"

#include <algorithm>

namespace lanescope::memory {

uint32_t tag_set(uint64_t address) {
    constexpr uint64_t kLow = 0xb7af7bd5a80, kHigh = 0xdd75d6aed00;
    return uint32_t(std::popcount(address & kLow) & 1) | uint32_t(std::popcount(address & kHigh) & 1) << 1;
}

uint32_t atomic_sectors(const uint64_t* addresses, uint32_t active, const Footprint& footprint, bool compare_and_swap, uint32_t* sent) {
    const uint32_t lanes = uint32_t(std::popcount(active));
    if (footprint.unique_bytes * lanes == footprint.requested_bytes) return sent[0] = lanes;   // one address: a counter
    const uint64_t portion = compare_and_swap ? kLineBytes / 2 : kLineBytes;
    std::fill_n(sent, footprint.lines, 0);
    uint32_t sets[4] = {};                // the lanes of each
    for (uint32_t rest = active; rest != 0; rest &= rest - 1) sets[tag_set(addresses[std::countr_zero(rest)])] |= rest & -rest;
    uint32_t sum = 0;
    for (uint32_t left : sets) {
        uint32_t part = 0;
        while (left != 0) {
            const uint64_t first = addresses[std::countr_zero(left)];
            uint32_t banks = 0, sectors = 0;
            for (uint32_t rest = left; rest != 0; rest &= rest - 1) {
                const uint64_t address = addresses[std::countr_zero(rest)];
                const uint32_t bank = 1u << address % kLineBytes / 4;       // wider values are aligned: their first bank stands for all
                if (banks & bank) continue;
                banks |= bank;
                if (address / portion != first / portion) continue;
                sectors |= 1u << address % kLineBytes / kSectorBytes;
                left &= ~(rest & -rest);
            }
            while (footprint.parts[part].line != first / kLineBytes) part = part + 1 < footprint.lines ? part + 1 : 0;
            sent[part] += uint32_t(std::popcount(sectors));
            sum += uint32_t(std::popcount(sectors));
        }
    }
    return sum;
}

}  // namespace lanescope::memory
