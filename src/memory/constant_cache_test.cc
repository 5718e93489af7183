#include "memory/constant_cache.h"

#include <gtest/gtest.h>

namespace lanescope::memory {
namespace {

ConstantCache::Misses load(ConstantCache& cache, std::initializer_list<uint64_t> addresses, double now) {
    std::vector<uint64_t> all(32);
    std::copy(addresses.begin(), addresses.end(), all.begin());
    return cache.load(all.data(), (1u << addresses.size()) - 1, 4, now, 700);
}

TEST(ConstantCache, LinesOfOneLoadComeOneAfterTheOtherThoseOfSeveralSideBySide) {
    ConstantCache cache;
    cache.reset(2048, 1024, 32768);
    // Words of lines 0, 1 and 2, 64 bytes each: three ways of 700 cycles.
    const auto first = load(cache, {0, 4, 64, 128}, 1000);
    EXPECT_EQ(first.first, 3u);
    EXPECT_EQ(first.next, 3u);
    EXPECT_DOUBLE_EQ(first.ready, 1000 + 3 * 700);
    EXPECT_DOUBLE_EQ(load(cache, {640}, 1002).ready, 1002 + 700);   // another load's line does not wait for those
    // The same lines again: no misses, but line 1 is there at 2400 only.
    const auto again = load(cache, {64}, 1004);
    EXPECT_EQ(again.first, 0u);
    EXPECT_DOUBLE_EQ(again.ready, 1000 + 2 * 700);
}

TEST(ConstantCache, WarpsEmptyTheUniformCacheOnceItIsTooSmall) {
    ConstantCache cache;
    cache.reset(2048, 128, 32768);   // two lines
    const auto misses = [&](uint64_t address, uint32_t warp) { return cache.load_uniform(address, warp, 0, 700).first; };
    EXPECT_EQ(misses(0, 0), 1u);
    EXPECT_EQ(misses(64, 0), 1u);
    EXPECT_EQ(misses(0, 1), 0u);     // both fit
    EXPECT_EQ(misses(64, 1), 0u);
    EXPECT_EQ(misses(128, 0), 1u);   // a third line: from now on each change of line is a miss
    EXPECT_EQ(misses(0, 1), 1u);
    EXPECT_EQ(misses(4, 1), 0u);
    EXPECT_EQ(misses(64, 1), 1u);
}

}  // namespace
}  // namespace lanescope::memory
