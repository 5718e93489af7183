// Shared memory, word by word, and local memory's first writes.
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

unsigned lane_of(uint64_t record) { return unsigned(record >> kLaneShift) % kWarpLanes; }
unsigned warp_of(uint64_t record) { return unsigned(record >> kWarpShift) % 32; }
unsigned rank_of(uint64_t record) { return unsigned(record >> kRankShift) % 16; }

}  // namespace

void Detector::touch_shared(const exec::Use& use) {
    const exec::Actor& actor = *use.actor;
    BlockState& mine = order_.at(actor);
    const bool clustered = actor.cluster != UINT64_MAX, write = use.touch != exec::Touch::kRead;
    // What is below is before all that this warp does: of earlier blocks, or of this one before its latest barrier. In a cluster others
    // write, too, whom the block's barrier does not hold up.
    const uint64_t start = uint64_t(mine.start) << kClockShift, settled = clustered ? start : uint64_t(mine.base) << kClockShift;
    const uint64_t me = uint64_t(mine.warps[actor.warp].clock) << kClockShift | uint64_t(actor.rank % 16) << kRankShift | uint64_t(actor.warp) << kWarpShift |
                        uint64_t(std::min(use.place, kPlaces)) << kPlaceShift | (use.ordering.strong ? kStrong : 0);
    std::vector<Word>* words = &shared_[order_.place_of(actor)];
    for (uint32_t rest = use.active; rest != 0; rest &= rest - 1) {
        const auto lane = unsigned(std::countr_zero(rest));
        uint64_t address = use.addresses[lane];
        if (const uint64_t rank = address >> kClusterShift; rank != 0) {
            words = &shared_[order_.place_of_rank(actor, uint32_t(rank - 1))];
            address &= (uint64_t(1) << kClusterShift) - 1;
        }
        const uint64_t end = address + use.bytes;
        if (words->size() * 4 < end) words->resize(std::max<size_t>(std::bit_ceil(end / 4 + 1), 256));
        for (uint64_t at = address; at < end; at = (at / 4 + 1) * 4) {
            const uint64_t index = at / 4, bytes = std::min<uint64_t>(4 - at % 4, end - at);
            const uint64_t now = me | uint64_t(lane) << kLaneShift | (((uint64_t(1) << bytes) - 1) << at % 4) << kBytesShift;
            auto& [written, read, other] = (*words)[index];
            if (written < start && !write && watch_undefined_) add_undefined(use, lane, use.addresses[lane], use.bytes);
            if (written >= settled && (written & kThread) != (now & kThread)) check_shared(use, lane, written, true, now, at);
            if (!write) {
                if (read < settled) [[likely]] read = now;
                else if (((read ^ now) & kWarp) == 0) read = (read & ~kMany) == now ? read : lane_of(read) == lane ? now | (read & kMany) : read | kMany;
                else if (other < settled) other = now;
                continue;
            }
            if (use.touch == exec::Touch::kUpdate && written < start && watch_undefined_) add_undefined(use, lane, use.addresses[lane], use.bytes);
            if (read >= settled && ((read & kThread) != (now & kThread) || (read & kMany) != 0)) check_shared(use, lane, read, false, now, at);
            if (other >= settled) check_shared(use, lane, other, false, now, at);
            written = now;
            read = other = 0;
        }
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
