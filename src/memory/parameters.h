// What the caches' model needs beyond a GPU's geometry: the [model] table of a description, with the values assumed where it is silent.
#pragma once

#include <string_view>

#include "gpu/description.h"

namespace lanescope::memory {

/// SMs do not come in order of time: the executor lets one after the other advance by up to twice as many cycles.
constexpr double kOutOfOrderCycles = 64;

/// Each name is a key of [model]; cycles are SM cycles. Evidence and meaning: docs/memory-model.md.
struct Parameters {
    double l1_store_window_cycles;        ///< a store joins an earlier one to the same line at most this much later
    double l1_store_window_lines;         ///< lines that wait for further stores at a time
    double l1_stores_under_way;           ///< lines of stores that have left an SM and that L2 has not taken
    double l1_pending_lines;              ///< lines that an SM can wait for at a time; 0: as many as its warps ask for
    double store_packet_cycles;           ///< of an SM for a packet of 32 bytes of a store on the way to L2; 0: not known, the way is never too narrow
    double coalescer_reads;               ///< requests for the same sectors that become one
    double coalescer_distance_cycles;     ///< way from an SM to the coalescer and back: the rest of a read's latency is the merging window
    double coalescer_spread_cycles;       ///< by so much reads of different SMs may come to it in another order than they were sent
    double l2_partition_distance_cycles;  ///< how much longer a hit in the other partition takes
    double l2_dirty_share;                ///< share of the L2's lines that may be dirty before some are written back
    double l2_partial_share;              ///< share that may hold partly written sectors before some are filled and written back
    double l2_persisting_share;           ///< share that evict_last keeps whatever else comes, as long as a program does not set the limit
    double l2_read_turns;                 ///< of a slice's width a clock, for 32 bytes read; above 1: slices are not reached evenly
    double l2_write_turns;                ///< for a packet of 32 bytes of a store
    double l2_fill_turns;                 ///< for 32 bytes fetched from DRAM, beside the read that wanted them
    double l2_atomic_clocks;              ///< of a slice, for the atomics of one sector
    double l2_atomic_partial_clocks;      ///< the same unless they are on all of its bytes, each once
    double l1_atomic_cycles;              ///< of an SM's load/store unit, for the atomics of one sector
    double constant_word_cycles;          ///< each distinct word of a constant access
    double constant_miss_cycles;          ///< an access that misses in the indexed constant cache but not in the next
    double constant_uniform_bytes;        ///< size of the uniform datapath's own first constant cache
    double constant_next_bytes;           ///< size of that next cache
    double l2_completed_share;            ///< share that may be dirty before lines that were completed from DRAM must be written at once
    double dram_pending_share;            ///< share that may wait for DRAM to be free of reads before writes go first
    double dram_write_share;              ///< bytes written for each byte read while both wait
    double dram_efficiency;               ///< sustained share of the theoretical DRAM bandwidth
    double dram_turnaround_bytes;         ///< how much longer a write takes that follows a read, as bytes not moved meanwhile
    double dram_row_bytes;                ///< of one row
    double dram_row_read_bytes;           ///< a row that is opened for a read takes the time of so many bytes at least
    double dram_row_write_bytes;          ///< the same for a write
    double dram_spread_ns;                ///< mean of what a read takes beyond the shortest; part of the description's dram_latency
    double dram_turn_ns;                  ///< mean of what a read takes longer while writes wait
    double dram_ahead_share;              ///< share of the L2's lines by whose completion stores may be ahead of DRAM
    double dram_drain_ns;                 ///< how long DRAM goes on writing while a kernel ends
    double flushed_dirty_bytes;           ///< dirty data that a profiler's own work leaves in L2 when it flushes before a kernel

    explicit Parameters(const gpu::Description& gpu) {
        const auto get = [&](std::string_view name, double otherwise) {
            const auto found = gpu.model.find(name);
            return found == gpu.model.end() ? otherwise : found->second;
        };
        l1_store_window_cycles = get("l1_store_window_cycles", 16);
        l1_store_window_lines = get("l1_store_window_lines", 16);
        l1_stores_under_way = get("l1_stores_under_way", 64);
        l1_pending_lines = get("l1_pending_lines", 0);
        store_packet_cycles = get("store_packet_cycles", 0);
        coalescer_reads = get("coalescer_reads", 4);
        coalescer_distance_cycles = get("coalescer_distance_cycles", 215);
        coalescer_spread_cycles = get("coalescer_spread_cycles", 8);
        l2_partition_distance_cycles = get("l2_partition_distance_cycles", 44);
        l2_dirty_share = get("l2_dirty_share", 0.468);
        l2_partial_share = get("l2_partial_share", 0.135);
        l2_persisting_share = get("l2_persisting_share", gpu.compute_capability >= 80 ? 0.1875 : 0);
        l2_read_turns = get("l2_read_turns", 1.06);
        l2_write_turns = get("l2_write_turns", 1.56);
        l2_fill_turns = get("l2_fill_turns", 0.5);
        l2_atomic_clocks = get("l2_atomic_clocks", 1.06);
        l2_atomic_partial_clocks = get("l2_atomic_partial_clocks", 1.25);
        l1_atomic_cycles = get("l1_atomic_cycles", 2.4);
        constant_word_cycles = get("constant_word_cycles", 2);
        constant_miss_cycles = get("constant_miss_cycles", 50);
        constant_uniform_bytes = get("constant_uniform_bytes", 1024);
        constant_next_bytes = get("constant_next_bytes", 32 << 10);
        l2_completed_share = get("l2_completed_share", 0.14);
        dram_pending_share = get("dram_pending_share", 0.068);
        dram_write_share = get("dram_write_share", 0.5);
        dram_efficiency = get("dram_efficiency", 0.95);
        dram_turnaround_bytes = get("dram_turnaround_bytes", 26);
        dram_row_bytes = get("dram_row_bytes", 2048);
        dram_row_read_bytes = get("dram_row_read_bytes", 107);
        dram_row_write_bytes = get("dram_row_write_bytes", 150);
        dram_spread_ns = get("dram_spread_ns", 59);
        dram_turn_ns = get("dram_turn_ns", 100);
        dram_ahead_share = get("dram_ahead_share", 0.02);
        dram_drain_ns = get("dram_drain_ns", 200);
        flushed_dirty_bytes = get("flushed_dirty_bytes", 0);
    }
};

}  // namespace lanescope::memory
