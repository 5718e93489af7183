// Each racy kernel beside one that differs in what makes it right.
#include "hazard/detector.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec/exec_testing.h"

namespace lanescope::hazard {
namespace {

/// A kernel of one buffer of 1024 words, with `%a` its address, `%r` a thread's index in its block and `%b` its block's.
std::string kernel(const std::string& body) {
    return ".visible .entry k(.param .u64 buffer) {\n"
           "  .reg .u64 %a, %own, %other; .reg .u32 %r, %b, %n, %v, %x, %s, %t; .reg .pred %p, %q;\n"
           "  .shared .align 16 .b8 tile[4096];\n"
           "  ld.param.u64 %a, [buffer]; mov.u32 %r, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x;\n"
           "  mad.lo.u32 %x, %b, %n, %r; mul.wide.u32 %own, %x, 4; add.u64 %own, %a, %own;\n"
           "  xor.b32 %t, %r, 1; shl.b32 %t, %t, 2; shl.b32 %s, %r, 2; mov.u32 %v, tile; add.u32 %s, %s, %v; add.u32 %t, %t, %v;\n" +
           body + "\n  ret;\n}\n";
}

/// "2 races, 1 of the same value" of a run.
struct Found {
    size_t races = 0, same_value = 0, undefined = 0;
    bool operator==(const Found&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Found& found) {
    return out << found.races << " races, " << found.same_value << " of the same value, " << found.undefined << " undefined";
}

struct Setup {
    exec::Dim3 grid{1}, block{64};
    bool lockstep = false, written = true;
};

Found watch(const std::string& body, Setup setup = {}) {
    exec::PtxRun run(kernel(body));
    const uint64_t buffer = run.buffer(std::vector<uint32_t>(1024, 7));
    Detector detector(true, true);
    if (!setup.written) detector.allocated(buffer, 4096);
    detector.begin({run.program->kernel("k"), setup.grid, setup.block}, *run.memory, setup.lockstep, {});
    run.sinks.monitor = &detector;
    run.argument(buffer).pass(setup.grid, setup.block);
    Found found;
    for (const Race& race : detector.take_races()) ++(race.same_value ? found.same_value : found.races);
    found.undefined = detector.take_undefined().size();
    return found;
}

const Setup kOneWarp{.block = {32}}, kTwoBlocks{.grid = {2}, .block = {32}};
constexpr Found kSilent{};

// The idiom of the CUDA programming guide: the first read is plain, and of use only if nothing has come in between.
TEST(Detector, LoopsAroundCompareAndSwap) {
    const auto loop = [](const std::string& compared) {
        return "ld.global.u32 %v, [%a]; $again: add.u32 %n, %v, 1; mov.u32 %x, " + compared + "; atom.global.cas.b32 %v, [%a], %x, %n; setp.ne.u32 %p, %v, %x; @%p bra $again;";
    };
    const struct ::lanescope::hazard::Setup one_each{.grid = {2}, .block = {1}};
    EXPECT_EQ(watch(loop("%v"), one_each), kSilent);
    EXPECT_EQ(watch("ld.global.u32 %v, [%a]; add.u32 %n, %v, 1; atom.global.cas.b32 %v, [%a], %x, %n;", one_each), (Found{1, 0, 0}));   // what was read is not compared
    EXPECT_EQ(watch("st.global.u32 [%a], %x; " + loop("%v"), one_each).races, 3u);   // a plain store races with all three
}

// The count of a reduction's blocks, from 7 on: who is last resets it; who is first must not.
TEST(Detector, TheLastOfAnAtomicCountMayResetIt) {
    const auto reset_by = [](int old) {
        return "atom.global.add.u32 %v, [%a], 1; setp.eq.u32 %p, %v, " + std::to_string(old) + "; @%p st.global.u32 [%a], 0;";
    };
    const struct ::lanescope::hazard::Setup three{.grid = {3}, .block = {32}};
    EXPECT_EQ(watch("setp.ne.u32 %q, %r, 0; @%q bra $end; " + reset_by(9) + " $end:", three), kSilent);
    EXPECT_EQ(watch("setp.ne.u32 %q, %r, 0; @%q bra $end; " + reset_by(7) + " $end:", three).races, 1u);
}

TEST(Detector, BlocksThatShareAWord) {
    EXPECT_EQ(watch("ld.global.u32 %v, [%own]; st.global.u32 [%own], %x;", kTwoBlocks), kSilent);
    EXPECT_EQ(watch("st.global.u32 [%a], %x;", kTwoBlocks), (Found{1, 0, 0}));
    EXPECT_EQ(watch("st.global.u32 [%a], 7;", kTwoBlocks), (Found{0, 1, 0}));           // what was there
    EXPECT_EQ(watch("red.global.add.u32 [%a], %x;", kTwoBlocks), kSilent);
    EXPECT_EQ(watch("ld.global.u32 %v, [%a]; red.global.add.u32 [%a], 1;", kTwoBlocks), (Found{1, 0, 0}));
    EXPECT_EQ(watch("ld.global.u32 %v, [%a+4]; red.global.add.u32 [%a], 1;", kTwoBlocks), kSilent);  // the same sector
    EXPECT_EQ(watch("ld.global.u32 %v, [%own+4]; st.global.u32 [%own], %x;", kOneWarp), (Found{1, 0, 0}));
}

TEST(Detector, BytesOfAWordAreApart) {
    EXPECT_EQ(watch("cvt.u64.u32 %own, %x; add.u64 %own, %a, %own; st.global.u8 [%own], %x;", kTwoBlocks), kSilent);
    EXPECT_EQ(watch("shr.u32 %x, %x, 1; cvt.u64.u32 %own, %x; add.u64 %own, %a, %own; st.global.u8 [%own], %r;", kTwoBlocks), (Found{1, 0, 0}));
    EXPECT_EQ(watch("add.u32 %s, %r, tile; st.shared.u8 [%s], %r;"), kSilent);
}

TEST(Detector, ColumnsOfWarpsInOneSector) {
    // Thread t writes and updates word (t % 32) × 8 + t / 32: eight warps share each sector, none a word.
    const std::string column = "and.b32 %x, %r, 31; shl.b32 %x, %x, 3; shr.u32 %v, %r, 5; add.u32 %x, %x, %v; mul.wide.u32 %own, %x, 4; add.u64 %own, %a, %own;";
    EXPECT_EQ(watch(column + "ld.global.u32 %v, [%own]; st.global.u32 [%own], %r; ld.global.u32 %v, [%own];", {.block = {256}}), kSilent);
    EXPECT_EQ(watch(column + "ld.global.u32 %v, [%own+4]; st.global.u32 [%own], %r;", {.block = {128}}).races, 1u);
}

TEST(Detector, SharedMemoryAndBarriers) {
    EXPECT_EQ(watch("st.shared.u32 [%s], %r; bar.sync 0; ld.shared.u32 %v, [%t];"), kSilent);
    EXPECT_EQ(watch("st.shared.u32 [%s], %r; ld.shared.u32 %v, [%t];"), (Found{1, 0, 0}));
    EXPECT_EQ(watch("st.shared.u32 [%s], %r; bar.sync 0; ld.shared.u32 %v, [%t]; st.shared.u32 [%s], %v;").races, 1u);  // read, then written: no barrier
    EXPECT_EQ(watch("st.shared.u32 [%s], %r; bar.sync 0; ld.shared.u32 %v, [%t]; bar.sync 0; st.shared.u32 [%s], %r;"), kSilent);
    EXPECT_EQ(watch("st.shared.u32 [tile], %r;"), (Found{1, 0, 0}));
    EXPECT_EQ(watch("mov.u32 %v, 3; st.shared.u32 [tile], %v;"), (Found{0, 1, 0}));
    EXPECT_EQ(watch("setp.eq.u32 %p, %r, 0; @%p st.shared.u32 [tile], 0; bar.sync 0; atom.shared.add.u32 %v, [tile], 1; bar.sync 0; ld.shared.u32 %v, [tile];"), kSilent);
    EXPECT_EQ(watch("setp.eq.u32 %p, %r, 0; @%p st.shared.u32 [tile], 0; bar.sync 0; atom.shared.add.u32 %v, [tile], 1; ld.shared.u32 %v, [tile];").races, 1u);
}

TEST(Detector, AWriteThatChangesNothing) {
    EXPECT_EQ(watch("st.shared.u32 [%s], %r; bar.sync 0; ld.shared.u32 %v, [%t]; st.shared.u32 [%s], %r;"), (Found{0, 1, 0}));
}

TEST(Detector, LanesOfAWarp) {
    EXPECT_EQ(watch("st.shared.u32 [%s], %r; bar.warp.sync 0xffffffff; ld.shared.u32 %v, [%t];", kOneWarp), kSilent);
    EXPECT_EQ(watch("st.shared.u32 [%s], %r; shfl.sync.idx.b32 %x, %r, 0, 31, 0xffffffff; ld.shared.u32 %v, [%t];", kOneWarp), kSilent);
    EXPECT_EQ(watch("st.shared.u32 [%s], %r; ld.shared.u32 %v, [%t];", kOneWarp), (Found{1, 0, 0}));
    EXPECT_EQ(watch("st.shared.u32 [%s], %r; ld.shared.u32 %v, [%t];", {.block = {32}, .lockstep = true}), kSilent);  // before Volta
    EXPECT_EQ(watch("st.volatile.shared.u32 [%s], %r; ld.volatile.shared.u32 %v, [%t];", kOneWarp), kSilent);
    // Pairs of lanes meet, each by itself.
    EXPECT_EQ(watch("st.shared.u32 [%s], %r; and.b32 %x, %r, 30; mov.u32 %v, 3; shl.b32 %v, %v, %x; bar.warp.sync %v; ld.shared.u32 %v, [%t];", kOneWarp), kSilent);
}

TEST(Detector, BarriersOfSomeWarps) {
    // Warp 0 produces and arrives, warp 1 waits and consumes.
    const std::string body = "setp.lt.u32 %p, %r, 32; @!%p bra consume;\n st.shared.u32 [%s], %r; {}\n ret;\nconsume: {} sub.u32 %s, %s, 128; ld.shared.u32 %v, [%s];";
    EXPECT_EQ(watch(fmt::format(fmt::runtime(body), "bar.arrive 1, 64;", "bar.sync 1, 64;")), kSilent);
    EXPECT_EQ(watch(fmt::format(fmt::runtime(body), "", "nanosleep.u32 1000;")).races, 1u);
}

/// Block 0 writes word 0 and raises the flag in word 8 with `raise`; block 1 waits for it with `poll` and reads.
std::string message(const std::string& raise, const std::string& poll) {
    return "setp.ne.u32 %p, %r, 0; @%p ret; setp.ne.u32 %q, %b, 0; @%q bra wait;\n"
           "st.global.u32 [%a], 42; " + raise + " ret;\n"
           "wait: " + poll + " setp.ne.u32 %p, %v, 1; @%p bra wait;\n ld.global.u32 %x, [%a];";
}

TEST(Detector, FlagsBetweenBlocks) {
    const std::string poll = "ld.volatile.global.u32 %v, [%a+32];";
    EXPECT_EQ(watch(message("membar.gl; st.volatile.global.u32 [%a+32], 1;", poll), kTwoBlocks), kSilent);
    EXPECT_EQ(watch(message("st.volatile.global.u32 [%a+32], 1;", poll), kTwoBlocks), (Found{1, 0, 0}));             // no fence
    EXPECT_EQ(watch(message("membar.cta; st.volatile.global.u32 [%a+32], 1;", poll), kTwoBlocks), (Found{1, 0, 0})); // a fence for the block only
    EXPECT_EQ(watch(message("membar.gl; atom.global.exch.b32 %v, [%a+32], 1;", "atom.global.cas.b32 %v, [%a+32], 1, 1;"), kTwoBlocks), kSilent);
    EXPECT_EQ(watch(message("atom.global.exch.b32 %v, [%a+32], 1;", "atom.global.cas.b32 %v, [%a+32], 1, 1;"), kTwoBlocks), (Found{1, 0, 0}));
    EXPECT_EQ(watch(message("st.release.gpu.global.u32 [%a+32], 1;", "ld.acquire.gpu.global.u32 %v, [%a+32];"), kTwoBlocks), kSilent);
    EXPECT_EQ(watch(message("st.relaxed.gpu.global.u32 [%a+32], 1;", "ld.relaxed.gpu.global.u32 %v, [%a+32];"), kTwoBlocks), (Found{1, 0, 0}));
    EXPECT_EQ(watch(message("membar.gl; st.global.u32 [%a+32], 1;", poll), kTwoBlocks), (Found{2, 0, 0}));           // a plain store: no message
}

TEST(Detector, TheLastBlockReadsWhatAllWrote) {
    const std::string body = "st.global.u32 [%own+64], %x; {} bar.sync 0; setp.eq.u32 %p, %r, 0; @%p atom.global.inc.u32 %v, [%a], 1000; @%p st.shared.u32 [tile], %v;\n"
                             "bar.sync 0; ld.shared.u32 %v, [tile]; setp.ne.u32 %q, %v, 10; @%q ret;\n"   // 7 + 3: the last of four
                             "add.u64 %other, %a, %own; sub.u64 %other, %own, %a; xor.b64 %other, %other, 128; add.u64 %other, %other, %a; ld.global.u32 %v, [%other+64];";
    EXPECT_EQ(watch(fmt::format(fmt::runtime(body), "membar.gl;"), {.grid = {4}, .block = {32}}), kSilent);
    EXPECT_EQ(watch(fmt::format(fmt::runtime(body), ""), {.grid = {4}, .block = {32}}).races, 1u);
}

TEST(Detector, MemoryThatNothingWrote) {
    EXPECT_EQ(watch("ld.global.u32 %v, [%own];", {.written = false}), (Found{0, 0, 1}));
    EXPECT_EQ(watch("st.global.u32 [%own], %r; ld.global.u32 %v, [%own];", {.written = false}), kSilent);
    EXPECT_EQ(watch("red.global.add.u32 [%own], 1;", {.written = false}), (Found{0, 0, 1}));
    EXPECT_EQ(watch("ld.shared.u32 %v, [%s];"), (Found{0, 0, 1}));
    EXPECT_EQ(watch("st.shared.u32 [%s], 0; ld.shared.u32 %v, [%s];"), kSilent);
}

TEST(Detector, AReportNamesBothThreads) {
    exec::PtxRun run(kernel("setp.eq.u32 %p, %x, 40; @%p st.global.u32 [%a+36], %x; setp.eq.u32 %p, %x, 3; @%p ld.global.u32 %v, [%a+36];"));
    const uint64_t buffer = run.buffer(std::vector<uint32_t>(1024, 7));
    Detector detector(true, false);
    detector.begin({run.program->kernel("k"), {2}, {32}, 1, 5}, *run.memory, false, {});
    run.sinks.monitor = &detector;
    run.argument(buffer).pass({2}, {32});
    const std::vector<Race> races = detector.take_races();
    ASSERT_EQ(races.size(), 1u);
    Party writer = races[0].first, reader = races[0].second;
    if (!writer.write) std::swap(writer, reader);
    EXPECT_EQ(writer.block, (exec::Dim3{1, 0, 0}));
    EXPECT_EQ(writer.thread, (exec::Dim3{8, 0, 0}));   // 40 = 32 + 8
    EXPECT_EQ(reader.block, (exec::Dim3{0, 0, 0}));
    EXPECT_EQ(reader.thread, (exec::Dim3{3, 0, 0}));
    EXPECT_EQ(races[0].address, buffer + 36);
    EXPECT_EQ(writer.grid->index, 5u);
}

TEST(Detector, LaunchesThatMayRunAtOnce) {
    exec::PtxRun run(kernel("st.global.u32 [%own], %x;"));
    const uint64_t buffer = run.buffer(std::vector<uint32_t>(1024, 7));
    Detector detector(true, false);
    run.sinks.monitor = &detector;
    const exec::Kernel* k = run.program->kernel("k");
    const auto launch = [&](uint64_t number, std::set<uint64_t> concurrent) {
        detector.begin({k, {1}, {32}, number}, *run.memory, false, concurrent);
        run.argument(buffer).pass({1}, {32});
        return detector.take_races().size();
    };
    EXPECT_EQ(launch(1, {}), 0u);
    EXPECT_EQ(launch(2, {}), 0u);    // after it
    EXPECT_EQ(launch(3, {2}), 1u);
    detector.host_touches(buffer + 64, 4, false, {3});
    EXPECT_EQ(detector.take_races().size(), 1u);
    detector.host_touches(buffer + 128, 4, false, {3});   // behind the 32 words
    EXPECT_EQ(detector.take_races().size(), 0u);
}

}  // namespace
}  // namespace lanescope::hazard
