#include "memory/atomic_rounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <numeric>
#include <sstream>
#include <string>

namespace lanescope::memory {
namespace {

uint32_t sectors(const std::function<uint64_t(uint32_t)>& address, uint32_t active = ~0u, uint32_t bytes = 4, bool compare_and_swap = false) {
    uint64_t lanes[kLanes];
    for (uint32_t lane = 0; lane < kLanes; ++lane) lanes[lane] = address(lane);
    Footprint footprint;
    uint32_t sent[kLanes];
    coalesce(lanes, active, bytes, footprint);
    const uint32_t sum = atomic_sectors(lanes, active, footprint, compare_and_swap, sent);
    EXPECT_EQ(std::accumulate(sent, sent + footprint.lines, 0u), sum);
    return sum;
}

TEST(AtomicRounds, AnAddressGoesOncePerLane) {
    EXPECT_EQ(sectors([](uint32_t i) { return 4ull * i; }), 4u);              // 32 words in 4 sectors
    EXPECT_EQ(sectors([](uint32_t) { return 64ull; }), 32u);
    EXPECT_EQ(sectors([](uint32_t i) { return 4ull * (i / 2); }), 4u);        // 2 sectors, each word twice
    EXPECT_EQ(sectors([](uint32_t i) { return i == 5 ? 4ull : 0ull; }), 31u); // the other word goes with one of them
    EXPECT_EQ(sectors([](uint32_t i) { return 8ull * i; }, ~0u, 8), 8u);
    EXPECT_EQ(sectors([](uint32_t i) { return 16ull * i; }, ~0u, 16), 16u);
    EXPECT_EQ(sectors([](uint32_t i) { return 4ull * (i / 2); }, 0x55555555), 2u);
}

/// Lines 0 and 5 are of one set (1 ^ 4: parities of bits 0 and 2 are the same), 0 and 1 are not.
TEST(AtomicRounds, ALaneOfAnotherLineKeepsTheBankItWants) {
    EXPECT_EQ(tag_set(0), tag_set(5 * 128));
    EXPECT_NE(tag_set(0), tag_set(128));
    // Lane 1 wants word 1 of the other line before lane 2 wants word 1 of lane 0's: lane 2 has to wait, though its sector goes.
    const auto three = [](uint64_t other_line) { return [=](uint32_t i) { return i == 0 ? 0ull : i == 1 ? other_line * 128 + 4 : 4ull; }; };
    EXPECT_EQ(sectors(three(5), 7), 3u);
    EXPECT_EQ(sectors(three(1), 7), 2u);
    // It does not if the lane of the other line comes first (its line goes first), or last.
    EXPECT_EQ(sectors([](uint32_t i) { return i == 0 ? 5 * 128 + 4ull : 4ull * (i - 1); }, 7), 2u);
    EXPECT_EQ(sectors([](uint32_t i) { return i == 2 ? 5 * 128 + 4ull : 4ull * i; }, 7), 2u);
}

/// Of a line, a compare-and-swap sends a half at a time.
TEST(AtomicRounds, ComparesGoByHalves) {
    // Lanes 1 and 3 want word 17, of line 5 and of line 0; lanes 0 and 2 words 0 and 16 of line 0. An addition sends lanes 0 and 2 at once,
    // then lane 1, then lane 3, though lane 2 was in its sector. By halves lane 2 waits for lane 1 too, and goes with lane 3.
    const auto four = [](uint32_t i) { return i == 0 ? 0ull : i == 1 ? 5 * 128 + 68ull : i == 2 ? 64ull : 68ull; };
    EXPECT_EQ(sectors(four, 15), 4u);           // {0, 2}, two sectors; {1}; {3}
    EXPECT_EQ(sectors(four, 15, 4, true), 3u);  // {0}, {1}, {2, 3}
}

/// Every recorded pattern of an H200.
TEST(AtomicRounds, EqualsRecordedCounters) {
    std::ifstream file(LANESCOPE_SOURCE_DIR "/tests/accuracy/h200/atomics.csv");
    ASSERT_TRUE(file.is_open());
    std::string line;
    uint32_t rows = 0;
    while (std::getline(file, line)) {
        if (line.empty() || line[0] == '#' || line[0] == 'b') continue;
        std::replace(line.begin(), line.end(), ',', ' ');
        std::istringstream in(line);
        uint32_t bytes = 0, active = 0, recorded = 0;
        std::string operation;
        in >> bytes >> operation >> std::hex >> active >> std::dec >> recorded;
        uint64_t lanes[kLanes] = {};
        for (uint32_t lane = 0; lane < kLanes; ++lane)
            if (active >> lane & 1) in >> lanes[lane];
        ASSERT_FALSE(in.fail()) << line;
        EXPECT_EQ(sectors([&](uint32_t lane) { return lanes[lane]; }, active, bytes, operation.find("cas") != std::string::npos), recorded) << line;
        ++rows;
    }
    EXPECT_EQ(rows, 586u);
}

}  // namespace
}  // namespace lanescope::memory
