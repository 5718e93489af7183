#include "lab/laboratory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/render.h"

namespace lanescope::lab {
namespace {

using testing::HasSubstr;

constexpr std::string_view kToml = R"(title    = { en = "Offsets", zh = "偏移" }
question = { en = "What does an offset cost?", zh = "偏移的代价?" }
program  = "add.cu"
gpus     = ["k80", "h200"]
rows     = ["case", "offset", "run"]
[[run]]
name  = "l1_off"
l1    = "off"
quick = ["n=64"]
full  = ["n=1024"]
[[column]]
name  = "sectors"
label = { en = "sectors", zh = "扇区" }
value = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
[[column]]
name  = "double"
label = { en = "twice", zh = "两倍" }
value = "2 * sectors"
[[plot]]
title = { en = "Sectors", zh = "扇区" }
kind  = "line"
x     = "offset"
y     = "sectors"
[[claim]]
says = { en = "five at 1", zh = "1 时为五" }
that = "sectors[offset=1] == 5"
[[claim]]
says = { en = "twice eight on a K80", zh = "K80 上两倍为八" }
gpus = ["k80"]
that = "double[offset=0] == 8 and gpu.gpus_on_board == 2"
)";

profile::Launch launch(const char* kernel, double sectors) {
    profile::Launch out;
    out.kernel = kernel;
    out.metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] = sectors;
    return out;
}

RunOutcome outcome() {
    RunOutcome out;
    out.profile.launches = {launch("void add<float>(const float *)", 4), launch("other(int)", 99), launch("void add<float>(const float *)", 7),
                            launch("void add<float>(const float *)", 5)};
    out.output = "hello\nadd offset=0 us=1.5 correct\nadd offset=1 launches=2 correct\nseen value=3.14\n";
    return out;
}

TEST(Cases, TakeTheMetricsOfTheLaunchTheySpeakOf) {
    std::vector<std::vector<Picture>> pictures;
    const std::vector<Row> cases = cases_of(outcome(), "l1_off", pictures);
    ASSERT_EQ(cases.size(), 3u);  // "hello" is no case
    EXPECT_EQ(pictures.size(), 3u);
    const auto number = [&](size_t i, const char* name) { return std::get<double>(cases[i].at(name)); };
    EXPECT_EQ(number(0, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 4);
    EXPECT_EQ(number(1, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 5);  // the last of its two
    EXPECT_EQ(number(0, "correct"), 1);
    EXPECT_EQ(std::get<std::string>(cases[0].at("run")), "l1_off");
    EXPECT_EQ(cases[2].count("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 0u);
}

TEST(Run, AsksTheRunnerForEachGpuAndJudgesTheClaims) {
    const auto experiment = parse(kToml, "experiment.toml");
    ASSERT_TRUE(experiment.ok()) << base::to_string(experiment.errors());
    std::vector<std::string> asked;
    const ExperimentResult result = run(*experiment, {}, [&](const RunRequest& request) -> base::Result<RunOutcome> {
        asked.push_back(request.gpu + " " + request.l1 + " " + request.arguments.at(0));
        return outcome();
    });
    EXPECT_THAT(asked, testing::ElementsAre("k80 off n=64", "h200 off n=64"));
    EXPECT_EQ(result.gpus[0].claims[0].verdict, Verdict::kConfirmed);
    EXPECT_EQ(result.gpus[0].claims[1].verdict, Verdict::kConfirmed);
    EXPECT_EQ(result.gpus[1].claims[1].verdict, Verdict::kNotHere);
    EXPECT_THAT(result.gpus[1].claims[0].subject, testing::ElementsAre(5));

    report::Style style;
    style.unicode = false;
    const std::string text = terminal(result, style);
    EXPECT_THAT(text, HasSubstr("add   1       l1_off        5     5     10    10"));
    EXPECT_THAT(text, HasSubstr("confirmed five at 1 (k80 5, h200 5)"));
    EXPECT_EQ(totals({result}, style).substr(0, 18), "3 claims confirmed");
    EXPECT_THAT(to_json({result}), HasSubstr("\"verdict\": \"confirmed\""));
    EXPECT_THAT(html({result}), testing::AllOf(HasSubstr("lanescope-lab/1"), testing::Not(HasSubstr("@DATA@"))));
}

TEST(Run, AFailedRunIsReportedAndItsClaimsAreUndecided) {
    const auto experiment = parse(kToml, "experiment.toml");
    ASSERT_TRUE(experiment.ok());
    Options options;
    options.gpus = {"t4"};
    const ExperimentResult result = run(*experiment, options, [](const RunRequest&) -> base::Result<RunOutcome> { return base::error("no such compiler"); });
    ASSERT_EQ(result.gpus.size(), 1u);
    EXPECT_EQ(result.gpus[0].errors.size(), 1u);
    EXPECT_EQ(result.gpus[0].claims[0].verdict, Verdict::kUndecided);
    EXPECT_THAT(terminal(result, {}), HasSubstr("no such compiler"));
}

TEST(Run, TheFullSizeIsAnotherOnAnEmulatedGpuIfTheExperimentSaysSo) {
    const auto asked = [](std::string_view more, bool full, const char* backend) {
        std::string text(kToml);
        text.insert(text.find("full  = "), more);
        const auto experiment = parse(text, "experiment.toml");
        EXPECT_TRUE(experiment.ok());
        Options options;
        options.gpus = {"t4"};
        options.full = full;
        options.backend = backend;
        std::vector<std::string> arguments;
        run(*experiment, options, [&](const RunRequest& request) -> base::Result<RunOutcome> {
            arguments = request.arguments;
            return outcome();
        });
        return arguments.at(0);
    };
    EXPECT_EQ(asked("full_emulated = [\"n=256\"]\n", false, "emulated"), "n=64");
    EXPECT_EQ(asked("full_emulated = [\"n=256\"]\n", true, "emulated"), "n=256");
    EXPECT_EQ(asked("full_emulated = [\"n=256\"]\n", true, "hardware"), "n=1024");
    EXPECT_EQ(asked("", true, "emulated"), "n=1024");
}

TEST(ExperimentFile, ErrorsHaveTheirPlaceEvenInsideAnExpression) {
    const auto errors_of = [](std::string_view find, std::string_view replace) {
        std::string text(kToml);
        text.replace(text.find(find), find.size(), replace);
        const auto parsed = parse(text, "e.toml");
        return parsed ? "" : base::to_string(parsed.errors());
    };
    EXPECT_EQ(errors_of("l1    = \"off\"", "l1    = \"maybe\""), "e.toml:8:9: error: 'l1' must be one of on, off\nl1    = \"maybe\"\n        ^");
    EXPECT_EQ(errors_of("2 * sectors", "2 * * sectors"), "e.toml:18:14: error: expected a name, a number or '('\nvalue = \"2 * * sectors\"\n             ^");
    EXPECT_EQ(errors_of("y     = \"sectors\"", "y     = \"sector\""), "e.toml:23:9: error: 'sector' is not a column\ny     = \"sector\"\n        ^");
    EXPECT_THAT(errors_of("program  = \"add.cu\"", ""), HasSubstr("missing key 'program'"));
    EXPECT_THAT(errors_of("kind  = \"line\"", "kind  = \"line\"\ncolour = 1"), HasSubstr("e.toml:22:1: error: unknown key 'colour'"));
}

TEST(Shipped, AllSeventeenLoadAndExplainThemselvesInBothLanguages) {
    const std::filesystem::path folder = LANESCOPE_SOURCE_DIR "/lab";
    const std::vector<std::string> all = names(folder);
    EXPECT_EQ(all.size(), 17u);
    for (const std::string& name : all) {
        const auto experiment = load(folder / name);
        ASSERT_TRUE(experiment.ok()) << base::to_string(experiment.errors());
        EXPECT_THAT(experiment->explanation, HasSubstr("## 中文")) << name;
        EXPECT_FALSE(experiment->claims.empty()) << name;
    }
}

TEST(Names, AreCompletedFromNumberOrWord) {
    const std::vector<std::string> all = {"05-alignment", "06-coalescing", "15-allocators"};
    EXPECT_EQ(complete(all, "5"), "05-alignment");
    EXPECT_EQ(complete(all, "15"), "15-allocators");
    EXPECT_EQ(complete(all, "coalescing"), "06-coalescing");
    EXPECT_EQ(complete(all, "06-coalescing"), "06-coalescing");
    EXPECT_EQ(complete(all, "7"), "");
}

}  // namespace
}  // namespace lanescope::lab
