#include "gpu/keys.h"

namespace lanescope::gpu {
namespace {

constexpr double kKi = 1024, kMi = kKi * 1024, kGi = kMi * 1024;
using D = Description;

constexpr Key kKeys[] = {
    {"identity", "product", &D::product, Unit::kText},
    {"identity", "architecture", &D::architecture, Unit::kText},
    {"identity", "compute_capability", &D::compute_capability, Unit::kCapability, 30, 199},
    {"identity", "gpus_on_board", &D::gpus_on_board, Unit::kNone, 1, 4},

    {"multiprocessors", "sms", &D::sms, Unit::kNone, 1, 1024},
    {"multiprocessors", "gpcs", &D::gpcs, Unit::kNone, 1, 64},
    {"multiprocessors", "sms_per_tpc", &D::sms_per_tpc, Unit::kNone, 1, 8},
    {"multiprocessors", "schedulers_per_sm", &D::schedulers_per_sm, Unit::kNone, 1, 8},
    {"multiprocessors", "fp32_lanes_per_sm", &D::fp32_lanes_per_sm, Unit::kNone, 8, 512},
    {"multiprocessors", "fp64_lanes_per_sm", &D::fp64_lanes_per_sm, Unit::kNone, 1, 512},
    {"multiprocessors", "special_lanes_per_sm", &D::special_lanes_per_sm, Unit::kNone, 1, 512},
    {"multiprocessors", "clock", &D::clock_mhz, Unit::kFrequency, 100, 10000},
    {"multiprocessors", "base_clock", &D::base_clock_mhz, Unit::kFrequency, 100, 10000},
    {"multiprocessors", "max_warps_per_sm", &D::max_warps_per_sm, Unit::kNone, 1, 128},
    {"multiprocessors", "max_blocks_per_sm", &D::max_blocks_per_sm, Unit::kNone, 1, 128},
    {"multiprocessors", "max_threads_per_block", &D::max_threads_per_block, Unit::kNone, 32, 4096},
    {"multiprocessors", "registers_per_sm", &D::registers_per_sm, Unit::kNone, 1024, 1 << 20},
    {"multiprocessors", "max_registers_per_block", &D::max_registers_per_block, Unit::kNone, 1024, 1 << 20},
    {"multiprocessors", "max_registers_per_thread", &D::max_registers_per_thread, Unit::kNone, 16, 1024},
    {"multiprocessors", "register_allocation_unit", &D::register_allocation_unit, Unit::kNone, 32, 4096},
    {"multiprocessors", "warp_allocation_granularity", &D::warp_allocation_granularity, Unit::kNone, 1, 16},
    {"multiprocessors", "blocks_launched_per_clock", &D::blocks_launched_per_clock, Unit::kNone, 0.01, 64},
    {"multiprocessors", "launch_overhead", &D::launch_overhead_ns, Unit::kTime, 1, 1e6},
    {"multiprocessors", "max_resident_grids", &D::max_resident_grids, Unit::kNone, 1, 1024},

    {"l1", "l1", &D::l1_bytes, Unit::kBytes, kKi, kMi},
    {"l1", "l1_ways", &D::l1_ways, Unit::kNone, 1, 4096, true},
    {"l1", "l1_latency", &D::l1_latency_ns, Unit::kTime, 1, 1e4},
    {"l1", "l1_shared_unified", &D::l1_shared_unified, Unit::kFlag},
    {"l1", "l1_caches_global_by_default", &D::l1_caches_global_by_default, Unit::kFlag},
    {"l1", "l1_request_coalescer", &D::l1_request_coalescer, Unit::kFlag},
    {"l1", "coalescing", &D::coalescing, Unit::kCoalescing},
    {"l1", "line", &D::line_bytes, Unit::kBytes, 32, 512},
    {"l1", "sector", &D::sector_bytes, Unit::kBytes, 16, 128},
    {"l1", "texture_cache", &D::texture_cache_bytes, Unit::kBytes, 0, kMi},
    {"l1", "constant_cache", &D::constant_cache_bytes, Unit::kBytes, 64, kMi},

    {"shared", "shared_carveouts", &D::shared_carveouts, Unit::kBytes, 0, kMi},
    {"shared", "max_shared_per_block", &D::max_shared_per_block, Unit::kBytes, kKi, kMi},
    {"shared", "max_shared_per_block_optin", &D::max_shared_per_block_optin, Unit::kBytes, kKi, kMi},
    {"shared", "reserved_shared_per_block", &D::reserved_shared_per_block, Unit::kBytes, 0, 64 * kKi},
    {"shared", "shared_allocation_unit", &D::shared_allocation_unit, Unit::kBytes, 1, 4096},
    {"shared", "shared_banks", &D::shared_banks, Unit::kNone, 1, 128},
    {"shared", "shared_bank_width", &D::shared_bank_bytes, Unit::kBytes, 1, 32},
    {"shared", "shared_latency", &D::shared_latency_ns, Unit::kTime, 1, 1e4},

    {"l2", "l2", &D::l2_bytes, Unit::kBytes, 64 * kKi, kGi},
    {"l2", "l2_ways", &D::l2_ways, Unit::kNone, 1, 256},
    {"l2", "l2_slices", &D::l2_slices, Unit::kNone, 1, 1024},
    {"l2", "l2_partitions", &D::l2_partitions, Unit::kNone, 1, 8},
    {"l2", "l2_clock", &D::l2_clock_mhz, Unit::kFrequency, 100, 10000},
    {"l2", "l2_slice_width", &D::l2_bytes_per_clock_per_slice, Unit::kBytes, 8, 256},
    {"l2", "l2_latency", &D::l2_latency_ns, Unit::kTime, 1, 1e5},

    {"dram", "memory_type", &D::memory_type, Unit::kText},
    {"dram", "memory", &D::memory_bytes, Unit::kBytes, kMi, 4096 * kGi},
    {"dram", "bus", &D::bus_bits, Unit::kBits, 16, 65536},
    {"dram", "memory_clock", &D::memory_clock_mhz, Unit::kFrequency, 100, 50000},
    {"dram", "transfers_per_clock", &D::transfers_per_clock, Unit::kNone, 1, 16},
    {"dram", "dram_fetch", &D::dram_fetch_bytes, Unit::kBytes, 16, 512},
    {"dram", "dram_latency", &D::dram_latency_ns, Unit::kTime, 1, 1e5},
    {"dram", "ecc", &D::ecc, Unit::kFlag},

    {"host", "link", &D::link, Unit::kText},
    {"host", "link_pinned", &D::link_bytes_per_second, Unit::kRate, 1e8, 1e13},
    {"host", "link_pageable_h2d", &D::pageable_h2d_bytes_per_second, Unit::kRate, 1e8, 1e13},
    {"host", "link_pageable_d2h", &D::pageable_d2h_bytes_per_second, Unit::kRate, 1e8, 1e13},
    {"host", "page_faults", &D::page_faults, Unit::kFlag},
};

}  // namespace

std::span<const Key> keys() { return kKeys; }

}  // namespace lanescope::gpu
