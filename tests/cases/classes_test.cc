// What lanescope calls the accesses of classes.cu, and the evidence that it shows for each: share of requests, an example warp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/pattern.h"
#include "analysis/summary.h"
#include "cli/output.h"
#include "cli/process.h"

namespace lanescope {
namespace {

using ::testing::HasSubstr;

struct Run {
    profile::Profile profile;
    std::string verbose;              ///< what `lanescope show --verbose` says of it
};

const Run& classes() {
    static const Run run = [] {
        Run out;
        const auto folder = cli::TemporaryFolder::make();
        const std::string json = (folder->path() / "p.json").string();
        const auto status = cli::run({{LANESCOPE, "run", "--quiet", "--no-what-if", "--no-race-check", "--gpu", "h200", "--json", json, CLASSES}, {}, false});
        if (!status.ok() || *status != 0) return out;
        if (auto read = cli::read_profile(json); read.ok()) out.profile = *read;
        if (const auto shown = cli::capture({{LANESCOPE, "show", "--verbose", "--width", "140", json}, {}, false}); shown.ok()) out.verbose = shown->output;
        return out;
    }();
    return run;
}

struct Case {
    const char *kernel, *space, *operation, *pattern;
    size_t launch = 0;                ///< of the kernel
};

class Class : public ::testing::TestWithParam<Case> {};

TEST_P(Class, HasItsName) {
    const Case& wanted = GetParam();
    std::vector<std::string> patterns;
    size_t launch = 0;
    for (const profile::Launch& each : classes().profile.launches) {
        if (analysis::short_name(each.kernel) != wanted.kernel || launch++ != wanted.launch) continue;
        for (const profile::Line& line : each.lines)
            for (const profile::Access& access : line.accesses)
                if (access.space == wanted.space && access.operation == wanted.operation) {
                    patterns.push_back(access.pattern);
                    EXPECT_TRUE(access.example.has_value()) << "no example warp";
                }
    }
    EXPECT_THAT(patterns, ::testing::Contains(wanted.pattern));
}

constexpr Case kCases[] = {
    {"coalesced", "global", "load", "coalesced"},
    {"misaligned", "global", "load", "misaligned"},
    {"strided", "global", "load", "strided 20 B"},
    {"records", "global", "load", "record field, 12 B"},
    {"chunks", "global", "load", "strided 64 B"},
    {"broadcast", "global", "load", "broadcast"},
    {"groups", "global", "load", "grouped broadcast"},
    {"reversed", "global", "load", "reversed"},
    {"transposed", "global", "store", "transposed 512 B"},
    {"transposed", "global", "load", "coalesced"},
    {"transposed_16", "global", "store", "transposed 512 B"},
    {"rows", "global", "load", "rows 512 B apart"},
    {"gather", "global", "load", "gather"},
    {"scatter", "global", "store", "scatter"},
    {"partial", "global", "load", "partial warp"},
    {"mixed", "global", "load", "coalesced (75 %)"},
    {"bank_stride", "shared", "load", "4-way bank conflict by stride, 16 B"},
    {"bank_stride", "shared", "store", "conflict-free"},
    {"bank_layout", "shared", "load", "32-way bank conflict by layout, rows 128 B"},
    {"constant_same", "constant", "load", "constant uniform"},
    {"constant_apart", "constant", "load", "constant divergent 8 words"},
    {"local", "local", "load", "local"},
    {"local", "local", "load", "local divergent", 1},
    {"atomic_one", "global", "reduction", "atomic, one address"},
    {"atomic_some", "global", "reduction", "atomic"},
};
INSTANTIATE_TEST_SUITE_P(Cases, Class, ::testing::ValuesIn(kCases), [](const auto& each) {
    return std::string(each.param.kernel) + "_" + each.param.space + "_" + each.param.operation + (each.param.launch == 0 ? "" : "_again");
});

// Eight warps of a block read the same 4 KiB, and so do 256 blocks on 132 SMs: once from L1's side, twice an SM of them at most from L2's.
TEST(Evidence, RereadsByWarpsAndBlocks) {
    for (const profile::Launch& launch : classes().profile.launches) {
        if (analysis::short_name(launch.kernel) != "reread") continue;
        for (const profile::Line& line : launch.lines)
            for (const profile::Access& access : line.accesses)
                if (access.operation == "load") {
                    EXPECT_GE(access.metrics.at("rereads_by_warps"), 7.9);
                    EXPECT_LE(access.metrics.at("rereads_by_warps"), 16.1);
                    EXPECT_GE(access.metrics.at("rereads_by_blocks"), 120);
                    EXPECT_LE(access.metrics.at("rereads_by_blocks"), 256);
                    return;
                }
    }
    FAIL() << "reread did not run, or classes.cu could not be compiled";
}

TEST(Evidence, StandsInTheReport) {
    EXPECT_THAT(classes().verbose, HasSubstr("coalesced (75 %)"));
    EXPECT_THAT(classes().verbose, HasSubstr("example: block 0, warp 0, 32 lanes at 0x"));
    EXPECT_THAT(classes().verbose, HasSubstr(" +512 +1024 +1536 …"));     // lanes of the transposed store
    EXPECT_THAT(classes().verbose, HasSubstr("8 lanes at 0x"));           // the partial warp
}

// A class that no kernel of this file or of cases.cu shows would be untested: only what needs a texture, and what has no addresses, is left out.
TEST(Evidence, EachClassHasACase) {
    for (const analysis::PatternText& text : analysis::pattern_texts()) {
        using Kind = analysis::PatternKind;
        if (text.kind == Kind::kUnknown || text.kind == Kind::kTexture || text.kind == Kind::kRedundant) continue;
        EXPECT_TRUE(std::any_of(std::begin(kCases), std::end(kCases), [&](const Case& each) { return analysis::kind_of(each.pattern) == text.kind; })) << text.name;
    }
}

}  // namespace
}  // namespace lanescope
