#include "emulator/occupancy.h"

#include <gtest/gtest.h>

namespace lanescope::emulator {
namespace {

gpu::Description hopper() {
    gpu::Description gpu;
    gpu.max_warps_per_sm = 64;
    gpu.max_blocks_per_sm = 32;
    gpu.l1_bytes = 256 << 10;
    gpu.reserved_shared_per_block = 1024;
    for (uint64_t kib : {0, 8, 16, 32, 64, 100, 132, 164, 196, 228}) gpu.shared_carveouts.push_back(kib << 10);
    return gpu;
}

struct Row {
    uint32_t threads, registers;
    uint64_t shared;
    uint32_t limit_warps, limit_registers, limit_shared;
    uint64_t config;
    uint32_t blocks;
};

// launch__occupancy_limit_* and launch__shared_mem_config_size that Nsight Compute shows on an H200.
TEST(Occupancy, EqualsAnH200) {
    for (const Row& row : {Row{256, 16, 0, 8, 16, 32, 32768, 8},            // a streaming kernel
                           Row{256, 22, 4096 + 128, 8, 10, 19, 102400, 8},  // padded tile of a transpose
                           Row{256, 24, 4096, 8, 10, 20, 102400, 8},
                           Row{256, 16, 1024, 8, 16, 16, 32768, 8},         // histogram
                           Row{256, 16, 2048, 8, 16, 21, 65536, 8},
                           Row{256, 32, 2048, 8, 8, 21, 65536, 8},
                           Row{256, 30, 0, 8, 8, 32, 32768, 8},
                           Row{1024, 30, 0, 2, 2, 8, 8192, 2}}) {
        Occupancy got = occupancy(hopper(), {.threads = row.threads, .registers_per_thread = row.registers, .shared_bytes = row.shared});
        SCOPED_TRACE(testing::Message() << row.threads << " threads, " << row.registers << " registers, " << row.shared << " bytes");
        EXPECT_EQ(got.limit_warps, row.limit_warps);
        EXPECT_EQ(got.limit_registers, row.limit_registers);
        EXPECT_EQ(got.limit_shared, row.limit_shared);
        EXPECT_EQ(got.limit_blocks, 32u);
        EXPECT_EQ(got.shared_config_bytes, row.config);
        EXPECT_EQ(got.blocks_per_sm, row.blocks);
        EXPECT_EQ(got.l1_bytes, (256u << 10) - row.config);
    }
}

TEST(Occupancy, LimitsByEachResource) {
    // 255 registers → 256 × 32 = 8192 a warp → 8 warps an SM → one block of 256 threads
    EXPECT_EQ(occupancy(hopper(), {.threads = 256, .registers_per_thread = 255}).blocks_per_sm, 1u);
    // 160 KiB + 1 KiB of 228 KiB: one block, whatever else would fit
    Occupancy large = occupancy(hopper(), {.threads = 32, .registers_per_thread = 16, .shared_bytes = 160 << 10});
    EXPECT_EQ(large.blocks_per_sm, 1u);
    EXPECT_EQ(large.shared_config_bytes, 228u << 10);
    EXPECT_EQ(occupancy(hopper(), {.threads = 32, .registers_per_thread = 16, .shared_bytes = 228 << 10}).blocks_per_sm, 0u);  // + 1 KiB reserved
    EXPECT_EQ(occupancy(hopper(), {.threads = 32, .registers_per_thread = 16}).blocks_per_sm, 32u);                            // blocks per SM
    EXPECT_EQ(occupancy(hopper(), {.threads = 1024, .registers_per_thread = 65}).blocks_per_sm, 0u);  // 72 × 32 × 32 > 65536
}

TEST(Occupancy, APreferredCarveoutIsHonoured) {
    // 50 % of 228 KiB = 114 KiB → 132 KiB
    EXPECT_EQ(occupancy(hopper(), {.threads = 256, .carveout_percent = 50}).shared_config_bytes, 132u << 10);
    EXPECT_EQ(occupancy(hopper(), {.threads = 256, .carveout_percent = 100}).shared_config_bytes, 228u << 10);
    // 0 % asks for all L1, but each block's reserved KiB must fit
    EXPECT_EQ(occupancy(hopper(), {.threads = 256, .carveout_percent = 0}).shared_config_bytes, 8u << 10);
}

}  // namespace
}  // namespace lanescope::emulator
