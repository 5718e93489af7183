// A GPU as data: what gpus/*.toml say, each number with its source and confidence. No other part of lanescope knows a GPU by name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

namespace lanescope::gpu {

/// How far a number can be trusted.
enum class Confidence : uint8_t { kDatasheet, kWhitepaper, kMeasured, kInferred, kAssumed };

/// How a warp's addresses become memory transactions.
enum class Coalescing : uint8_t {
    kKepler,    ///< 128-byte transactions through L1; without L1 the 32-byte segments needed of each 128-byte line
    kMaxwell,   ///< 32-byte sectors, unified L1/texture (sm_5x, sm_6x)
    kSectors,   ///< 32-byte sectors of 128-byte lines (sm_70 and later)
};

/// A measured relation of size and time: at least two points, both values ascending.
struct CurvePoint {
    double bytes = 0, ns = 0;
};
using Curve = std::vector<CurvePoint>;

struct Description {
    // identity
    std::string name;                     ///< "h200": the file's stem
    std::string product;                  ///< "NVIDIA H200": what cudaGetDeviceProperties says
    std::string architecture;             ///< "Hopper"
    uint32_t compute_capability = 0;      ///< 10 × major + minor: 90
    // multiprocessors
    uint32_t sms = 0;
    uint32_t gpcs = 0;                    ///< graphics processing clusters
    uint32_t sms_per_tpc = 2;
    uint32_t warp_lanes = 32;
    uint32_t schedulers_per_sm = 4;
    uint32_t fp32_lanes_per_sm = 128, fp64_lanes_per_sm = 64, special_lanes_per_sm = 16;  ///< results a clock
    uint32_t max_warps_per_sm = 0, max_blocks_per_sm = 0, max_threads_per_block = 1024;
    uint32_t registers_per_sm = 65536, max_registers_per_block = 65536, register_allocation_unit = 256, max_registers_per_thread = 255, warp_allocation_granularity = 4;
    double clock_mhz = 0;                 ///< boost: what a kernel runs at
    double base_clock_mhz = 0;
    // L1 and shared memory
    uint64_t l1_bytes = 0;                ///< data array per SM: L1 + shared memory where `l1_shared_unified`, else L1 alone
    bool l1_shared_unified = true;        ///< false on Maxwell and Pascal: shared memory has an array of its own
    std::vector<uint64_t> shared_carveouts;   ///< bytes of shared memory per SM that can be configured, ascending
    uint64_t max_shared_per_block = 48 << 10, max_shared_per_block_optin = 0, reserved_shared_per_block = 0;
    uint32_t shared_allocation_unit = 128;
    uint32_t shared_banks = 32, shared_bank_bytes = 4;
    uint32_t line_bytes = 128, sector_bytes = 32;
    uint32_t l1_ways = 0;                 ///< 0: unknown, fully hashed
    bool l1_caches_global_by_default = true;
    uint64_t texture_cache_bytes = 0;     ///< 0: unified with L1
    uint64_t constant_cache_bytes = 2048; ///< indexed constant cache per SM
    Coalescing coalescing = Coalescing::kSectors;
    bool l1_request_coalescer = false;    ///< merges identical reads of different SMs between L1 and L2 (Ampere and later)
    // L2
    uint64_t l2_bytes = 0;
    uint32_t l2_ways = 16, l2_slices = 0, l2_partitions = 1;
    double l2_clock_mhz = 0;
    uint32_t l2_bytes_per_clock_per_slice = 64;
    // DRAM
    std::string memory_type;              ///< "HBM3e"
    uint64_t memory_bytes = 0;
    uint32_t bus_bits = 0;
    double memory_clock_mhz = 0;          ///< the clock that is doubled: peak = bus_bits / 8 × memory_clock × 2 (× transfers_per_clock / 2)
    double transfers_per_clock = 2;
    uint32_t dram_fetch_bytes = 64;
    bool ecc = false;
    uint32_t gpus_on_board = 1;           ///< K80: 2
    // latencies in ns and link
    double l1_latency_ns = 0, l2_latency_ns = 0, dram_latency_ns = 0, shared_latency_ns = 0;
    double link_bytes_per_second = 0;     ///< host link, one direction, as achieved with pinned memory
    std::string link;                     ///< "PCIe 5.0 x16"
    double pageable_h2d_bytes_per_second = 0, pageable_d2h_bytes_per_second = 0;
    double blocks_launched_per_clock = 1; ///< rate of block launches, whole GPU, per SM clock
    double launch_overhead_ns = 0;        ///< shortest kernel
    uint32_t max_resident_grids = 128;    ///< kernels that can run at the same time
    bool page_faults = true;              ///< managed memory moves page by page when touched (Pascal and later), else before a kernel

    /// Where a number comes from: `text` is the value as the file writes it ("60 MiB").
    struct Origin {
        std::string text;
        std::string source;
        Confidence confidence = Confidence::kAssumed;
    };
    std::map<std::string, Origin, std::less<>> origins;  ///< by the file's key: "sms", "l2". Every key has one.
    /// Further parameters of the memory and timing models ([model] table), which document theirs.
    std::map<std::string, double, std::less<>> model;

    /// Measured transfer times by "kind.memory", for example "host_to_device.pinned" ([transfers] table, optional).
    std::map<std::string, Curve, std::less<>> transfers;

    /// Bytes per second of one GPU: bus / 8 × memory clock × transfers per clock.
    double peak_bytes_per_second() const;
    /// Bytes of L1 left when a block configuration takes `shared` bytes of the SM (rounded up to a carve-out).
    uint64_t l1_cache_bytes(uint64_t shared) const;
};

/// One value of a description for display, in the order of the file's sections.
struct Row {
    std::string section, key, value, source;
    Confidence confidence = Confidence::kAssumed;
};
std::vector<Row> rows(const Description& description);
std::string_view to_string(Confidence confidence);
/// The numbers as one JSON object in base units (bytes, MHz, ns, bytes per second), for profiles.
std::string to_json(const Description& description);

/// Parses and checks one description; `file` is for messages, its stem becomes the name. Every error carries file:line:col.
base::Result<Description> parse(std::string_view toml, const std::string& file);
/// Loads a description by name: from the folder in the environment's LANESCOPE_GPUS if it has NAME.toml, else from those built
/// into the library; or NAME itself when it is a path ending in .toml. Unknown: the error lists the known names.
base::Result<Description> load(const std::string& name);
std::vector<std::string> known_names();

}  // namespace lanescope::gpu
