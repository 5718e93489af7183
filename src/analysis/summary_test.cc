#include "analysis/summary.h"

#include <gtest/gtest.h>

#include "analysis/pattern.h"
#include "analysis/testing.h"

namespace lanescope::analysis {
namespace {

TEST(Summary, GroupsRepeatedLaunchesAndSortsByTime) {
    const profile::Profile profile = make_profile();
    const Summary summary = summarize(profile);
    ASSERT_EQ(summary.kernels.size(), 2u);
    EXPECT_EQ(short_name(summary.kernels[0].kernel), "transpose<0>");
    EXPECT_EQ(summary.kernels[0].time_ns, 8000);
    EXPECT_EQ(summary.kernels[1].launches.size(), 2u);
    EXPECT_EQ(summary.kernels[1].time_ns, 2000);  // 2 × 1000
    EXPECT_FALSE(summary.kernels[1].varies);
    EXPECT_EQ(summary.kernels[1].metrics.at("memory_l2_theoretical_sectors_global"), 1600);  // 2 launches × (400 + 400)
    EXPECT_EQ(summary.kernels[1].metrics.at("sectors_per_request"), 4);                      // derived anew, not summed
    EXPECT_EQ(summary.total_ns, 10000);
    EXPECT_EQ(summarize(profile, true).kernels.size(), 3u);
}

TEST(Summary, ShapesOfAKernelStandApart) {
    profile::Profile profile = make_profile();
    profile.launches[2].grid[0] = 26;
    EXPECT_EQ(summarize(profile).kernels.size(), 3u);
}

TEST(Summary, NamesTheLineThatMovesTooMuch) {
    profile::Profile profile = make_profile();
    classify(profile);
    const Summary summary = summarize(profile);
    const KernelSummary& bad = summary.kernels[0];
    EXPECT_EQ(bad.grade, Grade::kBad);
    ASSERT_NE(bad.worst, nullptr);
    EXPECT_EQ(bad.worst->line, 7u);
    EXPECT_EQ(bad.worst->text, "out[x * n + y] = in[y * n + x];");
    EXPECT_EQ(bad.headline, "line 7: 32 sectors, not 4");
    // 3200 - 400 of 3200 + 400 sectors are excess: 78 %.
    EXPECT_EQ(bad.verdict, "copy.cu:7 stores 32 sectors a request where 4 would do (transposed 4096 B); 78 % of this kernel's traffic at L1 is such excess.");
    EXPECT_EQ(summary.kernels[1].grade, Grade::kGood);
    EXPECT_EQ(summary.kernels[1].worst, nullptr);
}

TEST(Summary, RowsOfALineAreWorstFirstAndSum) {
    const profile::Profile profile = make_profile();
    const Summary summary = summarize(profile);
    const SourceRow& row = summary.kernels[0].lines.at(0);
    ASSERT_EQ(row.accesses.size(), 2u);
    EXPECT_EQ(row.accesses[0].operation, "store");
    EXPECT_EQ(row.accesses[0].per_request(), 32);
    EXPECT_EQ(row.accesses[0].ideal_per_request(), 4);
    EXPECT_EQ(row.accesses[0].useful, 0.125);  // 12800 B of 3200 × 32 B
    EXPECT_EQ(row.accesses[1].useful, 1);
    EXPECT_EQ(row.cost, 32 * (3200 + 400));
    // Two launches of the same line are one row.
    EXPECT_EQ(summary.kernels[1].lines.at(0).accesses.at(0).requests, 200);
}

/// One load of `sectors` a request where 4 would do; 1600 sectors of 400 requests go on to L2, all of them needed (400 × 128 B).
profile::Profile absorbing(double sectors, uint64_t stride) {
    profile::Profile profile;
    profile.launches.resize(1);
    profile::Access load = make_access("global", "load", {{"requests", 400}, {"sectors", 400 * sectors}, {"ideal_sectors", 1600}, {"unique_bytes", 51200},
                                                          {"l1_hits", 400 * sectors - 1600}, {"l2_reads", 1600}}, stride);
    profile.launches[0].lines = {make_line(7, {load})};
    classify(profile);
    return profile;
}

TEST(Summary, SmallExcessThatL1AbsorbsIsNoFault) {
    const profile::Profile profile = absorbing(12, 12);
    EXPECT_EQ(summarize(profile).kernels[0].grade, Grade::kFair);
    EXPECT_EQ(summarize(profile).kernels[0].headline, "L1 absorbs the excess");
}

TEST(Summary, TheCopyEngineIsMeasuredInSectorsOfL2) {
    profile::Profile profile;
    profile.launches.resize(1);
    // Two boxes of 32 × 32 floats: no requests, 4096 B each.
    profile::Access copy = make_access("global", "async_copy", {{"instructions", 2}, {"requested_bytes", 8192}, {"unique_bytes", 8192}, {"l2_reads", 256}, {"l2_read_hits", 128}}, 4);
    profile.launches[0].lines = {make_line(7, {copy})};
    classify(profile);
    const Summary summary = summarize(profile);
    const AccessRow& row = summary.kernels[0].lines.at(0).accesses.at(0);
    EXPECT_EQ(row.moved, 256);
    EXPECT_EQ(row.ideal, 256);
    EXPECT_EQ(row.l1_hit, std::nullopt);
    EXPECT_EQ(row.l2_hit, 0.5);
    EXPECT_EQ(summary.kernels[0].headline, "ideal");
}

// A column of a matrix hits in L1 seven times of eight, and is still slow: each request takes 32 passes there.
TEST(Summary, ColumnsAreAFaultEvenIfTheyHit) {
    const profile::Profile profile = absorbing(32, 4096);
    EXPECT_EQ(summarize(profile).kernels[0].grade, Grade::kBad);
    EXPECT_EQ(summarize(profile).kernels[0].headline, "line 7: 32 sectors, not 4");
}

TEST(Summary, AKernelThatFaultedIsNotIdeal) {
    profile::Profile profile = make_profile();
    profile.faults = {{"out_of_bounds", "m", false, 2, {}, {}}, {"race", "m", true, 1, {}, {}}};
    const Summary summary = summarize(profile);
    EXPECT_EQ(summary.kernels[1].headline, "faulted");
    EXPECT_NE(summary.kernels[0].headline, "faulted") << "a warning ends no kernel";
}

TEST(Summary, WithoutASourceLineIsARow) {
    profile::Profile profile = make_profile();
    profile.launches[1].lines.push_back(make_line(0, {make_access("global", "load", {{"requests", 1}, {"sectors", 4}, {"ideal_sectors", 4}})}, ""));
    EXPECT_EQ(summarize(profile).kernels[0].lines.back().file, "");
}

TEST(Summary, UnknownIsNotZero) {
    const profile::Profile profile = make_profile();
    const Summary summary = summarize(profile);
    const AccessRow& row = summary.kernels[0].lines[0].accesses[0];
    EXPECT_FALSE(row.l1_hit.has_value());
    EXPECT_FALSE(row.dram_bytes.has_value());
}

TEST(Frame, OutsideTheToolkitIsShown) {
    profile::Line line = make_line(120, {}, "/usr/local/cuda/targets/x86_64-linux/include/sm_32_intrinsics.hpp");
    line.inlined_from = {{"/src/copy.cu", 40, "load"}, {"/src/copy.cu", 50, "copy"}};
    std::vector<profile::Frame> around;
    EXPECT_EQ(shown_frame(line, &around).line, 40u);
    ASSERT_EQ(around.size(), 1u);
    EXPECT_EQ(around[0].line, 50u);
    line.inlined_from.clear();
    EXPECT_EQ(shown_frame(line).line, 120u) << "nothing else is known";
}

TEST(ShortName, LeavesOutParametersAndReturnType) {
    EXPECT_EQ(short_name("add_offset(const float*, int)"), "add_offset");
    EXPECT_EQ(short_name("void transpose<(int)32, (bool)1>(const float *, float *)"), "transpose<32, 1>");
    EXPECT_EQ(short_name("void f<float, (int)2>(Array<float (*)(int)>)"), "f<float, 2>");
    EXPECT_EQ(short_name("_Z3addv"), "_Z3addv");
    EXPECT_EQ(short_name("ns::kernel(void (*)(int))"), "ns::kernel");
    EXPECT_EQ(short_name(""), "");
    EXPECT_EQ(short_name(")"), ")");
}

TEST(Summary, OfNothing) {
    profile::Profile profile;
    EXPECT_TRUE(summarize(profile).kernels.empty());
    profile.launches.resize(1);
    EXPECT_EQ(summarize(profile).kernels[0].verdict, "No memory access.");
}

}  // namespace
}  // namespace lanescope::analysis
