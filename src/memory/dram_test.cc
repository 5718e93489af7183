#include "memory/dram.h"

#include <gtest/gtest.h>

#include <utility>

namespace lanescope::memory {
namespace {

/// Mean latency of many reads at once, of which each takes up next to no time, behind so many writes.
double mean_latency(int writes, double spread, double turn) {
    Dram dram({.bytes_per_cycle = 1e12, .most_pending = 100, .spread_cycles = spread, .turn_cycles = turn});
    const auto written = [](const Dram::Write&) {};
    for (int i = 0; i < writes; ++i) dram.write(0, {.sectors = 0xf}, written);
    double sum = 0;
    for (int i = 0; i < 100'000; ++i) sum += dram.read(0, uint64_t(i), 0x3, written);
    return sum / 100'000;
}

TEST(Dram, ReadsTakeLongerWhileWritesWait) {
    EXPECT_NEAR(mean_latency(0, 100, 300), 100, 2);
    EXPECT_NEAR(mean_latency(1, 100, 300), 400, 8);
}

TEST(Dram, AQueueThatIsFullWritesTheFirst) {
    Dram dram({.bytes_per_cycle = 1e-3, .most_pending = 2});
    uint32_t site = 0;
    const auto written = [&](const Dram::Write& write) { site = write.site; };
    dram.read(0, 0, 0xf, written);
    for (uint32_t i = 1; i <= 2; ++i) dram.write(0, {.site = i, .sectors = 0xf}, written);
    EXPECT_TRUE(dram.full());
    EXPECT_EQ(site, 0u) << "reads come first";
    dram.write(0, {.site = 3, .sectors = 0xf}, written);
    EXPECT_EQ(site, 1u);
}

/// Accesses are of pairs of sectors, rows of 16 lines; opening one takes the time of 107 bytes for a read, of 150 for a write.
struct Rows : testing::Test {
    Dram dram{{.bytes_per_cycle = 1, .atom = 64, .most_pending = 0, .row_lines = 16, .row_read_bytes = 107, .row_write_bytes = 150, .turnaround_bytes = 26}};
    double busy = 0;
    double taken() { return dram.busy_cycles() - std::exchange(busy, dram.busy_cycles()); }
    double read(uint64_t line, uint32_t sectors) {
        dram.read(0, line, sectors, [](const Dram::Write&) {});
        return taken();
    }
    double write(uint64_t line, uint32_t sectors) {
        dram.write(0, {.line = line, .sectors = sectors}, [](const Dram::Write&) {});
        return taken();
    }
};

TEST_F(Rows, OpeningTakesAsLongAsNotUsedUp) {
    EXPECT_EQ(read(0, 0x3), 107);
    EXPECT_EQ(read(1, 0x1), 2 * 64 - 107) << "the row is open, and time is left for 43 of 64 bytes";
    EXPECT_EQ(read(15, 0xf), 128);
    EXPECT_EQ(read(16, 0xf), 128) << "another row, used up at once";
    EXPECT_EQ(read(100'000, 0x9), 128) << "two pairs";
}

TEST_F(Rows, WritesOpenRowsOfTheirOwn) {
    EXPECT_EQ(read(0, 0x1), 107);
    EXPECT_EQ(write(0, 0x1), 150 + 26) << "the bus turns round";
    EXPECT_EQ(write(1, 0x1), 0) << "within the time that opening took";
    EXPECT_EQ(write(2, 0x1), 3 * 64 - 150);
    EXPECT_EQ(write(16, 0x1), 150);
    EXPECT_EQ(read(1, 0x1), 2 * 64 - 107);
}

}  // namespace
}  // namespace lanescope::memory
