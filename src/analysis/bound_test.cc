#include "analysis/bound.h"

#include <gtest/gtest.h>

namespace lanescope::analysis {
namespace {

TEST(Bound, NamesTheUnitItsShareAndTheNext) {
    profile::Launch launch;
    EXPECT_EQ(describe_bound(launch), "");                       // not known
    launch.units = {{"dram", 86.4, 90}, {"l2", 43, 71}, {"l1", 15, 20}, {"issue", 16.4, 20}, {"fp64", 0.4, 1}};
    launch.bound = "dram";
    launch.second_bound = "l2";
    EXPECT_EQ(describe_bound(launch), "Bound by device memory: 86 % of peak. Next is L2: 43 % of peak, busy 71 % of the time. Others: instruction issue 16 %, L1 15 %.");
    launch.units.clear();
    launch.bound = "latency";
    launch.second_bound = "";
    EXPECT_EQ(describe_bound(launch), "Bound by latency: no unit is busy, more loads in flight would help.");
    launch.metrics["launch__grid_size"] = 8;
    launch.metrics["launch__waves_per_multiprocessor"] = 8.0 / 2112;   // 16 blocks on each of 132 SMs
    EXPECT_EQ(describe_bound(launch), "Bound by latency: no unit is busy, more loads in flight would help. The GPU has room for 2112 such blocks at once, the launch has 8.");
    launch.metrics["launch__waves_per_multiprocessor"] = 0.5;
    EXPECT_EQ(describe_bound(launch), "Bound by latency: no unit is busy, more loads in flight would help.");
}

TEST(Bound, BandwidthIsUsefulBytesOverTimeBesideThePeak) {
    EXPECT_EQ(describe_bandwidth({}), "");
    const profile::Metrics metrics = {{"lanescope__effective_bandwidth", 2e12}, {"lanescope__theoretical_bandwidth", 4e12}};
    EXPECT_EQ(describe_bandwidth(metrics), "Effective bandwidth 2 TB/s, 50 % of the theoretical 4 TB/s.");
}

TEST(Bound, ABoardsPeakIsTold) {
    const profile::Metrics metrics = {{"lanescope__effective_bandwidth", 120.24e9}, {"lanescope__theoretical_bandwidth", 240.48e9},
                                      {"lanescope__theoretical_bandwidth_of_board", 480.96e9}};
    EXPECT_EQ(describe_bandwidth(metrics), "Effective bandwidth 120 GB/s, 50 % of the theoretical 240 GB/s (of one of the board's 2 GPUs, which have 480.96 GB/s).");
}

TEST(Bound, BothMeaningsOfEfficiency) {
    // A warp-uniform float: 4 of 32 bytes are used, but 32 × 4 are asked for.
    EXPECT_EQ(describe_efficiency({{"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", 12.5},
                                   {"lanescope__requested_per_moved_mem_global_op_ld.pct", 400},
                                   {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", 50},
                                   {"lanescope__requested_per_moved_mem_global_op_st.pct", 50}}),
              "Of the bytes moved some lane uses (unique / moved): loads 12.5 % (lanes share: requested / moved is 400 %), stores 50 %.");
    EXPECT_EQ(describe_efficiency({}), "");
}

}  // namespace
}  // namespace lanescope::analysis
