#include "timing/kernel_time.h"

#include <gtest/gtest.h>

namespace lanescope::timing {
namespace {

/// 10 SMs at 1 GHz (a cycle is 1 ns), 100 GB/s, L2 of 2 slices × 32 B a clock; a launch costs 1000 ns, parameters 500 ns more.
gpu::Description small_gpu() {
    gpu::Description gpu;
    gpu.sms = 10;
    gpu.clock_mhz = gpu.l2_clock_mhz = 1000;
    gpu.bus_bits = 400;                   // 50 B × 1000 MHz × 2
    gpu.memory_clock_mhz = 1000;
    gpu.l2_slices = 2;
    gpu.l2_bytes_per_clock_per_slice = 32;
    gpu.launch_overhead_ns = 1000;
    gpu.max_warps_per_sm = 64;
    gpu.blocks_launched_per_clock = 0.5;
    gpu.model["parameters_ns"] = 500;
    return gpu;
}

const profile::Unit& unit(const profile::Launch& launch, const char* name) {
    for (const profile::Unit& each : launch.units)
        if (each.name == name) return each;
    throw name;
}

TEST(KernelTime, IsWorkAfterTheLaunch) {
    EXPECT_DOUBLE_EQ(kernel_ns(small_gpu(), 2000, false), 3000);   // 1000 + 2000 cycles of 1 ns
    EXPECT_DOUBLE_EQ(kernel_ns(small_gpu(), 2000, true), 3500);
}

TEST(KernelTime, SharesOfPeak) {
    profile::Launch launch;
    // 4000 ns: 1000 + 3000. DRAM moved 320000 of 400000 B; L2 2000 of 8000 sectors; 10 × 3000 SM cycles, half of them with 32 of 64 warps.
    add_kernel_time(small_gpu(), {.cycles = 3000, .blocks = 600, .issued = 16000, .active_cycles = 15000, .warp_cycles = 480000,
                                  .memory = {.l1 = 4000, .shared = 3000, .l2 = 1500, .l2_sectors = 2000, .dram = 2700}, .dram_bytes = 320000},
                    launch);
    EXPECT_DOUBLE_EQ(launch.metrics.at("gpu__time_duration.sum"), 4000);
    EXPECT_DOUBLE_EQ(launch.metrics.at("sm__warps_active.avg.pct_of_peak_sustained_active"), 50);
    EXPECT_DOUBLE_EQ(launch.metrics.at("dram__throughput.avg.pct_of_peak_sustained_elapsed"), 80);
    EXPECT_DOUBLE_EQ(launch.metrics.at("lanescope__theoretical_bandwidth"), 100e9);
    EXPECT_DOUBLE_EQ(unit(launch, "dram").busy, 90);               // 2700 of 3000 cycles
    EXPECT_DOUBLE_EQ(unit(launch, "l2").of_peak, 25);              // 2000 of 2 × 1 × 4000 sectors
    EXPECT_DOUBLE_EQ(unit(launch, "l2").busy, 50);
    EXPECT_DOUBLE_EQ(unit(launch, "l1").of_peak, 10);              // 4000 of 10 × 4000 cycles
    EXPECT_DOUBLE_EQ(unit(launch, "issue").of_peak, 10);           // 16000 of 10 × 4 × 4000
    EXPECT_DOUBLE_EQ(unit(launch, "block_launch").busy, 40);       // 600 blocks at 0.5 a cycle: 1200 of 3000
    EXPECT_EQ(launch.bound, "dram");
    EXPECT_EQ(launch.second_bound, "l2");
}

TEST(KernelTime, ABoardHasThePeakOfAllItsGpus) {
    auto k80 = gpu::load("k80");
    ASSERT_TRUE(k80.ok());
    profile::Launch launch;
    add_kernel_time(*k80, {.cycles = 1000}, launch);
    EXPECT_NEAR(launch.metrics.at("lanescope__theoretical_bandwidth"), 240.48e9, 1);            // 384 / 8 B × 2.505 GHz × 2
    EXPECT_NEAR(launch.metrics.at("lanescope__theoretical_bandwidth_of_board"), 480.96e9, 1);   // two of them
    add_kernel_time(small_gpu(), {.cycles = 1000}, launch = {});
    EXPECT_FALSE(launch.metrics.contains("lanescope__theoretical_bandwidth_of_board"));
}

TEST(KernelTime, NamesWhatBinds) {
    const auto bound = [](std::vector<profile::Unit> units) {
        profile::Launch launch;
        launch.units = std::move(units);
        name_bounds(launch, "latency");
        return launch.bound + " " + launch.second_bound;
    };
    EXPECT_EQ(bound({{"dram", 70, 80}, {"l2", 40, 95}}), "dram l2");       // ncu's 60 % come before what was taken up most
    EXPECT_EQ(bound({{"dram", 50, 55}, {"l2", 45, 95}}), "l2 dram");       // L2 never reaches its peak, but had no time left
    EXPECT_EQ(bound({{"dram", 50, 94.5}, {"l2", 45, 95}}), "dram l2");     // equally busy
    EXPECT_EQ(bound({{"dram", 30, 59}, {"l2", 20, 40}}), "latency dram");  // nothing is high: just below 60
    EXPECT_EQ(bound({{"l1", 90, 95}, {"shared", 80, 85}, {"dram", 1, 1}}), "shared dram");   // most of L1's passes are shared memory's
    EXPECT_EQ(bound({{"l1", 90, 95}, {"shared", 20, 25}}), "l1 ");
}

}  // namespace
}  // namespace lanescope::timing
