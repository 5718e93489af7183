#include "hardware/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "hardware/metrics.h"

namespace lanescope::hardware {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::vector<LaunchEvent> launches(std::initializer_list<const char*> symbols) {
    std::vector<LaunchEvent> out;
    for (auto* symbol : symbols) {
        LaunchEvent event;
        event.index = out.size();
        event.correlation = uint32_t(100 + out.size());
        event.symbol = symbol;
        event.grid[0] = 4096, event.grid[1] = event.grid[2] = 1;
        event.block[0] = 256, event.block[1] = event.block[2] = 1;
        out.push_back(event);
    }
    return out;
}

TEST(Select, SkipsAndCountsAmongMatchingLaunches) {
    Request request;
    request.launches = {.kernel = "^add", .skip = 1, .count = 2};
    // add at 0, 2, 3, 5: without the first, two of them.
    EXPECT_THAT(select(launches({"add", "mul", "add", "add", "mul", "add"}), request), ElementsAre(Pair(2, 3)));
    EXPECT_THAT(select(launches({"add", "mul"}), Request{}), ElementsAre(Pair(0, 1)));
}

TEST(Segments, EndAtTheirSizeAtGapsAndAtANewContext) {
    auto all = launches({"a", "a", "a", "a", "a"});
    auto plan = segments(all, {{0, 4}}, 2);
    ASSERT_EQ(plan.size(), 3u);  // two launches each: 0–1, 2–3, 4
    EXPECT_EQ(plan[1].begin, 2u);
    EXPECT_EQ(plan[1].end, 3u);
    all[3].context = all[4].context = 1;  // cudaDeviceReset before launch 3
    plan = segments(all, {{0, 4}}, 256);
    ASSERT_EQ(plan.size(), 2u);
    EXPECT_EQ(plan[0].end, 2u);
    EXPECT_EQ(plan[1].begin, 3u);
}

TEST(Difference, NamesTheFirstLaunchThatIsNotTheSame) {
    auto first = launches({"a", "b"}), later = launches({"a", "b"});
    EXPECT_EQ(difference(first, later), "");
    later[1].grid[0] = 7;
    EXPECT_THAT(difference(first, later), HasSubstr("launch 1"));
    EXPECT_EQ(difference(first, launches({"a"})), "there were 2 launches, then 1");
}

TEST(Counters, RangesOfOurFlushAreSkipped) {
    profile::Profile profile;
    Events events;
    events.launches = launches({"a", "b"});
    add_times(profile, events, {{0, 1}}, Device{});
    events.ranges = {{0, 0, 1, true}, {1, 0, 1, true}};  // flush, a, flush, b
    std::vector<std::string> metrics{"dram__bytes_read.sum"};
    EXPECT_EQ(add_counters(profile, events, 0, metrics, {{999}, {10}, {999}, {20}}), "");
    EXPECT_EQ(profile.launches[0].metrics["dram__bytes_read.sum"], 10);
    EXPECT_EQ(profile.launches[1].metrics["dram__bytes_read.sum"], 20);
    // One range too few: nobody knows whose is missing.
    EXPECT_THAT(add_counters(profile, events, 0, metrics, {{999}, {10}, {999}}), HasSubstr("3 ranges were counted where 4"));
}

TEST(Occupancy, IsWhatNcuSaysOfAnH200) {
    // transpose_shared<0> of patterns.cu: 24 registers, 4224 bytes of shared memory for <1>; ncu's launch__occupancy_limit_* are 32, 10, 19, 8.
    Device h200;
    h200.sms = 132, h200.max_warps_per_sm = 64, h200.max_blocks_per_sm = 32, h200.registers_per_sm = 65536, h200.reserved_shared_per_block = 1024;
    KernelEvent kernel;
    kernel.registers = 22, kernel.static_shared = 4224, kernel.shared_config = 102400;
    profile::Launch launch;
    launch.grid[0] = launch.grid[1] = 32;
    launch.block[0] = 32, launch.block[1] = 8;
    add_occupancy(launch, kernel, h200);
    EXPECT_EQ(launch.metrics["launch__occupancy_limit_blocks"], 32);
    EXPECT_EQ(launch.metrics["launch__occupancy_limit_registers"], 10);   // 22 × 32 → 768 a warp; 16384 / 768 = 21 a part, × 4 / 8 warps
    EXPECT_EQ(launch.metrics["launch__occupancy_limit_shared_mem"], 19);  // 4224 + 1024 → 5248; 102400 / 5248
    EXPECT_EQ(launch.metrics["launch__occupancy_limit_warps"], 8);
    EXPECT_NEAR(launch.metrics["launch__waves_per_multiprocessor"], 1024.0 / (132 * 8), 1e-12);
}

TEST(Complete, LeavesUnknownWhatHardwareDoesNotCountByLine) {
    profile::Launch launch;
    profile::Access load{.space = "global", .operation = "load", .bytes = 4};
    load.metrics = {{"instructions", 8}, {"requests", 8}, {"sectors", 32}};
    launch.lines.push_back({.file = "a.cu", .line = 1, .accesses = {load}});
    complete(launch);
    EXPECT_EQ(launch.metrics.at("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 32);
    EXPECT_FALSE(launch.metrics.contains("dram__bytes_read.sum"));                       // not 0: nobody counted
    EXPECT_FALSE(launch.metrics.contains("smsp__sass_data_bytes_mem_global_op_ld.sum"));
}

TEST(Events, AreReadAndACutOffLineIsDropped) {
    auto events = parse_events("loaded\trange\t12\nlaunch\t0\t7\t0\tkernel\t16\t2\t1\t256\t1\t1\t64\t_Z1av\n"
                               "columns\tsmsp__sass_inst_executed smsp__sass_sectors_mem_global\nsass\t0\t99\t0\t32\t4 16\nrange\t0\t0\t1\t1\n"
                               "segment\t0\t3\t1\t0\t0\t2\nlaunch\t1\t8",
                               "events");
    ASSERT_TRUE(events.ok());
    EXPECT_TRUE(events->loaded);
    ASSERT_EQ(events->launches.size(), 1u);
    EXPECT_EQ(events->launches[0].grid[1], 2u);
    EXPECT_EQ(events->launches[0].symbol, "_Z1av");
    ASSERT_EQ(events->sass.size(), 1u);
    EXPECT_THAT(events->sass[0].values, ElementsAre(4, 16));
    EXPECT_EQ(events->segments[0].pass, 3u);
    EXPECT_FALSE(parse_events("launch\tx\n", "events").ok());
    EXPECT_FALSE(parse_events("surprise\t1\n", "events").ok());
}

TEST(Events, TheProfilersStopAndStartPartTheLaunchesAndLeaveOutTransfers) {
    auto events = parse_events("launch\t0\t7\t0\tkernel\t1\t1\t1\t32\t1\t1\t0\tfirst\ncollect\t0\t8\ncollect\t1\t12\n"
                               "launch\t1\t13\t0\tkernel\t1\t1\t1\t32\t1\t1\t0\tsecond\n"
                               "memcpy\t10\t0\t5\t7\t64\t1\t1\t3\t0\nmemcpy\t14\t6\t9\t7\t32\t1\t1\t3\t0\n",
                               "events");
    ASSERT_TRUE(events.ok());
    EXPECT_EQ(segments(events->launches, {{0, 1}}).size(), 2u);  // what ran between them would have ranges of its own
    profile::Profile profile;
    add_times(profile, *events, {{0, 1}}, Device{});
    ASSERT_EQ(profile.transfers.size(), 1u);  // that of call 10 lies between 8 and 12
    EXPECT_EQ(profile.transfers[0].bytes, 32u);
}

TEST(Executed, NamesSpacesAndOperationsOrNothingWhereSomeLaunchIsUnknown) {
    auto bytes = base::read_file(LANESCOPE_SOURCE_DIR "/tests/hardware/inline.cubin");
    ASSERT_TRUE(bytes.ok());
    auto cubin = Cubin::parse(*bytes, "inline.cubin");
    ASSERT_TRUE(cubin.ok());
    const std::map<uint32_t, Cubin> cubins{{9, *cubin}};
    Events events;
    events.functions[{9, 0}] = "_Z5outerPKfPf";
    events.sass.push_back({.launch = 0, .cubin = 9, .function = 0, .pc = 0x90, .values = {1}});  // a load of leaf()
    EXPECT_THAT(executed(events, {{0, 0}}, cubins, 90), ElementsAre("global", "instructions", "load"));
    EXPECT_THAT(executed(events, {{0, 1}}, cubins, 90), testing::IsEmpty());  // launch 1 wasn't counted
    EXPECT_THAT(executed(events, {{0, 0}}, {}, 90), testing::IsEmpty());
}

TEST(CountersOf, FollowsOtherNamesAndFormulas) {
    EXPECT_THAT(counters_of({"dram_read_bytes"}), ElementsAre("dram__bytes_read.sum"));  // nvprof's name
    EXPECT_THAT(counters_of({"dram__bytes_write.sum", "dram__bytes_write.sum"}), ElementsAre("dram__bytes_write.sum"));
    EXPECT_THAT(counters_of({"none", "launch__grid_size"}), testing::IsEmpty());
    EXPECT_THAT(counters_of({"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"}),
                testing::UnorderedElementsAre("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"));
}

TEST(Judge, SaysWhatIsWrongAndWhatCanStillBeHad) {
    Surroundings seen;
    EXPECT_THAT(judge(seen).problem, HasSubstr("no NVIDIA driver"));
    seen.driver = true, seen.driver_version = 13000, seen.init_error = 100;
    EXPECT_THAT(judge(seen).problem, HasSubstr("sees no GPU"));
    seen.init_error = 0, seen.cupti_version = 130001;
    seen.devices.push_back({.product = "NVIDIA H200", .chip = "GH100", .compute_capability = 90});
    EXPECT_TRUE(judge(seen).counters);
    Surroundings locked = seen;
    locked.admin_only = true;
    EXPECT_THAT(judge(locked).problem, HasSubstr("ERR_NVGPUCTRPERM"));
    EXPECT_TRUE(judge(locked).times);
    locked.privileged = true;
    EXPECT_TRUE(judge(locked).counters);
    Surroundings slice = seen;
    slice.devices[0].product = "NVIDIA H200 MIG 1g.18gb";
    EXPECT_THAT(judge(slice).problem, HasSubstr("MIG"));
    Surroundings old = seen;
    old.driver_version = 12040;
    EXPECT_THAT(judge(old).problem, HasSubstr("supports CUDA 12.4"));
    Surroundings without = seen;
    without.cupti_problem = "CUPTI can't be loaded";
    EXPECT_FALSE(judge(without).times);
}

TEST(Release, IsTheNumberWithDots) {
    EXPECT_EQ(release_of("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (x@)\nGCC version: 15.3.0"), "580.159.04");
    EXPECT_EQ(release_of("nothing"), "");
}

}  // namespace
}  // namespace lanescope::hardware
