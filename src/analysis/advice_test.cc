#include "analysis/advice.h"

#include <gtest/gtest.h>

#include "analysis/summary.h"
#include "analysis/testing.h"

namespace lanescope::analysis {
namespace {

profile::WhatIf tried(const char* change, double before_ns, double after_ns, double before_bytes = 1e6, double after_bytes = 1e6, std::vector<uint32_t> instructions = {0}) {
    profile::WhatIf out;
    out.change = change;
    out.where = {{"/src/copy.cu", 7, ""}};
    out.instructions = std::move(instructions);
    out.before = {{"time_ns", before_ns}, {"dram_bytes", before_bytes}, {"sectors", 3200}};
    out.after = {{"time_ns", after_ns}, {"dram_bytes", after_bytes}, {"sectors", 400}};
    return out;
}

std::vector<Advice> advice_of(std::vector<profile::WhatIf> all, double chance_ns = 300) {
    static profile::Launch launch;                    // what comes out points into it
    launch.what_if = std::move(all);
    return advise(launch, chance_ns);
}

TEST(Advice, WhatOnlySparesL1MustGainMoreThanTheModelsError) {
    const auto gaining = [](double after_ns, double l2_after) {
        profile::WhatIf out = tried("structure_of_arrays", 10000, after_ns);
        out.before["l2_sectors"] = 1000;
        out.after["l2_sectors"] = l2_after;
        return advice_of({out}).size();
    };
    EXPECT_EQ(gaining(8800, 1000), 0u) << "12 %, all of it in L1";
    EXPECT_EQ(gaining(7900, 1000), 1u) << "21 %";
    EXPECT_EQ(gaining(8800, 800), 1u) << "12 %, and L2 is asked for a fifth less";
}

// 32 KB less of a kernel of 84 µs, in which an H200 could move 400 MB, is nothing.
TEST(Advice, BytesThatMemoryWouldNotNotice) {
    profile::Launch launch;
    launch.metrics["lanescope__theoretical_bandwidth"] = 4.814e12;
    launch.what_if = {tried("structure_of_arrays", 84000, 84000, 32768, 16384)};
    EXPECT_TRUE(advise(launch, 300).empty());
    launch.what_if = {tried("structure_of_arrays", 84000, 84000, 64e6, 32e6)};
    EXPECT_EQ(advise(launch, 300).size(), 1u);
}

TEST(Advice, OnlyWhatGains) {
    EXPECT_EQ(advice_of({tried("tile_staging", 10000, 5000)}).size(), 1u);
    EXPECT_EQ(advice_of({tried("tile_staging", 10000, 9900)}).size(), 0u) << "1 %";
    EXPECT_EQ(advice_of({tried("tile_staging", 2400, 2200)}).size(), 0u) << "8 %, but less than one trip to memory";
    EXPECT_EQ(advice_of({tried("tile_staging", 10000, 10000, 1e6, 5e5)}).size(), 1u) << "half the traffic in the same time";
    EXPECT_EQ(advice_of({tried("tile_staging", 10000, 10000, 0, 0)}).size(), 0u);
    EXPECT_EQ(advice_of({tried("tile_staging", 10000, 11000, 1e6, 5e5)}).size(), 0u) << "slower";
    EXPECT_EQ(advice_of({tried("pitch", 10000, 5000)}).size(), 0u) << "look-ups in L1 cost less than the model says";
    EXPECT_EQ(advice_of({tried("pitch", 10000, 9000, 1e6, 5e5)}).size(), 1u);
    EXPECT_EQ(advice_of({tried("of_a_later_version", 10000, 5000)}).size(), 0u);
}

TEST(Advice, OneForTheSameAccesses) {
    const auto found = advice_of({tried("structure_of_arrays", 10000, 5000), tried("blocked_arrays", 10000, 4950), tried("shared_padding", 10000, 8000, 1e6, 1e6, {5})});
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].text->kind, ChangeKind::kStructureOfArrays) << "1 % better is not better";
    EXPECT_EQ(found[1].text->kind, ChangeKind::kPad);
    EXPECT_EQ(advice_of({tried("structure_of_arrays", 10000, 5000), tried("wider_access", 10000, 3000)})[0].text->kind, ChangeKind::kWiden);
}

TEST(Advice, SaysWhereAndHowMuch) {
    const auto found = advice_of({tried("tile_staging", 10000, 5000, 4e6, 1e6)});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].file, "/src/copy.cu");
    EXPECT_EQ(found[0].line, 7u);
    EXPECT_EQ(found[0].gain(), 2);
    EXPECT_EQ(found[0].effect, "sectors 3200 → 400, DRAM 4 MB → 1 MB");
}

TEST(Summary, AFaultThatNothingMendsNeedsNoAction) {
    profile::Profile profile = make_profile();
    ASSERT_EQ(summarize(profile).kernels[0].grade, Grade::kBad);
    profile.launches[1].what_if = {tried("tile_staging", 8000, 8000)};
    const Summary summary = summarize(profile);
    EXPECT_EQ(summary.kernels[0].grade, Grade::kFair);
    EXPECT_TRUE(summary.kernels[0].verdict.ends_with("no action needed.")) << summary.kernels[0].verdict;
    EXPECT_EQ(summary.kernels[0].tried, 1u);
}

TEST(Summary, AdviceStandsAtItsLine) {
    profile::Profile profile = make_profile();
    profile.launches[1].what_if = {tried("tile_staging", 8000, 4000)};
    const Summary summary = summarize(profile);
    ASSERT_EQ(summary.kernels[0].advice.size(), 1u);
    EXPECT_EQ(summary.kernels[0].lines[0].advice, std::vector<size_t>{0});
}

}  // namespace
}  // namespace lanescope::analysis
