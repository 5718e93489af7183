// What the caches' model needs beyond a GPU's geometry: the [model] table of a description, with the values assumed where it is silent.
#pragma once

#include <string_view>

#include "gpu/description.h"

namespace lanescope::memory {

/// Each name is a key of [model]; cycles are SM cycles. Evidence and meaning: docs/memory-model.md.
struct Parameters {
    double l1_store_window_cycles;        ///< a store joins an earlier one to the same line at most this much later
    double l1_store_window_lines;         ///< lines that wait for further stores at a time
    double store_packet_cycles;           ///< of an SM for 32 bytes of a store on the way to L2
    double coalescer_reads;               ///< SMs (or requests) whose identical reads become one
    double coalescer_distance_cycles;     ///< way from an SM to the coalescer and back: the rest of a read's latency is the merging window
    double l2_partition_distance_cycles;  ///< how much longer a hit in the other partition takes
    double l2_dirty_share;                ///< share of the L2's lines that may be dirty before some are written back
    double l2_partial_share;              ///< share that may hold partly written sectors before some are filled and written back
    double dram_pending_share;            ///< share that may wait for DRAM to be free of reads before writes go first
    double dram_efficiency;               ///< sustained share of the theoretical DRAM bandwidth
    double dram_drain_ns;                 ///< how long DRAM goes on writing while a kernel ends
    double flushed_dirty_bytes;           ///< dirty data that a profiler's own work leaves in L2 when it flushes before a kernel

    explicit Parameters(const gpu::Description& gpu) {
        const auto get = [&](std::string_view name, double otherwise) {
            const auto found = gpu.model.find(name);
            return found == gpu.model.end() ? otherwise : found->second;
        };
        l1_store_window_cycles = get("l1_store_window_cycles", 60);
        l1_store_window_lines = get("l1_store_window_lines", 16);
        store_packet_cycles = get("store_packet_cycles", 1.1);
        coalescer_reads = get("coalescer_reads", 4);
        coalescer_distance_cycles = get("coalescer_distance_cycles", 235);
        l2_partition_distance_cycles = get("l2_partition_distance_cycles", 44);
        l2_dirty_share = get("l2_dirty_share", 0.468);
        l2_partial_share = get("l2_partial_share", 0.125);
        dram_pending_share = get("dram_pending_share", 0.19);
        dram_efficiency = get("dram_efficiency", 0.92);
        dram_drain_ns = get("dram_drain_ns", 800);
        flushed_dirty_bytes = get("flushed_dirty_bytes", 0);
    }
};

}  // namespace lanescope::memory
