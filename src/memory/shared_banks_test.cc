#include "memory/shared_banks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

namespace lanescope::memory {
namespace {

Wavefronts passes(uint32_t bytes, const std::function<uint64_t(uint32_t)>& address, uint32_t active = ~0u) {
    uint64_t lanes[32];
    for (uint32_t lane = 0; lane < 32; ++lane) lanes[lane] = address(lane);
    return shared_wavefronts(lanes, active, bytes);
}

TEST(SharedBanks, WordsByStride) {
    // stride s words: gcd(s, 32) lanes meet in each bank
    for (const auto& [stride, ways] : {std::pair{1u, 1u}, {2u, 2u}, {3u, 1u}, {4u, 4u}, {8u, 8u}, {32u, 32u}, {33u, 1u}})
        EXPECT_EQ(passes(4, [&, s = stride](uint32_t i) { return 4ull * i * s; }), (Wavefronts{ways, 1})) << stride;
    EXPECT_EQ(passes(4, [](uint32_t) { return 64ull; }), (Wavefronts{1, 1}));
    EXPECT_EQ(passes(4, [](uint32_t i) { return 4ull * (i / 2); }), (Wavefronts{1, 1}));
    EXPECT_EQ(passes(4, [](uint32_t i) { return 128ull * (i % 4); }), (Wavefronts{4, 1}));   // 4 words of bank 0
}

TEST(SharedBanks, KeplersWideBanksDeliverTwoWords) {
    const auto kepler = [](uint32_t bytes, uint32_t stride_bytes) {
        uint64_t lanes[32];
        for (uint32_t lane = 0; lane < 32; ++lane) lanes[lane] = uint64_t(lane) * stride_bytes;
        return shared_wavefronts(lanes, ~0u, bytes, Sharing::kLoad, 32, 8).actual;
    };
    // words 4 × stride apart: lanes i and j meet in a bank if (i − j) × stride is a multiple of 32, for nothing if they share a row of 64
    EXPECT_EQ(kepler(4, 4), 1u);
    EXPECT_EQ(kepler(4, 8), 1u);        // stride 2: words 0 … 62, one row
    EXPECT_EQ(kepler(4, 12), 1u);       // stride 3: no two lanes in a bank
    EXPECT_EQ(kepler(4, 16), 2u);       // stride 4: words 0 … 124, two rows
    EXPECT_EQ(kepler(4, 128), 16u);     // stride 32: bank 0 alone, 16 rows
    EXPECT_EQ(kepler(8, 8), 1u);        // 256 bytes in one pass
}

TEST(SharedBanks, BytesShareWords) {
    EXPECT_EQ(passes(1, [](uint32_t i) { return uint64_t(i); }), (Wavefronts{1, 1}));        // 8 words
    EXPECT_EQ(passes(1, [](uint32_t i) { return 128ull * i; }), (Wavefronts{32, 1}));
    EXPECT_EQ(passes(2, [](uint32_t i) { return 2ull * i; }), (Wavefronts{1, 1}));
}

TEST(SharedBanks, DoublesGoByHalves) {
    EXPECT_EQ(passes(8, [](uint32_t i) { return 8ull * i; }), (Wavefronts{2, 2}));
    EXPECT_EQ(passes(8, [](uint32_t i) { return 8ull * (i ^ 1); }), (Wavefronts{2, 2}));
    EXPECT_EQ(passes(8, [](uint32_t i) { return 16ull * i; }), (Wavefronts{4, 2}));          // 16 lanes on 16 even banks pairs: 2 a half
    EXPECT_EQ(passes(8, [](uint32_t) { return 8ull; }), (Wavefronts{1, 1}));
}

TEST(SharedBanks, QuadsGoByQuarters) {
    EXPECT_EQ(passes(16, [](uint32_t i) { return 16ull * i; }), (Wavefronts{4, 4}));
    EXPECT_EQ(passes(16, [](uint32_t i) { return 32ull * i; }), (Wavefronts{8, 4}));
    EXPECT_EQ(passes(16, [](uint32_t i) { return 128ull * i; }), (Wavefronts{32, 4}));
    // two addresses, one a half-warp (matmul_tiled's row of A): one pass a half
    EXPECT_EQ(passes(16, [](uint32_t i) { return i < 16 ? 0ull : 64ull; }), (Wavefronts{2, 2}));
}

TEST(SharedBanks, OnlyActiveLanesCount) {
    EXPECT_EQ(passes(4, [](uint32_t i) { return 128ull * i; }, 0x0000000f), (Wavefronts{4, 1}));
    EXPECT_EQ(passes(4, [](uint32_t i) { return 128ull * i; }, 0x80000000), (Wavefronts{1, 1}));
}

TEST(SharedBanks, StoresAndAtomicsDoNotShareParts) {
    uint64_t lanes[32];
    for (uint32_t i = 0; i < 32; ++i) lanes[i] = 16;
    EXPECT_EQ(shared_wavefronts(lanes, ~0u, 8, Sharing::kStore), (Wavefronts{2, 2}));
    EXPECT_EQ(shared_wavefronts(lanes, ~0u, 16, Sharing::kStore), (Wavefronts{4, 4}));
    EXPECT_EQ(shared_wavefronts(lanes, ~0u, 4, Sharing::kAtomic), (Wavefronts{32, 1}));   // one address: one lane a pass
    EXPECT_EQ(shared_wavefronts(lanes, ~0u, 4, Sharing::kStore), (Wavefronts{1, 1}));
}

/// Every recorded pattern of an H200 but nine: 128-bit broadcasts by a part of the warp, where the recorded count is below what the
/// hardware's own counter says; there we say what the hardware does.
TEST(SharedBanks, EqualsRecordedCounters) {
    std::ifstream file(LANESCOPE_SOURCE_DIR "/tests/accuracy/h200/shared-banks.csv");
    ASSERT_TRUE(file.is_open());
    std::string line;
    uint32_t rows = 0, exceptions = 0;
    while (std::getline(file, line)) {
        if (line.empty() || line[0] == '#' || line[0] == 'b') continue;
        std::replace(line.begin(), line.end(), ',', ' ');
        std::istringstream in(line);
        uint32_t bytes = 0, active = 0, hardware = 0;
        std::string operation;
        Wavefronts recorded;
        uint64_t lanes[32];
        in >> bytes >> operation >> std::hex >> active >> std::dec >> recorded.actual >> recorded.ideal >> hardware;
        for (uint64_t& lane : lanes) in >> lane;
        ASSERT_FALSE(in.fail()) << line;
        const Sharing sharing = operation == "load" ? Sharing::kLoad : operation == "store" ? Sharing::kStore : Sharing::kAtomic;
        const Wavefronts ours = shared_wavefronts(lanes, active, bytes, sharing);
        ++rows;
        if (bytes == 16 && operation == "load" && active != ~0u && ours.actual == hardware && recorded.actual < hardware) {
            ++exceptions;
            continue;
        }
        EXPECT_EQ(ours, recorded) << line << " ours " << ours.actual << " " << ours.ideal;
    }
    EXPECT_EQ(rows, 289u);
    EXPECT_EQ(exceptions, 9u);
}

TEST(Constant, DistinctWords) {
    uint64_t lanes[32];
    for (uint32_t i = 0; i < 32; ++i) lanes[i] = 4ull * (9 * i & 1023);
    EXPECT_EQ(distinct_words(lanes, ~0u, 4), 32u);
    EXPECT_EQ(distinct_words(lanes, 1u, 4), 1u);
    for (uint64_t& lane : lanes) lane = 8;
    EXPECT_EQ(distinct_words(lanes, ~0u, 4), 1u);
    EXPECT_EQ(distinct_words(lanes, ~0u, 16), 4u);
}

}  // namespace
}  // namespace lanescope::memory
