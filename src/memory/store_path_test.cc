#include "memory/store_path.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace lanescope::memory {
namespace {

/// One SM whose L2 takes everything at once: stays of 16 cycles, 16 lines, one cycle for 32 bytes on the way.
class Path {
public:
    Path() {
        gpu::Description gpu;
        gpu.model["l1_store_window_cycles"] = 16;
        gpu.model["l1_store_window_lines"] = 16;
        gpu.model["store_packet_cycles"] = 1;
        path_.configure(Parameters(gpu), 4);
        path_.reset(0);
    }
    /// A warp of `scheduler` stores word `word` of each of the four sectors of `lines` lines from `first`; 0: all words.
    void store(uint32_t scheduler, double now, uint32_t lines, uint32_t word, uint64_t first = 0) {
        std::vector<LinePart> parts(lines);
        for (uint32_t i = 0; i < lines; ++i) {
            parts[i].line = first + i;
            for (uint32_t sector = 0; sector < 4; ++sector) parts[i].bytes.set(sector * 32 + (word ? 4 * word : 0), word ? 4 : 32);
        }
        path_.add(scheduler, now, now, parts.data(), lines, 7);
    }
    /// Everything leaves; returns the sectors that were sent.
    uint32_t sent() {
        path_.advance(
            1e9, [&](uint32_t, uint32_t sectors) { sent_ += sectors; },
            [&](const StorePath::Packet& packet, double now) {
                left_.push_back({packet.line, now - StorePath::kSlackCycles});
                return 0.0;
            });
        EXPECT_TRUE(path_.empty());
        return sent_;
    }
    StorePath path_;
    std::vector<std::pair<uint64_t, double>> left_;

private:
    uint32_t sent_ = 0;
};

// An H200 in probes.csv: three dependent FMAs between two stores of a warp (13 cycles), and they join; four, and they do not.
TEST(StorePath, StoresToALineThatWaitsJoinIt) {
    Path p;
    p.store(0, 0, 1, 1);
    p.store(0, 13, 1, 2);
    EXPECT_EQ(p.sent(), 4u);
    Path late;
    late.store(0, 0, 1, 1);
    late.store(0, 17, 1, 2);
    EXPECT_EQ(late.sent(), 8u);
}

TEST(StorePath, WholeSectorsWaitForNothing) {
    Path p;
    p.store(0, 0, 1, 0);
    p.store(0, 1, 1, 0);
    EXPECT_EQ(p.sent(), 8u) << "recorded: `join full lines`";
}

// Recorded `fields`: stores of eight lines by two warps at once join (16 lines wait), by four they do not: 32 lines are between.
TEST(StorePath, SchedulersTakeTurnsAtABufferOfSixteenLines) {
    for (const uint32_t warps : {1u, 2u, 4u}) {
        Path p;
        for (uint32_t word : {1, 2, 3})
            for (uint32_t warp = 0; warp < warps; ++warp) p.store(warp, word, 8, word, 8 * warp);
        EXPECT_EQ(p.sent(), warps * 32 * (warps == 4 ? 3 : 1)) << warps;
    }
    Path sixteen, thirty_two;
    for (uint32_t word : {1, 2}) sixteen.store(0, word, 16, word);
    EXPECT_EQ(sixteen.sent(), 64u);
    for (uint32_t word : {1, 2}) thirty_two.store(0, word, 32, word);
    EXPECT_EQ(thirty_two.sent(), 256u);
}

TEST(StorePath, LinesLeaveOneAfterTheOther) {
    Path p;
    p.store(0, 0, 2, 1);                                    // head and mask, four sectors: 5 cycles a line
    EXPECT_DOUBLE_EQ(p.path_.free_at(), 10);
    p.store(0, 1, 2, 2);                                    // will join
    EXPECT_DOUBLE_EQ(p.path_.free_at(), 10);
    p.sent();
    ASSERT_EQ(p.left_.size(), 2u);
    EXPECT_DOUBLE_EQ(p.left_[0].second, 16);
    EXPECT_DOUBLE_EQ(p.left_[1].second, 21);
    EXPECT_DOUBLE_EQ(p.path_.free_at(), 26);
}

TEST(StorePath, LinesGoOnUntilTooManyAreNotTaken) {
    Path p;
    p.store(0, 0, 66, 0);                                   // whole sectors: 4.5 cycles a line
    std::vector<double> left;
    p.path_.advance(1e9, [](uint32_t, uint32_t) {}, [&](const StorePath::Packet&, double now) {
        left.push_back(now - StorePath::kSlackCycles);
        return 1000.0;
    });
    ASSERT_EQ(left.size(), 66u);
    EXPECT_DOUBLE_EQ(left[63], 16 + 63 * 4.5);
    EXPECT_DOUBLE_EQ(left[64], 1016) << "when the first of 64 was taken";
    EXPECT_DOUBLE_EQ(left[65], 1020.5);
    EXPECT_DOUBLE_EQ(p.path_.free_at(), 1025);
    EXPECT_DOUBLE_EQ(p.path_.taken_at(), 2020.5);
}

TEST(StorePath, WhatAReadNeedsGoesAhead) {
    Path p;
    p.store(0, 0, 2, 1);
    std::vector<uint64_t> ahead;
    const auto leave = [&](const StorePath::Packet& packet, double) {
        ahead.push_back(packet.line);
        return 0.0;
    };
    p.path_.flush(1, 2, leave);
    p.path_.flush(1, 3, leave);
    p.path_.flush(5, 3, leave);
    EXPECT_EQ(ahead, std::vector<uint64_t>{1}) << "once";
    EXPECT_EQ(p.sent(), 8u);
    ASSERT_EQ(p.left_.size(), 1u) << "L2 does not get it twice";
    EXPECT_EQ(p.left_[0].first, 0u);
}

}  // namespace
}  // namespace lanescope::memory
