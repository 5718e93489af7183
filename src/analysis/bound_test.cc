#include "analysis/bound.h"

#include <gtest/gtest.h>

namespace lanescope::analysis {
namespace {

TEST(Bound, NamesTheUnitItsShareAndTheNext) {
    profile::Launch launch;
    EXPECT_EQ(describe_bound(launch), "");                       // not known
    launch.units = {{"dram", 86.4, 90}, {"l2", 43, 71}};
    launch.bound = "dram";
    launch.second_bound = "l2";
    EXPECT_EQ(describe_bound(launch), "Bound by device memory: 86 % of peak. Next is L2: 43 % of peak, busy 71 % of the time.");
    launch.bound = "latency";
    launch.second_bound = "";
    EXPECT_EQ(describe_bound(launch), "Bound by latency: no unit is busy, more loads in flight would help.");
}

TEST(Bound, BandwidthIsUsefulBytesOverTimeBesideThePeak) {
    EXPECT_EQ(describe_bandwidth({}), "");
    const profile::Metrics metrics = {{"lanescope__effective_bandwidth", 2e12}, {"lanescope__theoretical_bandwidth", 4e12}};
    EXPECT_EQ(describe_bandwidth(metrics), "Effective bandwidth 2 TB/s, 50 % of the theoretical 4 TB/s.");
}

}  // namespace
}  // namespace lanescope::analysis
