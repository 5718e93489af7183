#include "memory/l2_cache.h"

#include <algorithm>
#include <bit>

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

L2Cache::L2Cache(const gpu::Description& gpu, const Parameters& parameters)
    : partitions_(std::max(1u, gpu.l2_partitions)), ways_(std::max(1u, gpu.l2_ways)),
      sets_(uint32_t(std::max<uint64_t>(1, gpu.l2_bytes / kLineBytes / partitions_ / ways_))),
      neighbours_(std::clamp(gpu.dram_fetch_bytes / kSectorBytes, 1u, kSectorsPerLine)),
      partition_distance_(partitions_ > 1 ? parameters.l2_partition_distance_cycles : 0),
      most_dirty_(uint64_t(double(lines()) * parameters.l2_dirty_share)), most_partial_(uint64_t(double(lines()) * parameters.l2_partial_share)),
      flushed_dirty_share_(parameters.flushed_dirty_bytes / kLineBytes / sets_ / partitions_),
      bytes_per_cycle_(std::max(1.0, double(gpu.l2_slices) * gpu.l2_bytes_per_clock_per_slice) *
                       (gpu.l2_clock_mhz > 0 && gpu.clock_mhz > 0 ? gpu.l2_clock_mhz / gpu.clock_mhz : 1)),
      dram_wait_(std::max(0.0, gpu.dram_latency_ns - gpu.l2_latency_ns) * gpu.clock_mhz / 1000),
      tags_(lines(), kEmpty), stamps_(lines()), lines_(lines()), set_flushes_(size_t(sets_) * partitions_),
      other_(&ignored_),
      dram_(std::max(1.0, gpu.peak_bytes_per_second() * parameters.dram_efficiency / std::max(1e6, gpu.clock_mhz * 1e6)), gpu.dram_fetch_bytes,
            uint64_t(double(lines()) * parameters.dram_pending_share)) {}

void L2Cache::flush() {
    ++flushes_;
    dirty_.clear();
    partial_.clear();
    random_ = 0;
    dram_.forget_writes();
}

void L2Cache::begin_launch(std::span<Counters> sites, Counters* other) {
    counts_ = sites;
    other_ = other;
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
    if (set_flushes_[index] != flushes_) {
        set_flushes_[index] = flushes_;
        std::fill_n(tags_.begin() + base, ways_, kEmpty);
        std::fill_n(stamps_.begin() + base, ways_, 0u);
        std::fill_n(lines_.begin() + base, ways_, Line{});
        if (double(mix(index) >> 11) * 0x1p-53 < flushed_dirty_share_) {
            tags_[base] = kProfilersOwn + index;
            lines_[base].valid = lines_[base].dirty = kAllSectors;
            make_recent(base);
            relist(base);
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

void L2Cache::make_recent(uint32_t slot) {
    if (++stamp_ == ~0u) {
        for (uint32_t& stamp : stamps_) stamp >>= 1;        // keeps the order of all but the nearest neighbours
        stamp_ >>= 1;
    }
    stamps_[slot] = stamp_;
}

uint32_t L2Cache::touch(uint64_t line, uint32_t set, uint32_t partition, uint64_t now) {
    const uint32_t base = first_slot(set, partition);
    uint32_t slot = base;
    while (slot < base + ways_ && tags_[slot] != line) ++slot;
    if (slot == base + ways_) {
        slot = uint32_t(std::min_element(stamps_.begin() + base, stamps_.begin() + base + ways_) - stamps_.begin());
        if (lines_[slot].dirty) write_back(slot, now);
        tags_[slot] = line;
        lines_[slot] = {};
    }
    make_recent(slot);
    return slot;
}

double L2Cache::fill(uint32_t slot, uint32_t wanted, uint32_t site, uint64_t now, bool with_neighbours) {
    Line& line = lines_[slot];
    uint32_t fetched = wanted;
    if (with_neighbours)
        for (uint32_t first = 0; first < kSectorsPerLine; first += neighbours_) {
            const uint32_t group = ((1u << neighbours_) - 1) << first;
            if (wanted & group) fetched |= group & ~uint32_t(line.partial);
        }
    fetched &= ~uint32_t(line.valid) & kAllSectors;
    line.valid |= uint8_t(fetched);
    line.partial &= uint8_t(~fetched);
    counters(site).dram_read_bytes += kSectorBytes * count(fetched);
    return dram_.read(now, kSectorBytes * count(fetched), written());
}

/// Partly written sectors are completed from DRAM first. The line stays, clean.
void L2Cache::write_back(uint32_t slot, uint64_t now) {
    Line& line = lines_[slot];
    if (line.partial) fill(slot, line.partial, line.site, now, false);
    const uint32_t bytes = kSectorBytes * count(line.dirty);
    dram_.write(now, {line.site, bytes, bytes}, written());
    line.dirty = 0;
    unlist(slot);
}

void L2Cache::unlist(uint32_t slot) {
    Line& line = lines_[slot];
    if (line.listed == kNone) return;
    std::vector<uint32_t>& list = line.in_partial ? partial_ : dirty_;
    lines_[list.back()].listed = line.listed;
    list[line.listed] = list.back();
    list.pop_back();
    line.listed = kNone;
}

void L2Cache::relist(uint32_t slot) {
    Line& line = lines_[slot];
    const bool partial = line.partial != 0;
    if (line.listed != kNone && line.in_partial == partial) return;
    unlist(slot);
    if (!line.dirty) return;
    std::vector<uint32_t>& list = partial ? partial_ : dirty_;
    line.in_partial = partial;
    line.listed = uint32_t(list.size());
    list.push_back(slot);
}

uint32_t L2Cache::pick(const std::vector<uint32_t>& list) {
    random_ += 0x9E3779B97F4A7C15ull;
    return list[size_t(mix(random_) % list.size())];
}

void L2Cache::limit_dirty(uint64_t now) {
    while (partial_.size() > most_partial_) write_back(pick(partial_), now);
    while (dirty_.size() + partial_.size() > most_dirty_) write_back(pick(dirty_.empty() ? partial_ : dirty_), now);
}

double L2Cache::turn(uint32_t sectors, uint64_t now) {
    busy_until_ = std::max(busy_until_, double(now));
    const double wait = busy_until_ - double(now);
    busy_until_ += kSectorBytes * count(sectors) / bytes_per_cycle_;
    return wait;
}

void L2Cache::drop_copies(uint64_t line, uint32_t set, uint32_t home, uint32_t sectors) {
    for (uint32_t other = 0; other < partitions_; ++other)
        if (other != home)
            if (const uint32_t copy = find(line, set, other); copy != kNone) lines_[copy].valid &= uint8_t(~sectors);
}

L2Cache::Reply L2Cache::read(uint64_t line, uint32_t sectors, uint32_t side, uint32_t site, uint64_t now) {
    const auto [in, at] = place(line);
    const uint32_t stored_site = first_site_ + site;
    Reply reply;
    reply.wait = turn(sectors, now);
    const uint32_t own = touch(line, in, side, now);
    reply.hits = sectors & lines_[own].valid;
    if (lines_[own].ready > now) reply.wait = std::max(reply.wait, double(lines_[own].ready - now));
    const uint32_t missing = sectors & ~reply.hits;
    if (missing == 0) return reply;

    uint32_t source = own;
    if (at != side) {
        reply.wait += partition_distance_;
        source = touch(line, in, at, now);
        if (lines_[source].ready > now) reply.wait = std::max(reply.wait, double(lines_[source].ready - now));
    }
    if (const uint32_t absent = missing & ~uint32_t(lines_[source].valid)) {
        reply.wait += dram_wait_ + fill(source, absent, stored_site, now, true);
        lines_[source].ready = now + uint64_t(reply.wait);
        relist(source);
    }
    lines_[own].valid |= uint8_t(missing);
    lines_[own].ready = now + uint64_t(reply.wait);
    return reply;
}

void L2Cache::write(uint64_t line, const ByteMask& bytes, uint32_t side, uint32_t site, uint64_t now) {
    const auto [in, at] = place(line);
    const uint32_t touched = bytes.sectors();
    turn(touched, now);
    const uint32_t slot = touch(line, in, at, now);
    Line& state = lines_[slot];
    state.site = first_site_ + site;
    state.bytes.low |= bytes.low;
    state.bytes.high |= bytes.high;
    for (uint32_t rest = touched & ~uint32_t(state.valid); rest != 0; rest &= rest - 1) {
        const uint32_t sector = uint32_t(std::countr_zero(rest)), bit = 1u << sector;
        if (state.bytes.sector(sector) == ~0u) {
            state.valid |= uint8_t(bit);
            state.partial &= uint8_t(~bit);
        } else {
            state.partial |= uint8_t(bit);
        }
    }
    state.dirty |= uint8_t(touched);
    relist(slot);
    if (side == at) {
        drop_copies(line, in, at, touched);
    } else {
        // The writer's partition keeps the whole sectors that pass through it.
        uint32_t whole = 0;
        for (uint32_t sector = 0; sector < kSectorsPerLine; ++sector) whole |= uint32_t(bytes.sector(sector) == ~0u) << sector;
        Line& copy = lines_[touch(line, in, side, now)];
        copy.valid = uint8_t((copy.valid & ~touched) | whole);
    }
    limit_dirty(now);
}

L2Cache::Reply L2Cache::update(uint64_t line, uint32_t sectors, uint32_t side, uint32_t site, uint64_t now) {
    const auto [in, at] = place(line);
    Reply reply;
    reply.wait = turn(sectors, now);
    if (at != side) reply.wait += partition_distance_;
    const uint32_t slot = touch(line, in, at, now);
    Line& state = lines_[slot];
    if (state.ready > now) reply.wait = std::max(reply.wait, double(state.ready - now));
    reply.hits = sectors & state.valid;
    if (const uint32_t missing = sectors & ~reply.hits) {
        reply.wait += dram_wait_ + fill(slot, missing, first_site_ + site, now, true);
        state.ready = now + uint64_t(reply.wait);
    }
    state.dirty |= uint8_t(sectors);
    state.site = first_site_ + site;
    relist(slot);
    drop_copies(line, in, at, sectors);
    limit_dirty(now);
    return reply;
}

void L2Cache::host_wrote(uint64_t line, uint64_t now) {
    const auto [in, at] = place(line);
    const uint32_t slot = touch(line, in, at, now);
    Line& state = lines_[slot];
    state.valid = state.dirty = kAllSectors;
    state.partial = 0;
    state.site = kNone;
    relist(slot);
    drop_copies(line, in, at, kAllSectors);
    limit_dirty(now);
}

}  // namespace lanescope::memory
