#include <bit>

#include "exec/lane_testing.h"

namespace lanescope::exec {
namespace {

using testing::compute;
using testing::instruction_of;
using testing::registers_of;
using testing::Row;

uint64_t f32(float value) { return std::bit_cast<uint32_t>(value); }
uint64_t f64(double value) { return std::bit_cast<uint64_t>(value); }

TEST(LaneOp, IntegerArithmetic) {
    EXPECT_EQ(compute("add.u32", {32, 32, 32}, {0xffffffff, 2}), 1u);                    // wraps
    EXPECT_EQ(compute("add.sat.s32", {32, 32, 32}, {0x7fffffff, 1}), 0x7fffffffu);
    EXPECT_EQ(compute("mul.hi.u32", {32, 32, 32}, {0x80000000, 6}), 3u);                 // 2^31 × 6 = 3 × 2^32
    EXPECT_EQ(compute("mul.wide.s32", {64, 32, 32}, {0xffffffff, 5}), uint64_t(-5));
    EXPECT_EQ(compute("mad.lo.u16", {16, 16, 16, 16}, {0xffff, 0xffff, 1}), 2u);         // (-1)² + 1
    EXPECT_EQ(compute("mul24.hi.u32", {32, 32, 32}, {0xff800000, 0x200}), 0x10000u);     // 0x800000 × 0x200 = 2^32, from bit 16
    EXPECT_EQ(compute("div.s32", {32, 32, 32}, {0x80000000, 0xffffffff}), 0x80000000u);
    EXPECT_EQ(compute("rem.s32", {32, 32, 32}, {uint32_t(-7), 3}), 0xffffffffu);         // sign of the dividend
    EXPECT_EQ(compute("sad.s32", {32, 32, 32, 32}, {uint32_t(-3), 4, 10}), 17u);
    EXPECT_EQ(compute("min.s16x2", {32, 32, 32}, {0x0001ffff, 0x00020000}), 0x0001ffffu);
    EXPECT_EQ(compute("max.relu.s32", {32, 32, 32}, {uint32_t(-3), uint32_t(-4)}), 0u);
}

TEST(LaneOp, Bits) {
    EXPECT_EQ(compute("bfe.s32", {32, 32, 32, 32}, {0x00000ab0, 4, 8}), 0xffffffabu);    // 0xab, sign bit set
    EXPECT_EQ(compute("bfi.b32", {32, 32, 32, 32, 32}, {0x5, 0xffffffff, 8, 4}), 0xfffff5ffu);
    EXPECT_EQ(compute("bfind.s32", {32, 32}, {uint32_t(-5)}), 2u);                       // ~(-5) = 4
    EXPECT_EQ(compute("bfind.shiftamt.u32", {32, 32}, {1}), 31u);
    EXPECT_EQ(compute("brev.b64", {64, 64}, {1}), uint64_t(1) << 63);
    EXPECT_EQ(compute("popc.b64", {32, 64}, {0xf0f0}), 8u);
    EXPECT_EQ(compute("clz.b32", {32, 32}, {0}), 32u);
    EXPECT_EQ(compute("fns.b32", {32, 32, 32, 32}, {0b101100, 2, 2}), 3u);               // second set bit from 2 upwards
    EXPECT_EQ(compute("fns.b32", {32, 32, 32, 32}, {0b101100, 5, uint32_t(-2)}), 3u);
    EXPECT_EQ(compute("prmt.b32", {32, 32, 32, 32}, {0x33221180, 0x77665544, 0x7608}), 0x776680ffu);  // byte 0: the sign of 0x80
    EXPECT_EQ(compute("shl.b32", {32, 32, 32}, {1, 32}), 0u);                            // clamped, not modulo 32
    EXPECT_EQ(compute("shr.s16", {16, 16, 32}, {0x8000, 100}), 0xffffu);
    EXPECT_EQ(compute("shf.l.wrap.b32", {32, 32, 32, 32}, {0x80000000, 1, 33}), 3u);
    EXPECT_EQ(compute("szext.wrap.s32", {32, 32, 32}, {0xff, 4}), 0xffffffffu);
    EXPECT_EQ(compute("bmsk.clamp.b32", {32, 32, 32}, {4, 8}), 0xff0u);
    EXPECT_EQ(compute("dp4a.u32.s32", {32, 32, 32, 32}, {0x01020304, 0xff000002, 1}), 8u);  // 4×2 + 1×(-1) + 1
}

TEST(LaneOp, FloatsRoundAsAsked) {
    const float tiny = 0x1p-30f;
    EXPECT_EQ(compute("add.rn.f32", {32, 32, 32}, {f32(1), f32(tiny)}), f32(1));
    EXPECT_EQ(compute("add.rp.f32", {32, 32, 32}, {f32(1), f32(tiny)}), f32(1) + 1);     // next float above
    EXPECT_EQ(compute("add.rz.f32", {32, 32, 32}, {f32(1), f32(-tiny)}), f32(1) - 1);
    EXPECT_EQ(compute("div.rm.f64", {64, 64, 64}, {f64(-1), f64(3)}), f64(-1.0 / 3) + 1);  // nearest lies above -1/3
    EXPECT_EQ(compute("sqrt.rn.f32", {32, 32}, {f32(2)}), 0x3fb504f3u);
    EXPECT_EQ(compute("mul.ftz.f32", {32, 32, 32}, {f32(0x1p-100f), f32(-0x1p-30f)}), 0x80000000u);
    EXPECT_EQ(compute("mul.f32", {32, 32, 32}, {f32(0x1p-100f), f32(-0x1p-30f)}), f32(-0x1p-130f));
    EXPECT_EQ(compute("add.sat.f32", {32, 32, 32}, {f32(3), f32(4)}), f32(1));
    EXPECT_EQ(compute("add.f32", {32, 32, 32}, {0x7f800000, 0xff800000}), 0x7fffffffu);  // inf - inf
    EXPECT_EQ(compute("fma.rn.f32", {32, 32, 32, 32}, {f32(1 + 0x1p-12f), f32(1 + 0x1p-12f), f32(-1)}), f32(0x1p-11f + 0x1p-24f));
    EXPECT_EQ(compute("min.f32", {32, 32, 32}, {0x7fc00000, f32(2)}), f32(2));
    EXPECT_EQ(compute("min.NaN.f32", {32, 32, 32}, {0x7fc00000, f32(2)}), 0x7fffffffu);
    EXPECT_EQ(compute("max.f32", {32, 32, 32}, {f32(-0.0f), f32(0.0f)}), f32(0.0f));
}

TEST(LaneOp, Halves) {
    EXPECT_EQ(compute("add.f16", {16, 16, 16}, {0x3c00, 0x1000}), 0x3c00u);              // 1 + 2^-11: a tie, to even
    EXPECT_EQ(compute("add.f16", {16, 16, 16}, {0x3c01, 0x1000}), 0x3c02u);
    EXPECT_EQ(compute("mul.bf16", {16, 16, 16}, {0x4000, 0x4040}), 0x40c0u);             // 2 × 3 = 6
    EXPECT_EQ(compute("fma.rn.f16x2", {32, 32, 32, 32}, {0x3c004000, 0x3c004000, 0x00003c00}), 0x3c004500u);  // 1×1+0, 2×2+1
    // (1 + 2^-10)² × … a product of 2^-20 below a tie must still round down: 2048 × 1 + (1 - 2^-11) < 2049.
    EXPECT_EQ(compute("fma.rn.f16", {16, 16, 16, 16}, {0x6800, 0x3c00, 0x3bff}), 0x6800u);
}

TEST(LaneOp, Conversions) {
    EXPECT_EQ(compute("cvt.rzi.s32.f32", {32, 32}, {f32(-2.7f)}), uint32_t(-2));
    EXPECT_EQ(compute("cvt.rzi.s32.f32", {32, 32}, {f32(3e10f)}), 0x7fffffffu);
    EXPECT_EQ(compute("cvt.rni.u8.f32", {16, 32}, {f32(2.5f)}), 2u);                     // ties to even
    EXPECT_EQ(compute("cvt.rzi.u32.f32", {32, 32}, {f32(-1)}), 0u);
    EXPECT_EQ(compute("cvt.s32.s8", {32, 32}, {0x180}), 0xffffff80u);                    // the low byte of a wider register
    EXPECT_EQ(compute("cvt.u64.u16", {64, 16}, {0xffff}), 0xffffu);
    EXPECT_EQ(compute("cvt.sat.u8.s32", {16, 32}, {300}), 255u);
    EXPECT_EQ(compute("cvt.rz.f32.s32", {32, 32}, {0x7fffffff}), f32(0x1.fffffep30f));
    EXPECT_EQ(compute("cvt.rn.f32.f64", {32, 64}, {f64(1 + 0x1p-24)}), f32(1));
    EXPECT_EQ(compute("cvt.rp.f32.f64", {32, 64}, {f64(1 + 0x1p-24)}), f32(1) + 1);
    EXPECT_EQ(compute("cvt.rn.f16.f32", {16, 32}, {f32(65520)}), 0x7c00u);               // halfway beyond the greatest: infinity
    EXPECT_EQ(compute("cvt.rz.f16.f32", {16, 32}, {f32(65520)}), 0x7bffu);
    EXPECT_EQ(compute("cvt.f32.f16", {32, 16}, {0x0001}), f32(0x1p-24f));
    EXPECT_EQ(compute("cvt.rn.bf16.f32", {16, 32}, {0x3f808000}), 0x3f80u);
    EXPECT_EQ(compute("cvt.rn.f16.s64", {16, 64}, {2049}), 0x6800u);                     // 2049 lies between 2048 and 2050
}

TEST(LaneOp, CarryRunsThroughTheChain) {
    // 2^32 - 1 + 1 carries in lanes 0 and 2 only; addc picks it up.
    Row a(32), b(32), d(32), carry(1);
    for (unsigned lane = 0; lane < 32; ++lane) { a.set(lane, 0xffffffff); b.set(lane, lane % 2 == 0 && lane < 4); }
    LaneOperands operands{};
    operands.destination[0] = d.words.data();
    operands.source[0] = a.words.data();
    operands.source[1] = b.words.data();
    operands.destination[kCarryDestination] = carry.words.data();
    operands.source[kCarrySource] = carry.words.data();
    const LaneOperation add = find_lane_function(instruction_of("add.cc.u32", 3), registers_of({32, 32, 32}));
    const LaneOperation addc = find_lane_function(instruction_of("addc.u32", 3), registers_of({32, 32, 32}));
    ASSERT_TRUE(add && addc && add.carry && addc.carry);
    operands.control = add.control;
    add.function(operands, UINT32_MAX);
    EXPECT_EQ(carry.words[0], 0b101u);
    operands.control = addc.control;
    addc.function(operands, UINT32_MAX);
    EXPECT_EQ(d.get(0), 1u);           // ffffffff + 1 + 1
    EXPECT_EQ(d.get(1), 0xffffffffu);  // ffffffff + 0 + 0
    EXPECT_EQ(carry.words[0], 0b101u); // addc without .cc leaves the flag
}

TEST(LaneOp, InactiveLanesKeepTheirValues) {
    Row a(32), p(1);
    for (unsigned lane = 0; lane < 32; ++lane) a.set(lane, lane);
    LaneOperands operands{};
    operands.destination[0] = a.words.data();
    operands.source[0] = operands.source[1] = a.words.data();
    const LaneOperation add = find_lane_function(instruction_of("add.u32", 3), registers_of({32, 32, 32}));
    add.function(operands, 0xffff0000);
    EXPECT_EQ(a.get(15), 15u);
    EXPECT_EQ(a.get(16), 32u);
    p.words[0] = 0x5;
    operands.destination[0] = p.words.data();
    const LaneOperation setp = find_lane_function(instruction_of("setp.ge.s32", 3), registers_of({1, 32, 32}));
    setp.function(operands, 0xfffffff0);
    EXPECT_EQ(p.words[0], 0xfffffff5u);
}

TEST(LaneOp, WhatHasNoSemanticsHasNoFunction) {
    EXPECT_FALSE(find_lane_function(instruction_of("add.sat.u32", 3), registers_of({32, 32, 32})));
    EXPECT_FALSE(find_lane_function(instruction_of("bar.sync", 1), registers_of({32})));
}

}  // namespace
}  // namespace lanescope::exec
