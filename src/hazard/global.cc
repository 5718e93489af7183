// Global memory: a warp's lanes taken together by sectors, and what meets in a sector.
#include <algorithm>
#include <bit>

#include "hazard/detector.h"

namespace lanescope::hazard {
namespace {

using exec::kWarpLanes;

/// One bit for each 4-byte word that has a byte in `mask`.
uint32_t words_of(uint32_t mask) {
    mask |= mask >> 2;
    mask |= mask >> 1;
    mask &= 0x11111111;
    mask = (mask | mask >> 3) & 0x03030303;
    mask = (mask | mask >> 6) & 0x000f000f;
    return (mask | mask >> 12) & 0xff;
}

/// `bytes` bytes from `offset` on of a sector; what reaches beyond is left out.
uint32_t bytes_mask(uint64_t offset, uint64_t bytes) { return uint32_t(((uint64_t(1) << std::min<uint64_t>(bytes, 32)) - 1) << offset); }

bool contiguous(const exec::Use& use) {
    if (use.active != ~0u || !std::has_single_bit(use.bytes)) return false;
    const uint64_t first = use.addresses[0];
    uint64_t wrong = 0;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) wrong |= (use.addresses[lane] - first) ^ uint64_t(lane) * use.bytes;
    return wrong == 0;
}

}  // namespace

void Detector::touch_global(const exec::Use& use) {
    history_.prefetch(use.addresses[std::countr_zero(use.active)]);
    Record now;
    now.warp = uint32_t(use.actor->block * warps_per_block_ + use.actor->warp);
    now.clock = order_.at(*use.actor).warps[use.actor->warp].clock;
    now.generation = generation_;
    now.place = std::min(use.place, kPlaces);
    now.write = use.touch != exec::Touch::kRead;
    now.strong = use.ordering.strong;
    if (contiguous(use)) {
        const uint64_t begin = use.addresses[0], end = begin + uint64_t(kWarpLanes) * use.bytes;
        now.shift = unsigned(std::countr_zero(use.bytes));
        for (uint64_t sector = begin / kSectorBytes; sector * kSectorBytes < end; ++sector) {
            const uint64_t at = sector * kSectorBytes;
            now.mask = at >= begin && at + kSectorBytes <= end ? ~0u
                       : at < begin                           ? bytes_mask(begin - at, kSectorBytes - (begin - at))
                                                              : bytes_mask(0, end - at);
            now.lane = uint64_t(int64_t(at - begin) >> now.shift) & (kWarpLanes - 1);
            touch(use, sector, now);
        }
        return;
    }
    // Neighbouring lanes of one sector in one record, for as long as a shift can tell their lanes.
    uint64_t sector = UINT64_MAX;
    unsigned last = 0;
    const auto flush = [&] {
        if (sector != UINT64_MAX) touch(use, sector, now);
    };
    for (uint32_t rest = use.active; rest != 0; rest &= rest - 1) {
        const auto lane = unsigned(std::countr_zero(rest));
        const uint64_t address = use.addresses[lane];
        const auto offset = unsigned(address % kSectorBytes);
        const uint32_t mask = bytes_mask(offset, use.bytes);
        if (address / kSectorBytes == sector) {
            if (mask == now.mask) {  // the same bytes as the lanes before
                if (now.write && !now.strong) check_lanes(use, last, lane);
                now.many = 1;
                continue;
            }
            if (now.many == 0 && (mask & now.mask) == 0 && address > use.addresses[last] && lane == last + 1) {
                const uint64_t distance = address - use.addresses[last];
                const bool first = now.shift == 5;
                const auto shift = unsigned(std::countr_zero(distance));
                if (std::has_single_bit(distance) && (first || now.shift == shift)) {
                    now.shift = shift;
                    now.lane = (lane - (offset >> shift)) % kWarpLanes;
                    now.mask |= mask;
                    last = lane;
                    continue;
                }
            }
        }
        flush();
        sector = address / kSectorBytes;
        now.mask = mask;
        now.lane = lane;
        now.shift = 5;
        now.many = 0;
        last = lane;
        if (const uint64_t end = address + use.bytes; end > (sector + 1) * kSectorBytes) {  // not aligned: a copy's piece
            flush();
            now.mask = bytes_mask(0, end - (sector + 1) * kSectorBytes);
            ++sector;
        }
    }
    flush();
}

void Detector::touch(const exec::Use& use, uint64_t sector, const Record& now) {
    Region& region = history_.region(sector * kSectorBytes);
    if (region.defined != Region::Defined::kAll) check_defined(use, region, sector, now.mask);
    if (!races_) return;
    Record* const records = history_.records(region, generation_);
    if (records == nullptr) return;
    Record& cell = records[sector % Region::kSectors];
    if (cell == now) return;
    if (cell.generation != generation_) {
        if (!any_concurrent_) {
            cell = now;
            return;
        }
    } else if (cell.warp == now.warp && cell.list == 0 && cell.same_lanes(now) && cell.strong == now.strong) {
        // The same threads again: their write stands for all that they did before.
        if (now.write != 0 && (cell.mask & ~now.mask) == 0) {
            cell = now;
            return;
        }
        if (cell.clock == now.clock) {
            if (cell.write != 0 && (now.mask & ~cell.mask) == 0) return;
            if (cell.write == now.write) {
                cell.mask |= now.mask;
                return;
            }
        }
    }
    meet(use, sector, cell, now);
}

void Detector::meet(const exec::Use& use, uint64_t sector, Record& cell, Record now) {
    if (cell.generation != generation_ && !concurrent_[cell.generation]) {
        cell = now;
        return;
    }
    Record* list = cell.list != 0 ? history_.list(cell) : &cell;
    const uint32_t count = cell.list != 0 ? cell.warp : 1;
    const uint32_t block = now.warp / warps_per_block_;
    uint32_t left = now.mask;                  // bytes of `now` that no record stands for yet
    uint32_t own = 0, foreign = 0, enough = 0; // read by another warp of the block, by another block, by so many that one more tells nothing
    uint32_t foreign_block = 0, kept = 0, strong = 0;
    // Atomic operations on a word come one after the other: what came before the warp's own is behind it. (The last block of a reduction knows
    // by its count that it is the last, and resets the count with a plain store.)
    uint32_t own_update = 0;
    if (count > 1 && now.strong == 0)
        for (uint32_t i = count - 1; i > 0 && own_update == 0; --i)
            if (list[i].generation == generation_ && list[i].warp == now.warp && (list[i].strong & list[i].write) != 0 && (now.mask & ~list[i].mask) == 0) own_update = i;
    for (uint32_t i = 0; i < count; ++i) {
        Record earlier = list[i];
        const bool current = earlier.generation == generation_;
        if (!current && !concurrent_[earlier.generation]) continue;
        const uint32_t both = earlier.mask & now.mask;
        if (both != 0) {
            const bool mine = current && earlier.warp == now.warp, at_once = earlier.clock == now.clock && earlier.strong == now.strong;
            if ((earlier.write | now.write) != 0 && (earlier.strong & now.strong) == 0 && !(i < own_update && (earlier.strong & earlier.write) != 0))
                check(use, sector, earlier, now);
            if (now.write != 0) {
                // Of strong writes, which do not exclude each other, two are remembered.
                if ((earlier.strong & now.strong & earlier.write) != 0 && !mine && strong < 2) ++strong;
                else earlier.mask &= ~both;
            } else if (earlier.write != 0) {
                if (mine && at_once && earlier.same_lanes(now)) left &= ~both;
            } else if (mine) {
                if (at_once && earlier.same_lanes(now)) {
                    left &= ~both;
                } else if (!at_once || both == now.mask) {
                    if (at_once) now.many = 1;
                    earlier.mask &= ~both;
                }
            } else if (const uint32_t its_block = earlier.warp / warps_per_block_; current && its_block == block) {
                enough |= both & (own | foreign);
                own |= both;
            } else {
                enough |= both & own;
                if (foreign != 0 && foreign_block != its_block) enough |= both & foreign;
                foreign |= both;
                foreign_block = its_block;
            }
        }
        if (earlier.mask != 0) list[kept++] = earlier;
    }
    left &= ~enough;
    if (left == 0) {
        if (cell.list != 0) cell.warp = kept;
        return;
    }
    now.mask = left;
    if (kept == 0 && cell.list == 0) {
        cell = now;
        return;
    }
    if (kept == (cell.list != 0 ? uint32_t(cell.place) : 1)) {
        if (history_.grow(cell)) {
            list = history_.list(cell);
        } else if (cell.list == 0) {
            cell = now.write != 0 ? now : cell;
            return;
        } else {
            std::copy(list + 1, list + kept, list);
            --kept;
        }
    }
    list[kept++] = now;
    cell.warp = kept;
    cell.generation = generation_;
}

void Detector::check(const exec::Use& use, uint64_t sector, const Record& earlier, const Record& now) {
    const bool current = earlier.generation == generation_;
    uint32_t both = earlier.mask & now.mask;
    if (current && earlier.warp == now.warp) {
        if (earlier.same_lanes(now)) return;
        if ((earlier.many | now.many) == 0)
            for (uint32_t rest = both; rest != 0; rest &= rest - 1)
                if (const auto byte = unsigned(std::countr_zero(rest)); earlier.lane_of(byte) == now.lane_of(byte)) both &= ~(1u << byte);
        if (both == 0) return;
    }
    const auto byte = unsigned(std::countr_zero(both));
    const unsigned lane = now.lane_of(byte), other = earlier.lane_of(byte);
    const uint64_t key = pair(earlier.generation, uint32_t(earlier.place), uint32_t(now.place), exec::Space::kGlobal);
    if (counted(key)) return;
    const Grid& grid = grids_.at(uint32_t(earlier.generation));
    const auto warps = uint32_t((grid.block.count() + kWarpLanes - 1) / kWarpLanes);
    const uint64_t block = earlier.warp / warps;
    const uint32_t warp = earlier.warp % warps;
    if (current && order_.before({block, warp, uint32_t(earlier.clock), other, earlier.many != 0}, *use.actor, lane)) return;
    Race race;
    race.first = party(grid, uint32_t(earlier.place), earlier.write != 0, block, warp * kWarpLanes + other);
    race.second = party(use, lane);
    race.address = sector * kSectorBytes + byte;
    if (race.first.thread == race.second.thread && race.first.block == race.second.block && current && now.many != 0)  // another of the many
        for (uint32_t rest = use.active & ~(1u << lane); rest != 0; rest &= rest - 1)
            if (const auto third = unsigned(std::countr_zero(rest)); use.addresses[third] == use.addresses[lane]) {
                race.second = party(use, third);
                break;
            }
    const bool of_same_instruction = current && earlier.warp == now.warp && earlier.clock == now.clock && earlier.place == now.place && (use.active >> other & 1) != 0;
    if (now.write != 0)
        race.same_value = of_same_instruction && use.addresses[other] == use.addresses[lane] ? same_value(use, lane, other)
                                                                                            : same_value(use, lane, memory_->host(use.addresses[lane], use.bytes));
    add(key, race);
}

void Detector::check_lanes(const exec::Use& use, unsigned first, unsigned second) {
    const uint32_t place = std::min(use.place, kPlaces);
    const uint64_t key = pair(generation_, place, place, use.space);
    if (!races_ || counted(key)) return;
    Race race;
    race.first = party(use, first);
    race.second = party(use, second);
    race.space = use.space;
    race.address = use.addresses[second];
    race.same_value = same_value(use, second, first);
    add(key, race);
}

void Detector::check_defined(const exec::Use& use, Region& region, uint64_t sector, uint32_t mask) {
    if (!watch_undefined_) return;
    const uint32_t words = words_of(mask), index = uint32_t(sector % Region::kSectors);
    if (use.touch != exec::Touch::kWrite && (region.defined == Region::Defined::kNone || (region.undefined[index] & words) != 0)) {
        // An element counts as undefined where none of its words was written: structures are copied with their padding.
        const uint32_t element = std::max<uint32_t>(use.element_bytes, 4);
        for (uint32_t rest = use.active; rest != 0; rest &= rest - 1) {
            const auto lane = unsigned(std::countr_zero(rest));
            const uint64_t address = use.addresses[lane];
            for (uint32_t at = 0; at < use.bytes; at += element) {
                if ((address + at) / kSectorBytes != sector) continue;
                const uint32_t wanted = words_of(bytes_mask((address + at) % kSectorBytes, std::min(element, use.bytes)));
                if (region.defined == Region::Defined::kSome && (region.undefined[index] & wanted) != wanted) continue;
                add_undefined(use, lane, address + at, std::min(element, use.bytes));
            }
        }
    }
    if (use.touch != exec::Touch::kRead) {
        History::spread(region);
        region.undefined[index] = uint8_t(region.undefined[index] & ~words);
    }
}

void Detector::host_touches(uint64_t address, uint64_t bytes, bool write, const std::set<uint64_t>& concurrent) {
    std::vector<uint32_t> generations;
    for (const auto& [generation, grid] : grids_)
        if (concurrent.contains(grid.launch)) generations.push_back(generation);
    if (generations.empty() || !races_) return;
    for (uint64_t sector = address / kSectorBytes; sector * kSectorBytes < address + bytes; ++sector) {
        const Region& region = history_.region(sector * kSectorBytes);
        if (region.records == nullptr) {
            sector |= Region::kSectors - 1;
            continue;
        }
        const Record& cell = region.records[sector % Region::kSectors];
        const Record* list = cell.list != 0 ? history_.list(cell) : &cell;
        if (cell.list != 0 && !grids_.contains(uint32_t(cell.generation))) continue;
        for (uint32_t i = 0; i < (cell.list != 0 ? cell.warp : 1); ++i) {
            const Record& each = list[i];
            if ((!write && each.write == 0) || std::find(generations.begin(), generations.end(), each.generation) == generations.end()) continue;
            const uint64_t begin = std::max(address, sector * kSectorBytes), end = std::min(address + bytes, (sector + 1) * kSectorBytes);
            const uint32_t both = each.mask & bytes_mask(begin % kSectorBytes, end - begin);
            if (both == 0) continue;
            const auto byte = unsigned(std::countr_zero(both));
            const Grid& grid = grids_.at(uint32_t(each.generation));
            const auto warps = uint32_t((grid.block.count() + kWarpLanes - 1) / kWarpLanes);
            Race race;
            race.first = party(grid, uint32_t(each.place), each.write != 0, each.warp / warps, each.warp % warps * kWarpLanes + each.lane_of(byte));
            race.second.write = write;
            race.second.place = kPlaces;
            race.address = sector * kSectorBytes + byte;
            add(pair(uint32_t(each.generation), uint32_t(each.place), kPlaces, exec::Space::kGlobal), race);
        }
    }
}

}  // namespace lanescope::hazard
