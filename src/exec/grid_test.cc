#include "exec/grid.h"

#include <gmock/gmock.h>

#include <numeric>

#include "exec/exec_testing.h"

namespace lanescope::exec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// %r1 = global thread index, %rd1 = generic address of out[%r1] (4-byte elements).
const std::string kPrologue = R"(
    .reg .b32 %r<40>; .reg .b64 %rd<40>; .reg .f32 %f<20>; .reg .pred %p<10>; .reg .b16 %rs<10>;
    ld.param.u64 %rd0, [out];
    mov.u32 %r30, %tid.x;
    mov.u32 %r31, %ctaid.x;
    mov.u32 %r32, %ntid.x;
    mad.lo.s32 %r1, %r31, %r32, %r30;
    mul.wide.u32 %rd30, %r1, 4;
    add.s64 %rd1, %rd0, %rd30;
)";

std::string kernel(const std::string& body, const std::string& before = "") {
    return before + ".visible .entry k(.param .u64 out) {" + kPrologue + body + "\n ret; }\n";
}

std::vector<uint32_t> run_words(const std::string& text, size_t count, Dim3 grid, Dim3 block) {
    PtxRun run(text);
    const uint64_t out = run.buffer(std::vector<uint32_t>(count));
    run.argument(out).pass(grid, block);
    return run.read<uint32_t>(out, count);
}

TEST(Grid, VectorAdd) {
    PtxRun run(kKernelsFile + kVectorAdd);
    constexpr int kCount = 1000;  // 8 blocks of 128: the last one's warps are full, partial and empty
    std::vector<float> a(kCount), b(kCount), expected(kCount);
    for (int i = 0; i < kCount; ++i) {
        a[i] = float(i);
        b[i] = 0.5f * float(i);
        expected[i] = a[i] + b[i];
    }
    const uint64_t da = run.buffer(a), db = run.buffer(b), dc = run.buffer(std::vector<float>(kCount));
    const GridResult result = run.argument(da).argument(db).argument(dc).argument(kCount).pass({8}, {128}, "add");
    EXPECT_EQ(run.read<float>(dc, kCount), expected);
    // 10 instructions up to the branch and the ret for all 1024 threads; the 11 between for 1000.
    EXPECT_EQ(result.thread_instructions, 1024u * 10 + 1000u * 11 + 1024u);
}

// 64 loads, each followed by its use, overlap as machine code's do: the first 33 are in flight when the first sum waits, the others follow it.
// Were a sum to wait for a later load, each would take a memory latency: 30 of them.
TEST(Grid, ManyLoadsAreInFlightAtOnce) {
    std::string body = "mov.f32 %f0, 0f00000000;\n";
    for (int i = 0; i < 64; ++i) body += "ld.global.f32 %g" + std::to_string(i) + ", [%rd1+" + std::to_string(4 * i) + "]; add.f32 %f0, %f0, %g" + std::to_string(i) + ";\n";
    PtxRun run(kernel(".reg .f32 %g<64>;\n" + body + "st.global.f32 [%rd1], %f0;"));
    const uint64_t out = run.buffer(std::vector<float>(256, 1));
    const uint64_t cycles = run.argument(out).pass({1}, {1}).cycles;
    EXPECT_EQ(run.read<float>(out, 1)[0], 64);
    EXPECT_GT(cycles, 2 * run.machine.global_latency);
    EXPECT_LT(cycles, 3 * run.machine.global_latency);
}

TEST(Divergence, LanesTakeBothSidesAndMeetAgain) {
    // out = lane odd ? 3 * lane : 7, then + ballot of all lanes' presence: 1 if the whole warp came back together.
    const auto out = run_words(kernel(R"(
        and.b32 %r2, %r30, 1;
        setp.eq.u32 %p1, %r2, 0;
        @%p1 bra $even;
        mul.lo.u32 %r3, %r30, 3;
        bra $meet;
    $even:
        mov.u32 %r3, 7;
    $meet:
        activemask.b32 %r4;
        setp.eq.u32 %p2, %r4, 0xffffffff;
        selp.u32 %r5, 1000, 0, %p2;
        add.u32 %r3, %r3, %r5;
        st.global.u32 [%rd1], %r3;
    )"), 32, {1}, {32});
    for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], 1000 + (lane % 2 == 1 ? 3 * lane : 7)) << lane;
}

TEST(Divergence, LoopsOfUnevenLength) {
    // Sum of 0…lane, then the lanes are together again.
    const auto out = run_words(kernel(R"(
        mov.u32 %r2, 0; mov.u32 %r3, 0;
    $loop:
        add.u32 %r3, %r3, %r2;
        add.u32 %r2, %r2, 1;
        setp.le.u32 %p1, %r2, %r30;
        @%p1 bra $loop;
        activemask.b32 %r4;
        popc.b32 %r4, %r4;
        shl.b32 %r4, %r4, 16;
        add.u32 %r3, %r3, %r4;
        st.global.u32 [%rd1], %r3;
    )"), 32, {1}, {32});
    for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], (32u << 16) + lane * (lane + 1) / 2) << lane;
}

TEST(Divergence, NestedBranchesMeetInsideOut) {
    const auto out = run_words(kernel(R"(
        mov.u32 %r9, 0;
        setp.ge.u32 %p1, %r30, 16;
        @%p1 bra $outer;
        setp.ge.u32 %p2, %r30, 8;
        @%p2 bra $inner;
        mov.u32 %r9, 1;
    $inner:
        activemask.b32 %r2;
    $outer:
        activemask.b32 %r3;
        setp.ge.u32 %p1, %r30, 16;
        selp.u32 %r2, 0, %r2, %p1;
        popc.b32 %r2, %r2; popc.b32 %r3, %r3;
        shl.b32 %r2, %r2, 8; shl.b32 %r3, %r3, 16;
        add.u32 %r9, %r9, %r2; add.u32 %r9, %r9, %r3;
        st.global.u32 [%rd1], %r9;
    )"), 32, {1}, {32});
    // Lanes 0…7: 1, inner meeting of 16, outer of 32; 8…15: 0, 16, 32; the others 0, none, 32.
    for (uint32_t lane = 0; lane < 32; ++lane)
        EXPECT_EQ(out[lane], (32u << 16) + (lane < 16 ? 16u << 8 : 0) + (lane < 8 ? 1 : 0)) << lane;
}

TEST(Divergence, SomeLanesReturnEarly) {
    const auto out = run_words(kernel(R"(
        setp.lt.u32 %p1, %r30, 5;
        @%p1 ret;
        activemask.b32 %r2;
        st.global.u32 [%rd1], %r2;
    )"), 32, {1}, {32});
    for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], lane < 5 ? 0 : 0xffffffe0u) << lane;
}

TEST(Divergence, IndexedBranch) {
    const auto out = run_words(kernel(R"(
        and.b32 %r2, %r30, 3;
    $table: .branchtargets $a, $b, $c, $d;
        brx.idx %r2, $table;
    $a: mov.u32 %r3, 10; bra $end;
    $b: mov.u32 %r3, 20; bra $end;
    $c: mov.u32 %r3, 30; bra $end;
    $d: mov.u32 %r3, 40;
    $end:
        activemask.b32 %r4; popc.b32 %r4, %r4; add.u32 %r3, %r3, %r4;
        st.global.u32 [%rd1], %r3;
    )"), 32, {1}, {32});
    for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], 10 * (lane % 4 + 1) + 32) << lane;
}

TEST(Progress, ASpinLockBetweenLanesOfOneWarp) {
    // Every lane takes the lock once and increments a plain counter under it.
    PtxRun run(kernel(R"(
    $spin:
        atom.global.cas.b32 %r2, [%rd0], 0, 1;
        setp.ne.u32 %p1, %r2, 0;
        @%p1 bra $spin;
        ld.volatile.global.u32 %r3, [%rd0+4];
        add.u32 %r3, %r3, 1;
        st.volatile.global.u32 [%rd0+4], %r3;
        membar.gl;
        atom.global.exch.b32 %r4, [%rd0], 0;
    )"));
    const uint64_t out = run.buffer(std::vector<uint32_t>(2));
    run.argument(out).pass({3}, {64});
    EXPECT_THAT(run.read<uint32_t>(out, 2), ElementsAre(0, 3 * 64));
}

TEST(Progress, LanesWaitForAFlagThatAnotherLaneSets) {
    // Lane 0 waits for lane 31, which goes the other way.
    const auto out = run_words(kernel(R"(
        setp.eq.u32 %p1, %r30, 0;
        setp.eq.u32 %p2, %r30, 31;
        @%p1 bra $wait;
        @!%p2 bra $end;
        mov.u32 %r2, 5;
        st.volatile.global.u32 [%rd0+128], %r2;
        bra $end;
    $wait:
        ld.volatile.global.u32 %r3, [%rd0+128];
        setp.eq.u32 %p3, %r3, 0;
        @%p3 bra $wait;
        st.global.u32 [%rd1], %r3;
    $end:
    )"), 33, {1}, {32});
    EXPECT_EQ(out[0], 5u);
}

TEST(Progress, AnEndlessLoopIsARunaway) {
    PtxRun run(kernel("$loop: bra $loop;"));
    run.machine.instruction_limit = 1000000;
    const GridResult result = run.argument(run.buffer(std::vector<uint32_t>(32))).launch({1}, {32});
    ASSERT_TRUE(result.fault.has_value());
    EXPECT_EQ(result.fault->kind, FaultKind::kRunaway);
}

const std::string kFactorial = R"(
.func (.param .b32 result) factorial(.param .b32 n) {
    .reg .b32 %r<6>; .reg .pred %p<2>;
    ld.param.u32 %r1, [n];
    mov.u32 %r2, 1;
    setp.le.u32 %p1, %r1, 1;
    @%p1 bra $done;
    sub.u32 %r3, %r1, 1;
    { .param .b32 p0; .param .b32 q0;
      st.param.b32 [p0], %r3;
      call.uni (q0), factorial, (p0);
      ld.param.b32 %r4, [q0]; }
    mul.lo.u32 %r2, %r1, %r4;
$done:
    st.param.b32 [result], %r2;
    ret;
}
)";

TEST(Calls, DivergentRecursion) {
    const auto out = run_words(kernel(R"(
        rem.u32 %r2, %r30, 11;
        { .param .b32 p0; .param .b32 q0;
          st.param.b32 [p0], %r2;
          call.uni (q0), factorial, (p0);
          ld.param.b32 %r3, [q0]; }
        activemask.b32 %r4;
        setp.ne.u32 %p1, %r4, 0xffffffff;
        @%p1 mov.u32 %r3, 0;
        st.global.u32 [%rd1], %r3;
    )", kFactorial), 32, {1}, {32});
    const uint32_t factorials[] = {1, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880, 3628800};
    for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], factorials[lane % 11]) << lane;
}

TEST(Calls, IndirectWithDifferentTargets) {
    const auto out = run_words(kernel(R"(
        mov.u64 %rd2, twice; mov.u64 %rd3, thrice;
        and.b32 %r2, %r30, 1;
        setp.eq.u32 %p1, %r2, 0;
        selp.b64 %rd4, %rd2, %rd3, %p1;
        { .param .b32 p0; .param .b32 q0;
          st.param.b32 [p0], %r30;
          prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
          call (q0), %rd4, (p0), prototype;
          ld.param.b32 %r3, [q0]; }
        activemask.b32 %r4; popc.b32 %r4, %r4; shl.b32 %r4, %r4, 16;
        add.u32 %r3, %r3, %r4;
        st.global.u32 [%rd1], %r3;
    )", R"(
.func (.param .b32 r) twice(.param .b32 n) { .reg .b32 %r<3>; ld.param.u32 %r1, [n]; mul.lo.u32 %r2, %r1, 2; st.param.b32 [r], %r2; ret; }
.func (.param .b32 r) thrice(.param .b32 n) { .reg .b32 %r<3>; ld.param.u32 %r1, [n]; mul.lo.u32 %r2, %r1, 3; st.param.b32 [r], %r2; ret; }
)"), 32, {1}, {32});
    for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], (32u << 16) + lane * (lane % 2 == 0 ? 2 : 3)) << lane;
}

TEST(Calls, StructuresByValue) {
    // {u8, u16 at 2, u64 at 8} as a .param array; the function returns the sum.
    const auto out = run_words(kernel(R"(
        { .param .align 8 .b8 p0[16]; .param .b64 q0;
          mov.u32 %r2, 7; st.param.b8 [p0+0], %r2;
          mov.u16 %rs1, 500; st.param.b16 [p0+2], %rs1;
          cvt.u64.u32 %rd2, %r30; st.param.b64 [p0+8], %rd2;
          call.uni (q0), sum, (p0);
          ld.param.b64 %rd3, [q0]; }
        cvt.u32.u64 %r3, %rd3;
        st.global.u32 [%rd1], %r3;
    )", R"(
.func (.param .b64 r) sum(.param .align 8 .b8 s[16]) { .reg .b64 %rd<6>;
    ld.param.u8 %rd1, [s]; ld.param.u16 %rd2, [s+2]; ld.param.u64 %rd3, [s+8];
    add.s64 %rd4, %rd1, %rd2; add.s64 %rd5, %rd4, %rd3; st.param.b64 [r], %rd5; ret; }
)"), 32, {1}, {32});
    for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], 507 + lane);
}

TEST(Local, ArraysAndTheirGenericAddresses) {
    // Each thread fills an array of 8 words through a generic pointer and reads one at a lane-varying index.
    const auto out = run_words(kernel(R"(
        .local .align 4 .b8 depot[32];
        mov.u64 %rd2, depot;
        cvta.local.u64 %rd3, %rd2;
        mov.u32 %r2, 0;
    $fill:
        mul.wide.u32 %rd4, %r2, 4; add.s64 %rd5, %rd3, %rd4;
        mad.lo.u32 %r3, %r30, 100, %r2;
        st.u32 [%rd5], %r3;
        add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 8;
        @%p1 bra $fill;
        and.b32 %r4, %r30, 7; mul.wide.u32 %rd6, %r4, 4; add.s64 %rd7, %rd2, %rd6;
        ld.local.u32 %r5, [%rd7];
        st.global.u32 [%rd1], %r5;
    )"), 64, {1}, {64});
    for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t * 100 + t % 8) << t;
}

TEST(Shared, ReductionWithBarriers) {
    const auto out = run_words(kernel(R"(
        .shared .align 4 .b8 s[1024];
        shl.b32 %r2, %r30, 2; mov.u32 %r3, s; add.u32 %r4, %r3, %r2;
        st.shared.u32 [%r4], %r1;
        mov.u32 %r5, 128;
    $loop:
        bar.sync 0;
        setp.ge.u32 %p1, %r30, %r5;
        @%p1 bra $skip;
        shl.b32 %r6, %r5, 2; add.u32 %r7, %r4, %r6;
        ld.shared.u32 %r8, [%r7]; ld.shared.u32 %r9, [%r4]; add.u32 %r9, %r9, %r8; st.shared.u32 [%r4], %r9;
    $skip:
        shr.u32 %r5, %r5, 1; setp.ne.u32 %p2, %r5, 0;
        @%p2 bra $loop;
        setp.ne.u32 %p3, %r30, 0;
        @%p3 bra $end;
        ld.shared.u32 %r9, [s];
        mul.wide.u32 %rd5, %r31, 4; add.s64 %rd6, %rd0, %rd5;
        st.global.u32 [%rd6], %r9;
    $end:
    )"), 3, {3}, {256});
    // Block b sums 256 b … 256 b + 255.
    for (uint32_t b = 0; b < 3; ++b) EXPECT_EQ(out[b], 256 * 256 * b + 255 * 256 / 2);
}

TEST(Shared, DynamicArraysBeginBehindStaticOnes) {
    PtxRun run(kernel(R"(
        .shared .align 4 .b8 s[20];
        mov.u32 %r2, s; mov.u32 %r3, dynamic;
        st.shared.u32 [s+16], %r2;
        st.shared.u32 [dynamic], %r3;
        ld.shared.u32 %r4, [%r3];
        st.global.u32 [%rd0], %r4;
        sub.u32 %r5, %r3, %r2;
        st.global.u32 [%rd0+4], %r5;
    )", ".extern .shared .align 16 .b8 dynamic[];\n"));
    const uint64_t out = run.buffer(std::vector<uint32_t>(2));
    run.options.dynamic_shared_bytes = 16;
    run.argument(out).pass({1}, {1});
    EXPECT_THAT(run.read<uint32_t>(out, 2), ElementsAre(32, 32));  // 20 bytes, then the next multiple of 16
}

TEST(Barriers, VotesAndNamedBarriers) {
    const auto out = run_words(kernel(R"(
        setp.lt.u32 %p1, %r30, 40;
        bar.red.popc.u32 %r2, 0, %p1;
        bar.red.and.pred %p2, 0, %p1;
        bar.red.or.pred %p3, 0, %p1;
        selp.u32 %r3, 100, 0, %p2; selp.u32 %r4, 1000, 0, %p3;
        setp.lt.u32 %p4, %r30, 32;
        @%p4 bra $first;
        bar.arrive 1, 64;
        bra $end;
    $first:
        bar.sync 1, 64;
    $end:
        add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4;
        st.global.u32 [%rd1], %r2;
    )"), 64, {1}, {64});
    EXPECT_THAT(out, testing::Each(1040));  // 40 votes, not all, some
}

TEST(Barriers, EndedThreadsAreNotWaitedFor) {
    const auto out = run_words(kernel(R"(
        setp.ge.u32 %p1, %r30, 40;
        @%p1 ret;
        bar.sync 0;
        st.global.u32 [%rd1], %r30;
    )"), 64, {1}, {64});
    for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t < 40 ? t : 0);
}

TEST(Barriers, ThreadsThatNeverComeAreADivergence) {
    PtxRun run(kernel(R"(
        setp.ge.u32 %p1, %r30, 16;
        @%p1 bra $end;
        bar.sync 0;
    $end:
        bar.sync 1;
    )"));
    const GridResult result = run.argument(run.buffer(std::vector<uint32_t>(32))).launch({1}, {32});
    ASSERT_TRUE(result.fault.has_value());
    EXPECT_EQ(result.fault->kind, FaultKind::kBarrierDivergence);
    EXPECT_EQ(result.warnings.size(), 1u);
}

TEST(Atomics, AllLanesAndBlocksAdd) {
    PtxRun run(kernel(R"(
        atom.global.add.u32 %r2, [%rd0], 1;
        red.global.max.s32 [%rd0+4], %r1;
        red.global.add.f32 [%rd0+8], 0f3F000000;
        atom.global.inc.u32 %r3, [%rd0+12], 9;
        cvt.u64.u32 %rd5, %r1;
        red.global.add.u64 [%rd0+16], %rd5;
        red.global.or.b32 [%rd0+24], %r1;
    )"));
    const uint64_t out = run.buffer(std::vector<uint32_t>(8));
    run.argument(out).pass({5}, {96});
    const auto words = run.read<uint32_t>(out, 8);
    EXPECT_EQ(words[0], 480u);
    EXPECT_EQ(words[1], 479u);
    EXPECT_EQ(std::bit_cast<float>(words[2]), 240.0f);
    EXPECT_EQ(words[3], 0u);  // counts modulo 10: 480 increments
    EXPECT_EQ(words[4], 479u * 480 / 2);
    EXPECT_EQ(words[6], 511u);
}

// Threads that have left the loop end; the barrier counts those that are left, within a warp too.
TEST(Barriers, InALoopThatThreadsLeaveOneAfterTheOther) {
    const auto out = run_words(kernel(R"(
        mov.u32 %r2, 0;
        and.b32 %r3, %r30, 3;
    $loop:
        add.u32 %r2, %r2, 1;
        bar.sync 0;
        st.global.u32 [%rd1], %r2;
        setp.le.u32 %p1, %r2, %r3;
        @%p1 bra $loop;
    )"), 64, {1}, {64});
    for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], i % 4 + 1) << i;
}

TEST(Atomics, EveryLaneSeesItsOwnOldValue) {
    auto out = run_words(kernel(R"(
        .shared .align 4 .b32 counter;
        setp.eq.u32 %p1, %r30, 0;
        mov.u32 %r2, 0;
        @%p1 st.shared.u32 [counter], %r2;
        bar.sync 0;
        atom.shared.add.u32 %r3, [counter], 1;
        st.global.u32 [%rd1], %r3;
    )"), 64, {1}, {64});
    std::sort(out.begin(), out.end());
    for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], i);
}

TEST(Warp, ShufflesVotesAndMatches) {
    const auto out = run_words(kernel(R"(
        mul.lo.u32 %r2, %r30, 10;
        shfl.sync.down.b32 %r3|%p1, %r2, 1, 31, -1;
        shfl.sync.up.b32 %r4, %r2, 2, 0, -1;
        shfl.sync.bfly.b32 %r5, %r2, 16, 31, -1;
        shfl.sync.idx.b32 %r6, %r2, 3, 0x181f, -1;
        and.b32 %r7, %r30, 1; setp.eq.u32 %p2, %r7, 1;
        vote.sync.ballot.b32 %r8, %p2, -1;
        match.any.sync.b32 %r9, %r7, -1;
        redux.sync.add.u32 %r10, %r30, -1;
        mul.wide.u32 %rd5, %r30, 32; add.s64 %rd6, %rd0, %rd5;
        st.global.v4.u32 [%rd6], {%r3, %r4, %r5, %r6};
        st.global.v4.u32 [%rd6+16], {%r8, %r9, %r10, %r2};
    )"), 256, {1}, {32});
    for (uint32_t lane = 0; lane < 32; ++lane) {
        const uint32_t* o = &out[lane * 8];
        EXPECT_EQ(o[0], 10 * (lane == 31 ? 31 : lane + 1));
        EXPECT_EQ(o[1], 10 * (lane < 2 ? lane : lane - 2));
        EXPECT_EQ(o[2], 10 * (lane ^ 16));
        EXPECT_EQ(o[3], 10 * (lane / 8 * 8 + 3));  // segments of 8 lanes: mask 0x18
        EXPECT_EQ(o[4], 0xaaaaaaaau);
        EXPECT_EQ(o[5], lane % 2 == 1 ? 0xaaaaaaaau : 0x55555555u);
        EXPECT_EQ(o[6], 31u * 32 / 2);
        EXPECT_EQ(o[7], lane * 10);
    }
}

TEST(Warp, LanesOfDifferentPathsWaitForEachOther) {
    // Both halves shuffle at their own place; bar.warp.sync joins them before.
    const auto out = run_words(kernel(R"(
        setp.lt.u32 %p1, %r30, 16;
        @%p1 bra $low;
        mov.u32 %r2, 100;
        bar.warp.sync -1;
        bra $next;
    $low:
        mov.u32 %r2, 200;
        bar.warp.sync -1;
    $next:
        shfl.sync.bfly.b32 %r3, %r2, 16, 31, -1;
        st.global.u32 [%rd1], %r3;
    )"), 32, {1}, {32});
    for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], lane < 16 ? 100u : 200u);
}

TEST(Memory, VectorsAndNarrowTypes) {
    PtxRun run(kernel(R"(
        mul.wide.u32 %rd5, %r30, 16; add.s64 %rd6, %rd0, %rd5;
        ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd6];
        add.u32 %r2, %r2, %r5;
        st.global.v2.u32 [%rd6], {%r2, %r3};
        ld.global.s8 %r6, [%rd6+8];
        ld.global.u8 %r7, [%rd6+8];
        st.global.u16 [%rd6+12], %r6;
        st.global.u16 [%rd6+14], %r7;
    )"));
    std::vector<uint32_t> words(128);
    for (uint32_t i = 0; i < 128; ++i) words[i] = i % 4 == 2 ? 0xfffffff0u + i / 8 % 8 : i;
    const uint64_t out = run.buffer(words);
    run.argument(out).pass({1}, {32});
    const auto after = run.read<uint32_t>(out, 128);
    for (uint32_t lane = 0; lane < 32; ++lane) {
        const uint32_t* w = &words[lane * 4];
        EXPECT_EQ(after[lane * 4], w[0] + w[3]);
        EXPECT_EQ(after[lane * 4 + 1], w[1]);
        const uint32_t byte = w[2] & 0xff;
        EXPECT_EQ(after[lane * 4 + 3], byte << 16 | 0xff00u | byte);
    }
}

TEST(Memory, ModuleVariablesAndConstants) {
    const auto out = run_words(kernel(R"(
        and.b32 %r2, %r30, 3; mul.wide.u32 %rd5, %r2, 4; mov.u64 %rd6, table; add.s64 %rd7, %rd6, %rd5;
        ld.const.u32 %r3, [%rd7];
        ld.global.u64 %rd8, [pointer];
        ld.u32 %r4, [%rd8];
        add.u32 %r3, %r3, %r4;
        st.global.u32 [%rd1], %r3;
    )", ".const .align 4 .b32 other = 1;\n.const .align 4 .b32 table[4] = {10, 20, 30, 40};\n.global .align 4 .b32 value[2] = {5, 7};\n"
        ".global .align 8 .u64 pointer = generic(value)+4;\n"), 8, {1}, {8});
    for (uint32_t t = 0; t < 8; ++t) EXPECT_EQ(out[t], 10 * (t % 4 + 1) + 7);
}

TEST(Memory, BlocksLoadBeforeAnyStores) {
    // 6 threads in 2 blocks add 2 to one float without atomics: all read 3.14, the last store wins (the tutorial's race).
    PtxRun run(kernel(R"(
        ld.global.f32 %f1, [%rd0];
        st.global.f32 [%rd1+4], %f1;
        add.f32 %f2, %f1, 0f40000000;
        st.global.f32 [%rd0], %f2;
    )"));
    const uint64_t out = run.buffer(std::vector<float>{3.14f, 0, 0, 0, 0, 0, 0});
    run.argument(out).pass({2}, {3});
    const auto values = run.read<float>(out, 7);
    EXPECT_FLOAT_EQ(values[0], 5.14f);
    for (int i = 1; i < 7; ++i) EXPECT_FLOAT_EQ(values[i], 3.14f) << i;
}

TEST(Printf, FormatsInOrder) {
    PtxRun run(kernel(R"(
        .local .align 8 .b8 depot[24];
        mov.u64 %rd2, depot; cvta.local.u64 %rd3, %rd2;
        st.local.u32 [%rd2], %r30;
        st.local.f64 [%rd2+8], 0d3FF8000000000000;
        mov.u64 %rd4, text; cvta.global.u64 %rd5, %rd4;
        st.local.u64 [%rd2+16], %rd5;
        mov.u64 %rd6, format; cvta.global.u64 %rd7, %rd6;
        { .param .b64 p0; .param .b64 p1; .param .b32 q0;
          st.param.b64 [p0], %rd7; st.param.b64 [p1], %rd3;
          call.uni (q0), vprintf, (p0, p1);
          ld.param.b32 %r2, [q0]; }
        st.global.u32 [%rd1], %r2;
    )", ".extern .func (.param .b32 q) vprintf (.param .b64 a, .param .b64 b);\n"
        ".global .align 1 .b8 format[14] = {37, 48, 51, 100, 32, 37, 46, 50, 102, 32, 37, 115, 10, 0};\n"  // "%03d %.2f %s\n"
        ".global .align 1 .b8 text[3] = {104, 105, 0};\n"));                                              // "hi"
    const uint64_t out = run.buffer(std::vector<uint32_t>(3));
    run.argument(out).pass({1}, {3});
    EXPECT_EQ(run.printed, "000 1.50 hi\n001 1.50 hi\n002 1.50 hi\n");
    EXPECT_THAT(run.read<uint32_t>(out, 3), ElementsAre(3, 3, 3));
}

// --- faults ---

Fault fault_of(PtxRun& run, uint64_t out, Dim3 grid, Dim3 block) {
    const GridResult result = run.argument(out).launch(grid, block);
    EXPECT_TRUE(result.fault.has_value());
    return result.fault.value_or(Fault{});
}

TEST(Faults, OutOfBoundsNamesThreadAllocationAndDistance) {
    PtxRun run(kernel("st.global.u32 [%rd1], %r1;"));
    const uint64_t out = run.buffer(std::vector<uint32_t>(100));
    const Fault fault = fault_of(run, out, {2}, {64});
    EXPECT_EQ(fault.kind, FaultKind::kOutOfBounds);
    EXPECT_EQ(fault.block, (Dim3{1, 0, 0}));
    EXPECT_EQ(fault.thread, (Dim3{36, 0, 0}));  // thread 100 = 64 + 36 is the first beyond 100 elements
    EXPECT_EQ(fault.address, out + 400);
    EXPECT_TRUE(fault.store);
    EXPECT_EQ(fault.instruction, 7u);
    ASSERT_TRUE(fault.nearest.has_value());
    EXPECT_EQ(fault.nearest->distance, 1u);
    EXPECT_EQ(run.read<uint32_t>(out, 64)[63], 63u);  // what ran before is kept
}

TEST(Faults, NullMisalignedFreedWrongSpaceReadOnly) {
    PtxRun null(kernel("mov.u64 %rd5, 16; ld.global.u32 %r2, [%rd5]; st.global.u32 [%rd1], %r2;"));
    EXPECT_EQ(fault_of(null, null.buffer(std::vector<uint32_t>(1)), {1}, {1}).kind, FaultKind::kNull);
    PtxRun odd(kernel("ld.global.u32 %r2, [%rd1+2]; st.global.u32 [%rd1], %r2;"));
    EXPECT_EQ(fault_of(odd, odd.buffer(std::vector<uint32_t>(8)), {1}, {4}).kind, FaultKind::kMisaligned);
    PtxRun freed(kernel("st.global.u32 [%rd1], %r1;"));
    const uint64_t gone = freed.buffer(std::vector<uint32_t>(8));
    freed.memory->release(gone);
    EXPECT_EQ(fault_of(freed, gone, {1}, {1}).kind, FaultKind::kUseAfterFree);
    PtxRun host(kernel("st.global.u32 [%rd1], %r1;"));
    int on_host = 0;
    EXPECT_EQ(fault_of(host, reinterpret_cast<uint64_t>(&on_host), {1}, {1}).kind, FaultKind::kWrongSpace);
    PtxRun constant(kernel("mov.u64 %rd5, c; cvta.const.u64 %rd6, %rd5; st.u32 [%rd6], %r1;", ".const .b32 c = 4;\n"));
    EXPECT_EQ(fault_of(constant, constant.buffer(std::vector<uint32_t>(1)), {1}, {1}).kind, FaultKind::kReadOnly);
}

TEST(Faults, SharedLocalAssertTrapUnsupported) {
    PtxRun shared(kernel(".shared .b32 s; mov.u32 %r2, s; mad.lo.u32 %r2, %r30, 4, %r2; st.shared.u32 [%r2], %r1;"));
    const Fault beyond = fault_of(shared, shared.buffer(std::vector<uint32_t>(1)), {1}, {2});
    EXPECT_EQ(beyond.kind, FaultKind::kOutOfBounds);
    EXPECT_EQ(beyond.thread.x, 1u);
    PtxRun trap(kernel("setp.eq.u32 %p1, %r30, 3; @%p1 trap;"));
    const Fault trapped = fault_of(trap, trap.buffer(std::vector<uint32_t>(1)), {1}, {32});
    EXPECT_EQ(trapped.kind, FaultKind::kTrap);
    EXPECT_EQ(trapped.thread.x, 3u);
    PtxRun unsupported(kernel("setp.eq.u32 %p1, %r30, 99; @%p1 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; st.global.u32 [%rd0], 1;"));
    unsupported.argument(unsupported.buffer(std::vector<uint32_t>(1))).pass({1}, {32});  // not executed: no fault
}

TEST(Faults, EndlessRecursionOverflowsTheStack) {
    PtxRun run(kernel("call.uni f, ();", ".func f() { .local .align 4 .b8 d[64]; .reg .b32 %r<2>; mov.u32 %r1, 1; st.local.u32 [d], %r1; call.uni f, (); ret; }\n"));
    EXPECT_EQ(fault_of(run, run.buffer(std::vector<uint32_t>(1)), {1}, {1}).kind, FaultKind::kStackOverflow);
    // A function that keeps nothing in memory.
    PtxRun registers(kernel("call.uni f, ();", ".func f() { call.uni f, (); ret; }\n"));
    EXPECT_EQ(fault_of(registers, registers.buffer(std::vector<uint32_t>(1)), {1}, {1}).kind, FaultKind::kStackOverflow);
}

TEST(Heap, MallocGivesBoundedMemoryAndFreeTakesItBack) {
    const std::string externs = ".extern .func (.param .b64 r) malloc (.param .b64 a);\n.extern .func free (.param .b64 a);\n";
    PtxRun run(kernel(R"(
        { .param .b64 p0; .param .b64 q0; mov.u64 %rd2, 40; st.param.b64 [p0], %rd2; call.uni (q0), malloc, (p0); ld.param.b64 %rd3, [q0]; }
        st.u32 [%rd3+36], %r1;
        ld.u32 %r2, [%rd3+36];
        { .param .b64 p0; st.param.b64 [p0], %rd3; call.uni free, (p0); }
        st.global.u32 [%rd1], %r2;
    )", externs));
    const uint64_t out = run.buffer(std::vector<uint32_t>(64));
    run.argument(out).pass({1}, {64});
    for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(run.read<uint32_t>(out, 64)[t], t);
    EXPECT_EQ(run.heap.used, 0u);
}

// --- order and time ---

struct Recorder : Listener {
    struct Seen { uint32_t site; Space space; uint32_t active; uint64_t first, time; uint32_t sm; };
    std::vector<Seen> seen;
    uint32_t on_access(const AccessEvent& e) override {
        seen.push_back({e.site, e.space, e.active, e.addresses[std::countr_zero(e.active)], e.time, e.sm});
        return e.space == Space::kShared ? 30 : 600;
    }
};

TEST(Events, OnePerAccessOfTheMachineCode) {
    PtxRun run(kernel(R"(
        .local .align 16 .b8 d[16];
        mul.wide.u32 %rd5, %r30, 16; add.s64 %rd6, %rd0, %rd5;
        ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd6];
        add.f32 %f5, %f1, %f4;
        st.local.v4.f32 [d], {%f5, %f5, %f5, %f5};
        red.global.add.u32 [%rd0], 1;
        atom.global.add.u32 %r5, [%rd1], 1;
        st.global.f32 [%rd1], %f5;
    )"));
    Recorder recorder;
    run.listener = &recorder;
    const uint64_t out = run.buffer(std::vector<uint32_t>(128));
    run.argument(out).pass({1}, {32});
    const auto& sites = run.program->kernel("k")->sites();
    std::vector<std::pair<Operation, unsigned>> seen;
    for (const auto& s : recorder.seen) seen.emplace_back(sites[s.site].operation, sites[s.site].bytes);
    using O = Operation;
    // x and w are used: two 32-bit loads; four 32-bit local stores; both atomics are reductions; the store.
    EXPECT_THAT(seen, ElementsAre(std::pair(O::kLoad, 4u), std::pair(O::kLoad, 4u), std::pair(O::kStore, 4u), std::pair(O::kStore, 4u),
                                  std::pair(O::kStore, 4u), std::pair(O::kStore, 4u), std::pair(O::kReduction, 4u), std::pair(O::kReduction, 4u),
                                  std::pair(O::kStore, 4u)));
    EXPECT_EQ(recorder.seen[0].first, out);
    EXPECT_EQ(recorder.seen[1].first, out + 12);
    EXPECT_TRUE(sites[recorder.seen[6].site].uniform_reduction);
    EXPECT_FALSE(sites[recorder.seen[7].site].uniform_reduction);
}

/// Machine code, as recorded: REDG, ATOM without a result, ATOMG.CAS without a result, which goes by halves of a line.
TEST(Events, WhichAtomicsAreReductions) {
    PtxRun run(kernel(R"(
        atom.global.add.noftz.f16x2 %r5, [%rd1], %r1;
        atom.add.noftz.f16x2 %r6, [%rd1], %r1;
        atom.global.cas.b32 %r7, [%rd1], %r1, %r2;
    )"));
    Recorder recorder;
    run.listener = &recorder;
    run.argument(run.buffer(std::vector<uint32_t>(128))).pass({1}, {32});
    const auto& sites = run.program->kernel("k")->sites();
    ASSERT_EQ(recorder.seen.size(), 3u);
    const auto site = [&](size_t i) { return sites[recorder.seen[i].site]; };
    EXPECT_EQ(site(0).operation, Operation::kReduction);
    EXPECT_EQ(site(1).operation, Operation::kAtomic);
    EXPECT_EQ(site(2).operation, Operation::kAtomic);
    EXPECT_FALSE(site(1).compare_and_swap);
    EXPECT_TRUE(site(2).compare_and_swap);
}

/// Widths in bits of the shared accesses of a kernel whose %r2 is 16-byte aligned and varies by lane.
std::vector<unsigned> shared_widths(const std::string& body) {
    PtxRun run(kernel(".shared .align 16 .b8 s[2048]; shl.b32 %r3, %r30, 4; mov.u32 %r4, s; add.u32 %r2, %r3, %r4;" + body));
    Recorder recorder;
    run.listener = &recorder;
    run.argument(run.buffer(std::vector<uint32_t>(32))).pass({1}, {32});
    std::vector<unsigned> widths;
    for (const auto& s : recorder.seen)
        if (s.space == Space::kShared) widths.push_back(8u * run.program->kernel("k")->sites()[s.site].bytes);
    return widths;
}

// What ptxas 13.0 for sm_90 makes of loads and stores of single words.
TEST(Events, AdjacentSharedWordsAreOneAccess) {
    EXPECT_THAT(shared_widths("ld.shared.u32 %r5, [%r2]; ld.shared.u32 %r6, [%r2+4];"), ElementsAre(64));
    EXPECT_THAT(shared_widths("ld.shared.u32 %r5, [%r2]; ld.shared.u32 %r6, [%r2+4]; ld.shared.u32 %r7, [%r2+12];"), ElementsAre(128));
    EXPECT_THAT(shared_widths("ld.shared.u32 %r5, [%r2+4]; ld.shared.u32 %r6, [%r2+8];"), ElementsAre(32, 32));
    EXPECT_THAT(shared_widths("ld.shared.u32 %r5, [%r2]; ld.shared.u32 %r6, [%r2+12];"), ElementsAre(32, 32));
    EXPECT_THAT(shared_widths("st.shared.u32 [%r2], %r1; st.shared.u32 [%r2+4], %r1; st.shared.u32 [%r2+8], %r1;"), ElementsAre(64, 32));
    EXPECT_THAT(shared_widths("ld.shared.u32 %r5, [%r2]; bar.sync 0; ld.shared.u32 %r6, [%r2+4];"), ElementsAre(32, 32));
    EXPECT_THAT(shared_widths("shl.b32 %r8, %r30, 2; add.u32 %r9, %r8, %r4; ld.shared.u32 %r5, [%r9]; ld.shared.u32 %r6, [%r9+4];"),
                ElementsAre(32, 32));  // aligned to 4 only
}

TEST(Order, TheSameEveryTimeAndLatencyIsHiddenByOtherWarps) {
    const std::string text = kernel(R"(
        ld.global.u32 %r2, [%rd1];
        add.u32 %r2, %r2, 1;
        st.global.u32 [%rd1], %r2;
    )");
    std::vector<std::vector<uint64_t>> orders;
    for (int repeat = 0; repeat < 2; ++repeat) {
        PtxRun run(text);
        Recorder recorder;
        run.listener = &recorder;
        const uint64_t out = run.buffer(std::vector<uint32_t>(4096));
        const GridResult result = run.argument(out).pass({16}, {256});
        std::vector<uint64_t>& order = orders.emplace_back();
        for (const auto& s : recorder.seen) order.insert(order.end(), {s.first, s.time, s.sm});
        // 16 blocks on 4 SMs with 2 at a time: two rounds of the load's latency and the store's stay each, not one for each of the 32 warps of an SM.
        EXPECT_GT(result.cycles, 2400u);
        EXPECT_LT(result.cycles, 3000u);
    }
    EXPECT_EQ(orders[0], orders[1]);
}

TEST(Order, BlocksGoToSmsBreadthFirst) {
    struct Places : Listener {
        std::vector<std::pair<uint64_t, uint32_t>> places;
        uint32_t on_access(const AccessEvent&) override { return 0; }
        void on_block_start(uint64_t block, uint32_t sm, uint32_t, uint64_t) override { places.emplace_back(block, sm); }
    } places;
    PtxRun run(kernel(""));
    run.listener = &places;
    run.argument(run.buffer(std::vector<uint32_t>(1))).pass({6}, {32});
    using P = std::pair<uint64_t, uint32_t>;
    EXPECT_THAT(places.places, ElementsAre(P{0, 0}, P{1, 1}, P{2, 2}, P{3, 3}, P{4, 0}, P{5, 1}));
    // The second round is not full: the SMs of the lowest ranks get one.
    places.places.clear();
    run.machine.sm_rank = {0, 3, 1, 2};
    run.argument(run.buffer(std::vector<uint32_t>(1))).pass({6}, {32});
    EXPECT_THAT(places.places, ElementsAre(P{0, 0}, P{1, 1}, P{2, 2}, P{3, 3}, P{4, 0}, P{5, 2}));
    // A grid of more than fits at once begins elsewhere if told so: 8 of 9 blocks on 4 SMs.
    places.places.clear();
    run.machine.first_sm = 3;
    run.argument(run.buffer(std::vector<uint32_t>(1))).pass({9}, {32});
    ASSERT_EQ(places.places.size(), 9u);
    for (uint64_t block = 0; block < 8; ++block) EXPECT_EQ(places.places[block], P(block, (block + 3) % 4));
}

}  // namespace
}  // namespace lanescope::exec
