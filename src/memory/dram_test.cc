#include "memory/dram.h"

#include <gtest/gtest.h>

namespace lanescope::memory {
namespace {

/// Mean latency of many reads at once, of which each takes up next to no time, behind so many writes.
double mean_latency(int writes, double spread, double turn) {
    Dram dram({.bytes_per_cycle = 1e12, .most_pending = 100, .spread_cycles = spread, .turn_cycles = turn});
    const auto written = [](const Dram::Write&) {};
    for (int i = 0; i < writes; ++i) dram.write(0, {.site = 0, .bytes = 128}, written);
    double sum = 0;
    for (int i = 0; i < 100'000; ++i) sum += dram.read(0, uint64_t(i), 64, written);
    return sum / 100'000;
}

TEST(Dram, ReadsTakeLongerWhileWritesWait) {
    EXPECT_NEAR(mean_latency(0, 100, 300), 100, 2);
    EXPECT_NEAR(mean_latency(1, 100, 300), 400, 8);
}

TEST(Dram, AQueueThatIsFullWritesTheFirst) {
    Dram dram({.bytes_per_cycle = 1, .most_pending = 2});
    uint32_t site = 0;
    const auto written = [&](const Dram::Write& write) { site = write.site; };
    dram.read(0, 0, 1 << 20, written);
    for (uint32_t i = 1; i <= 2; ++i) dram.write(0, {.site = i, .bytes = 128}, written);
    EXPECT_TRUE(dram.full());
    EXPECT_EQ(site, 0u) << "reads come first";
    dram.write(0, {.site = 3, .bytes = 128}, written);
    EXPECT_EQ(site, 1u);
}

}  // namespace
}  // namespace lanescope::memory
