#include "memory/l2_cache.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "memory/store_path.h"

namespace lanescope::memory {
namespace {

constexpr uint64_t kEmpty = ~0ull;
constexpr uint64_t kProfilersOwn = 1ull << 52;              // lines of no device address

uint64_t mix(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ull;
    return x ^ x >> 33;
}

uint32_t count(uint32_t sectors) { return uint32_t(std::popcount(sectors)); }

}  // namespace

L2Cache::L2Cache(const gpu::Description& gpu, const Parameters& parameters, std::pmr::memory_resource* memory)
    : partitions_(std::max(1u, gpu.l2_partitions)), ways_(std::max(1u, gpu.l2_ways)),
      sets_(uint32_t(std::max<uint64_t>(1, gpu.l2_bytes / kLineBytes / partitions_ / ways_))),
      neighbours_(std::clamp(gpu.dram_fetch_bytes / kSectorBytes, 1u, kSectorsPerLine)),
      way_bytes_(uint64_t(sets_) * partitions_ * kLineBytes), last_ways_(uint32_t(std::lround(parameters.l2_persisting_share * ways_))),
      partition_distance_(partitions_ > 1 ? parameters.l2_partition_distance_cycles : 0),
      lines_ahead_(double(lines()) * parameters.dram_ahead_share), dirty_share_(parameters.l2_dirty_share),
      partial_share_(parameters.l2_partial_share), completed_share_(parameters.l2_completed_share),
      flushed_dirty_share_(parameters.flushed_dirty_bytes / kLineBytes / sets_ / partitions_),
      slices_(std::max(1u, gpu.l2_slices)), slice_cycle_(gpu.l2_clock_mhz > 0 && gpu.clock_mhz > 0 ? gpu.clock_mhz / gpu.l2_clock_mhz : 1),
      read_clocks_(double(kSectorBytes) / std::max(1u, gpu.l2_bytes_per_clock_per_slice) * parameters.l2_read_turns),
      write_clocks_(double(kSectorBytes) / std::max(1u, gpu.l2_bytes_per_clock_per_slice) * parameters.l2_write_turns),
      fill_clocks_(double(kSectorBytes) / std::max(1u, gpu.l2_bytes_per_clock_per_slice) * parameters.l2_fill_turns),
      atomic_clocks_(parameters.l2_atomic_clocks), partial_clocks_(parameters.l2_atomic_partial_clocks),
      dram_wait_(std::max(0.0, gpu.dram_latency_ns - parameters.dram_spread_ns - gpu.l2_latency_ns) * gpu.clock_mhz / 1000),
      atomics_(size_t(slices_)),
      tags_(lines(), kEmpty, memory), stamps_(lines(), memory), lines_(lines(), memory), state_(size_t(sets_) * partitions_, memory),
      other_(&ignored_),
      dram_({.bytes_per_cycle = std::max(1.0, gpu.peak_bytes_per_second() * parameters.dram_efficiency / std::max(1e6, gpu.clock_mhz * 1e6)),
             .atom = gpu.dram_fetch_bytes, .most_pending = uint64_t(double(lines()) * parameters.dram_pending_share),
             .write_share = parameters.dram_write_share,
             .row_lines = std::max(1u, uint32_t(parameters.dram_row_bytes) / kLineBytes), .row_read_bytes = parameters.dram_row_read_bytes,
             .row_write_bytes = parameters.dram_row_write_bytes, .turnaround_bytes = parameters.dram_turnaround_bytes, .spread_cycles = parameters.dram_spread_ns * gpu.clock_mhz / 1000,
             .turn_cycles = parameters.dram_turn_ns * gpu.clock_mhz / 1000}) {}

void L2Cache::flush() {
    ++flushes_;
    random_ = 0;
    any_last_ = false;
    dram_.forget_writes();
}

void L2Cache::begin_launch(std::span<Counters> sites, Counters* other) {
    counts_ = sites;
    other_ = other;
    for (Slice& slice : atomics_) slice.busy = 0;
}

void L2Cache::end_launch(uint64_t now) {
    dram_.advance(now, written());
    first_site_ += uint32_t(counts_.size());
    counts_ = {};
    other_ = &ignored_;
}

/// Contiguous lines fill all sets evenly; each further round over the sets starts at another place, so that strides do too. The
/// partitions take turns, in pieces of four lines, and from round to round.
L2Cache::Place L2Cache::place(uint64_t line) const {
    const uint64_t round = line / sets_;
    const uint32_t at = uint32_t(line - round * sets_), start = uint32_t(mix(round)) % sets_;
    const uint32_t set = at + start < sets_ ? at + start : at + start - sets_;
    return {set, partitions_ == 1 ? 0 : uint32_t(mix(set / 4) + round) % partitions_};
}

uint32_t L2Cache::first_slot(uint32_t set, uint32_t partition) {
    const uint32_t index = partition * sets_ + set, base = index * ways_;
    if (state_[index].flushes != flushes_) {
        state_[index] = {.flushes = flushes_};
        std::fill_n(tags_.begin() + base, ways_, kEmpty);
        std::fill_n(stamps_.begin() + base, ways_, 0u);
        std::fill_n(lines_.begin() + base, ways_, Line{});
        if (double(mix(index) >> 11) * 0x1p-53 < flushed_dirty_share_) {
            tags_[base] = kProfilersOwn + index;
            lines_[base].valid = kAllSectors;
            mark(base, kAllSectors, 0);
            make_recent(base, kKept);
        }
    }
    return base;
}

uint32_t L2Cache::find(uint64_t line, uint32_t set, uint32_t partition) {
    const uint32_t base = first_slot(set, partition);
    for (uint32_t slot = base; slot < base + ways_; ++slot)
        if (tags_[slot] == line) return slot;
    return kNone;
}

void L2Cache::make_recent(uint32_t slot, uint32_t flags) {
    if (++stamp_ == kKept) {
        for (uint32_t& stamp : stamps_) stamp = (stamp & (kLast | kKept)) | (stamp & (kKept - 1)) >> 1;   // keeps the order of all but the nearest neighbours
        stamp_ >>= 1;
    }
    stamps_[slot] = stamp_ | flags;
}

uint32_t L2Cache::touch(uint64_t line, uint32_t set, uint32_t partition, uint64_t now, Priority priority) {
    const uint32_t base = first_slot(set, partition);
    uint32_t slot = base;
    while (slot < base + ways_ && tags_[slot] != line) ++slot;
    if (slot == base + ways_) {
        slot = uint32_t(std::min_element(stamps_.begin() + base, stamps_.begin() + base + ways_) - stamps_.begin());
        if (lines_[slot].dirty) write_back(slot, now);
        tags_[slot] = line;
        lines_[slot] = {};
        make_recent(slot, priority == Priority::kFirst ? 0 : kKept);
        clean_oldest(base, now);
    } else {
        const uint32_t last = priority == Priority::kNormal ? 0 : stamps_[slot] & kLast;
        make_recent(slot, priority == Priority::kFirst && !last ? 0 : kKept | last);
    }
    if (priority == Priority::kLast) [[unlikely]] {
        stamps_[slot] |= kLast;
        limit_last(base);
    }
    return slot;
}

void L2Cache::limit_last(uint32_t base) {
    any_last_ = true;
    for (;;) {
        uint32_t count = 0, oldest = kNone;
        for (uint32_t slot = base; slot < base + ways_; ++slot) {
            if (!(stamps_[slot] & kLast)) continue;
            ++count;
            if (oldest == kNone || stamps_[slot] < stamps_[oldest]) oldest = slot;
        }
        if (count <= last_ways_) return;
        stamps_[oldest] &= ~kLast;
    }
}

void L2Cache::set_persisting(uint64_t bytes) {
    if (last_ways_ != 0) last_ways_ = uint32_t(std::clamp<uint64_t>((bytes + way_bytes_ - 1) / way_bytes_, 1, ways_));
}

void L2Cache::reset_persisting() {
    if (any_last_)
        for (uint32_t& stamp : stamps_) stamp &= ~kLast;
    any_last_ = false;
}

void L2Cache::evict_normally(uint64_t line) {
    const auto [in, at] = place(line);
    if (const uint32_t slot = any_last_ ? find(line, in, at) : kNone; slot != kNone) stamps_[slot] &= ~kLast;
}

void L2Cache::discard(uint64_t line) {
    const auto [in, at] = place(line);
    if (const uint32_t slot = find(line, in, at); slot != kNone) {
        mark(slot, 0, 0);
        lines_[slot] = {};
        tags_[slot] = kEmpty;
        stamps_[slot] = 0;
    }
    drop_copies(line, in, at, kAllSectors);
}

uint32_t L2Cache::with_neighbours(uint32_t sectors) const {
    uint32_t out = sectors;
    for (uint32_t first = 0; first < kSectorsPerLine; first += neighbours_) {
        const uint32_t group = ((1u << neighbours_) - 1) << first;
        if (sectors & group) out |= group;
    }
    return out & kAllSectors;
}

double L2Cache::fill(uint32_t slot, uint32_t wanted, uint32_t site, uint64_t now, bool by_granularity) {
    Line& line = lines_[slot];
    uint32_t fetched = by_granularity ? with_neighbours(wanted) & (wanted | ~uint32_t(line.partial)) : wanted;
    fetched &= ~uint32_t(line.valid) & kAllSectors;
    line.valid |= uint8_t(fetched);
    mark(slot, line.dirty, line.partial & ~fetched);
    counters(site).dram_read_bytes += kSectorBytes * count(fetched);
    turn(fill_clocks_ * count(fetched), now);
    return dram_.read(now, tags_[slot], fetched, written());
}

/// Partly written sectors are completed from DRAM first. The line stays.
double L2Cache::write_back(uint32_t slot, uint64_t now, bool later) {
    Line& line = lines_[slot];
    double wait = 0;
    if (line.partial) {
        const double more = fill(slot, line.partial, line.site, now, false);
        wait = behind_dram(line.dirty, now);
        Set& set = state_[slot / ways_];
        line.completing = true;
        line.ready = now + uint64_t(dram_wait_ + more);
        ++set.completing;
        if (later && dram_.full() && uint32_t(set.dirty - set.partial) <= share_of(slot / ways_, completed_share_)) return wait;
    }
    dram_.write(now, {tags_[slot], line.site, line.dirty}, written());
    mark(slot, 0, 0);
    return wait;
}

double L2Cache::behind_dram(uint32_t sectors, uint64_t now) const {
    return std::max(0.0, dram_.backlog(now) - lines_ahead_ * dram_.cycles(sectors));
}

void L2Cache::mark(uint32_t slot, uint32_t dirty, uint32_t partial) {
    Line& line = lines_[slot];
    Set& set = state_[slot / ways_];
    set.dirty += uint16_t((dirty != 0) - (line.dirty != 0));
    set.partial += uint16_t((partial != 0) - (line.partial != 0));
    line.dirty = uint8_t(dirty);
    line.partial = uint8_t(partial);
}

uint32_t L2Cache::share_of(uint32_t set, double share) const {
    return uint32_t(share * ways_ + double(mix(set + 1) >> 11) * 0x1p-53);
}

uint32_t L2Cache::other_line(uint32_t slot, bool partial) {
    const uint32_t base = slot - slot % ways_;
    uint32_t found = 0;
    const auto fits = [&](uint32_t other) {
        return other != slot && lines_[other].dirty && (lines_[other].partial != 0) == partial && (partial || !(stamps_[other] & kLast));
    };
    for (uint32_t other = base; other < base + ways_; ++other) found += fits(other);
    if (found == 0) return kNone;
    uint32_t skip = uint32_t(random_below(found)), other = base;
    while (!fits(other) || skip-- > 0) ++other;
    return other;
}

uint32_t L2Cache::completing(uint32_t set, uint64_t now) {
    uint32_t count = 0;
    for (uint32_t slot = set * ways_; slot < (set + 1) * ways_; ++slot) {
        if (lines_[slot].completing && lines_[slot].ready <= now) lines_[slot].completing = false;
        count += lines_[slot].completing;
    }
    return count;
}

double L2Cache::limit(uint32_t slot, uint64_t now) {
    const uint32_t index = slot / ways_;
    Set& set = state_[index];
    double wait = 0;
    if (lines_[slot].partial) {
        const uint32_t places = share_of(index, partial_share_);
        if (set.partial + set.completing > places) set.completing = uint16_t(completing(index, now));
        for (uint32_t taken = set.partial + set.completing; taken > places; --taken) {
            const uint32_t other = other_line(slot, true);
            if (other == kNone) break;
            wait = std::max(wait, write_back(other, now, true));
        }
    }
    uint32_t most = share_of(index, dirty_share_);
    if (any_last_) [[unlikely]]                             // what is evicted last stays dirty beside the share
        for (uint32_t each = index * ways_; each < (index + 1) * ways_; ++each) most += (stamps_[each] & kLast) && lines_[each].dirty;
    while (set.dirty > most) {
        const uint32_t other = other_line(slot, false);
        if (other == kNone) break;
        wait = std::max(wait, write_back(other, now));
    }
    return wait;
}

size_t L2Cache::random_below(size_t count) {
    random_ += 0x9E3779B97F4A7C15ull;
    return size_t(mix(random_) % count);
}

void L2Cache::clean_oldest(uint32_t base, uint64_t now) {
    const auto first = stamps_.begin() + base;
    uint32_t before = 0;                                    // stamps up to this one were looked at; 0: lines that are not there
    for (uint32_t rest = uint32_t(mix(base) % kCleanedAhead), absent = uint32_t(std::count(first, first + ways_, 0u)); rest > absent; --rest) {
        uint32_t oldest = base;
        for (uint32_t slot = base; slot < base + ways_; ++slot)
            if (stamps_[slot] > before && (stamps_[oldest] <= before || stamps_[slot] < stamps_[oldest])) oldest = slot;
        before = stamps_[oldest];
        if (lines_[oldest].dirty) write_back(oldest, now);
    }
}

double L2Cache::turn(double slice_clocks, uint64_t now) {
    const double cycles = slice_clocks * slice_cycle_ / slices_;
    busy_ += cycles;
    return turns_.take(double(now), cycles);
}

/// Each of the eight slices of a page of 4 KiB has two of its pieces of 256 bytes, and pages that follow each other have other slices
/// (recorded `slices`).
double L2Cache::turn_at_slice(uint64_t line, bool whole, uint32_t passes, uint64_t now) {
    const uint64_t page = line / 32, groups = std::max<size_t>(1, atomics_.size() / 8), group = (page + mix(page / groups)) % groups;
    const uint64_t piece = line / 2 % 16, in_group = ((piece ^ piece >> 1) & 1) | (piece >> 1 & 6);
    Slice& slice = atomics_[size_t((group * 8 + in_group) % atomics_.size())];
    slice.busy_until = std::max(slice.busy_until, double(now));
    const double wait = slice.busy_until - double(now), cycles = (whole ? atomic_clocks_ : partial_clocks_) * passes * slice_cycle_;
    slice.busy_until += cycles;
    slice.busy += cycles;
    return wait + cycles;
}

L2Cache::Work L2Cache::work() const {
    Work out{.busy_cycles = busy_, .atomic_cycles = 0, .dram_cycles = dram_.busy_cycles(), .sectors = sectors_};
    for (const Slice& slice : atomics_) out.atomic_cycles = std::max(out.atomic_cycles, slice.busy);
    return out;
}

void L2Cache::drop_copies(uint64_t line, uint32_t set, uint32_t home, uint32_t sectors) {
    for (uint32_t other = 0; other < partitions_; ++other)
        if (other != home)
            if (const uint32_t copy = find(line, set, other); copy != kNone) lines_[copy].valid &= uint8_t(~sectors);
}

L2Cache::Reply L2Cache::read(uint64_t line, uint32_t sectors, uint32_t side, uint32_t site, uint64_t now, Priority priority) {
    const auto [in, at] = place(line);
    const uint32_t stored_site = first_site_ + site;
    Reply reply;
    sectors_ += count(sectors);
    reply.wait = reply.turn = turn(std::max(1.0, read_clocks_ * count(sectors)), now);   // a slice takes one request a clock
    const uint32_t own = touch(line, in, side, now, at != side && priority == Priority::kLast ? Priority::kUnchanged : priority);
    if (priority == Priority::kNormal) evict_normally(line);
    reply.hits = sectors & lines_[own].valid;
    if (reply.hits && lines_[own].ready > now) reply.wait = std::max(reply.wait, double(lines_[own].ready - now));
    const uint32_t missing = sectors & ~reply.hits;
    if (missing == 0) return reply;

    uint32_t source = own, brought = missing;
    double wait = 0;
    if (at != side) {
        brought = with_neighbours(missing) & ~uint32_t(lines_[own].valid);
        sectors_ += count(brought);
        wait = turn(std::max(1.0, read_clocks_ * count(brought)), now) + partition_distance_;
        source = touch(line, in, at, now, priority);
        if ((missing & lines_[source].valid) && lines_[source].ready > now) wait = std::max(wait, double(lines_[source].ready - now));
    }
    if (const uint32_t absent = missing & ~uint32_t(lines_[source].valid)) {
        wait = std::max(wait, dram_wait_ + fill(source, absent, stored_site, now, true) + (at != side ? partition_distance_ : 0));
        lines_[source].ready = std::max(lines_[source].ready, now + uint64_t(wait));
    }
    reply.wait = std::max(reply.wait, wait);
    lines_[own].valid |= uint8_t(brought & lines_[source].valid);
    lines_[own].ready = std::max(lines_[own].ready, now + uint64_t(reply.wait));
    return reply;
}

double L2Cache::write(uint64_t line, const ByteMask& bytes, uint32_t sent, uint32_t side, uint32_t site, uint64_t now, Priority priority) {
    const auto [in, at] = place(line);
    const uint32_t touched = bytes.sectors(), whole = bytes.whole_sectors();
    const uint32_t slot = touch(line, in, at, now, priority == Priority::kFirst ? Priority::kUnchanged : priority);   // recorded: `l2_writes … evict_first`
    Line& state = lines_[slot];
    const uint32_t ways = side == at ? 1 : 2;               // each partition on the way takes its turn
    sectors_ += ways * count(sent);
    const double wait = turn(ways * write_clocks_ * StorePath::packets(count(sent), whole != touched), now);
    state.site = first_site_ + site;
    state.bytes.low |= bytes.low;
    state.bytes.high |= bytes.high;
    uint32_t partial = state.partial;
    for (uint32_t rest = touched & ~uint32_t(state.valid); rest != 0; rest &= rest - 1) {
        const uint32_t sector = uint32_t(std::countr_zero(rest)), bit = 1u << sector;
        if (state.bytes.sector(sector) == ~0u) {
            state.valid |= uint8_t(bit);
            partial &= ~bit;
        } else {
            partial |= bit;
        }
    }
    mark(slot, state.dirty | touched, partial);
    const double filled = limit(slot, now);
    if (side == at) {
        drop_copies(line, in, at, touched);
    } else if (whole || find(line, in, side) != kNone) {
        // The writer's partition keeps the whole sectors that pass through it, and what it has of others up to date.
        lines_[touch(line, in, side, now)].valid |= uint8_t(whole);
    }
    return std::max({wait, filled, dram_.full() ? behind_dram(touched, now) : 0});
}

L2Cache::Reply L2Cache::update(uint64_t line, const ByteMask& bytes, uint32_t passes, uint32_t side, uint32_t site, uint64_t now, Priority priority) {
    const auto [in, at] = place(line);
    const uint32_t sectors = bytes.sectors();
    const bool whole = bytes.whole_sectors() == sectors && passes == count(sectors);
    Reply reply;
    sectors_ += (at != side ? 2 : 1) * passes;
    reply.wait = std::max(turn((at != side ? 2 : 1) * write_clocks_ * passes, now), turn_at_slice(line, whole, passes, now));
    if (at != side) reply.wait += partition_distance_;
    const uint32_t slot = touch(line, in, at, now, priority);
    Line& state = lines_[slot];
    if (state.ready > now) reply.wait = std::max(reply.wait, double(state.ready - now));
    reply.hits = sectors & state.valid;
    if (const uint32_t missing = sectors & ~reply.hits) {
        reply.wait = std::max(reply.wait, dram_wait_ + fill(slot, missing, first_site_ + site, now, true));
        state.ready = now + uint64_t(reply.wait);
    }
    state.site = first_site_ + site;
    mark(slot, state.dirty | sectors, state.partial);
    limit(slot, now);
    drop_copies(line, in, at, sectors);
    return reply;
}

void L2Cache::copied_from(uint64_t line, uint64_t now, bool over_link) {
    const auto [in, at] = place(line);
    if (over_link && find(line, in, at) != kNone) return;
    Line& state = lines_[touch(line, in, at, now, over_link ? Priority::kFirst : Priority::kUnchanged)];
    state.valid |= uint8_t(kAllSectors & ~uint32_t(state.partial));
}

void L2Cache::copied_to(uint64_t line, uint64_t now, bool over_link) {
    const auto [in, at] = place(line);
    const uint32_t slot = touch(line, in, at, now, over_link ? Priority::kFirst : Priority::kUnchanged);
    Line& state = lines_[slot];
    state.valid = kAllSectors;
    drop_copies(line, in, at, kAllSectors);
    if (over_link) {                                        // through L2 to DRAM
        mark(slot, state.dirty, 0);
        if (state.dirty) stamps_[slot] |= kKept;
        return;
    }
    state.site = kNone;
    mark(slot, kAllSectors, 0);
    limit(slot, now);
}

}  // namespace lanescope::memory
