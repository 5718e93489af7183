#include "emulator/occupancy.h"

#include <algorithm>

namespace lanescope::emulator {
namespace {

constexpr uint64_t round_up(uint64_t value, uint64_t unit) { return unit ? (value + unit - 1) / unit * unit : value; }

/// An H200's driver takes 32 KiB for kernels that need 8, although 16 can be configured.
constexpr uint64_t kNeverChosen = 16 << 10;

uint64_t choose_carveout(const gpu::Description& gpu, uint64_t needed, uint64_t per_block, int percent) {
    if (gpu.shared_carveouts.empty()) return gpu.max_shared_per_block;
    uint64_t largest = gpu.shared_carveouts.back();
    uint64_t target = percent >= 0 ? std::max(per_block, largest * uint64_t(std::min(percent, 100)) / 100) : 2 * needed;
    for (uint64_t carveout : gpu.shared_carveouts)
        if (carveout >= target && carveout >= per_block && (percent >= 0 || carveout != kNeverChosen)) return carveout;
    return largest;
}

}  // namespace

Occupancy occupancy(const gpu::Description& gpu, const BlockResources& block) {
    Occupancy out;
    out.warps_per_block = (block.threads + gpu.warp_lanes - 1) / gpu.warp_lanes;
    uint32_t warps = std::max(1u, out.warps_per_block);
    out.limit_warps = gpu.max_warps_per_sm / warps;
    out.limit_blocks = gpu.max_blocks_per_sm;

    uint64_t per_warp = round_up(uint64_t(std::max(1u, block.registers_per_thread)) * gpu.warp_lanes, gpu.register_allocation_unit);
    uint32_t granularity = std::max(1u, gpu.warp_allocation_granularity);
    uint64_t warps_by_registers = gpu.registers_per_sm / per_warp / granularity * granularity;
    out.limit_registers = uint32_t(warps_by_registers / warps);

    uint64_t per_block = round_up(block.shared_bytes + gpu.reserved_shared_per_block, gpu.shared_allocation_unit);
    uint32_t others = std::min({out.limit_warps, out.limit_blocks, out.limit_registers});
    out.shared_config_bytes = choose_carveout(gpu, per_block * others, per_block, block.carveout_percent);
    out.limit_shared = per_block ? uint32_t(out.shared_config_bytes / per_block) : out.limit_blocks;
    out.blocks_per_sm = std::min(others, out.limit_shared);
    out.l1_bytes = gpu.l1_bytes > out.shared_config_bytes ? gpu.l1_bytes - out.shared_config_bytes : 0;
    return out;
}

}  // namespace lanescope::emulator
