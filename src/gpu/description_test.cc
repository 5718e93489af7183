#include "gpu/description.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace lanescope::gpu {
namespace {

Description gpu(const std::string& name) {
    base::Result<Description> loaded = load(name);
    if (!loaded) ADD_FAILURE() << base::to_string(loaded.errors());
    return loaded ? *loaded : Description();
}

TEST(Descriptions, AllShippedOnesLoadAndNameTheOriginOfEveryNumber) {
    const std::vector<std::string> names = known_names();
    EXPECT_EQ(names.size(), 17u);
    for (const std::string& name : names) {
        const Description description = gpu(name);
        EXPECT_EQ(description.name, name);
        const std::vector<Row> shown = rows(description);
        EXPECT_EQ(shown.size(), description.origins.size()) << name;
        for (const Row& row : shown) {
            EXPECT_FALSE(row.value.empty()) << name << ' ' << row.key;
            EXPECT_FALSE(row.source.empty()) << name << ' ' << row.key;
        }
    }
}

TEST(Descriptions, PeakBandwidthIsBusTimesClockTimesTransfers) {
    const auto peak = [](const char* name) { return gpu(name).peak_bytes_per_second(); };
    EXPECT_DOUBLE_EQ(peak("k80"), 240.48e9);       // 384 bit / 8 = 48 B × 2505 MHz × 2
    EXPECT_DOUBLE_EQ(peak("k80") * gpu("k80").gpus_on_board, 480.96e9);
    EXPECT_DOUBLE_EQ(peak("gtx1080ti"), 484.44e9); // 44 B × 5505 MHz × 2
    EXPECT_DOUBLE_EQ(peak("p100"), 732.16e9);      // 512 B × 715 MHz × 2
    EXPECT_DOUBLE_EQ(peak("v100"), 898.048e9);     // 512 B × 877 MHz × 2
    EXPECT_DOUBLE_EQ(peak("t4"), 320.064e9);       // 32 B × 5001 MHz × 2
    EXPECT_DOUBLE_EQ(peak("a100"), 1555.2e9);      // 640 B × 1215 MHz × 2
    EXPECT_DOUBLE_EQ(peak("rtx4060"), 272.032e9);  // 16 B × 8501 MHz × 2
    EXPECT_DOUBLE_EQ(peak("h100"), 3352.32e9);     // 640 B × 2619 MHz × 2
    EXPECT_DOUBLE_EQ(peak("h200"), 4814.304e9);    // 752 B × 3201 MHz × 2
    EXPECT_DOUBLE_EQ(peak("b200"), 7672.32e9);     // 960 B × 3996 MHz × 2
    EXPECT_DOUBLE_EQ(peak("rtx5090"), 1792.128e9); // 64 B × 14001 MHz × 2
}

TEST(Descriptions, ValuesArriveInTheirKeptUnits) {
    const Description h200 = gpu("h200");
    EXPECT_EQ(h200.product, "NVIDIA H200");
    EXPECT_EQ(h200.compute_capability, 90u);
    EXPECT_EQ(h200.l2_bytes, 62914560u);  // 60 × 1048576
    EXPECT_DOUBLE_EQ(h200.clock_mhz, 1980);
    EXPECT_DOUBLE_EQ(h200.dram_latency_ns, 345);
    EXPECT_DOUBLE_EQ(h200.link_bytes_per_second, 55e9);
    EXPECT_EQ(h200.shared_carveouts.back(), 233472u);  // 228 × 1024
    EXPECT_EQ(h200.l1_ways, 0u);                       // "unknown"
    EXPECT_EQ(h200.origins.at("l2").text, "60 MiB");
    EXPECT_EQ(h200.origins.at("sms").confidence, Confidence::kMeasured);
    EXPECT_EQ(gpu("k80").coalescing, Coalescing::kKepler);
    EXPECT_FALSE(gpu("k80").l1_caches_global_by_default);
    EXPECT_EQ(gpu("gtx1080ti").coalescing, Coalescing::kMaxwell);
    EXPECT_TRUE(gpu("t4").coalescing == Coalescing::kSectors && !gpu("t4").l1_request_coalescer);
}

TEST(Descriptions, L1IsWhatTheCarveOutLeaves) {
    const Description h200 = gpu("h200");
    EXPECT_EQ(h200.l1_cache_bytes(0), 256u << 10);
    EXPECT_EQ(h200.l1_cache_bytes(1), 248u << 10);            // rounded up to 8 KiB
    EXPECT_EQ(h200.l1_cache_bytes(100 << 10), 156u << 10);    // exactly a carve-out
    EXPECT_EQ(h200.l1_cache_bytes(300 << 10), 28u << 10);     // never more than the largest, 228 KiB
    EXPECT_EQ(gpu("k80").l1_cache_bytes(0), 48u << 10);       // 128 − 80 KiB
    EXPECT_EQ(gpu("p100").l1_cache_bytes(48 << 10), 24u << 10);  // separate arrays
}

TEST(Descriptions, JsonHasBaseUnitsAndLeavesOutTheUnknown) {
    const std::string json = to_json(gpu("h200"));
    EXPECT_THAT(json, testing::HasSubstr("\"sms\":132"));
    EXPECT_THAT(json, testing::HasSubstr("\"l2\":62914560"));
    EXPECT_THAT(json, testing::HasSubstr("\"coalescing\":\"sectors\""));
    EXPECT_THAT(json, testing::Not(testing::HasSubstr("l1_ways")));
}

TEST(Load, UnknownNameListsTheKnownOnes) {
    const auto unknown = load("voodoo2");
    ASSERT_FALSE(unknown.ok());
    EXPECT_THAT(base::to_string(unknown.errors()), testing::AllOf(testing::HasSubstr("unknown GPU 'voodoo2'"), testing::HasSubstr("k80, l4")));
}

TEST(Load, APathOrTheFolderOfTheEnvironmentComesBeforeWhatIsBuiltIn) {
    const auto folder = std::filesystem::temp_directory_path() / ("lanescope_gpus_" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder);
    std::string text = *base::read_file(LANESCOPE_SOURCE_DIR "/gpus/t4.toml");
    text.replace(text.find("[40, "), 4, "[39,");
    ASSERT_TRUE(base::write_file(folder / "t4.toml", text).ok());
    ASSERT_TRUE(base::write_file(folder / "mine.toml", text).ok());
    EXPECT_EQ(gpu((folder / "mine.toml").string()).sms, 39u);
    EXPECT_EQ(gpu("t4").sms, 40u);
    ::setenv("LANESCOPE_GPUS", folder.c_str(), 1);
    EXPECT_EQ(gpu("t4").sms, 39u);
    EXPECT_THAT(known_names(), testing::Contains("mine"));
    EXPECT_EQ(gpu("a10").sms, 72u);
    ::unsetenv("LANESCOPE_GPUS");
    std::filesystem::remove_all(folder);
}

// Each case breaks gpus/t4.toml in one place; the whole message, its place, the line and the caret are the expectation.
struct Broken {
    const char *name, *find, *replace, *message;
};
class Refuses : public testing::TestWithParam<Broken> {};

TEST_P(Refuses, WithPlaceLineAndCaret) {
    std::string text = *base::read_file(LANESCOPE_SOURCE_DIR "/gpus/t4.toml");
    const size_t at = text.find(GetParam().find);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, std::string_view(GetParam().find).size(), GetParam().replace);
    const size_t line = size_t(std::count(text.begin(), text.begin() + long(at), '\n')) + 1;
    const auto parsed = parse(text, "t4.toml");
    ASSERT_FALSE(parsed.ok());
    std::string expected = GetParam().message;
    if (const size_t mark = expected.find("LINE"); mark != std::string::npos) expected.replace(mark, 4, std::to_string(line));
    EXPECT_EQ(base::to_string(parsed.errors()), expected);
}

INSTANTIATE_TEST_SUITE_P(
    Broken, Refuses,
    testing::Values(
        Broken{"UnknownKey", "sms_per_tpc                 =", "cores = [1, \"datasheet\"]\nsms_per_tpc                 =",
               "t4.toml:LINE:1: error: unknown key 'cores' in [multiprocessors]\ncores = [1, \"datasheet\"]\n^"},
        Broken{"UnknownSection", "[host]", "[extra]\na = 1\n[host]", "t4.toml:LINE:2: error: unknown section 'extra'\n[extra]\n ^"},
        Broken{"MissingKey", "[l2]\nl2             = [\"4 MiB\", \"whitepaper\"]\nl2_ways        = [16, \"assumed\"]\n",
               "[l2]\nl2             = [\"4 MiB\", \"whitepaper\"]\n",
               "t4.toml:LINE:1: error: missing key 'l2_ways' in [l2]\n[l2]\n^"},
        Broken{"WrongType", "= [40, \"datasheet\"]", "= [\"40\", \"datasheet\"]",
               "t4.toml:LINE:32: error: 'sms' must be a number without a unit\nsms                         = [\"40\", \"datasheet\"]\n"
               "                               ^"},
        Broken{"NoSource", "= [40, \"datasheet\"]", "= 40",
               "t4.toml:LINE:31: error: 'sms' must be [value, \"source\"]\nsms                         = 40\n                              ^"},
        Broken{"UnlistedSource", "= [40, \"datasheet\"]", "= [40, \"rumour\"]",
               "t4.toml:LINE:36: error: 'rumour' is not in [sources]\nsms                         = [40, \"rumour\"]\n"
               "                                   ^"},
        Broken{"OutOfRange", "= [40, \"datasheet\"]", "= [0, \"datasheet\"]",
               "t4.toml:LINE:32: error: 'sms' is out of range: 1 to 1024\nsms                         = [0, \"datasheet\"]\n"
               "                               ^"},
        Broken{"NotWhole", "= [40, \"datasheet\"]", "= [40.5, \"datasheet\"]",
               "t4.toml:LINE:32: error: 'sms' must be a whole number\nsms                         = [40.5, \"datasheet\"]\n"
               "                               ^"},
        Broken{"WrongUnit", "[\"5001 MHz\", ", "[\"5001 GB/s\", ",
               "t4.toml:LINE:24: error: 'memory_clock' must be a number and a unit in one text: MHz, GHz\n"
               "memory_clock        = [\"5001 GB/s\", \"datasheet\"]\n                       ^"},
        Broken{"RangeInUnits", "[\"16 GiB\", ", "[\"16 B\", ",
               "t4.toml:LINE:24: error: 'memory' is out of range: 1 MiB to 4096 GiB\n"
               "memory              = [\"16 B\", \"datasheet\"]\n                       ^"},
        Broken{"UnknownConfidence", "\"datasheet\"]\nwhitepaper", "\"hearsay\"]\nwhitepaper",
               "t4.toml:LINE:69: error: unknown confidence; known: datasheet, whitepaper, measured, inferred, assumed\n"
               "datasheet  = [\"NVIDIA T4 datasheet and product brief PB-09256-001\", \"hearsay\"]\n"
               "                                                                    ^"},
        Broken{"UnusedSource", "[identity]", "spare = [\"a book\", \"measured\"]\n[identity]",
               "t4.toml:LINE:1: error: source 'spare' is never used\nspare = [\"a book\", \"measured\"]\n^"},
        Broken{"NotToml", "[host]", "[host", "t4.toml:LINE:6: error: Error while parsing table header: expected ']', saw '\\n'\n[host\n     ^"},
        Broken{"NotAsciiInATextThatANumberRunsInto", "[host]", "x = -1[\"\u00F6\"]\n[host]",
               "t4.toml:LINE:9: error: only ASCII is allowed outside texts and comments, and no line continuation within\nx = -1[\"\u00F6\"]\n        ^"},
        Broken{"NotAsciiOutsideTexts", "[host]", "[h\u00F6st]",
               "t4.toml:LINE:3: error: only ASCII is allowed outside texts and comments, and no line continuation within\n[h\u00F6st]\n  ^"},
        Broken{"NotAscending", "[\"32 KiB\", \"64 KiB\"]", "[\"64 KiB\", \"32 KiB\"]",
               "t4.toml:LINE:42: error: sizes must ascend\n"
               "shared_carveouts           = [[\"64 KiB\", \"32 KiB\"], \"guide\"]\n                                         ^"},
        Broken{"Contradiction", "base_clock                  = [\"585", "base_clock                  = [\"5850",
               "t4.toml:LINE:31: error: the base clock is above the clock\n"
               "base_clock                  = [\"5850 MHz\", \"datasheet\"]\n                              ^"},
        Broken{"UnknownTransfer", "[sources]", "transfers = {\"by_pigeon.pinned\" = [[[1, 2], [3, 4]], \"guide\"]}\n[sources]",
               "t4.toml:LINE:14: error: unknown transfer 'by_pigeon.pinned'; known: host_to_device.pageable, host_to_device.pinned, "
               "host_to_device.write_combined, device_to_host.pageable, device_to_host.pinned, device_to_device.device, memset.device, "
               "prefetch_to_device.managed, prefetch_to_host.managed, migration_to_device.managed, "
               "migration_to_host.managed\n"
               "transfers = {\"by_pigeon.pinned\" = [[[1, 2], [3, 4]], \"guide\"]}\n             ^"},
        Broken{"CurveDescends", "[sources]", "transfers = {\"memset.device\" = [[[1, 2], [3, 1]], \"guide\"]}\n[sources]",
               "t4.toml:LINE:42: error: 'memset.device' needs points [bytes, ns], both ascending\n"
               "transfers = {\"memset.device\" = [[[1, 2], [3, 1]], \"guide\"]}\n                                         ^"}),
    [](const auto& broken) { return broken.param.name; });

TEST(Parse, ReportsSeveralErrorsInTheOrderOfTheFile) {
    std::string text = *base::read_file(LANESCOPE_SOURCE_DIR "/gpus/t4.toml");
    text.replace(text.find("\"5001 MHz\""), 10, "5001");
    text.replace(text.find("[40, "), 4, "[-1,");
    const auto parsed = parse(text, "t4.toml");
    ASSERT_FALSE(parsed.ok());
    ASSERT_EQ(parsed.errors().size(), 2u);
    EXPECT_THAT(parsed.errors()[0].message, testing::HasSubstr("'sms'"));
    EXPECT_THAT(parsed.errors()[1].message, testing::HasSubstr("'memory_clock'"));
}

TEST(Parse, RefusesTheEmptyFileWithEverySectionItMisses) {
    const auto parsed = parse("", "empty.toml");
    ASSERT_FALSE(parsed.ok());
    EXPECT_EQ(parsed.errors().size(), 8u);  // [sources] and seven sections
}

}  // namespace
}  // namespace lanescope::gpu
