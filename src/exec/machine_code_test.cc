#include "exec/machine_code.h"

#include <gmock/gmock.h>

#include "exec/exec_testing.h"

namespace lanescope::exec {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Marked {
    std::vector<uint32_t> once, late;
};

/// Of the loop `body`, which begins at instruction 0, and the instructions behind it.
Marked marks(const std::string& body, const std::string& before = "") {
    const auto parsed = ptx::parse(kPtxHeader + ".visible .entry k(.param .u64 p) { .reg .pred %p<4>; .reg .b32 %r<80>; .reg .f32 %f<80>; .reg .b64 %rd<20>;\n$loop:\n" +
                                       before + body + " @%p1 bra $loop; st.global.f32 [%rd9], %f1; ret; }\n", "test.ptx");
    if (!parsed.ok()) {
        ADD_FAILURE() << base::to_string(parsed.errors());
        return {};
    }
    const ptx::Function& function = parsed->functions[0];
    const std::vector<MachineCode> code = machine_code(function, Flow(function));
    Marked out;
    for (uint32_t i = 0; i < code.size(); ++i) {
        if (code[i].once) out.once.push_back(i);
        if (code[i].late) out.late.push_back(i);
    }
    return out;
}

const std::string kSum = "ld.global.f32 %f2, [%rd1]; add.f32 %f1, %f1, %f2; add.s64 %rd1, %rd1, 4; ";
const std::string kCount = "add.s32 %r1, %r1, -1; setp.ne.s32 %p1, %r1, 0;";

std::vector<unsigned> issues(const std::string& body) {
    const auto parsed = ptx::parse(kPtxHeader + ".visible .entry k(.param .u64 p) { .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<20>;\n" + body + " ret; }\n", "test.ptx");
    if (!parsed.ok()) {
        ADD_FAILURE() << base::to_string(parsed.errors());
        return {};
    }
    std::vector<unsigned> out;
    for (const MachineCode& each : machine_code(parsed->functions[0], Flow(parsed->functions[0]))) out.push_back(each.issues);
    return out;
}

TEST(MachineCode, PartsOfOtherInstructionsAreNotIssued) {
    // IMAD.WIDE, LDG, RET. The offset is the load's, the sum's 64 bits are one instruction.
    EXPECT_THAT(issues("mul.wide.s32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; add.s64 %rd4, %rd3, 16; ld.global.u32 %r2, [%rd4];"), ElementsAre(0, 1, 0, 1, 1));
    EXPECT_THAT(issues("cvt.s64.s32 %rd2, %r1; shl.b64 %rd3, %rd2, 2; add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r2, [%rd4];"), ElementsAre(0, 0, 1, 1, 1));
    // LEA, LEA.HI.X of a number that has 64 bits
    EXPECT_THAT(issues("shl.b64 %rd3, %rd2, 2; add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r2, [%rd4];"), ElementsAre(0, 2, 1, 1));
    EXPECT_THAT(issues("shl.b32 %r2, %r1, 2; add.s32 %r3, %r2, %r4; ld.shared.u32 %r5, [%r3];"), ElementsAre(0, 1, 1, 1));   // LEA
    EXPECT_THAT(issues("add.s32 %r2, %r1, %r3; add.s32 %r4, %r2, %r5; st.shared.u32 [%r6], %r4;"), ElementsAre(0, 1, 1, 1));  // IADD3
    EXPECT_THAT(issues("xor.b32 %r2, %r1, %r3; and.b32 %r4, %r2, %r5; st.shared.u32 [%r6], %r4;"), ElementsAre(0, 1, 1, 1));  // LOP3
    // Another use keeps it.
    EXPECT_THAT(issues("xor.b32 %r2, %r1, %r3; and.b32 %r4, %r2, %r5; st.shared.u32 [%r6], %r4; st.shared.u32 [%r6+4], %r2;"), ElementsAre(1, 1, 1, 1, 1));
    EXPECT_THAT(issues("mul.wide.s32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r2, [%rd3]; ld.global.u32 %r3, [%rd2];"), ElementsAre(1, 2, 1, 1, 1));
}

TEST(MachineCode, TurnsOfCountedLoopsAreTogether) {
    // 0 load, 1 add, 2 the address's step, 3 the counter's, 4 comparison, 5 branch
    const Marked sum = marks(kSum + kCount);
    EXPECT_THAT(sum.once, ElementsAre(2, 3, 4, 5));
    EXPECT_THAT(sum.late, ElementsAre(0, 1));
    for (const char* end : {"add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, %r9;", "add.s64 %rd5, %rd5, 1; setp.lt.u64 %p1, %rd5, %rd6;", "add.s32 %r1, %r1, 1; setp.gt.u32 %p1, 100, %r1;"})
        EXPECT_THAT(marks(kSum + end).late, ElementsAre(0, 1)) << end;
}

TEST(MachineCode, OtherLoopsAreNot) {
    const auto apart = [](const std::string& body, const std::string& before = "") {
        const Marked found = marks(body, before);
        EXPECT_THAT(found.once, IsEmpty()) << body;
        EXPECT_THAT(found.late, IsEmpty()) << body;
    };
    apart(kSum + kCount, ".pragma \"nounroll\"; ");
    apart(kSum + "add.s32 %r1, %r1, %r9; setp.lt.s32 %p1, %r1, %r8;");                      // the step is no constant
    apart(kSum + "add.s32 %r1, %r1, 4; add.s32 %r2, %r1, %r9; setp.ne.s32 %p1, %r2, 0;");   // another register is compared
    apart(kSum + "setp.gt.s32 %p1, %r1, 4; add.s32 %r1, %r1, -4;");                         // as it was before the step
    apart(kSum + "shr.u32 %r1, %r1, 1; setp.ne.s32 %p1, %r1, 0;");
    apart(kSum + "add.s32 %r1, %r1, 1; ld.global.u32 %r9, [%rd7]; setp.lt.s32 %p1, %r1, %r9;");  // the limit changes
    apart("red.global.add.u32 [%rd1], 1; " + kCount);
}

TEST(MachineCode, LengthsThatPtxasUnrolls) {
    const auto repeat = [](const std::string& text, unsigned times) {
        std::string out;
        for (unsigned i = 0; i < times; ++i) out += text;
        return out;
    };
    const std::string fma = "fma.rn.f32 %f1, %f1, %f3, %f4; ";
    EXPECT_FALSE(marks(repeat(fma, 18) + kCount).once.empty());
    EXPECT_TRUE(marks(repeat(fma, 19) + kCount).once.empty());
    // 15 loads and additions, 2 steps, comparison, branch: 34 + 15 = 49; a pair more is 36 + 16 = 52.
    const std::string pair = "ld.global.f32 %f2, [%rd1]; add.f32 %f1, %f1, %f2; ", step = "add.s64 %rd1, %rd1, 64; ";
    EXPECT_FALSE(marks(repeat(pair, 15) + step + kCount).once.empty());
    EXPECT_TRUE(marks(repeat(pair, 16) + step + kCount).once.empty());
}

TEST(MachineCode, WhatNextLoadsNeedWaitsAtOnce) {
    // The address of the second load is computed from the first's result; the sum waits late.
    EXPECT_THAT(marks("ld.global.u32 %r2, [%rd1]; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd4, %rd2; ld.global.f32 %f2, [%rd3]; add.f32 %f1, %f1, %f2; add.s64 %rd1, %rd1, 4; " +
                      kCount).late, ElementsAre(0, 3, 4));
    // Each turn's address is the turn before's result.
    EXPECT_THAT(marks("ld.global.u64 %rd2, [%rd1]; add.s64 %rd1, %rd3, %rd2; " + kCount).late, ElementsAre(0));
}

TEST(MachineCode, LoadsDoNotPassStoresToWhatMayBeTheSame) {
    const std::string steps = "add.s64 %rd1, %rd1, 4; add.s64 %rd2, %rd2, 4; ";
    EXPECT_THAT(marks("ld.global.f32 %f2, [%rd1]; st.global.f32 [%rd2], %f2; " + steps + kCount).late, IsEmpty());
    EXPECT_THAT(marks("ld.global.nc.f32 %f2, [%rd1]; st.global.f32 [%rd2], %f2; " + steps + kCount).late, testing::Contains(1));
    EXPECT_THAT(marks(kSum + "bar.sync 0; " + kCount).late, IsEmpty());
    EXPECT_THAT(marks(kSum + "bar.sync 0; " + kCount).once, testing::Not(IsEmpty()));
}

TEST(MachineCode, LoadsOfFourTurnsAreInFlightTogether) {
    const auto cycles = [](const std::string& before, unsigned loads = 1) {
        std::string text;
        for (unsigned i = 0; i < loads; ++i) text += "ld.global.f32 %f" + std::to_string(2 + i) + ", [%rd1+" + std::to_string(4 * i) + "]; ";
        for (unsigned i = 0; i < loads; ++i) text += "add.f32 %f1, %f1, %f" + std::to_string(2 + i) + "; ";
        PtxRun run(".visible .entry k(.param .u64 p) { .reg .pred %p<4>; .reg .b32 %r<9>; .reg .f32 %f<20>; .reg .b64 %rd<9>;\nld.param.u64 %rd1, [p]; mov.u32 %r1, 16; mov.f32 %f1, 0f00000000;\n$loop:\n" +
                   before + text + "add.s64 %rd1, %rd1, 4; " + kCount + " @%p1 bra $loop; st.global.f32 [%rd1], %f1; ret; }");
        return run.argument(run.buffer(std::vector<float>(100))).pass({1}, {32}).cycles;
    };
    const uint64_t latency = Machine{}.global_latency;
    EXPECT_LT(cycles(""), 5 * latency);                          // 16 turns by four
    EXPECT_GT(cycles(""), 4 * latency);
    EXPECT_GT(cycles(".pragma \"nounroll\"; "), 16 * latency);
    EXPECT_LT(cycles("", 5), 5 * latency);                       // 20 words at a time
    EXPECT_GT(cycles("", 6), 8 * latency - 200);                 // 24: four come when the first have arrived
}

}  // namespace
}  // namespace lanescope::exec
