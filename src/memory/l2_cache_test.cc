#include "memory/l2_cache.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace lanescope::memory {
namespace {

using base::L2Priority;

/// An L2 of 4 sets with 16 ways a partition; of a number of lines in a row that is a multiple of 4, each set gets as many.
class SmallCache {
public:
    static constexpr uint32_t kSets = 4, kWays = 16, kWayBytes = kSets * kLineBytes;
    static constexpr uint32_t kAll = 0xf;
    static constexpr uint64_t kOther = 1000;   ///< lines from here on are read in between

    explicit SmallCache(uint32_t partitions = 1, uint32_t compute_capability = 90)
        : gpu_(describe(partitions, compute_capability)), parameters(gpu_), cache(gpu_, parameters, std::pmr::get_default_resource()) {
        cache.begin_launch(counters_, &other_);
    }
    /// `each` of a set, from the first line on. Returns the sectors found.
    uint32_t read(uint32_t each, L2Priority priority = L2Priority::kUnchanged, uint64_t from = 0, uint32_t side = 0) {
        uint32_t hits = 0;
        for (uint64_t line = from; line < from + uint64_t(each) * kSets; ++line)
            hits += uint32_t(std::popcount(cache.read(line, kAll, side, 0, now_ += 1000, priority).hits));
        return hits;
    }
    void write(uint32_t each, L2Priority priority = L2Priority::kUnchanged, uint64_t from = 0) {
        for (uint64_t line = from; line < from + uint64_t(each) * kSets; ++line) cache.write(line, {~0ull, ~0ull}, 4, 0, 0, now_ += 1000, priority);
    }
    /// Four times what there is room for.
    void stream() { read(4 * kWays, L2Priority::kUnchanged, kOther * kSets); }
    uint64_t written() {
        cache.end_launch(now_ += 1'000'000);
        return counters_[0].dram_write_bytes + other_.dram_write_bytes;
    }
    static uint32_t sectors(uint32_t each) { return each * kSets * kSectorsPerLine; }

private:
    static gpu::Description describe(uint32_t partitions, uint32_t compute_capability) {
        gpu::Description gpu = *gpu::load("t4");
        gpu.compute_capability = compute_capability;
        gpu.l2_partitions = partitions;
        gpu.l2_ways = kWays;
        gpu.l2_bytes = uint64_t(partitions) * kWays * kWayBytes;
        return gpu;
    }
    gpu::Description gpu_;
    Counters counters_[1], other_;
    uint64_t now_ = 0;

public:
    Parameters parameters;
    L2Cache cache;
};

uint32_t kept(uint32_t each, L2Priority priority, uint32_t compute_capability = 90) {
    SmallCache small(1, compute_capability);
    small.read(each, priority);
    small.stream();
    return small.read(each);
}

TEST(L2Cache, WhatIsEvictedLastStaysUpToItsShare) {
    EXPECT_EQ(kept(2, L2Priority::kUnchanged), 0u);
    EXPECT_EQ(kept(2, L2Priority::kNormal), 0u);
    EXPECT_EQ(kept(2, L2Priority::kFirst), 0u);
    EXPECT_EQ(kept(3, L2Priority::kLast), SmallCache::sectors(3));
    EXPECT_EQ(kept(2, L2Priority::kLast, 75), 0u) << "GPUs before Ampere have no such thing";
    // of five the least recently used two are as others
    SmallCache small;
    small.read(5, L2Priority::kLast);
    small.stream();
    EXPECT_EQ(small.read(2), 0u);
    EXPECT_EQ(small.read(3, L2Priority::kUnchanged, 2 * SmallCache::kSets), SmallCache::sectors(3));
}

TEST(L2Cache, TheShareIsAsManyWaysAsTheProgramAsksFor) {
    for (const auto& [bytes, ways] : {std::pair<uint64_t, uint32_t>{0, 1}, {1, 1}, {SmallCache::kWayBytes, 1}, {SmallCache::kWayBytes + 1, 2}, {10 * SmallCache::kWayBytes, 10}}) {
        SmallCache small;
        EXPECT_EQ(small.cache.persisting(), 3u * SmallCache::kWayBytes);
        small.cache.set_persisting(bytes);
        small.read(12, L2Priority::kLast);
        small.stream();
        EXPECT_EQ(small.read(ways, L2Priority::kUnchanged, (12 - ways) * SmallCache::kSets), SmallCache::sectors(ways)) << bytes;
        small.read(12, L2Priority::kLast);
        small.stream();
        EXPECT_EQ(small.read(12 - ways), 0u) << bytes;
    }
}

TEST(L2Cache, OnlyANormalPolicyEndsEvictLast) {
    const auto after = [](auto&& change) {
        SmallCache small;
        small.read(3, L2Priority::kLast);
        change(small);
        small.stream();
        return small.read(3);
    };
    const uint32_t all = SmallCache::sectors(3);
    EXPECT_EQ(after([](SmallCache& small) { small.read(3); }), all);
    EXPECT_EQ(after([](SmallCache& small) { small.read(3, L2Priority::kFirst); }), all);
    EXPECT_EQ(after([](SmallCache& small) { small.write(3); }), all);
    EXPECT_EQ(after([](SmallCache& small) { small.read(3, L2Priority::kNormal); }), 0u);
    EXPECT_EQ(after([](SmallCache& small) { small.cache.reset_persisting(); }), 0u);
    EXPECT_EQ(after([](SmallCache& small) { for (uint64_t line = 0; line < 3 * SmallCache::kSets; ++line) small.cache.evict_normally(line); }), 0u);
    EXPECT_EQ(after([](SmallCache& small) { for (uint64_t line = 0; line < 3 * SmallCache::kSets; ++line) small.cache.discard(line); }), 0u);
}

TEST(L2Cache, WhatIsEvictedFirstGoesFirst) {
    // Two lines of each set, then 15 others, one more than there is room for: which of the two makes room?
    constexpr uint64_t kOld = 50 * SmallCache::kSets, kYoung = 60 * SmallCache::kSets, kOthers = 100 * SmallCache::kSets;
    const auto young_stays = [](std::initializer_list<L2Priority> reads) {
        SmallCache small;
        small.read(1, L2Priority::kUnchanged, kOld);
        for (const L2Priority priority : reads) small.read(1, priority, kYoung);
        small.read(15, L2Priority::kUnchanged, kOthers);
        return small.read(1, L2Priority::kUnchanged, kYoung) == SmallCache::sectors(1);
    };
    EXPECT_TRUE(young_stays({L2Priority::kUnchanged}));
    EXPECT_FALSE(young_stays({L2Priority::kFirst}));
    EXPECT_FALSE(young_stays({L2Priority::kUnchanged, L2Priority::kFirst})) << "from a hit on";
    EXPECT_TRUE(young_stays({L2Priority::kFirst, L2Priority::kUnchanged})) << "no longer";
}

TEST(L2Cache, CopiesAreNotSpared) {
    // An SM of either side reads what is evicted last, then much else, then the same again: the half whose home is its own side hits.
    for (const uint32_t side : {0u, 1u}) {
        SmallCache small(2);
        small.read(2, L2Priority::kLast, 0, side);
        small.read(4 * SmallCache::kWays, L2Priority::kUnchanged, SmallCache::kOther * SmallCache::kSets, side);
        small.read(4 * SmallCache::kWays, L2Priority::kUnchanged, SmallCache::kOther * SmallCache::kSets, 1 - side);
        const uint32_t own = small.read(2, L2Priority::kUnchanged, 0, side);
        EXPECT_LT(own, SmallCache::sectors(2));
        EXPECT_EQ(small.read(2, L2Priority::kUnchanged, 0, side), SmallCache::sectors(2));
    }
}

TEST(L2Cache, DirtyLinesThatAreEvictedLastAreNoneOfTheDirtyShare) {
    // 0.468 of 16 ways: 7 or 8 lines of a set may be dirty, 3 that are evicted last come on top: 4 × 10 lines need no write
    const auto written = [](L2Priority priority) {
        SmallCache small;
        small.write(3, priority);
        small.write(7, L2Priority::kUnchanged, 100 * SmallCache::kSets);
        return small.written();
    };
    EXPECT_EQ(written(L2Priority::kLast), 0u);
    EXPECT_GE(written(L2Priority::kUnchanged), 2u * SmallCache::kSets * kLineBytes);
    EXPECT_EQ(written(L2Priority::kFirst), written(L2Priority::kUnchanged)) << "recorded: stores with evict_first are as others";
}

TEST(L2Cache, DiscardedLinesAreNotWritten) {
    SmallCache small;
    small.write(4);
    for (uint64_t line = 0; line < 4 * SmallCache::kSets; ++line) small.cache.discard(line);
    small.stream();
    EXPECT_EQ(small.written(), 0u);
}

// Atomics on each sector of a region once: those that the busiest slice gets, on an H200 (tests/accuracy/h200/slices.csv).
TEST(L2Cache, SlicesOfAPage) {
    const gpu::Description gpu = *gpu::load("h200");
    const Parameters parameters(gpu);
    const auto busiest = [&](uint32_t sectors, bool whole) {
        std::vector<Counters> counters(1);
        Counters other;
        L2Cache cache(gpu, parameters, std::pmr::get_default_resource());
        cache.begin_launch(counters, &other);
        for (uint32_t sector = 0; sector < sectors; ++sector) {
            ByteMask bytes;
            bytes.set(sector % 4 * kSectorBytes, whole ? kSectorBytes : 4);
            cache.update((uint64_t(1) << 30) / kLineBytes + sector / 4, bytes, 1, 0, 0, 0);
        }
        return cache.work().atomic_cycles / (whole ? parameters.l2_atomic_clocks : parameters.l2_atomic_partial_clocks);
    };
    const double one = busiest(1, false);
    EXPECT_NEAR(busiest(1, true), one, 1e-9);
    const std::pair<uint32_t, double> recorded[] = {{2, 2}, {4, 4}, {8, 8}, {16, 8}, {32, 16}, {64, 16}, {128, 16}};
    for (const auto& [sectors, most] : recorded) EXPECT_NEAR(busiest(sectors, false), most * one, 1e-9) << sectors;
}

}  // namespace
}  // namespace lanescope::memory
