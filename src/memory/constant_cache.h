// The way of constant loads on one SM: the indexed constant cache, the larger one behind it, then L2.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "memory/coalescer.h"

namespace lanescope::memory {

class ConstantCache {
public:
    static constexpr uint32_t kLine = 64;                  ///< bytes; assumed

    /// Sizes in bytes.
    void reset(uint64_t first, uint64_t next) {
        first_.assign(std::max<uint64_t>(1, first / kLine), ~0ull);
        next_.assign(std::max<uint64_t>(1, next / kLine), ~0ull);
        random_ = 0;
    }
    struct Misses {
        uint32_t first = 0;                                ///< lines that the indexed cache did not have
        uint32_t next = 0;                                 ///< of these, that the next did not have either
    };
    /// A load of the distinct words at `addresses`. Lines that miss replace a random one of the indexed cache.
    Misses load(const uint64_t* addresses, uint32_t active, uint32_t bytes) {
        Misses out;
        uint64_t known = ~0ull;
        for (; active != 0; active &= active - 1) {
            const uint64_t address = addresses[std::countr_zero(active)];
            for (uint64_t line = address / kLine; line <= (address + bytes - 1) / kLine; ++line) {
                if (line == known) continue;
                known = line;
                bool found = false;
                for (const uint64_t held : first_) found |= held == line;
                if (found) continue;
                ++out.first;
                random_ = random_ * 6364136223846793005ull + 1442695040888963407ull;
                first_[size_t(random_ >> 33) % first_.size()] = line;
                uint64_t& behind = next_[line % next_.size()];
                out.next += behind != line;
                behind = line;
            }
        }
        return out;
    }

private:
    std::vector<uint64_t> first_, next_;                   ///< lines held; any place, and by the line's number
    uint64_t random_ = 0;
};

}  // namespace lanescope::memory
