#include "memory/l1_cache.h"

#include <algorithm>
#include <bit>

namespace lanescope::memory {
namespace {

constexpr uint64_t kEmpty = ~0ull;
constexpr uint32_t kHashedSets = 4;
constexpr uint32_t kMaxSlots = 64'000;                // fit 16 bits

ByteMask whole(uint32_t sectors) {
    constexpr uint64_t kSector = 0xffffffffull;
    ByteMask mask;
    if (sectors & 1) mask.low |= kSector;
    if (sectors & 2) mask.low |= kSector << 32;
    if (sectors & 4) mask.high |= kSector;
    if (sectors & 8) mask.high |= kSector << 32;
    return mask;
}

}  // namespace

L1Cache::L1Cache(uint32_t most_lines, std::pmr::memory_resource* memory)
    : lines_(memory), bytes_(memory), ready_(memory), newer_(memory), older_(memory), newest_(memory), oldest_(memory), index_(memory) {
    const uint32_t slots = std::min(most_lines, kMaxSlots);
    lines_.reserve(slots);
    bytes_.reserve(slots);
    ready_.reserve(slots);
    newer_.reserve(slots);
    older_.reserve(slots);
    index_.reserve(std::bit_ceil(2 * slots));
}

void L1Cache::reset(uint32_t lines, uint32_t ways) {
    hashed_ = ways == 0;
    lines = std::min(lines, kMaxSlots);
    sets_ = hashed_ ? kHashedSets : std::bit_floor(std::max(1u, lines / ways));
    ways_ = std::max(1u, lines / sets_);
    oldest_share_ = std::max(1u, ways_ / 10);
    random_ = 0;
    const uint32_t slots = sets_ * ways_;
    lines_.assign(slots, kEmpty);
    bytes_.assign(slots, {});
    ready_.assign(slots, 0);
    newer_.resize(slots);
    older_.resize(slots);
    for (uint32_t slot = 0; slot < slots; ++slot) {
        newer_[slot] = uint16_t(slot - 1);
        older_[slot] = uint16_t(slot + 1);
    }
    newest_.resize(sets_);
    oldest_.resize(sets_);
    for (uint32_t set = 0; set < sets_; ++set) {
        newest_[set] = uint16_t(set * ways_);
        oldest_[set] = uint16_t(set * ways_ + ways_ - 1);
    }
    index_.assign(std::bit_ceil(2 * slots), 0);
}

uint32_t L1Cache::set_of(uint64_t line) const { return uint32_t(hashed_ ? uint32_t(hash(line ^ line >> 29) >> 40) % kHashedSets : line % sets_); }

uint32_t L1Cache::find(uint64_t line) const {
    const uint32_t mask = uint32_t(index_.size()) - 1;
    for (uint32_t at = uint32_t(hash(line) >> 32) & mask; index_[at] != 0; at = (at + 1) & mask)
        if (lines_[index_[at] - 1u] == line) return index_[at] - 1u;
    return kNone;
}

void L1Cache::index(uint32_t slot) {
    const uint32_t mask = uint32_t(index_.size()) - 1;
    uint32_t at = uint32_t(hash(lines_[slot]) >> 32) & mask;
    while (index_[at] != 0) at = (at + 1) & mask;
    index_[at] = uint16_t(slot + 1);
}

void L1Cache::unindex(uint32_t slot) {
    const uint32_t mask = uint32_t(index_.size()) - 1;
    uint32_t hole = uint32_t(hash(lines_[slot]) >> 32) & mask;
    while (index_[hole] != slot + 1) hole = (hole + 1) & mask;
    for (uint32_t at = (hole + 1) & mask; index_[at] != 0; at = (at + 1) & mask) {
        // An entry may move into the hole unless its own place lies after the hole.
        const uint32_t home = uint32_t(hash(lines_[index_[at] - 1u]) >> 32) & mask;
        if (((at - home) & mask) < ((at - hole) & mask)) continue;
        index_[hole] = index_[at];
        hole = at;
    }
    index_[hole] = 0;
}

void L1Cache::make_recent(uint32_t set, uint32_t slot) {
    uint16_t &first = newest_[set], &last = oldest_[set];
    if (first == slot) return;
    older_[newer_[slot]] = older_[slot];
    if (last == slot) last = newer_[slot];
    else newer_[older_[slot]] = newer_[slot];
    older_[slot] = first;
    newer_[first] = uint16_t(slot);
    first = uint16_t(slot);
}

uint32_t L1Cache::victim(uint32_t set) {
    uint32_t slot = oldest_[set];
    if (lines_[slot] == kEmpty) return slot;
    random_ = random_ * 6364136223846793005ull + 1442695040888963407ull;
    for (uint32_t steps = uint32_t(random_ >> 33) % oldest_share_; steps != 0; --steps) slot = newer_[slot];
    return slot;
}

uint32_t L1Cache::touch(uint64_t line) {
    uint32_t slot = find(line);
    if (slot == kNone) {
        slot = victim(set_of(line));
        if (lines_[slot] != kEmpty) unindex(slot);
        lines_[slot] = line;
        bytes_[slot] = {};
        ready_[slot] = 0;
        index(slot);
    }
    make_recent(slot / ways_, slot);
    return slot;
}

L1Cache::Lookup L1Cache::load(uint64_t line, const ByteMask& wanted, bool allocate) {
    Lookup out;
    if (!allocate && find(line) == kNone) {
        out.misses = wanted.sectors();
        return out;
    }
    out.slot = touch(line);
    ByteMask& have = bytes_[out.slot];
    const ByteMask lacking{wanted.low & ~have.low, wanted.high & ~have.high};
    out.misses = lacking.sectors();
    out.hits = wanted.sectors() & ~out.misses;
    out.ready = ready_[out.slot];
    const ByteMask coming = whole(out.misses);
    have.low |= coming.low;
    have.high |= coming.high;
    return out;
}

void L1Cache::store(uint64_t line, const ByteMask& written, bool allocate) {
    if (!allocate && find(line) == kNone) return;
    ByteMask& have = bytes_[touch(line)];
    have.low |= written.low;
    have.high |= written.high;
}

void L1Cache::invalidate(uint64_t line, uint32_t sectors) {
    const uint32_t slot = find(line);
    if (slot == kNone) return;
    ByteMask& have = bytes_[slot];
    const ByteMask gone = whole(sectors);
    have.low &= ~gone.low;
    have.high &= ~gone.high;
}

}  // namespace lanescope::memory
