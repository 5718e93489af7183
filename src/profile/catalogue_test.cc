#include "profile/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace lanescope::profile {
namespace {

Access access(std::string space, std::string operation, Metrics metrics) {
    Access out;
    out.space = std::move(space);
    out.operation = std::move(operation);
    out.metrics = std::move(metrics);
    return out;
}

TEST(Catalogue, NamesAreUniqueAndDescribed) {
    std::set<std::string_view> seen;
    for (const Metric& metric : catalogue()) {
        EXPECT_TRUE(seen.insert(metric.name).second) << metric.name;
        EXPECT_FALSE(metric.meaning.empty()) << metric.name;
        EXPECT_EQ(metric.name.find(' '), std::string_view::npos) << metric.name;
    }
    for (const Counter& counter : counters()) EXPECT_TRUE(seen.insert(counter.name).second) << counter.name;
}

// Every word of a formula is a metric that stands above it, or a counter inside sum(): a typing mistake cannot hide.
TEST(Catalogue, FormulasUseOnlyWhatStandsAboveThem) {
    std::set<std::string, std::less<>> above = {"sum", "else"};
    for (const std::string_view name : kSpaces) above.emplace(name);
    for (const std::string_view name : kOperations) above.emplace(name);
    for (const Counter& counter : counters()) above.emplace(counter.name);
    for (const Metric& metric : catalogue()) {
        std::string word;
        for (const char c : std::string(metric.formula) + " ") {
            if (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.') {
                word += c;
            } else if (!word.empty()) {
                EXPECT_TRUE(std::isdigit(static_cast<unsigned char>(word[0])) || above.contains(word)) << metric.name << " uses " << word;
                word.clear();
            }
        }
        above.emplace(metric.name);
    }
}

// With all base numbers given, every formula yields a number: it parses and nothing in it is misspelt.
TEST(Catalogue, EveryFormulaYieldsANumber) {
    Metrics all;
    for (const Counter& counter : counters()) all.emplace(counter.name, 1);
    Launch launch;
    launch.lines.resize(1);
    for (const std::string_view space : kSpaces)
        for (const std::string_view operation : kOperations)
            launch.lines[0].accesses.push_back(access(std::string(space), std::string(operation), all));
    for (Access& each : launch.lines[0].accesses) each.metrics["l1_hits"] = each.metrics["l2_read_hits"] = 0.5;
    for (const Metric& metric : catalogue())
        if (metric.formula.empty()) launch.metrics.emplace(metric.name, 1);
    roll_up(launch);
    for (const Metric& metric : catalogue()) EXPECT_TRUE(launch.metrics.contains(metric.name)) << metric.name;
}

// Recorded on an H200 with Nsight Compute: the naive transpose by columns of 1024 × 1024 ints reads 1048576 sectors in 32768
// requests and uses 4 of the 32 bytes of each.
TEST(Derive, FollowsNsightComputeOnARecordedKernel) {
    Metrics metrics = {{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 32768},
                       {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 1048576},
                       {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", 917504},
                       {"smsp__sass_data_bytes_mem_global_op_ld.sum", 4194304},
                       {"gpu__time_duration.sum", 8192}};
    derive(metrics);
    EXPECT_EQ(metrics.at("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"), 32);
    EXPECT_EQ(metrics.at("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio"), 4);
    EXPECT_EQ(metrics.at("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"), 12.5);
    EXPECT_EQ(metrics.at("l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct"), 87.5);  // 7 of 8
    EXPECT_EQ(metrics.at("l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum.per_second"), 4.096e12);  // 32 × 1048576 B in 8192 ns
    EXPECT_EQ(metrics.at("gld_efficiency"), 12.5);
    EXPECT_FALSE(metrics.contains("gst_efficiency")) << "nothing is known of stores";
}

TEST(Derive, LeavesWhatIsThereAndNeverDividesByZero) {
    Metrics metrics = {{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 0},
                       {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 0},
                       {"dram__bytes_read.sum", 64},
                       {"dram__sectors_read.sum", 7}};
    derive(metrics);
    EXPECT_FALSE(metrics.contains("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"));
    EXPECT_EQ(metrics.at("dram__sectors_read.sum"), 7);
}

// A warp-uniform float: 32 lanes × 4 B asked, 4 B distinct, one sector of 32 B moved.
TEST(RollUp, EfficiencyHasTwoMeanings) {
    Launch launch;
    launch.lines.resize(1);
    launch.lines[0].accesses = {
        access("global", "load", {{"requests", 1}, {"sectors", 1}, {"ideal_sectors", 1}, {"requested_bytes", 128}, {"unique_bytes", 4}})};
    roll_up(launch);
    EXPECT_EQ(launch.metrics.at("lanescope__requested_per_moved_mem_global_op_ld.pct"), 400);
    EXPECT_EQ(launch.metrics.at("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"), 12.5);
}

TEST(RollUp, LinesSumToTheirLaunch) {
    Launch launch;
    launch.lines.resize(2);
    launch.lines[0].accesses = {access("global", "load", {{"requests", 10}, {"sectors", 40}, {"l2_reads", 30}}),
                                access("global", "async_copy", {{"requests", 1}, {"sectors", 4}}),
                                access("shared", "load", {{"wavefronts", 64}, {"ideal_wavefronts", 2}})};
    launch.lines[1].accesses = {access("global", "store", {{"requests", 5}, {"sectors", 20}}), access("local", "load", {{"sectors", 3}, {"l2_reads", 2}})};
    roll_up(launch);
    EXPECT_EQ(launch.metrics.at("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 44);  // 40 + 4: cp.async counts as a load
    EXPECT_EQ(launch.metrics.at("memory_l2_theoretical_sectors_global"), 64);           // 40 + 4 + 20, without local
    EXPECT_EQ(launch.metrics.at("lts__t_sectors_srcunit_tex_op_read.sum"), 32);          // 30 + 2, of any space
    EXPECT_EQ(launch.metrics.at("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"), 62);  // 64 - 2
    EXPECT_EQ(launch.lines[0].metrics.at("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 44);
    EXPECT_FALSE(launch.lines[1].metrics.contains("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum")) << "a line shows no zeros";
    EXPECT_EQ(launch.metrics.at("dram__bytes_read.sum"), 0) << "a launch does";
    for (const Metric& metric : catalogue()) {
        if (metric.kind == Kind::kRatio || metric.kind == Kind::kPercent || metric.kind == Kind::kRate || !launch.metrics.contains(metric.name)) continue;
        double total = 0;
        for (const Line& line : launch.lines)
            if (const auto at = line.metrics.find(metric.name); at != line.metrics.end()) total += at->second;
        EXPECT_EQ(total, launch.metrics.find(metric.name)->second) << metric.name;
    }
}

TEST(RollUp, WhatIsAbsentStaysUnknown) {
    Launch launch;
    launch.lines.resize(1);
    launch.lines[0].accesses = {access("global", "load", {{"requests", 1}, {"sectors", 4}})};
    launch.absent = {{"l2_reads", "caches were not modelled"}};
    roll_up(launch);
    EXPECT_FALSE(launch.metrics.contains("lts__t_sectors_srcunit_tex_op_read.sum"));
    EXPECT_TRUE(launch.metrics.contains("lts__t_sectors_op_red.sum"));
}

// Kepler without L1, ints at offset 1 (the warp touches two lines and five 32-byte segments): 2 transactions of 160 B carry 128 B.
TEST(RollUp, KeplerCountsTransactions) {
    Launch launch;
    launch.lines.resize(1);
    launch.lines[0].accesses = {
        access("global", "load", {{"requests", 1}, {"sectors", 5}, {"unique_bytes", 128}, {"transactions", 2}, {"transaction_bytes", 160}})};
    roll_up(launch);
    EXPECT_EQ(launch.metrics.at("gld_transactions"), 2);
    EXPECT_EQ(launch.metrics.at("gld_efficiency"), 80);
    launch = {};
    launch.lines.resize(1);
    launch.lines[0].accesses = {access("global", "load", {{"requests", 1}, {"sectors", 5}, {"unique_bytes", 128}})};
    roll_up(launch);
    EXPECT_EQ(launch.metrics.at("gld_transactions"), 5) << "a GPU with sectors counts those";
    EXPECT_EQ(launch.metrics.at("gld_efficiency"), 80);
}

TEST(ValueOf, CompletesALine) {
    const Access load = access("global", "load", {{"requests", 2}, {"sectors", 64}});
    const Access* accesses[] = {&load};
    const Metric* ratio = find_metric("gld_transactions_per_request");
    ASSERT_NE(ratio, nullptr);
    EXPECT_EQ(value_of(*ratio, {}, accesses), 32);
    EXPECT_EQ(value_of(*ratio, {}), std::nullopt);
}

TEST(Names, AreFoundInBothLanguages) {
    EXPECT_EQ(find_metric("gld_efficiency")->name, "gld_efficiency");
    EXPECT_EQ(find_metric("dram_read_bytes")->name, "dram__bytes_read.sum");
    EXPECT_EQ(find_metric("nonsense"), nullptr);
    EXPECT_THAT(similar_names("dram__byte_read.sum"), ::testing::Contains("dram__bytes_read.sum"));
    EXPECT_THAT(similar_names("zzzzzzzzz"), ::testing::IsEmpty());
}

TEST(Numbers, AreWrittenForPeople) {
    EXPECT_EQ(human(*find_metric("dram__bytes_read.sum"), 8391424), "8.39 MB");
    EXPECT_EQ(human(*find_metric("dram__bytes_read.sum"), 512), "512 B");
    EXPECT_EQ(human(*find_metric("gpu__time_duration.sum"), 5216), "5.22 µs");
    EXPECT_EQ(human(*find_metric("dram_read_throughput"), 4.1e12), "4.1 TB/s");
    EXPECT_EQ(human(*find_metric("gld_efficiency"), 12.5), "12.5 %");
    EXPECT_EQ(number(131072), "131072");
    EXPECT_EQ(number(0.5), "0.5");
}

}  // namespace
}  // namespace lanescope::profile
