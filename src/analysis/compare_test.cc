#include "analysis/compare.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/testing.h"

namespace lanescope::analysis {
namespace {

const Change* find(const std::vector<Change>& changes, const std::string& metric) {
    const auto at = std::find_if(changes.begin(), changes.end(), [&](const Change& change) { return change.metric == metric; });
    return at == changes.end() ? nullptr : &*at;
}

TEST(Compare, EqualProfilesDoNotDiffer) {
    const profile::Profile profile = make_profile();
    const Comparison comparison = compare(profile, profile);
    ASSERT_EQ(comparison.kernels.size(), 2u);
    for (const KernelChange& kernel : comparison.kernels) {
        EXPECT_FALSE(kernel.differs) << kernel.kernel;
        EXPECT_TRUE(kernel.lines.empty());
    }
}

// Two lines inserted above: the store of line 7 now stands in line 9, and moves what it should.
TEST(Compare, LinesAreMatchedByContent) {
    const profile::Profile before = make_profile();
    profile::Profile after = make_profile();
    auto& source = after.sources["/src/copy.cu"];
    source.insert(source.begin() + 4, 2, "");
    profile::Launch& launch = after.launches[1];
    launch.lines[0].line = 9;
    launch.lines[0].accesses[1].metrics["sectors"] = 400;
    launch.lines[0].metrics.clear();
    launch.metrics = {{"gpu__time_duration.sum", 1000}};
    profile::roll_up(launch);
    const Comparison comparison = compare(before, after);
    const auto kernel = std::find_if(comparison.kernels.begin(), comparison.kernels.end(), [](const KernelChange& k) { return k.differs; });
    ASSERT_NE(kernel, comparison.kernels.end());
    EXPECT_EQ(find(kernel->metrics, "gpu__time_duration.sum")->before, 8000);
    EXPECT_EQ(find(kernel->metrics, "gpu__time_duration.sum")->after, 1000);
    ASSERT_EQ(kernel->lines.size(), 1u);
    EXPECT_EQ(kernel->lines[0].line_before, 7u);
    EXPECT_EQ(kernel->lines[0].line_after, 9u);
    EXPECT_EQ(find(kernel->lines[0].changes, "memory_l2_theoretical_sectors_global")->before, 3600);
    EXPECT_EQ(find(kernel->lines[0].changes, "memory_l2_theoretical_sectors_global")->after, 800);
}

TEST(Compare, KernelsComeGoAndChangeTheirParameters) {
    const profile::Profile before = make_profile();
    profile::Profile after = make_profile();
    for (const size_t i : {0u, 2u}) after.launches[i].kernel = "copy(const float*, float*, int)";
    after.launches[1].kernel = "swizzled(const float*, float*)";
    const Comparison comparison = compare(before, after);
    ASSERT_EQ(comparison.kernels.size(), 3u);
    for (const KernelChange& kernel : comparison.kernels) {
        if (kernel.kernel.starts_with("copy")) EXPECT_EQ(kernel.launches_before, 2u) << "the same kernel with one more parameter";
        else if (kernel.kernel.starts_with("swizzled")) EXPECT_EQ(kernel.launches_before, 0u);
        else EXPECT_EQ(kernel.launches_after, 0u);
    }
}

TEST(Compare, WhatOneSideDoesNotCountByLineIsNoDifference) {
    profile::Profile emulated = make_profile();
    emulated.launches[0].lines[0].accesses[0].metrics["dram_read_bytes"] = 4096;
    profile::Profile measured = emulated;
    const auto dram_changes = [&] {
        size_t count = 0;
        for (const KernelChange& kernel : compare(emulated, measured).kernels)
            for (const LineChange& line : kernel.lines)
                for (const Change& change : line.changes) count += change.metric == "dram_bytes";
        return count;
    };
    measured.launches[0].lines[0].accesses[0].metrics.erase("dram_read_bytes");
    EXPECT_EQ(dram_changes(), 1u);  // counted, and 0
    for (profile::Launch& launch : measured.launches) launch.absent["dram_read_bytes"] = "hardware does not count it by line";
    EXPECT_EQ(dram_changes(), 0u);
}

TEST(Compare, PredictionBesideMeasurement) {
    const profile::Profile emulated = make_profile();
    profile::Profile measured = make_profile();
    measured.backend = "hardware";
    EXPECT_TRUE(compare(emulated, measured).prediction);
    EXPECT_FALSE(compare(emulated, emulated).prediction);
}

}  // namespace
}  // namespace lanescope::analysis
