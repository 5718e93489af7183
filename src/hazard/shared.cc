// Shared memory and local memory's first writes.
//
// Between two barriers most kernels write words that they do not read, and read words that they do not write. While that holds, a bit for each
// word and a list of the accesses are all that is kept. With the first access for which it does not, the list becomes records of words.
#include <algorithm>
#include <bit>

#include "hazard/detector.h"

namespace lanescope::hazard {
namespace {

using exec::kWarpLanes;

// A record of a word. The clock stands on top, so that records are in its order.
constexpr unsigned kClockShift = 40, kRankShift = 36, kWarpShift = 31, kLaneShift = 26, kPlaceShift = 10, kBytesShift = 6;
constexpr uint64_t kStrong = 1 << 5, kMany = 1 << 4;
constexpr uint64_t kThread = ((uint64_t(1) << 14) - 1) << kLaneShift;   // rank, warp and lane
constexpr uint64_t kWarp = ((uint64_t(1) << 9) - 1) << kWarpShift;      // rank and warp
constexpr uint64_t kBytes = uint64_t(15) << kBytesShift;
constexpr unsigned kClusterShift = 24;                                  // of an address: rank + 1
constexpr uint64_t kOffset = (uint64_t(1) << kClusterShift) - 1;        // of an address

unsigned lane_of(uint64_t record) { return unsigned(record >> kLaneShift) % kWarpLanes; }
unsigned warp_of(uint64_t record) { return unsigned(record >> kWarpShift) % 32; }
unsigned rank_of(uint64_t record) { return unsigned(record >> kRankShift) % 16; }

/// fn(index of a word, its bytes as a mask) for each word of an access.
template <class Fn>
void each_word(uint64_t address, uint64_t bytes, Fn fn) {
    const uint64_t end = address + bytes;
    for (uint64_t at = address; at < end; at = (at / 4 + 1) * 4) fn(at / 4, ((uint64_t(1) << std::min<uint64_t>(4 - at % 4, end - at)) - 1) << at % 4);
}

}  // namespace

void Detector::Word::note(uint64_t now, bool write, uint64_t settled) {
    if (write) {
        written = now;
        read = other = 0;
    } else if (read < settled) {
        read = now;
    } else if (((read ^ now) & kWarp) == 0) {
        read = (read & ~kMany) == now ? read : lane_of(read) == lane_of(now) ? now | (read & kMany) : read | kMany;
    } else if (other < settled) {
        other = now;
    }
}

Detector::Shared& Detector::shared_of(uint32_t place, uint64_t start, uint64_t settled, bool clustered) {
    if (place >= shared_.size()) shared_.resize(place + 1);
    Shared& s = shared_[place];
    if (s.start != start) {
        s.start = start;
        std::fill(s.defined.begin(), s.defined.end(), 0);
    }
    if (s.settled != settled) {
        s.settled = settled;
        s.noted.clear();
        std::fill(s.read.begin(), s.read.end(), 0);
        std::fill(s.written.begin(), s.written.end(), 0);
        // Where most stretches come to it anyway, words are noted at once.
        constexpr uint64_t kTried = 256;
        s.by_word = clustered || (++stretches_ > kTried && stretches_by_word_ > stretches_ / 2);
        if (s.by_word) ++stretches_by_word_;
    }
    return s;
}

bool Detector::find_words(const exec::Use& use) {
    bits_.clear();
    if (use.active == ~0u && use.bytes == 4) {
        const uint64_t first = use.addresses[0];
        uint64_t wrong = first % 4;
        for (unsigned lane = 0; lane < kWarpLanes; ++lane) wrong |= (use.addresses[lane] - first) ^ uint64_t(lane) * 4;
        if (wrong == 0) {
            const auto group = uint32_t(first / 128), later = ~0u << first / 4 % 32;
            bits_.push_back({group, later});
            if (later != ~0u) bits_.push_back({group + 1, ~later});
            return false;
        }
    }
    uint32_t twice = 0;
    for (uint32_t rest = use.active; rest != 0; rest &= rest - 1)
        each_word(use.addresses[std::countr_zero(rest)], use.bytes, [&](uint64_t index, uint64_t) {
            const auto group = uint32_t(index / 32), bit = 1u << index % 32;
            if (bits_.empty() || bits_.back().group != group) {
                bits_.push_back({group, bit});
            } else {
                twice |= bits_.back().mask & bit;
                bits_.back().mask |= bit;
            }
        });
    return twice != 0;
}

bool Detector::apart(Shared& s, const exec::Use& use, uint64_t me, bool shared) {
    constexpr size_t kMostNoted = 64;
    const bool write = use.touch != exec::Touch::kRead;
    uint32_t met = s.noted.size() == kMostNoted || (write && shared);
    for (const Bits& bits : bits_) {
        uint32_t &read = s.read[bits.group], &written = s.written[bits.group];
        met |= (write ? read | written : written) & bits.mask;
        (write ? written : read) |= bits.mask;
    }
    if (met == 0) {
        Noted& noted = s.noted.emplace_back();
        noted.record = me;
        noted.active = use.active;
        noted.bytes = use.bytes;
        noted.write = write;
        for (unsigned lane = 0; lane < kWarpLanes; ++lane) noted.addresses[lane] = uint32_t(use.addresses[lane]);
        return true;
    }
    s.by_word = true;
    ++stretches_by_word_;
    s.words.resize(s.read.size() * 32);
    for (const Noted& each : s.noted)
        for (uint32_t rest = each.active; rest != 0; rest &= rest - 1) {
            const auto lane = unsigned(std::countr_zero(rest));
            each_word(each.addresses[lane], each.bytes, [&](uint64_t index, uint64_t bytes) {
                s.words[index].note(each.record | uint64_t(lane) << kLaneShift | bytes << kBytesShift, each.write, s.settled);
            });
        }
    s.noted.clear();
    return false;
}

void Detector::touch_shared(const exec::Use& use) {
    const exec::Actor& actor = *use.actor;
    const BlockState& mine = order_.at(actor);
    const bool clustered = actor.cluster != UINT64_MAX, write = use.touch != exec::Touch::kRead;
    // What is below is before all that this warp does: of earlier blocks, or of this one before its latest barrier. In a cluster others
    // write, too, whom the block's barrier does not hold up.
    const uint64_t start = uint64_t(mine.start) << kClockShift, settled = clustered ? start : uint64_t(mine.base) << kClockShift;
    const uint64_t me = uint64_t(mine.warps[actor.warp].clock) << kClockShift | uint64_t(actor.rank % 16) << kRankShift | uint64_t(actor.warp) << kWarpShift |
                        uint64_t(std::min(use.place, kPlaces)) << kPlaceShift | (use.ordering.strong ? kStrong : 0);
    Shared* s = &shared_of(order_.place_of(actor), start, settled, clustered);
    uint64_t last = 0;                                      // no address is higher
    if (use.active == ~0u) {
        for (unsigned lane = 0; lane < kWarpLanes; ++lane) last |= use.addresses[lane];
    } else {
        for (uint32_t rest = use.active; rest != 0; rest &= rest - 1) last |= use.addresses[std::countr_zero(rest)];
    }
    last &= kOffset;
    s->fit(last + use.bytes);
    const bool shared = !clustered && find_words(use);
    if (watch_undefined_ && !clustered) check_shared_defined(*s, use);
    if (!races_ && !clustered) return;
    if (!s->by_word && apart(*s, use, me, shared)) return;
    for (uint32_t rest = use.active; rest != 0; rest &= rest - 1) {
        const auto lane = unsigned(std::countr_zero(rest));
        const uint64_t address = use.addresses[lane] & kOffset;
        if (const uint64_t rank = use.addresses[lane] >> kClusterShift; rank != 0) {
            s = &shared_of(order_.place_of_rank(actor, uint32_t(rank - 1)), start, settled, true);
            s->fit(last + use.bytes);
        }
        if (s->words.size() < s->read.size() * 32) s->words.resize(s->read.size() * 32);
        each_word(address, use.bytes, [&](uint64_t index, uint64_t bytes) {
            const uint64_t now = me | uint64_t(lane) << kLaneShift | bytes << kBytesShift;
            Word& word = s->words[index];
            if (clustered && watch_undefined_) check_defined(*s, use, lane, index);
            const uint64_t at = std::max(address, index * 4);
            if (word.written >= settled && (word.written & kThread) != (now & kThread)) check_shared(use, lane, word.written, true, now, at);
            if (write && word.read >= settled && ((word.read & kThread) != (now & kThread) || (word.read & kMany) != 0)) check_shared(use, lane, word.read, false, now, at);
            if (write && word.other >= settled) check_shared(use, lane, word.other, false, now, at);
            word.note(now, write, settled);
        });
    }
}

void Detector::Shared::fit(uint64_t bytes) {
    if (read.size() * 128 >= bytes) return;
    const size_t size = std::max<size_t>(std::bit_ceil(bytes / 128 + 1), 8);
    for (std::vector<uint32_t>* bits : {&defined, &read, &written}) bits->resize(size);
}

void Detector::check_defined(Shared& s, const exec::Use& use, unsigned lane, uint64_t word) {
    uint32_t& bits = s.defined[word / 32];
    const uint32_t bit = 1u << word % 32;
    if (use.touch != exec::Touch::kWrite && (bits & bit) == 0) add_undefined(use, lane, use.addresses[lane], use.bytes);
    if (use.touch != exec::Touch::kRead) bits |= bit;
}

void Detector::check_shared_defined(Shared& s, const exec::Use& use) {
    uint32_t undefined = 0;
    for (const Bits& bits : bits_) {
        uint32_t& defined = s.defined[bits.group];
        undefined |= bits.mask & ~defined;
        if (use.touch == exec::Touch::kWrite) defined |= bits.mask;
    }
    if (use.touch == exec::Touch::kWrite || undefined == 0) return;
    for (uint32_t rest = use.active; rest != 0; rest &= rest - 1) {
        const auto lane = unsigned(std::countr_zero(rest));
        each_word(use.addresses[lane], use.bytes, [&](uint64_t index, uint64_t) { check_defined(s, use, lane, index); });
    }
}

void Detector::check_shared(const exec::Use& use, unsigned lane, uint64_t earlier, bool earlier_writes, uint64_t now, uint64_t address) {
    if (!races_ || (earlier & now & kBytes) == 0 || (earlier & now & kStrong) != 0) return;
    const exec::Actor& actor = *use.actor;
    const auto place = uint32_t(earlier >> kPlaceShift & kPlaces);
    const uint64_t key = pair(generation_, place, std::min(use.place, kPlaces), exec::Space::kShared);
    if (counted(key)) return;
    const uint64_t block = rank_of(earlier) == actor.rank % 16 ? actor.block : order_.block_of_rank(actor, rank_of(earlier));
    const auto clock = uint32_t(earlier >> kClockShift);
    if (order_.before({block, warp_of(earlier), clock, lane_of(earlier), (earlier & kMany) != 0}, actor, lane)) return;
    Race race;
    unsigned other = lane_of(earlier);
    const bool of_same_warp = (earlier & kWarp) == (now & kWarp);
    if (of_same_warp && other == lane) other = (lane + 1) % kWarpLanes;  // one of the many
    race.first = party(*grid_, place, earlier_writes, block, warp_of(earlier) * kWarpLanes + other);
    race.second = party(use, lane);
    race.space = exec::Space::kShared;
    race.address = address;
    if (race.second.write) {
        const bool of_same_instruction = of_same_warp && clock == uint32_t(now >> kClockShift) && place == std::min(use.place, kPlaces) && (use.active >> other & 1) != 0 && use.addresses[other] == use.addresses[lane];
        race.same_value = of_same_instruction ? same_value(use, lane, other)
                                              : use.addresses[lane] >> kClusterShift == 0 && same_value(use, lane, use.shared + use.addresses[lane]);
    }
    add(key, race);
}

void Detector::touch_local(const exec::Use& use) {
    std::vector<uint32_t>& written = local_[uint64_t(order_.place_of(*use.actor)) << 8 | use.actor->warp];
    const uint32_t element = std::max<uint32_t>(use.element_bytes, 4);
    for (uint32_t rest = use.active; rest != 0; rest &= rest - 1) {
        const auto lane = unsigned(std::countr_zero(rest));
        const uint64_t begin = use.addresses[lane], end = begin + use.bytes;
        if (written.size() * 4 < end) written.resize(std::bit_ceil(end / 4 + 1));
        for (uint64_t at = begin; at < end; at += element) {
            uint32_t any = 0;
            for (uint64_t word = at / 4; word * 4 < std::min(at + element, end); ++word) {
                any |= written[word];
                if (use.touch != exec::Touch::kRead) written[word] |= 1u << lane;
            }
            if (use.touch != exec::Touch::kWrite && (any >> lane & 1) == 0) add_undefined(use, lane, begin, use.bytes);
        }
    }
}

}  // namespace lanescope::hazard
