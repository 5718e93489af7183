// The answers to the questions of cases.cu: the right number, the right class, and advice or silence where it belongs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/pattern.h"
#include "analysis/summary.h"
#include "base/file.h"
#include "cli/output.h"
#include "cli/process.h"
#include "profile/catalogue.h"

namespace lanescope {
namespace {

using analysis::AccessRow;
using analysis::Grade;
using analysis::KernelSummary;
using analysis::PatternKind;

/// One run for all tests.
const profile::Profile& cases() {
    static const profile::Profile all = [] {
        const auto folder = cli::TemporaryFolder::make();
        const std::string json = (folder->path() / "p.json").string();
        const auto status = cli::run({{LANESCOPE, "run", "--quiet", "--gpu", "h200", "--json", json, CASES}, {}, false});
        if (!status.ok() || *status != 0) return profile::Profile();
        auto read = cli::read_profile(json);
        return read.ok() ? *read : profile::Profile();
    }();
    return all;
}

const analysis::Summary& summary() {
    static const analysis::Summary each = analysis::summarize(cases(), true);
    return each;
}

/// The `which`-th launch of the kernel.
const KernelSummary& kernel(const std::string& name, size_t which = 0) {
    std::vector<const KernelSummary*> found;
    for (const KernelSummary& each : summary().kernels)
        if (analysis::short_name(each.kernel) == name) found.push_back(&each);
    std::sort(found.begin(), found.end(), [](auto* a, auto* b) { return a->launches[0]->index < b->launches[0]->index; });
    static const KernelSummary kNone;
    if (which >= found.size()) {
        ADD_FAILURE() << name << " did not run, or cases.cu could not be compiled";
        return kNone;
    }
    return *found[which];
}

std::vector<const AccessRow*> rows(const KernelSummary& kernel, const std::string& space, const std::string& operation) {
    std::vector<const AccessRow*> out;
    for (const analysis::SourceRow& line : kernel.lines)
        for (const AccessRow& row : line.accesses)
            if (row.space == space && row.operation == operation) out.push_back(&row);
    return out;
}

/// "32 × 16 strided 16 B, 50 %": requests × sectors (or passes, words) a request, class, share of useful bytes.
std::string told(const AccessRow& row) {
    std::string out = fmt::format("{} × {:.3g} {}", row.requests, row.per_request(), row.pattern);
    if (row.useful) out += fmt::format(", {:.3g} %", 100 * *row.useful);
    return out;
}

std::string loads(const KernelSummary& kernel) {
    std::string out;
    for (const AccessRow* row : rows(kernel, "global", "load")) out += (out.empty() ? "" : "; ") + told(*row);
    return out;
}

double metric(const KernelSummary& kernel, const char* name) {
    const auto at = kernel.metrics.find(name);
    return at == kernel.metrics.end() ? -1 : at->second;
}

constexpr const char* kAverage = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio";

TEST(Cases, C01_FewerSectorsAreNotWorse) {
    const KernelSummary& matmul = kernel("matmul");
    EXPECT_EQ(loads(matmul), "8192 × 4 coalesced, 100 %; 8192 × 1 broadcast, 12.5 %");  // 128 warps × 64 steps each
    EXPECT_EQ(metric(matmul, kAverage), 2.5);
    // B: 8 warps of a block read the same rows, and 8 rows of blocks; 512 sectors of 64 × 64 floats come from memory once.
    const AccessRow& b = *rows(matmul, "global", "load").at(0);
    EXPECT_NEAR(b.rereads.times(), 64, 1);
    EXPECT_GE(b.rereads.by_warps, 8);
    EXPECT_EQ(matmul.grade, Grade::kGood);
}

TEST(Cases, C02_FewerThanFourSectors) {
    EXPECT_EQ(loads(kernel("few_lanes", 0)), "");
    EXPECT_EQ(metric(kernel("few_lanes", 0), "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"), 0);
    EXPECT_EQ(loads(kernel("few_lanes", 1)), "2 × 1 partial warp, 12.5 %");
    EXPECT_EQ(loads(kernel("few_lanes", 2)), "3 × 1 coalesced, 100 %");
    EXPECT_EQ(loads(kernel("few_lanes", 3)), "4 × 32 strided 128 B, 12.5 %");
}

TEST(Cases, C03_AlignedCopyIsIdeal) {
    EXPECT_EQ(loads(kernel("copy")), "32 × 4 coalesced, 100 %");
    EXPECT_EQ(told(*rows(kernel("copy"), "global", "store").at(0)), "32 × 4 coalesced, 100 %");
    EXPECT_EQ(metric(kernel("copy"), "gld_efficiency"), 100);
    EXPECT_EQ(kernel("copy").grade, Grade::kGood);
}

TEST(Cases, C04_UniformLoadIsNoFault) {
    EXPECT_EQ(loads(kernel("uniform")), "32 × 1 broadcast, 12.5 %");
    EXPECT_EQ(metric(kernel("uniform"), "lanescope__requested_per_moved_mem_global_op_ld.pct"), 400);
    EXPECT_EQ(metric(kernel("uniform"), "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"), 12.5);
    EXPECT_EQ(kernel("uniform").grade, Grade::kGood);
}

TEST(Cases, C05_RecordsOfTwoDoubles) {
    EXPECT_EQ(loads(kernel("pair_at_once")), "32 × 16 coalesced, 100 %");
    EXPECT_EQ(loads(kernel("pair_by_field")), "64 × 16 record field, 16 B, 50 %");
    EXPECT_NEAR(metric(kernel("pair_by_field"), "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct"), 50, 1) << "the second field comes with the first";
    EXPECT_EQ(metric(kernel("pair_by_field"), "dram__bytes_read.sum"), metric(kernel("pair_at_once"), "dram__bytes_read.sum"));
}

TEST(Cases, C06_Float4AgainstFourFields) {
    EXPECT_EQ(loads(kernel("quad_at_once")), "32 × 16 coalesced, 100 %");
    EXPECT_EQ(loads(kernel("quad_by_field")), "128 × 16 record field, 16 B, 25 %");
}

TEST(Cases, C07_RecordsOfThreeFloats) { EXPECT_EQ(loads(kernel("triple")), "96 × 12 record field, 12 B, 33.3 %"); }

TEST(Cases, C08_OneOfFourDoubles) {
    EXPECT_EQ(loads(kernel("one_of_four")), "32 × 32 strided 32 B, 25 %");
    EXPECT_EQ(kernel("one_of_four").grade, Grade::kBad) << "three quarters of what is moved is never used";
    // All fields: 32 sectors each, but memory moves each of the 1024 × 32 B once, and there is nothing to mend.
    const KernelSummary& all = kernel("all_of_four");
    EXPECT_EQ(loads(all), "128 × 32 record field, 32 B, 25 %");
    EXPECT_NEAR(metric(all, "dram__bytes_read.sum"), 1024 * 32, 512);
    EXPECT_TRUE(all.advice.empty());
    EXPECT_NE(all.grade, Grade::kBad);
}

// 256 × 256 doubles: 2048 requests of 8 sectors; the store down a column of the tile takes 32 passes.
TEST(Cases, C09_TransposeOfDoublesThroughSharedMemory) {
    const KernelSummary& transpose = kernel("transpose_doubles");
    EXPECT_EQ(loads(transpose), "2048 × 8 coalesced, 100 %");
    EXPECT_EQ(rows(transpose, "shared", "store").at(0)->moved, 2048 * 32);
    ASSERT_NE(transpose.worst, nullptr);
    EXPECT_THAT(transpose.verdict, ::testing::HasSubstr("passes over the shared memory banks"));
}

TEST(Cases, C10_TileColumns) {
    EXPECT_EQ(told(*rows(kernel("tile_column<32>"), "shared", "load").at(0)), "32 × 32 32-way bank conflict by layout, rows 128 B");
    EXPECT_EQ(told(*rows(kernel("tile_column<33>"), "shared", "load").at(0)), "32 × 1 conflict-free");
    EXPECT_EQ(kernel("tile_column<33>").grade, Grade::kGood) << "padding that is right needs no advice";
}

TEST(Cases, C11_WideSharedLoads) {
    EXPECT_EQ(rows(kernel("wide_shared", 0), "shared", "load").at(0)->per_request(), 4);
    EXPECT_EQ(metric(kernel("wide_shared", 0), "bank_conflicts"), 0) << "4 passes are the ideal of 128 bits a lane";
    EXPECT_EQ(rows(kernel("wide_shared", 1), "shared", "load").at(0)->per_request(), 32);
}

// Warps of 4 × 4 × 2 threads: 8 rows of 16 bytes.
TEST(Cases, C12_SmallBoxes) { EXPECT_EQ(loads(kernel("small_box")), "48 × 8 rows 16384 B apart, 50 %"); }

TEST(Cases, C13_ByteImages) {
    EXPECT_EQ(loads(kernel("byte_image", 0)), "512 × 2 rows 1024 B apart, 50 %");
    EXPECT_EQ(loads(kernel("byte_image", 1)), "512 × 1 coalesced, 100 %");
}

// Rows of 511 floats begin at every offset in turn: (64 + 79 + 6 × 80) / 128 sectors. With a pitch of 512: 4.
TEST(Cases, C14_OddRows) {
    EXPECT_NEAR(metric(kernel("rows", 0), kAverage), 623.0 / 128, 1e-9);
    EXPECT_EQ(metric(kernel("rows", 1), kAverage), 4);
}

TEST(Cases, C15_OneChannelOfThree) { EXPECT_EQ(loads(kernel("red_channel")), "32 × 3 strided 3 B, 33.3 %"); }

TEST(Cases, C16_LoadsThatNobodyWrote) {
    EXPECT_EQ(rows(kernel("local_array", 0), "local", "load").at(0)->per_request(), 4);
    EXPECT_EQ(rows(kernel("local_array", 0), "local", "load").at(0)->pattern, "local");
    EXPECT_EQ(rows(kernel("local_array", 1), "local", "load").at(0)->per_request(), 32);
    EXPECT_EQ(rows(kernel("local_array", 1), "local", "load").at(0)->pattern, "local divergent");
    EXPECT_EQ(loads(kernel("local_array", 1)), "2 × 4 coalesced, 100 %") << "local, never global";
}

TEST(Cases, C17_HalfTheThreadsMoveTheSame) {
    EXPECT_EQ(loads(kernel("every", 0)), "32768 × 4 coalesced, 100 %");
    EXPECT_EQ(loads(kernel("every", 1)), "16384 × 8 strided 8 B, 50 %");
    EXPECT_EQ(metric(kernel("every", 0), "gld_transactions"), 131072);
    EXPECT_EQ(metric(kernel("every", 1), "gld_transactions"), 131072);
}

TEST(Cases, C18_Gathers) {
    EXPECT_EQ(loads(kernel("gather", 0)), "64 × 4 coalesced, 100 %");
    const std::string random = loads(kernel("gather", 1));
    EXPECT_THAT(random, ::testing::HasSubstr("gather"));
    EXPECT_THAT(random, ::testing::HasSubstr("32 × 4 coalesced, 100 %")) << "the index itself";
}

TEST(Cases, C19_OffsetByOneIsNoFault) {
    EXPECT_EQ(loads(kernel("offset_by_one")), "32 × 5 misaligned, 80 %");
    EXPECT_EQ(kernel("offset_by_one").grade, Grade::kFair);
    EXPECT_EQ(kernel("offset_by_one").worst, nullptr);
}

TEST(Cases, C20_ConstantMemory) {
    EXPECT_EQ(told(*rows(kernel("constant_uniform"), "constant", "load").at(0)), "32 × 1 constant uniform");
    EXPECT_EQ(told(*rows(kernel("constant_by_lane"), "constant", "load").at(0)), "32 × 32 constant divergent 32 words");
}

// 100 of 128 threads: three full warps and 4 lanes in one sector.
TEST(Cases, C21_OnlyActiveLanesCount) {
    EXPECT_EQ(metric(kernel("tail"), "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"), 4);
    EXPECT_EQ(metric(kernel("tail"), "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 13);
    EXPECT_EQ(kernel("tail").grade, Grade::kGood);
    // 48 of 64 threads go on, every second of them loads: 16 lanes over 4 sectors, 8 lanes over 2.
    EXPECT_EQ(metric(kernel("predicated"), "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"), 2);
    EXPECT_EQ(metric(kernel("predicated"), "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 6);
    EXPECT_EQ(metric(kernel("predicated"), "lanescope__requested_bytes_mem_global_op_ld.sum"), 24 * 4);
}

}  // namespace
}  // namespace lanescope
