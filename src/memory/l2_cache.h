// The L2 cache: sectored 128-byte lines, written back with byte masks, in one or two partitions that copy from each other.
#pragma once

#include <bit>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "gpu/description.h"
#include "memory/coalescer.h"
#include "memory/dram.h"
#include "memory/model.h"
#include "memory/parameters.h"
#include "memory/timetable.h"

namespace lanescope::memory {

/// An address has one home: the partition whose DRAM holds it. An SM asks its own partition; for lines whose home is the other one that
/// partition keeps a copy. Data of the other side therefore takes room twice.
/// Times are SM cycles that never go back, from launch to launch either.
///
/// Each set evicts lines of kFirst, then the others, each least recently used first. Lines of kLast in their home are spared, so many of a set
/// at most: of more, the least recently used is like others again. Copies are never spared.
class L2Cache {
public:
    using Priority = base::L2Priority;
    L2Cache(const gpu::Description& gpu, const Parameters& parameters, std::pmr::memory_resource* memory);

    /// Empties everything and leaves what a profiler's flush leaves. Costs nothing until sets are used again.
    void flush();
    /// A new kernel: counts go to `sites`, those of earlier kernels' data to `other`.
    void begin_launch(std::span<Counters> sites, Counters* other);
    void end_launch(uint64_t now);

    /// Time passes: nothing will come that is due before `now`.
    void pass(double now) { turns_.pass(now); }

    /// The line will be read by an SM of partition `side`, or written, soon: changes nothing.
    void prefetch_read(uint64_t line, uint32_t side) const { prefetch(side * sets_ + place(line).set); }
    void prefetch_write(uint64_t line) const {
        const Place at = place(line);
        prefetch(at.home * sets_ + at.set);
    }

    struct Reply {
        uint32_t hits = 0;                ///< sectors found in the asking SM's partition
        double wait = 0;                  ///< cycles beyond an L2 hit in the own partition
        double turn = 0;                  ///< of them, those before a slice takes the request
    };
    /// A read of `sectors` of a line by an SM of partition `side`. Fills count for `site`.
    Reply read(uint64_t line, uint32_t sectors, uint32_t side, uint32_t site, uint64_t now, Priority priority = Priority::kUnchanged);
    /// The same for nobody: into the home.
    void prefetch(uint64_t line, uint32_t sectors, uint32_t site, uint64_t now, Priority priority) { read(line, sectors, place(line).home, site, now, priority); }
    /// A store by an SM of partition `side`; `sent`: its sectors that come by themselves, not joined to an earlier store. Returns how long
    /// until it is taken.
    double write(uint64_t line, const ByteMask& bytes, uint32_t sent, uint32_t side, uint32_t site, uint64_t now, Priority priority = Priority::kUnchanged);
    /// Atomics and reductions: done at the home, on valid data.
    /// `passes`: how often a sector of the line is asked for, all together.
    Reply update(uint64_t line, const ByteMask& bytes, uint32_t passes, uint32_t side, uint32_t site, uint64_t now, Priority priority = Priority::kUnchanged);
    /// The line is kLast no longer.
    void evict_normally(uint64_t line);
    /// The line's data is lost, not written back.
    void discard(uint64_t line);
    /// Copies and memsets between launches: `line` was written, or read, as a whole; `over_link`: by the copy engine, from or to the host.
    void copied_to(uint64_t line, uint64_t now, bool over_link);
    void copied_from(uint64_t line, uint64_t now, bool over_link);

    /// What was done so far, for shares of peak.
    struct Work {
        double busy_cycles = 0;           ///< SM cycles for which all slices together were taken up
        double atomic_cycles = 0;         ///< the same of the slice with the most atomics, of this launch
        double dram_cycles = 0;           ///< DRAM's
        uint64_t sectors = 0;             ///< through the tag stage, crossings between partitions too
    };
    Work work() const;

    /// How many bytes kLast may keep: whole ways, one at least, none where the GPU has no such thing.
    void set_persisting(uint64_t bytes);
    uint64_t persisting() const { return last_ways_ * way_bytes_; }
    /// No line is kLast any more.
    void reset_persisting();

    uint32_t partitions() const { return partitions_; }
    uint64_t lines() const { return uint64_t(partitions_) * sets_ * ways_; }

private:
    static constexpr uint32_t kNone = ~0u, kAllSectors = 0xf;
    static constexpr uint32_t kLast = 1u << 31;   ///< in the stamp of lines to evict last
    static constexpr uint32_t kKept = 1u << 30;   ///< in the stamp of all lines but those to evict first
    static constexpr uint32_t kCleanedAhead = 3;  ///< sets differ in how many of the least recently used lines are kept clean: 0 to 2
    struct Line {
        ByteMask bytes;                   ///< written bytes of `partial` sectors
        uint64_t ready = 0;               ///< when the last fill arrives
        uint32_t site = kNone;            ///< who wrote last: first_site_ of its launch + site
        uint8_t valid = 0;                ///< sectors that are there
        uint8_t dirty = 0;                ///< sectors to write back
        uint8_t partial = 0;              ///< dirty sectors of which only some bytes are there
        bool completing = false;          ///< its place for byte masks is free when `ready` has come
    };
    struct Set {
        uint32_t flushes = 0;             ///< count of flushes when it was last emptied
        uint16_t dirty = 0, partial = 0;  ///< lines
        uint16_t completing = 0;          ///< lines, when last looked at, and those since
    };
    struct Place { uint32_t set, home; };
    Place place(uint64_t line) const;
    void prefetch(uint32_t set) const {
        __builtin_prefetch(&tags_[set * ways_]);
        __builtin_prefetch(&tags_[set * ways_ + ways_ / 2]);
        __builtin_prefetch(&stamps_[set * ways_]);
    }
    /// First slot of a set, emptied first if it was not used since the last flush.
    uint32_t first_slot(uint32_t set, uint32_t partition);
    uint32_t find(uint64_t line, uint32_t set, uint32_t partition);
    /// The slot of `line`, the least recently used line of its set replaced if it is not there; made the most recent.
    uint32_t touch(uint64_t line, uint32_t set, uint32_t partition, uint64_t now, Priority priority = Priority::kUnchanged);
    void make_recent(uint32_t slot, uint32_t flags);
    /// After a line of its set became kLast: no more of them than are spared.
    void limit_last(uint32_t base);
    /// Reads `wanted` sectors from DRAM (`by_granularity`: and their neighbours) into a slot; returns the wait.
    double fill(uint32_t slot, uint32_t wanted, uint32_t site, uint64_t now, bool by_granularity);
    /// Returns how long the reads that it needs wait. `later`: a line that had to be completed may be left dirty if too many wait to be written.
    double write_back(uint32_t slot, uint64_t now, bool later = false);
    /// Sets what of a line is to be written back, and how much of that is partial.
    void mark(uint32_t slot, uint32_t dirty, uint32_t partial);
    /// After a store to `slot`: writes back what is too much for its set. Returns how long the reads that this needs wait.
    double limit(uint32_t slot, uint64_t now);
    /// Lines of a set whose places for byte masks are not free before a fill comes.
    uint32_t completing(uint32_t set, uint64_t now);
    /// How long a store waits for DRAM: it may be ahead of it by some lines, of so many sectors each.
    double behind_dram(uint32_t sectors, uint64_t now) const;
    /// A random line of the set of `slot`, but not that one, which is dirty, and partial or not; kNone: there is none.
    uint32_t other_line(uint32_t slot, bool partial);
    /// A share of a set's ways that is no whole number is the next in some sets and the one below in others.
    uint32_t share_of(uint32_t set, double share) const;
    /// `sectors` and those that a fetch by DRAM's granularity brings with them.
    uint32_t with_neighbours(uint32_t sectors) const;
    /// Writes back a line of the set `base` that will soon make room.
    void clean_oldest(uint32_t base, uint64_t now);
    size_t random_below(size_t count);
    /// How long a request that takes so many clocks of a slice waits for its turn, as if all slices were one.
    double turn(double slice_clocks, uint64_t now);
    /// The same at the line's own slice: atomics of one address are done one after the other.
    double turn_at_slice(uint64_t line, bool whole, uint32_t passes, uint64_t now);
    void drop_copies(uint64_t line, uint32_t set, uint32_t home, uint32_t sectors);
    Counters& counters(uint32_t site) { return site - first_site_ < counts_.size() ? counts_[site - first_site_] : *other_; }
    auto written() {
        return [this](const Dram::Write& write) { counters(write.site).dram_write_bytes += kSectorBytes * uint32_t(std::popcount(write.sectors)); };
    }

    const uint32_t partitions_, ways_, sets_;
    const uint32_t neighbours_;           ///< sectors that one DRAM access brings
    const uint64_t way_bytes_;
    uint32_t last_ways_;                  ///< lines of a set that kLast spares
    bool any_last_ = false;               ///< there may be some
    const double partition_distance_;
    const double lines_ahead_;            ///< by which stores may be ahead of DRAM
    const double dirty_share_, partial_share_, completed_share_;   ///< of a set's ways
    const double flushed_dirty_share_;    ///< sets that hold one dirty line of the profiler after a flush
    const double slices_, slice_cycle_;   ///< number; SM cycles of a slice's clock
    const double read_clocks_, write_clocks_, fill_clocks_, atomic_clocks_, partial_clocks_;
    const double dram_wait_;
    Timetable turns_;
    double busy_ = 0;
    uint64_t sectors_ = 0;
    struct Slice {
        double busy_until = 0, busy = 0;
    };
    std::vector<Slice> atomics_;          ///< by slice
    uint32_t stamp_ = 0, flushes_ = 0, first_site_ = 0;
    uint64_t random_ = 0;
    std::pmr::vector<uint64_t> tags_;
    std::pmr::vector<uint32_t> stamps_;   ///< order of last uses, kKept and kLast in it: the least makes room; 0: empty
    std::pmr::vector<Line> lines_;
    std::pmr::vector<Set> state_;
    std::span<Counters> counts_;
    Counters* other_ = nullptr;
    Counters ignored_;
    Dram dram_;
};

}  // namespace lanescope::memory
