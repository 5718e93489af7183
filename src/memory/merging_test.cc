#include "memory/merging.h"

#include <gtest/gtest.h>

namespace lanescope::memory {
namespace {

constexpr uint32_t kWhole = 0xf;

/// Reads of two groups; up to four become one.
class Reads {
public:
    Reads() { window_.reset(4, 2, 8); }
    /// Whether a read joins an earlier one; if not it is sent, to be joined for 60 cycles.
    bool joins(uint64_t now, uint32_t sectors = kWhole, uint32_t group = 0, uint64_t line = 7) {
        if (const auto ready = window_.join(line, sectors, group, now)) {
            ready_ = *ready;
            return true;
        }
        window_.sent(line, sectors, group, now, 60, now + 280);
        return false;
    }
    uint64_t ready() const { return ready_; }

private:
    ReadWindow window_;
    uint64_t ready_ = 0;
};

TEST(ReadWindow, TakesFourOfAGroupWhileTheFirstWaits) {
    Reads reads;
    EXPECT_FALSE(reads.joins(100));
    EXPECT_TRUE(reads.joins(101));
    EXPECT_EQ(reads.ready(), 380u);                         // with the first one's data
    EXPECT_FALSE(reads.joins(102, kWhole, 1));              // another group
    EXPECT_FALSE(reads.joins(103, kWhole, 0, 8));           // another line
    EXPECT_TRUE(reads.joins(104));
    EXPECT_TRUE(reads.joins(105));
    EXPECT_FALSE(reads.joins(106));                         // the fifth begins anew
    EXPECT_TRUE(reads.joins(165));
    EXPECT_FALSE(reads.joins(166));                         // 60 cycles later
}

TEST(ReadWindow, WorksBothWaysInTime) {
    Reads reads;
    EXPECT_FALSE(reads.joins(100));
    EXPECT_TRUE(reads.joins(41));
    EXPECT_FALSE(reads.joins(40));
}

// Recorded for two SMs that read a line at once (tests/accuracy/h200/probes.csv, `lrc_window`, `masks`): the same sectors are read once, others, also fewer or more, apart.
TEST(ReadWindow, OtherSectorsEndIt) {
    Reads reads;
    EXPECT_FALSE(reads.joins(100));
    EXPECT_FALSE(reads.joins(120, 1));
    EXPECT_FALSE(reads.joins(140));                         // would have joined the first, which was ended by the second
    EXPECT_TRUE(reads.joins(150));
    EXPECT_FALSE(reads.joins(160, 1, 1));                   // so does another group's
    EXPECT_FALSE(reads.joins(170));
    EXPECT_FALSE(reads.joins(180, kWhole, 0, 8));           // another line's read ends nothing
    EXPECT_TRUE(reads.joins(190));
}

TEST(ReadWindow, OtherSectorsAtNearlyTheSameTimeEndIt) {
    Reads reads;
    EXPECT_FALSE(reads.joins(100));
    EXPECT_FALSE(reads.joins(107, 1));
    EXPECT_FALSE(reads.joins(100));                         // may come after what was sent 7 cycles later
}

// One SM after the other is worked through: what the first asks for later comes before what the second asks for now.
TEST(ReadWindow, OrderOfTimeCounts) {
    Reads reads;
    EXPECT_FALSE(reads.joins(100, 1));
    EXPECT_FALSE(reads.joins(150, 2));
    EXPECT_TRUE(reads.joins(101, 1));
    EXPECT_TRUE(reads.joins(151, 2));
    EXPECT_TRUE(reads.joins(90, 1));
    EXPECT_FALSE(reads.joins(159, 1));                      // the other sectors were asked for in between
}

TEST(ReadWindow, WhatIsForgottenEndedAllBefore) {
    Reads reads;
    EXPECT_FALSE(reads.joins(100, 1));
    for (uint32_t sectors : {2, 3, 4}) EXPECT_FALSE(reads.joins(110 + 10 * sectors, sectors));
    EXPECT_FALSE(reads.joins(100, 1));                      // only the last three are remembered
    EXPECT_TRUE(reads.joins(101, 1));
}

}  // namespace
}  // namespace lanescope::memory
