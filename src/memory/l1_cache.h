// The L1 data cache of one SM: sectored 128-byte lines, written through.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "memory/coalescer.h"

namespace lanescope::memory {

/// Of unknown organisation, lines are hashed into four sets, and one of the least recently used tenth of the set makes room: of the simple
/// organisations this is the one that agrees best with an H200's hits as a working set outgrows its L1 (docs/memory-model.md). Where the
/// ways are known, a line's set is its number modulo the sets: lines a power of two apart drive each other out.
class L1Cache {
public:
    static constexpr uint32_t kNone = ~0u;

    /// Takes from `memory`, at once, what `most_lines` lines need.
    L1Cache(uint32_t most_lines, std::pmr::memory_resource* memory);

    /// The line will be asked for soon: changes nothing.
    void prefetch(uint64_t line) const { __builtin_prefetch(&index_[uint32_t(hash(line) >> 32) & (index_.size() - 1)]); }
    /// Empties the cache and gives it `lines` lines, in sets of `ways` (0: unknown).
    void reset(uint32_t lines, uint32_t ways = 0);

    struct Lookup {
        uint32_t hits = 0;                ///< sectors of which every wanted byte is there or on its way
        uint32_t misses = 0;              ///< sectors to ask for
        uint64_t ready = 0;               ///< when the line's last fill arrives
        uint32_t slot = kNone;            ///< kNone: not allocated
    };
    /// A load of `wanted` bytes of a line: allocates it, and from now on holds the missing sectors too (they are in flight). Without
    /// `allocate` only a line that is there takes them.
    Lookup load(uint64_t line, const ByteMask& wanted, bool allocate = true);
    bool holds(uint64_t line) const { return find(line) != kNone; }
    /// The missing sectors of `slot` arrive at `time`.
    void filled(uint32_t slot, uint64_t time) {
        if (time > ready_[slot]) ready_[slot] = time;
    }
    /// A store leaves the written bytes behind, and allocates the line if need be and `allocate`.
    void store(uint64_t line, const ByteMask& written, bool allocate = true);
    /// Atomics are done in L2: what L1 knows of those sectors is void.
    void invalidate(uint64_t line, uint32_t sectors);

private:
    static uint64_t hash(uint64_t line) { return line * 0x9E3779B97F4A7C15ull; }
    uint32_t set_of(uint64_t line) const;
    uint32_t find(uint64_t line) const;
    /// The slot of `line`, which replaces one of the least recently used lines of its set if it is not there; made the most recent.
    uint32_t touch(uint64_t line);
    uint32_t victim(uint32_t set);
    void make_recent(uint32_t set, uint32_t slot);
    void index(uint32_t slot);
    void unindex(uint32_t slot);

    uint32_t sets_ = 0, ways_ = 0, oldest_share_ = 1;
    bool hashed_ = true;
    uint64_t random_ = 0;
    std::pmr::vector<uint64_t> lines_;         ///< by slot: set × ways + way; ~0: empty
    std::pmr::vector<ByteMask> bytes_;         ///< bytes present
    std::pmr::vector<uint64_t> ready_;
    std::pmr::vector<uint16_t> newer_, older_; ///< slots of a set as a list from most to least recent
    std::pmr::vector<uint16_t> newest_, oldest_;  ///< by set
    std::pmr::vector<uint16_t> index_;         ///< open hash: line → slot + 1
};

}  // namespace lanescope::memory
