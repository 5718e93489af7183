#include "exec/instruction_cost.h"

#include "exec/exec_testing.h"

namespace lanescope::exec {
namespace {

InstructionCost of(const std::string& instruction) {
    const auto parsed = ptx::parse(kPtxHeader + ".visible .entry k(.param .u64 p) { .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<4>; .reg .f64 %d<4>; " +
                                       instruction + " ret; }\n", "test.ptx");
    if (!parsed.ok()) ADD_FAILURE() << base::to_string(parsed.errors());
    return parsed.ok() ? cost_of(parsed->functions[0].body[0]) : InstructionCost{};
}

TEST(InstructionCost, PipesOfInstructions) {
    const auto is = [](const char* instruction, unsigned issues, Pipe pipe, unsigned turns) {
        const InstructionCost cost = of(instruction);
        EXPECT_EQ(cost.issues, issues) << instruction;
        EXPECT_EQ(cost.pipe, pipe) << instruction;
        EXPECT_EQ(cost.turns, turns) << instruction;
    };
    is("fma.rn.f64 %d1, %d2, %d2, %d3;", 1, Pipe::kFp64, 1);
    is("setp.lt.f64 %p1, %d1, %d2;", 1, Pipe::kFp64, 1);
    is("cvt.f64.f32 %d1, %f1;", 1, Pipe::kWide, 1);
    is("div.rn.f64 %d1, %d2, %d3;", 15, Pipe::kFp64, 8);
    is("mov.f64 %d1, %d2;", 1, Pipe::kNone, 0);
    is("fma.rn.f32 %f1, %f2, %f2, %f3;", 1, Pipe::kFp32, 1);
    is("neg.f32 %f1, %f2;", 0, Pipe::kNone, 0);                       // a modifier of the operand
    is("max.f32 %f1, %f2, %f3;", 1, Pipe::kAlu, 1);
    is("sin.approx.f32 %f1, %f2;", 2, Pipe::kSpecial, 1);             // FMUL.RZ, MUFU.SIN
    is("rsqrt.approx.f32 %f1, %f2;", 4, Pipe::kSpecial, 1);           // FSETP, FMUL, MUFU.RSQ, FMUL
    is("rsqrt.approx.ftz.f32 %f1, %f2;", 1, Pipe::kSpecial, 1);
    is("div.rn.f32 %f1, %f2, %f3;", 8, Pipe::kSpecial, 1);            // MUFU.RCP, FCHK, 5 FFMA, BRA
    is("rem.u32 %r1, %r2, %r3;", 1, Pipe::kSequence, 16);
    is("div.s32 %r1, %r2, %r3;", 1, Pipe::kSequence, 22);
    is("add.u32 %r1, %r2, %r3;", 1, Pipe::kNone, 0);
    is("add.s64 %rd1, %rd2, %rd3;", 2, Pipe::kNone, 0);               // IADD3, IADD3.X
    is("mad.lo.s32 %r1, %r2, %r3, %r4;", 1, Pipe::kMultiply, 1);
    is("mul.hi.u32 %r1, %r2, %r3;", 1, Pipe::kMultiply, 2);           // IMAD.HI: 32 lanes a clock
    is("mul.lo.s64 %rd1, %rd2, %rd3;", 4, Pipe::kMultiply, 4);        // IMAD.WIDE, IADD3, 2 IMAD
    is("shl.b64 %rd1, %rd2, %r1;", 2, Pipe::kAlu, 2);
    is("min.s32 %r1, %r2, %r3;", 1, Pipe::kAlu, 1);
    is("popc.b32 %r1, %r2;", 1, Pipe::kSpecial, 1);
    is("clz.b32 %r1, %r2;", 2, Pipe::kSpecial, 1);                    // FLO, IADD3
    is("cvt.rn.f32.s32 %f1, %r1;", 1, Pipe::kConvert, 1);             // I2FP
    is("cvt.rzi.s32.f32 %r1, %f1;", 1, Pipe::kSpecial, 1);            // F2I
    is("cvt.rn.f32.s64 %f1, %rd1;", 1, Pipe::kWide, 1);
    is("cvt.rn.f16.f32 %h1, %f1;", 1, Pipe::kAlu, 1);
    is("fma.rn.f16x2 %r1, %r2, %r2, %r3;", 1, Pipe::kFp32, 1);
    is("and.pred %p1, %p2, %p3;", 0, Pipe::kNone, 0);
    is("shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;", 1, Pipe::kShuffle, 1);
    // 16 × 8 × 16 multiply-adds are 4 × 512; 8-bit integers are twice as fast, tf32 half; m8n8k4 of doubles 256 = 8 × 32.
    is("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4};", 1, Pipe::kMatrix, 4);
    is("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r1,%r2,%r3,%r4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%r1,%r2,%r3,%r4};", 1, Pipe::kMatrix, 4);
    is("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4};", 1, Pipe::kMatrix, 4);
    is("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d1,%d2}, {%d3}, {%d3}, {%d1,%d2};", 1, Pipe::kFp64, 8);
}

TEST(InstructionCost, Latencies) {
    // One, two and four turns, doubles: H200.
    EXPECT_EQ(of("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r1,%r2}, {%r3}, {%r4}, {%r1,%r2};").latency, 14);
    EXPECT_EQ(of("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r5}, {%f1,%f2,%f3,%f4};").latency, 18);
    EXPECT_EQ(of("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4};").latency, 26);
    EXPECT_EQ(of("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d1,%d2}, {%d3}, {%d3}, {%d1,%d2};").latency, 26);
    EXPECT_EQ(of("fma.rn.f32 %f1, %f2, %f2, %f3;").latency, 4);
    EXPECT_EQ(of("fma.rn.f64 %d1, %d2, %d2, %d3;").latency, 8);
    EXPECT_EQ(of("ex2.approx.ftz.f32 %f1, %f2;").latency, 17);
    EXPECT_EQ(of("mov.u32 %r1, %tid.x;").latency, 22);
    EXPECT_EQ(of("mov.u32 %r1, %r2;").latency, 4);
    EXPECT_EQ(of("shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;").latency, 26);
}

}  // namespace
}  // namespace lanescope::exec
