// What was predicted of a change, against the changed program: each of examples/advice/ has a kernel `before` and, written by hand, `after`.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "analysis/pattern.h"
#include "analysis/summary.h"
#include "base/file.h"
#include "cli/output.h"
#include "cli/process.h"

namespace lanescope {
namespace {

using analysis::ChangeKind;
using analysis::KernelSummary;

profile::Profile run(const std::string& program, std::vector<std::string> options = {}) {
    const auto folder = cli::TemporaryFolder::make();
    const std::string json = (folder->path() / "p.json").string();
    std::vector<std::string> command = {LANESCOPE, "run", "--quiet", "--gpu", "h200", "--json", json};
    if (options.empty()) options = {"--what-if", "1000"};   // a busy machine is no reason to try less
    command.insert(command.end(), options.begin(), options.end());
    command.push_back(program);
    const auto status = cli::run({command, {}, false});
    if (!status.ok() || *status != 0) ADD_FAILURE() << program << " failed";
    auto read = cli::read_profile(json);
    return read.ok() ? *read : profile::Profile();
}

const KernelSummary& kernel(const analysis::Summary& summary, const std::string& name) {
    for (const KernelSummary& each : summary.kernels)
        if (analysis::short_name(each.kernel) == name) return each;
    static const KernelSummary kNone;
    ADD_FAILURE() << name << " did not run";
    return kNone;
}

double metric(const KernelSummary& kernel, const char* name) {
    const auto at = kernel.metrics.find(name);
    return at == kernel.metrics.end() ? 0 : at->second;
}

class AdvisedProgram : public ::testing::TestWithParam<const char*> {};

// The gain that the advice for `before` promises is that of `after`, within 10 %; `after` has no further advice of this kind.
TEST_P(AdvisedProgram, GainsWhatWasPredicted) {
    const std::string name = GetParam();
    const analysis::ChangeText* change = analysis::find_change(name);
    ASSERT_NE(change, nullptr);
    const profile::Profile profile = run(EXAMPLES "advice/" + name + ".cu");
    const analysis::Summary summary = analysis::summarize(profile);
    const KernelSummary &before = kernel(summary, "before"), &after = kernel(summary, "after");
    const profile::WhatIf* tried = nullptr;
    for (const profile::Launch* launch : before.launches)
        for (const profile::WhatIf& each : launch->what_if)
            if (each.change == name) tried = &each;
    ASSERT_NE(tried, nullptr) << "was not tried";
    // The advice is this change, or one that gains as much: an array for each field, a swizzle instead of padding.
    ASSERT_FALSE(before.advice.empty());
    const double best = before.advice[0].gain(), predicted = tried->before.at("time_ns") / tried->after.at("time_ns");
    EXPECT_GT(predicted, 0.95 * best) << "advised: " << before.advice[0].text->key;
    double after_ns = after.time_ns;
    if (change->kind == ChangeKind::kDeviceMemory)    // its first copy is the one that the kernel needs
        for (const profile::Transfer& transfer : profile.transfers)
            if (transfer.kind == "host_to_device" && transfer.memory != "pageable") after_ns += transfer.duration_ns;
    const double gain = before.time_ns / after_ns;
    EXPECT_NEAR(predicted / gain, 1, 0.1) << "predicted " << predicted << ", the changed program gains " << gain;
    EXPECT_NEAR(tried->after.at("dram_bytes"), metric(after, "dram__bytes_read.sum") + metric(after, "dram__bytes_write.sum"), 0.1 * tried->after.at("dram_bytes") + 1e5);
    for (const analysis::Advice& further : after.advice) EXPECT_NE(further.text->kind, change->kind);
    RecordProperty("predicted", fmt::format("{:.2f}", predicted));
    std::printf("%-22s predicted %.2f, changed program %.2f\n", name.c_str(), predicted, gain);
}

INSTANTIATE_TEST_SUITE_P(Examples, AdvisedProgram,
                         ::testing::Values("tile_staging", "structure_of_arrays", "blocked_arrays", "interleaved_threads", "shared_padding", "shared_swizzle", "wider_access", "read_only_path", "device_memory", "array_in_shared",
                                           "combined_atomics", "table_in_global", "shared_bins"),
                         [](const auto& each) { return std::string(each.param); });

// Measured on an H200, these gain nothing (docs/records/advice-h200.md): they are tried, and not advised.
TEST(NotAdvised, WhatOnlyAligns) {
    for (const char* name : {"alignment", "pitch"}) {
        const profile::Profile profile = run(EXAMPLES "advice/" + std::string(name) + ".cu");
        const analysis::Summary summary = analysis::summarize(profile);
        const KernelSummary& before = kernel(summary, "before");
        EXPECT_GT(before.tried, 0u) << name;
        for (const analysis::Advice& advice : before.advice) EXPECT_NE(advice.text->key, name);
    }
}

/// Patterns that look bad and cost nothing, at a size where a cost would show.
const profile::Profile& traps() {
    static const profile::Profile profile = run(TRAPS);
    return profile;
}

class Trap : public ::testing::TestWithParam<const char*> {};

TEST_P(Trap, HasNoAdvice) {
    const analysis::Summary summary = analysis::summarize(traps());
    const KernelSummary& trap = kernel(summary, GetParam());
    for (const analysis::Advice& advice : trap.advice)
        ADD_FAILURE() << advice.text->key << " is said to gain " << advice.gain() << " (" << advice.before_ns << " ns, then " << advice.after_ns << "); " << advice.effect;
    EXPECT_NE(trap.grade, analysis::Grade::kBad);
    EXPECT_THAT(trap.verdict, ::testing::HasSubstr("o action needed."));
}

INSTANTIATE_TEST_SUITE_P(Cases, Trap, ::testing::Values("offset_by_one", "records_of_three", "records_of_four", "records_of_two_doubles", "uniform", "copy", "padded_tile", "matmul", "stencil"),
                         [](const auto& each) { return std::string(each.param); });

/// docs/tutorial: each run's advice leads to the next program, and the limits of examples/ci hold for the last.
TEST(Tutorial, ThreeRunsFromSlowToFast) {
    const auto folder = cli::TemporaryFolder::make();
    ASSERT_TRUE(folder.ok());
    const std::string json = (folder->path() / "p.json").string();
    const std::pair<const char*, const char*> kSteps[] = {{"1-naive", "tile_staging"}, {"2-tile", "shared_padding"}, {"3-padded", ""}};
    double last_ns = 1e30;
    for (const auto& [step, advice] : kSteps) {
        SCOPED_TRACE(step);
        const profile::Profile profile = run(std::string(EXAMPLES "transpose/") + step + ".cu");
        const analysis::Summary summary = analysis::summarize(profile);
        const KernelSummary& transpose = kernel(summary, "transpose");
        EXPECT_EQ(transpose.advice.empty() ? "" : transpose.advice[0].text->key, advice);
        EXPECT_LT(transpose.time_ns, last_ns);
        last_ns = transpose.time_ns;
        ASSERT_TRUE(base::write_file(json, profile::to_json(profile)).ok());
        const auto checked = cli::capture({{LANESCOPE, "check", json, "--limits", EXAMPLES "ci/lanescope.toml"}, {}, false});
        ASSERT_TRUE(checked.ok());
        EXPECT_EQ(checked->status, *advice == '\0' ? 0 : 1) << checked->output;
    }
}

TEST(WhatIf, CanBeTurnedOff) {
    const profile::Profile profile = run(EXAMPLES "advice/tile_staging.cu", {"--no-what-if"});
    ASSERT_FALSE(profile.launches.empty());
    for (const profile::Launch& launch : profile.launches) EXPECT_TRUE(launch.what_if.empty());
}

TEST(WhatIf, SaysWhatItHadNoTimeFor) {
    const profile::Profile profile = run(EXAMPLES "advice/tile_staging.cu", {"--what-if", "0.000001"});
    ASSERT_FALSE(profile.launches.empty());
    EXPECT_TRUE(profile.launches[0].what_if.empty());
    EXPECT_THAT(profile.launches[0].notes, ::testing::Contains(::testing::HasSubstr("not tried")));
}

}  // namespace
}  // namespace lanescope
