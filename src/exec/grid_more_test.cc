// Asynchronous copies, mbarriers, clusters, matrix fragments, textures and surfaces, in whole kernels.
#include <gmock/gmock.h>

#include <bit>
#include <numeric>

#include "exec/exec_testing.h"

namespace lanescope::exec {
namespace {

using testing::Each;
using testing::ElementsAre;

const std::string kRegisters = ".reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .f32 %f<20>; .reg .pred %p<6>; .reg .b16 %rs<4>;\n";
const std::string kStart = kRegisters + "ld.param.u64 %rd0, [out]; mov.u32 %r30, %tid.x; mul.wide.u32 %rd1, %r30, 4; add.s64 %rd1, %rd0, %rd1;\n";

std::string kernel(const std::string& body) { return ".visible .entry k(.param .u64 out, .param .u64 in) {" + kStart + body + "\n ret; }\n"; }

std::vector<uint32_t> count_up(size_t count) {
    std::vector<uint32_t> values(count);
    std::iota(values.begin(), values.end(), 0u);
    return values;
}

// Three groups by lane modulo 3, at one instruction: each lane's result is its own group's.
TEST(Warp, GroupsWithMasksOfTheirOwnReduceAndVoteApart) {
    const auto run_groups = [](const std::string& what) {
        PtxRun run(kernel("rem.u32 %r1, %r30, 3; match.any.sync.b32 %r2, %r1, 0xffffffff;\n" + what + "\nst.global.u32 [%rd1], %r3;"));
        const uint64_t out = run.buffer(count_up(32));
        run.argument(out).argument(out).pass({1}, {32});
        return run.read<uint32_t>(out, 32);
    };
    const uint32_t largest[3] = {30, 31, 29}, groups[3] = {0x49249249, 0x92492492, 0x24924924};
    const auto maxima = run_groups("redux.sync.max.u32 %r3, %r30, %r2;"), votes = run_groups("setp.ge.u32 %p1, %r30, 16; vote.sync.ballot.b32 %r3, %p1, %r2;");
    const auto in_place = run_groups("mov.b32 %r3, %r2; setp.ge.u32 %p1, %r30, 16; vote.sync.ballot.b32 %r3, %p1, %r3;");
    for (uint32_t lane = 0; lane < 32; ++lane) {
        EXPECT_EQ(maxima[lane], largest[lane % 3]) << lane;
        EXPECT_EQ(votes[lane], groups[lane % 3] & 0xffff0000) << lane;
        EXPECT_EQ(in_place[lane], groups[lane % 3] & 0xffff0000) << lane;
    }
    // Lanes 0 … 15 come by one way, the others by another: the groups meet all the same.
    const auto parted = run_groups(R"(
        setp.ge.u32 %p1, %r30, 16;
        @%p1 bra $other;
        redux.sync.add.u32 %r3, 1, %r2;
        bra $end;
    $other:
        redux.sync.add.u32 %r3, 1, %r2;
    $end:)");
    for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(parted[lane], lane < 16 ? 5u + (lane % 3 == 0) : 5u + (lane % 3 == 1)) << lane;
}

TEST(Parameters, AreReadBelowAnAddress) {
    PtxRun run(kernel(R"(
        mov.b64 %rd2, in;
        ld.param.u64 %rd3, [%rd2+-8];
        sub.u64 %rd4, %rd3, %rd0; cvt.u32.u64 %r1, %rd4; add.u32 %r1, %r1, 7;
        st.global.u32 [%rd1], %r1;
    )"));
    const uint64_t out = run.buffer(std::vector<uint32_t>(32));
    EXPECT_FALSE(run.argument(out).argument(uint64_t(0)).pass({1}, {32}).fault.has_value());
    EXPECT_THAT(run.read<uint32_t>(out, 32), Each(7u));   // `out` is the parameter 8 bytes below `in`
}

TEST(Sites, PrefetchesSayWhichCacheTheyAreFor) {
    PtxRun run(kernel(R"(
        ld.param.u64 %rd2, [in];
        prefetch.global.L1 [%rd2];
        prefetch.global.L2 [%rd2];
        prefetch.global.L2::evict_last [%rd2];
        prefetch.global.L2::evict_normal [%rd2];
    )"));
    EXPECT_FALSE(run.argument(run.buffer(std::vector<uint32_t>(32))).argument(run.buffer(count_up(32))).pass({1}, {32}).fault.has_value());
    std::vector<CacheOperator> caches;
    for (const AccessSite& site : run.program->kernel("k")->sites()) {
        caches.push_back(site.cache);
        EXPECT_EQ(site.bytes, 32) << "a sector, not a byte of it";
    }
    EXPECT_THAT(caches, ElementsAre(CacheOperator::kDefault, CacheOperator::kCg, CacheOperator::kCg, CacheOperator::kCg));   // kCg: around L1
}

TEST(Sites, PoliciesReachTheListener) {
    struct Policies final : Listener {
        std::vector<uint64_t> bits;
        std::vector<std::pair<Advice, uint64_t>> advice;
        uint32_t on_access(const AccessEvent& event) override {
            if (event.space == Space::kGlobal) bits.push_back(event.policy.bits());
            return 0;
        }
        void on_advice(Advice what, uint64_t address, uint32_t, uint64_t) override { advice.emplace_back(what, address); }
    } policies;
    PtxRun run(kernel(R"(
        .shared .align 16 .b8 s[512];
        createpolicy.fractional.L2::evict_last.b64 %rd2, 0.25;
        createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %rd3;
        mov.u32 %r5, 4096; mov.u32 %r6, 8192;
        createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %rd4, [%rd0], %r5, %r6;
        createpolicy.cvt.L2.b64 %rd5, 0x14F0000000000000;
        ld.global.L2::cache_hint.u32 %r1, [%rd1], %rd2;
        st.global.L2::cache_hint.u32 [%rd1], %r1, %rd3;
        red.global.add.L2::cache_hint.u32 [%rd1], 1, %rd5;
        atom.global.add.L2::cache_hint.u32 %r2, [%rd1], 2, %rd5;
        st.global.u32 [%rd1], %r2;
        cp.async.ca.shared.global.L2::cache_hint [s], [%rd0], 16, %rd5;
        cp.async.wait_all;
        ld.global.nc.L2::cache_hint.u32 %r1, [%rd1], %rd4;
        st.global.u32 [%rd1], %r1;
        setp.ne.u32 %p1, %r30, 5;
        @%p1 bra done;
        mov.b64 %rd5, 0x12F0000000000000;      // by one lane, which alone has this policy
        cp.async.bulk.prefetch.L2.global.L2::cache_hint [%rd0], 16, %rd5;
        discard.global.L2 [%rd0], 128;
        applypriority.global.L2::evict_normal [%rd0+128], 128;
    done:
    )"));
    run.listener = &policies;
    const uint64_t out = run.buffer(std::vector<uint32_t>(64));
    run.argument(out).argument(uint64_t(0)).pass({1}, {32});
    // a quarter of the lines: 0x143…; a range in blocks of 4 KiB: one from the block of the buffer's first byte, two if it does not begin a block
    const uint64_t range = base::L2Policy::range(base::L2Priority::kLast, base::L2Priority::kFirst, out, 4096, 8192).bits();
    EXPECT_THAT(policies.bits, ElementsAre(0x1430000000000000, 0x12f0000000000000, 0x14f0000000000000, 0x14f0000000000000, 0, 0x14f0000000000000, range, 0,
                                           0x12f0000000000000));
    EXPECT_THAT(policies.advice, ElementsAre(std::pair(Advice::kDiscard, out), std::pair(Advice::kEvictNormal, out + 128)));
}

TEST(Sites, AHintWithoutItsPolicyIsRefused) {
    PtxRun run(kernel("ld.global.L2::cache_hint.u32 %r1, [%rd1]; st.global.u32 [%rd1], %r1;"));
    const auto result = run.argument(run.buffer(std::vector<uint32_t>(32))).argument(uint64_t(0)).launch({1}, {32});
    ASSERT_TRUE(result.fault.has_value());
    EXPECT_EQ(result.fault->kind, FaultKind::kUnsupported);
}

TEST(Async, CopiesAndTheirGroups) {
    PtxRun run(kernel(R"(
        .shared .align 16 .b8 s[512];
        ld.param.u64 %rd2, [in]; mul.wide.u32 %rd3, %r30, 16; add.s64 %rd4, %rd2, %rd3;
        shl.b32 %r1, %r30, 4; mov.u32 %r2, s; add.u32 %r3, %r2, %r1;
        cp.async.cg.shared.global [%r3], [%rd4], 16;
        cp.async.commit_group;
        cp.async.wait_group 0;
        bar.sync 0;
        shl.b32 %r4, %r30, 2; add.u32 %r5, %r2, %r4;
        ld.shared.u32 %r6, [%r5];
        setp.lt.u32 %p1, %r30, 16; selp.u32 %r7, 8, 0, %p1;
        cp.async.ca.shared.global [%r3], [%rd4], 16, %r7;
        cp.async.wait_all;
        ld.shared.u32 %r8, [%r3+4]; ld.shared.u32 %r9, [%r3+8];
        shl.b32 %r8, %r8, 8; add.u32 %r6, %r6, %r8; shl.b32 %r9, %r9, 20; add.u32 %r6, %r6, %r9;
        st.global.u32 [%rd1], %r6;
    )"));
    const uint64_t out = run.buffer(std::vector<uint32_t>(32)), in = run.buffer(count_up(128));
    const GridResult result = run.argument(out).argument(in).pass({1}, {32});
    // Word `lane` of the first copy; of the second word 1 of the thread's 16 bytes if it reads 8, else zero; word 2 is always zero.
    for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(run.read<uint32_t>(out, 32)[lane], lane + (lane < 16 ? (4 * lane + 1) << 8 : 0));
    EXPECT_GT(result.cycles, 2u * run.machine.global_latency);  // two waits, one after the other
}

TEST(Async, BulkCopyCompletesItsMbarrier) {
    PtxRun run(kernel(R"(
        .shared .align 16 .b8 s[256]; .shared .align 8 .b64 barrier;
        ld.param.u64 %rd2, [in];
        mov.u32 %r1, s; mov.u32 %r2, barrier;
        setp.ne.u32 %p1, %r30, 0;
        @%p1 bra $wait;
        mbarrier.init.shared.b64 [%r2], 1;
        mbarrier.arrive.expect_tx.shared.b64 %rd5, [%r2], 256;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd2], 256, [%r2];
    $wait:
        bar.sync 0;
    $poll:
        mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;
        @!%p2 bra $poll;
        shl.b32 %r3, %r30, 2; add.u32 %r4, %r1, %r3; ld.shared.u32 %r5, [%r4];
        st.global.u32 [%rd1], %r5;
    )"));
    const uint64_t out = run.buffer(std::vector<uint32_t>(64)), in = run.buffer(count_up(64));
    run.argument(out).argument(in).pass({1}, {64});
    EXPECT_EQ(run.read<uint32_t>(out, 64), count_up(64));
}

TEST(Async, MbarrierPhasesAlternate) {
    // Each of 4 phases is completed by all 64 threads; between them every thread sees the word that another one stored.
    PtxRun run(kernel(R"(
        .shared .align 8 .b64 barrier; .shared .align 4 .b8 s[256];
        mov.u32 %r2, barrier; mov.u32 %r1, s;
        setp.eq.u32 %p1, %r30, 0;
        @%p1 mbarrier.init.shared.b64 [%r2], 64;
        bar.sync 0;
        mov.u32 %r3, 0; mov.u32 %r9, 0;
    $phase:
        shl.b32 %r4, %r30, 2; add.u32 %r5, %r1, %r4; add.u32 %r6, %r30, %r3; st.shared.u32 [%r5], %r6;
        mbarrier.arrive.shared.b64 %rd5, [%r2];
    $poll:
        mbarrier.test_wait.shared.b64 %p2, [%r2], %rd5;
        @!%p2 bra $poll;
        xor.b32 %r7, %r4, 252; add.u32 %r7, %r1, %r7; ld.shared.u32 %r8, [%r7]; add.u32 %r9, %r9, %r8;
        bar.sync 0;
        add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 4;
        @%p3 bra $phase;
        st.global.u32 [%rd1], %r9;
    )"));
    const uint64_t out = run.buffer(std::vector<uint32_t>(64));
    run.argument(out).argument(out).pass({1}, {64});
    // Thread t reads 63 - t + phase in phases 0…3.
    for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(run.read<uint32_t>(out, 64)[t], 4 * (63 - t) + 6);
}

TEST(Clusters, BlocksReadEachOthersSharedMemory) {
    PtxRun run(kernel(R"(
        .shared .align 4 .b32 s;
        mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %clusterid.x;
        mad.lo.u32 %r3, %r2, 100, %r1;
        st.shared.u32 [s], %r3;
        barrier.cluster.arrive; barrier.cluster.wait;
        mov.u32 %r4, %cluster_nctarank; add.u32 %r5, %r1, 1; rem.u32 %r5, %r5, %r4;
        mov.u32 %r6, s; mapa.shared::cluster.u32 %r7, %r6, %r5;
        ld.shared::cluster.u32 %r8, [%r7];
        barrier.cluster.arrive; barrier.cluster.wait;
        mov.u32 %r9, %ctaid.x; mul.wide.u32 %rd5, %r9, 4; add.s64 %rd6, %rd0, %rd5;
        st.global.u32 [%rd6], %r8;
    )"));
    run.options.cluster = {2, 1, 1};
    const uint64_t out = run.buffer(std::vector<uint32_t>(6));
    run.argument(out).argument(out).pass({6}, {32});
    EXPECT_THAT(run.read<uint32_t>(out, 6), ElementsAre(1, 0, 101, 100, 201, 200));  // the neighbour's rank in each cluster of two
}

TEST(Matrices, LdmatrixSpreadsRows) {
    // Row r of the matrix is 8 halves, 8 r … 8 r + 7. Lane l receives elements 2 (l % 4) and the next of row l / 4; transposed, column l / 4.
    PtxRun run(kernel(R"(
        .shared .align 16 .b8 s[128];
        mov.u32 %r1, s; shl.b32 %r2, %r30, 2; add.u32 %r3, %r1, %r2;
        shl.b32 %r4, %r30, 1; add.u32 %r5, %r4, 1; shl.b32 %r5, %r5, 16; or.b32 %r6, %r4, %r5;
        st.shared.u32 [%r3], %r6;
        bar.warp.sync -1;
        and.b32 %r7, %r30, 7; shl.b32 %r7, %r7, 4; add.u32 %r8, %r1, %r7;
        ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r9}, [%r8];
        ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r10}, [%r8];
        st.global.u32 [%rd1], %r9; st.global.u32 [%rd1+128], %r10;
    )"));
    const uint64_t out = run.buffer(std::vector<uint32_t>(64));
    run.argument(out).argument(out).pass({1}, {32});
    const auto values = run.read<uint32_t>(out, 64);
    for (uint32_t lane = 0; lane < 32; ++lane) {
        const uint32_t row = lane / 4, column = lane % 4 * 2;
        EXPECT_EQ(values[lane], (8 * row + column) | (8 * row + column + 1) << 16);
        EXPECT_EQ(values[32 + lane], (8 * column + row) | (8 * (column + 1) + row) << 16);
    }
}

TEST(Matrices, WmmaMultipliesWholeMatrices) {
    // a = identity (f16), b[k][n] = n (column-major: b[n * 16 + k]), c = 1: d[m][n] = n + 1.
    PtxRun run(R"(.visible .entry k(.param .u64 out, .param .u64 a, .param .u64 b, .param .u64 c) {
        .reg .b32 %r<20>; .reg .f32 %f<20>; .reg .b64 %rd<6>;
        ld.param.u64 %rd0, [out]; ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c];
        wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [%rd1], 16;
        wmma.load.b.sync.aligned.col.m16n16k16.global.f16 {%r8,%r9,%r10,%r11,%r12,%r13,%r14,%r15}, [%rd2], 16;
        wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, [%rd3], 16;
        wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f8,%f9,%f10,%f11,%f12,%f13,%f14,%f15},
            {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, {%r8,%r9,%r10,%r11,%r12,%r13,%r14,%r15}, {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7};
        wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd0], {%f8,%f9,%f10,%f11,%f12,%f13,%f14,%f15}, 16;
        ret; })");
    const uint16_t halves[] = {0x0000, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700,
                               0x4800, 0x4880, 0x4900, 0x4980, 0x4a00, 0x4a80, 0x4b00, 0x4b80};  // 0 … 15
    std::vector<uint16_t> a(256), b(256);
    std::vector<float> expected(256);
    for (unsigned i = 0; i < 16; ++i)
        for (unsigned j = 0; j < 16; ++j) {
            a[i * 16 + j] = i == j ? halves[1] : halves[0];
            b[j * 16 + i] = halves[j];
            expected[i * 16 + j] = float(j + 1);
        }
    const uint64_t out = run.buffer(std::vector<float>(256)), da = run.buffer(a), db = run.buffer(b), dc = run.buffer(std::vector<float>(256, 1.0f));
    run.argument(out).argument(da).argument(db).argument(dc).pass({1}, {32});
    EXPECT_EQ(run.read<float>(out, 256), expected);
}

TEST(Pipes, TakeTheirTime) {
    std::string chain = ".reg .f64 %d<2>; mov.f64 %d1, 0d3FF0000000000000;\n";
    for (int i = 0; i < 100; ++i) chain += "fma.rn.f64 %d1, %d1, %d1, %d1;\n";
    const auto cycles = [&](double each) {
        PtxRun run(kernel(chain));
        run.machine.pipe_cycles[size_t(Pipe::kFp64)] = each;
        const uint64_t out = run.buffer(std::vector<uint32_t>(256));
        const GridResult result = run.argument(out).argument(out).pass({1}, {256});
        EXPECT_DOUBLE_EQ(result.pipe_cycles[size_t(Pipe::kFp64)], 8 * 100 * each);   // of 8 warps
        return result.cycles;
    };
    // An H200's half a cycle: 400 cycles of work hide behind a chain of 100 × 8 cycles. A consumer GPU's 16: 12800 cycles of work.
    EXPECT_GE(cycles(0.5), 800u);
    EXPECT_LT(cycles(0.5), 1000u);
    EXPECT_GE(cycles(16), 12800u);
    EXPECT_LT(cycles(16), 13000u);
}

TEST(Pipes, AreIdleWhileAWarpThatUsesThemNowAndThenWaits) {
    std::string reduction = ".reg .f32 %g<3>; .reg .b32 %q<3>; mov.f32 %g1, 0f3F800000;\n";
    for (int i = 0; i < 5; ++i)
        reduction += "mov.b32 %q1, %g1; shfl.sync.bfly.b32 %q2, %q1, 1, 31, -1; mov.b32 %g2, %q2; add.rn.f32 %g1, %g1, %g2;\n";
    const auto cycles = [&](unsigned threads) {
        PtxRun run(kernel(reduction));
        run.machine.pipe_cycles[size_t(Pipe::kFp32)] = 0.25;
        const uint64_t out = run.buffer(std::vector<uint32_t>(threads));
        return run.argument(out).argument(out).pass({1}, {threads}).cycles;
    };
    // 16 warps add 5 × 0.25 cycles each to the pipe, while each waits 5 times for a shuffle: together they are far from 16 times as long as one.
    EXPECT_LT(cycles(512), 2 * cycles(32));
}

TEST(Malformed, MissingOperandsAreFaultsWhenExecuted) {
    for (const char* text : {"ld.global.u32 %r1;", "st.global.u32 [%rd1];", "bra;", "bar.red.popc.u32;", "shfl.sync.up.b32 %r1;", "mov.u32 %r1;",
                             "atom.global.cas.b32 %r1, [%rd1], %r2;", "mbarrier.init.b64;", "cp.async.ca.shared.global [%r1];", "brx.idx %r1;",
                             "tex.2d.v4.f32.f32 %r1;", "bfi.b32 %r1, %r2, 1, 1;", "fma.rn.f32 %f1, %f2, %f3;", "mul.lo.s32 39, %r1, %r2;", "mul.lo.s32 %r1, %r1, %r1, %r2;", "ldmatrix.sync.aligned.m8n8.x1.shared.b16;"}) {
        PtxRun run(kernel(text));
        if (run.program == nullptr) continue;
        const GridResult result = run.argument(uint64_t(0)).argument(uint64_t(0)).launch({1}, {32});
        ASSERT_TRUE(result.fault.has_value()) << text;
        EXPECT_EQ(result.fault->kind, FaultKind::kUnsupported) << text;
        PtxRun skipped(kernel("bra $end; " + std::string(text) + " $end:"));
        if (skipped.program != nullptr) skipped.argument(uint64_t(0)).argument(uint64_t(0)).pass({1}, {32});
    }
}

TEST(Textures, FetchAndSurfaceStore) {
    PtxRun run(kernel(R"(
        ld.param.u64 %rd2, [in];
        and.b32 %r1, %r30, 3; shr.u32 %r2, %r30, 2;
        cvt.rn.f32.u32 %f1, %r1; add.f32 %f1, %f1, 0f3F000000;
        cvt.rn.f32.u32 %f2, %r2; add.f32 %f2, %f2, 0f3F000000;
        tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd2, {%f1, %f2}];
        add.f32 %f3, %f3, 0f3F800000;
        shl.b32 %r3, %r1, 2;
        mov.b32 %r4, %f3;
        add.s64 %rd3, %rd2, 1;
        sust.b.2d.b32.trap [%rd3, {%r3, %r2}], {%r4};
        suld.b.2d.b32.clamp {%r5}, [%rd3, {%r3, 99}];
        st.global.u32 [%rd1], %r5;
    )"));
    std::vector<float> texels(32);  // 4 × 8
    std::iota(texels.begin(), texels.end(), 0.0f);
    Texture texture;
    texture.address = run.buffer(texels);
    texture.width = 4;
    texture.height = 8;
    texture.row_bytes = 16;
    Texture surface = texture;
    surface.address = run.buffer(std::vector<float>(32));
    const Textures objects{{7, texture}, {8, surface}};
    run.sinks.textures = &objects;
    const uint64_t out = run.buffer(std::vector<float>(32));
    run.argument(out).argument(uint64_t(7)).pass({1}, {32});
    const auto stored = run.read<float>(surface.address, 32), read = run.read<float>(out, 32);
    for (uint32_t i = 0; i < 32; ++i) {
        EXPECT_EQ(stored[i], float(i + 1));
        EXPECT_EQ(read[i], float(28 + i % 4 + 1));  // row 99 is clamped to the last, which all lanes have stored before
    }
    const GridResult wrong = run.argument(out).argument(uint64_t(9)).launch({1}, {32});
    ASSERT_TRUE(wrong.fault.has_value());
    EXPECT_EQ(wrong.fault->kind, FaultKind::kIllegal);
}

}  // namespace
}  // namespace lanescope::exec
