#include "analysis/pattern.h"

#include <gtest/gtest.h>

#include <functional>

namespace lanescope::analysis {
namespace {

std::vector<uint64_t> lanes(const std::function<uint64_t(uint64_t)>& address) {
    std::vector<uint64_t> out;
    for (uint64_t lane = 0; lane < 32; ++lane) out.push_back(address(lane));
    return out;
}

constexpr uint64_t kBase = 0x7f0000000000;
constexpr uint32_t kAll = 0xffffffff;

std::string global(const std::function<uint64_t(uint64_t)>& address, uint32_t bytes = 4, uint32_t active = kAll, const char* operation = "load") {
    return label(pattern_of("global", operation, bytes, active, lanes(address)));
}

// A block of 16 × 16: a warp stores 16 words down each of two columns.
TEST(Pattern, ColumnsOfANarrowBlock) {
    std::vector<uint64_t> lanes(32);
    for (uint64_t lane = 0; lane < 32; ++lane) lanes[lane] = 0x10000 + 4000 * (lane % 16) + 4 * (lane / 16);
    EXPECT_EQ(label(pattern_of("global", "store", 4, ~0u, lanes)), "strided 4000 B");
    EXPECT_EQ(lane_stride(~0u, lanes, 4), 4000);
    lanes[7] += 4;
    EXPECT_EQ(label(pattern_of("global", "store", 4, ~0u, lanes)), "scatter");
    EXPECT_EQ(lane_stride(~0u, lanes, 4), 0);
}

TEST(Pattern, OfGlobalAccesses) {
    EXPECT_EQ(global([](uint64_t lane) { return kBase + 4 * lane; }), "coalesced");
    EXPECT_EQ(global([](uint64_t lane) { return kBase + 16 * lane; }, 16), "coalesced");
    EXPECT_EQ(global([](uint64_t lane) { return kBase + 32 + 4 * lane; }), "coalesced") << "starts at a sector, if not at a line";
    EXPECT_EQ(global([](uint64_t lane) { return kBase + 4 + 4 * lane; }), "misaligned");
    EXPECT_EQ(global([](uint64_t) { return kBase + 4; }), "broadcast");
    EXPECT_EQ(global([](uint64_t lane) { return kBase + 4 * (31 - lane); }), "reversed");
    EXPECT_EQ(global([](uint64_t lane) { return kBase + 8 * lane; }), "strided 8 B");
    EXPECT_EQ(global([](uint64_t lane) { return kBase + 4096 * (31 - lane); }), "strided -4096 B");
    EXPECT_EQ(global([](uint64_t lane) { return kBase + 4 * (lane * 7919 % 1024); }), "gather");
    EXPECT_EQ(global([](uint64_t lane) { return kBase + 4 * (lane * lane); }, 4, kAll, "store"), "scatter");
    EXPECT_EQ(global([](uint64_t lane) { return kBase + 4 * lane; }, 4, 1), "partial warp");
}

// A block 16 wide: lanes 0…15 in one row, 16…31 in the next, 4096 bytes below.
TEST(Pattern, OfRows) { EXPECT_EQ(global([](uint64_t lane) { return kBase + 4096 * (lane / 16) + 4 * (lane % 16); }), "rows 4096 B apart"); }

// The last warp of an array: 20 lanes, still neighbours.
TEST(Pattern, OfSomeLanes) {
    EXPECT_EQ(global([](uint64_t lane) { return kBase + 4 * lane; }, 4, 0xfffff), "coalesced");
    EXPECT_EQ(global([](uint64_t lane) { return kBase + 8 * lane; }, 4, 0xaaaaaaaa), "strided 8 B") << "by lane number";
    EXPECT_EQ(global([](uint64_t lane) { return kBase + 4096 * (lane / 8); }), "grouped broadcast");
}

TEST(Pattern, OfAtomics) {
    EXPECT_EQ(global([](uint64_t) { return kBase; }, 4, kAll, "reduction"), "atomic, one address");
    EXPECT_EQ(global([](uint64_t lane) { return kBase + 4 * lane; }, 4, kAll, "atomic"), "atomic");
}

std::string shared(const std::function<uint64_t(uint64_t)>& address, uint32_t bytes = 4) { return label(pattern_of("shared", "load", bytes, kAll, lanes(address))); }

TEST(Pattern, OfSharedAccesses) {
    EXPECT_EQ(shared([](uint64_t lane) { return 4 * lane; }), "conflict-free");
    EXPECT_EQ(shared([](uint64_t) { return 64; }), "conflict-free") << "one word for all is a broadcast";
    EXPECT_EQ(shared([](uint64_t lane) { return 8 * lane; }), "2-way bank conflict by stride, 8 B");    // words 0, 2, … 62: two to a bank
    EXPECT_EQ(shared([](uint64_t lane) { return 12 * lane; }), "conflict-free");         // 3 and 32 have no common factor
    EXPECT_EQ(shared([](uint64_t lane) { return 128 * lane; }), "32-way bank conflict by layout, rows 128 B"); // float tile[32][32] by column
    EXPECT_EQ(shared([](uint64_t lane) { return 132 * lane; }), "conflict-free");        // float tile[32][33] by column
    EXPECT_EQ(shared([](uint64_t lane) { return 16 * lane; }, 16), "conflict-free");     // 4 passes of 8 lanes are the ideal
    EXPECT_EQ(shared([](uint64_t lane) { return 512 * lane; }, 16), "8-way bank conflict by layout, rows 512 B");  // 32 passes instead of 4
}

TEST(Pattern, OfConstantAndLocal) {
    EXPECT_EQ(label(pattern_of("constant", "load", 4, kAll, lanes([](uint64_t) { return 8; }))), "constant uniform");
    EXPECT_EQ(label(pattern_of("constant", "load", 4, kAll, lanes([](uint64_t lane) { return 4 * lane; }))), "constant divergent 32 words");
    EXPECT_EQ(label(pattern_of("local", "load", 4, kAll, lanes([](uint64_t) { return 8; }))), "local");
    EXPECT_EQ(label(pattern_of("local", "load", 4, kAll, lanes([](uint64_t lane) { return 4 * lane; }))), "local divergent");
}

profile::Access access(const char* operation, const std::function<uint64_t(uint64_t)>& address, profile::Metrics metrics = {}) {
    profile::Access out;
    out.space = "global";
    out.operation = operation;
    out.bytes = 4;
    out.metrics = std::move(metrics);
    out.example = profile::ExampleWarp{0, 0, kAll, lanes(address)};
    return out;
}

std::vector<std::string> classified(std::vector<profile::Access> accesses, uint32_t rows = 1) {
    profile::Profile profile;
    profile.launches.resize(1);
    profile.launches[0].grid[1] = rows;
    profile.launches[0].lines.resize(1);
    profile.launches[0].lines[0].accesses = std::move(accesses);
    classify(profile);
    std::vector<std::string> out;
    for (const profile::Access& each : profile.launches[0].lines[0].accesses) out.push_back(each.pattern);
    return out;
}

// struct { float x, y, z; } p[]: both fields are 12 bytes from lane to lane and 4 apart.
TEST(Classify, FieldsOfOneRecord) {
    const auto field = [](uint64_t offset) { return [offset](uint64_t lane) { return kBase + 12 * lane + offset; }; };
    EXPECT_EQ(classified({access("load", field(0)), access("load", field(4))}), (std::vector<std::string>{"record field, 12 B", "record field, 12 B"}));
    EXPECT_EQ(classified({access("load", field(0))}), (std::vector<std::string>{"strided 12 B"})) << "one field alone is told as what it is";
    EXPECT_EQ(classified({access("load", field(0)), access("store", field(0))}), (std::vector<std::string>{"strided 12 B", "strided 12 B"})) << "the same field twice";
    EXPECT_EQ(classified({access("load", field(0)), access("load", field(65536))}), (std::vector<std::string>{"strided 12 B", "strided 12 B"})) << "two arrays";
}

// for (i …) sum += matrix[row * 1024 + i], unrolled four times: four accesses 4 bytes apart, rows of 4096 bytes. No record.
TEST(Classify, AnUnrolledRowIsNoRecord) {
    const auto column = [](uint64_t offset) { return [offset](uint64_t lane) { return kBase + 4096 * lane + offset; }; };
    EXPECT_EQ(classified({access("load", column(0)), access("load", column(4))}), (std::vector<std::string>{"strided 4096 B", "strided 4096 B"}));
}

// The example warp happens to be aligned, the counters say that not all are: 37 sectors in 8 requests, 32 would do.
TEST(Classify, CountersOutweighTheExample) {
    const auto contiguous = [](uint64_t lane) { return kBase + 4 * lane; };
    EXPECT_EQ(classified({access("load", contiguous, {{"requests", 8}, {"sectors", 37}, {"ideal_sectors", 32}})}), (std::vector<std::string>{"misaligned"}));
    EXPECT_EQ(classified({access("load", contiguous, {{"requests", 8}, {"sectors", 32}, {"ideal_sectors", 32}})}), (std::vector<std::string>{"coalesced"}));
}

// if (threadIdx.x & 1): 16 words of 128 bytes, 4 sectors where 2 would do.
TEST(Classify, LanesWithHolesArePartial) {
    profile::Access odd = access("load", [](uint64_t lane) { return kBase + 4 * lane; }, {{"requests", 1}, {"sectors", 4}, {"ideal_sectors", 2}, {"contiguous_requests", 1}});
    odd.example->active = 0xaaaaaaaa;
    EXPECT_EQ(classified({odd}), (std::vector<std::string>{"partial warp"}));
}

TEST(Classify, ShapesOfAllRequestsDecide) {
    const auto contiguous = [](uint64_t lane) { return kBase + 4 * lane; };
    // The example is contiguous, three quarters of the requests are not.
    EXPECT_EQ(classified({access("load", contiguous, {{"requests", 4}, {"sectors", 100}, {"ideal_sectors", 16}, {"contiguous_requests", 1}, {"irregular_requests", 3}})}),
              (std::vector<std::string>{"gather (75 %)"}));
    // Strides of 8 and 24 bytes: 16 on average.
    EXPECT_EQ(classified({access("store", contiguous, {{"requests", 2}, {"sectors", 32}, {"ideal_sectors", 8}, {"strided_requests", 2}, {"stride_bytes", 32}})}),
              (std::vector<std::string>{"strided 16 B"}));
}

// b[x * n + y] = a[y * n + x]
TEST(Classify, RowsToColumnsIsATranspose) {
    const profile::Metrics whole = {{"requests", 8}, {"sectors", 32}, {"ideal_sectors", 32}}, wide = {{"requests", 8}, {"sectors", 256}, {"ideal_sectors", 32}};
    const std::vector<profile::Access> both = {access("load", [](uint64_t lane) { return kBase + 4 * lane; }, whole), access("store", [](uint64_t lane) { return kBase + 65536 + 4096 * lane; }, wide)};
    EXPECT_EQ(classified(both, 8), (std::vector<std::string>{"coalesced", "transposed 4096 B"}));
    EXPECT_EQ(classified(both, 1), (std::vector<std::string>{"coalesced", "strided 4096 B"})) << "a[i] = b[i * stride] is none";
}

TEST(Classify, LeavesWhatIsThere) {
    profile::Access given = access("load", [](uint64_t lane) { return kBase + 4 * lane; });
    given.pattern = "measured elsewhere";
    EXPECT_EQ(classified({given}), (std::vector<std::string>{"measured elsewhere"}));
}

TEST(Texts, EveryKindHasOneAndLabelsLeadBack) {
    for (const PatternText& text : pattern_texts()) {
        EXPECT_EQ(&text_of(text.kind), &text);
        EXPECT_FALSE(text.meaning.empty());
        if (text.kind == PatternKind::kUnknown) continue;
        Pattern pattern;
        pattern.kind = text.kind;
        pattern.stride_bytes = 12;
        pattern.ways = 7;
        EXPECT_EQ(kind_of(label(pattern)), text.kind) << label(pattern);
    }
    EXPECT_EQ(kind_of("something else"), PatternKind::kUnknown);
}

}  // namespace
}  // namespace lanescope::analysis
