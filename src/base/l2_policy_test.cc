#include "base/l2_policy.h"

#include <gtest/gtest.h>

namespace lanescope::base {
namespace {

using enum L2Priority;

TEST(L2Policy, BitsAreTheMachines) {
    // recorded: what createpolicy gave on an H200
    EXPECT_EQ(L2Policy::always(kLast).bits(), 0x14f0000000000000u);
    EXPECT_EQ(L2Policy::always(kFirst).bits(), 0x12f0000000000000u);
    EXPECT_EQ(L2Policy::always(kNormal).bits(), 0x16f0000000000000u);
    EXPECT_EQ(L2Policy::always(kUnchanged).bits(), 0x10f0000000000000u);
    EXPECT_EQ(L2Policy::fraction(kFirst, kUnchanged, 0.3f).bits(), 0x1240000000000000u);
    EXPECT_EQ(L2Policy::fraction(kLast, kFirst, 0.3f).bits(), 0x1540000000000000u);
    for (unsigned k = 1; k <= 32; ++k) EXPECT_EQ(L2Policy::fraction(kLast, kUnchanged, float(k) / 32).bits(), 0x1400000000000000u + (uint64_t((k + 1) / 2 - 1) << 52));
    EXPECT_EQ(L2Policy::fraction(kLast, kUnchanged, 0).bits(), 0x1400000000000000u);
    constexpr uint64_t kBuffer = 0x7f8206000000, kInside = kBuffer + (3 << 20) + 5000;
    const auto range = [](uint64_t address, uint32_t bytes) { return L2Policy::range(kLast, kFirst, address, bytes / 2, bytes).bits(); };
    EXPECT_EQ(range(kInside, 1 << 10), 0x1d00102000000000u);
    EXPECT_EQ(range(kInside, 1 << 15), 0x1d0010a000000000u);
    EXPECT_EQ(range(kInside, 1 << 19), 0x1d00182000000000u);
    EXPECT_EQ(range(kInside, 1 << 20), 0x1d10082000000000u);
    EXPECT_EQ(range(kInside, 1u << 31), 0x1dc0682000000000u);
    EXPECT_EQ(range(kBuffer, 9000), 0x1d00004000000000u);
    EXPECT_EQ(range(kBuffer, 3 << 20), 0x1d30060000000000u);
    EXPECT_EQ(range(kBuffer, 100 << 20), 0x1d86064000000000u);
}

TEST(L2Policy, AFractionTakesAsManyPiecesOf512Bytes) {
    for (unsigned sixteenths = 1; sixteenths <= 16; ++sixteenths) {
        const L2Policy policy = L2Policy::fraction(kLast, kFirst, float(sixteenths) / 16);
        const L2Policy more = L2Policy::fraction(kLast, kFirst, float(sixteenths + 1) / 16);
        unsigned last = 0;
        for (uint64_t address = 1 << 21; address < 2 << 21; address += 128) {
            const L2Priority priority = policy.at(address);
            last += priority == kLast;
            EXPECT_TRUE(priority == kLast || priority == kFirst);
            EXPECT_EQ(priority, policy.at(address / 512 * 512));
            EXPECT_TRUE(priority != kLast || more.at(address) == kLast) << "a larger part holds the smaller ones";
        }
        EXPECT_EQ(last, (1u << 21) / 128 * sixteenths / 16);
    }
    // recorded: of half of the lines, one of each two neighbouring pieces
    for (uint64_t address = 0; address < 1 << 16; address += 1024) {
        const L2Policy half = L2Policy::fraction(kLast, kUnchanged, 0.5f);
        EXPECT_NE(half.at(address), half.at(address + 512));
    }
}

TEST(L2Policy, ARangeIsMadeOfBlocks) {
    // 1 MiB in all: blocks of 8 KiB; 512 KiB from 0x100000 are blocks 128 to 191
    const L2Policy policy = L2Policy::range(kLast, kFirst, 0x100000, 1 << 19, 1 << 20);
    EXPECT_EQ(policy.at(0x100000 - 1), kFirst);
    EXPECT_EQ(policy.at(0x100000), kLast);
    EXPECT_EQ(policy.at(0x180000 - 1), kLast);
    EXPECT_EQ(policy.at(0x180000), kFirst);
    EXPECT_EQ(policy.at(0x200000), kLast) << "modulo 128 blocks";
}

TEST(L2Policy, WithoutOneNothingChanges) {
    EXPECT_FALSE(L2Policy());
    EXPECT_EQ(L2Policy().at(0x1000), kUnchanged);
    EXPECT_EQ(L2Policy(0x1000000000000000).at(0x1000), kUnchanged) << "of an evict_normal that libraries write down so";
}

}  // namespace
}  // namespace lanescope::base
