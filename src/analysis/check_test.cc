#include "analysis/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/testing.h"

namespace lanescope::analysis {
namespace {

using ::testing::HasSubstr;

Limit limit(const std::string& text, bool is_max = true) { return parse_limit(text, is_max).value(); }

TEST(Check, NamesTheLineThatBreaksALimit) {
    const profile::Profile profile = make_profile();
    const std::vector<Limit> limits = {limit("sectors_per_request=4")};
    const CheckResult result = check(profile, limits);
    ASSERT_EQ(result.broken.size(), 1u);
    EXPECT_EQ(result.broken[0].message, "sectors_per_request is 18, more than 4");  // (3200 + 400) / 200
    EXPECT_EQ(result.broken[0].file, "/src/copy.cu");
    EXPECT_EQ(result.broken[0].line, 7u);
    EXPECT_EQ(result.broken[0].text, "out[x * n + y] = in[y * n + x];");
    EXPECT_EQ(result.broken[0].launch, 1u);
    EXPECT_EQ(result.compared, 3u);
}

TEST(Check, KernelAndLineNarrowIt) {
    const profile::Profile profile = make_profile();
    std::vector<Limit> limits = {limit("sectors_per_request=4")};
    limits[0].kernel = "^copy";
    EXPECT_TRUE(check(profile, limits).broken.empty());
    limits[0].kernel.clear();
    ASSERT_TRUE(parse_place("copy.cu:7", limits[0]).ok());
    EXPECT_EQ(check(profile, limits).broken.size(), 1u);
    ASSERT_TRUE(parse_place("copy.cu:3", limits[0]).ok());
    EXPECT_TRUE(check(profile, limits).broken.empty());
    EXPECT_EQ(check(profile, limits).compared, 2u);
}

TEST(Check, MinimaAndPercentages) {
    const profile::Profile profile = make_profile();
    const std::vector<Limit> limits = {limit("gst_efficiency=80%", false)};
    const CheckResult result = check(profile, limits);
    ASSERT_EQ(result.broken.size(), 1u);
    EXPECT_EQ(result.broken[0].message, "gst_efficiency is 12.5, less than 80");
}

TEST(Check, WhatMatchesNothingDoesNotPass) {
    const profile::Profile profile = make_profile();
    std::vector<Limit> limits = {limit("sectors_per_request=4")};
    limits[0].kernel = "nothing_like_this";
    EXPECT_THAT(check(profile, limits).unmatched, ::testing::ElementsAre(HasSubstr("no kernel of that name ran")));
    limits[0].kernel.clear();
    ASSERT_TRUE(parse_place("copy.cu:99", limits[0]).ok());
    EXPECT_THAT(check(profile, limits).unmatched, ::testing::ElementsAre(HasSubstr("no memory access is counted there")));
    limits = {limit("achieved_occupancy=50")};
    EXPECT_THAT(check(profile, limits).unmatched, ::testing::ElementsAre(HasSubstr("does not know this metric")));
}

TEST(Limits, AreParsedStrictly) {
    EXPECT_EQ(limit("dram_bytes=4M").value, 4e6);
    EXPECT_EQ(limit(" gld_efficiency = 80% ").value, 80);
    for (const char* bad : {"sectors_per_request", "sectors_per_request=", "sectors_per_request=many", "sectors_per_request=4x", "sectors_per_request=nan"})
        EXPECT_FALSE(parse_limit(bad, true).ok()) << bad;
    EXPECT_THAT(base::to_string(parse_limit("gld_eficiency=1", true).errors()), HasSubstr("did you mean gld_efficiency"));
    Limit place;
    for (const char* bad : {"copy.cu", "copy.cu:", ":7", "copy.cu:0", "copy.cu:7x", "copy.cu:99999999999"}) EXPECT_FALSE(parse_place(bad, place).ok()) << bad;
}

TEST(Limits, OfAFile) {
    const auto limits = parse_limits("[[limit]]\nmax = \"sectors_per_request=4\"\nkernel = \"trans\"\nline = \"a.cu:7\"\n[[limit]]\nmin = \"gld_efficiency=80\"\n", "lanescope.toml");
    ASSERT_TRUE(limits.ok()) << base::to_string(limits.errors());
    ASSERT_EQ(limits->size(), 2u);
    EXPECT_EQ((*limits)[0].kernel, "trans");
    EXPECT_EQ((*limits)[0].line, 7u);
    EXPECT_FALSE((*limits)[1].is_max);
    EXPECT_EQ((*limits)[1].where, "lanescope.toml:5");
}

TEST(Limits, OfABrokenFileAreNamedWithTheirPlace) {
    const auto message = [](const char* toml) { return base::to_string(parse_limits(toml, "l.toml").errors()); };
    EXPECT_THAT(message("[[limit]]\nmax = \"nothing=4\"\n"), HasSubstr("l.toml:2:7: error: there is no metric 'nothing'"));
    EXPECT_THAT(message("[[limit]]\nkernel = \"(\"\nmax = \"dram_bytes=4\"\n"), HasSubstr("l.toml:2:10: error: '(' is not a regular expression"));
    EXPECT_THAT(message("[[limit]]\nkernel = \"x\"\n"), HasSubstr("a limit has one of max and min"));
    EXPECT_THAT(message("[limits]\nx = 1\n"), HasSubstr("unknown entry 'limits'"));
    EXPECT_THAT(message("[[limit]\n"), HasSubstr("l.toml:1:"));
    EXPECT_THAT(message("[[limit]]\nmax = 4\n"), HasSubstr("max must be a text"));
}

TEST(Baseline, GrowthIsNamedWithItsLine) {
    const profile::Profile old_profile = make_profile();
    profile::Profile profile = make_profile();
    EXPECT_TRUE(check_against(profile, old_profile, 0.02).empty());
    profile.launches[0].lines[0].accesses[0].metrics["sectors"] = 500;
    profile.launches[0].metrics["memory_l2_theoretical_sectors_global"] = 900;
    const auto broken = check_against(profile, old_profile, 0.02);
    ASSERT_EQ(broken.size(), 1u);
    EXPECT_EQ(broken[0].message, "memory_l2_theoretical_sectors_global grew from 1600 to 1700 (+6.2 %)");  // 800 + 800 → 900 + 800
    EXPECT_EQ(broken[0].line, 3u);
    EXPECT_TRUE(check_against(profile, old_profile, 0.10).empty());
    EXPECT_TRUE(check_against(old_profile, profile, 0.02).empty()) << "less is no regression";
}

}  // namespace
}  // namespace lanescope::analysis
