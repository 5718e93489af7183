// The way of constant loads on one SM: the indexed constant cache, the larger one behind it, then L2.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "memory/coalescer.h"

namespace lanescope::memory {

class ConstantCache {
public:
    static constexpr uint32_t kLine = 64;                  ///< bytes; assumed

    /// Sizes in bytes.
    void reset(uint64_t first, uint64_t uniform, uint64_t next) {
        first_.assign(std::max<uint64_t>(1, first / kLine), kNothing);
        uniform_.assign(std::max<uint64_t>(1, uniform / kLine), kNothing);
        next_.assign(std::max<uint64_t>(1, next / kLine), {});
        last_.clear();
        random_ = 0;
        uniform_full_ = false;
    }
    struct Misses {
        uint32_t first = 0;                                ///< lines that the first cache did not have
        uint32_t next = 0;                                 ///< of these, that the next did not have either
        double ready = 0;                                  ///< when the last line is there
    };
    /// A load at `now` of the distinct words at `addresses`. Lines that miss replace a random one of the indexed cache; one that the next cache does not
    /// have either comes `fetch` later, several of one load one after the other.
    Misses load(const uint64_t* addresses, uint32_t active, uint32_t bytes, double now, double fetch) {
        Misses out;
        uint64_t known = kNothing;
        double arrival = now;
        for (; active != 0; active &= active - 1) {
            const uint64_t address = addresses[std::countr_zero(active)];
            for (uint64_t line = address / kLine; line <= (address + bytes - 1) / kLine; ++line) {
                if (line == known) continue;
                known = line;
                const bool held = std::find(first_.begin(), first_.end(), line) != first_.end();
                if (!held) {
                    random_ = random_ * 6364136223846793005ull + 1442695040888963407ull;
                    first_[size_t(random_ >> 33) % first_.size()] = line;
                }
                behind(line, held, arrival, fetch, out);
            }
        }
        return out;
    }
    /// The same on the uniform path, which has a first cache of its own. Once more lines were asked for than it holds, warps drive each other's lines
    /// out: each goes to the next cache whenever it changes the line.
    Misses load_uniform(uint64_t address, uint32_t warp, double now, double fetch) {
        Misses out;
        const uint64_t line = address / kLine;
        if (warp >= last_.size()) last_.resize(warp + 1, kNothing);
        bool held = std::find(uniform_.begin(), uniform_.end(), line) != uniform_.end();
        if (!held) {
            const auto free = std::find(uniform_.begin(), uniform_.end(), kNothing);
            uniform_full_ |= free == uniform_.end();
            if (free != uniform_.end()) *free = line;
        }
        if (uniform_full_) held = last_[warp] == line;
        last_[warp] = line;
        double arrival = now;
        behind(line, held, arrival, fetch, out);
        return out;
    }

private:
    static constexpr uint64_t kNothing = ~0ull;
    struct Line { uint64_t line = kNothing; double ready = 0; };

    void behind(uint64_t line, bool held, double& arrival, double fetch, Misses& out) {
        Line& next = next_[line % next_.size()];
        out.first += !held;
        if (next.line != line && !held) {
            ++out.next;
            arrival += fetch;
            next = {line, arrival};
        }
        if (next.line == line) out.ready = std::max(out.ready, next.ready);
    }

    std::vector<uint64_t> first_, uniform_;                ///< lines held, any place
    std::vector<Line> next_;                               ///< by the line's number
    std::vector<uint64_t> last_;                           ///< by warp, of the uniform path
    uint64_t random_ = 0;
    bool uniform_full_ = false;
};

}  // namespace lanescope::memory
