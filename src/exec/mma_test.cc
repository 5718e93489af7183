#include "exec/mma.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>

#include "exec/lane_testing.h"

namespace lanescope::exec {
namespace {

using testing::instruction_of;

ptx::Instruction with_vectors(std::string_view mnemonic, std::initializer_list<size_t> sizes) {
    ptx::Instruction instruction = instruction_of(mnemonic, sizes.size());
    for (size_t i = 0; i < sizes.size(); ++i) {
        instruction.operands[i].kind = ptx::Operand::Kind::kVector;
        instruction.operands[i].elements.resize(sizes.begin()[i]);
    }
    return instruction;
}

TEST(Fragment, LiesAsThePtxIsaShows) {
    // m16n8k16 of f16, lane 5 = group 1, member 1. a4 (register 2, lower half): row 1, column 1 × 2 + 8.
    const Fragment a{Matrix::kA, {16, 8, 16}, 16, 4};
    EXPECT_EQ(a.position(5, 2, 0), (Position{1, 10}));
    EXPECT_EQ(a.position(5, 1, 1), (Position{9, 3}));
    const Fragment b{Matrix::kB, {16, 8, 16}, 16, 2};
    EXPECT_EQ(b.position(5, 1, 1), (Position{11, 1}));     // row 1 × 2 + 1 + 8, column = group
    const Fragment c{Matrix::kC, {16, 8, 16}, 32, 4};
    EXPECT_EQ(c.position(5, 3, 0), (Position{9, 3}));      // c3: row group + 8, column 1 × 2 + 1
    const Fragment bytes{Matrix::kA, {16, 8, 32}, 8, 4};
    EXPECT_EQ(bytes.position(6, 3, 3), (Position{9, 27}));  // a15 of lane 6: row 1 + 8, column 2 × 4 + 3 + 16
    EXPECT_EQ(matrix_position(6, 1, false), (Position{1, 5}));
    EXPECT_EQ(matrix_position(6, 1, true), (Position{5, 1}));
}

TEST(Fragment, WmmaFragmentsCoverTheirMatrix) {
    for (const auto& [name, elements] : {std::pair{"wmma.load.a.sync.aligned.row.m16n16k16.f16", 256u}, {"wmma.load.b.sync.aligned.row.m8n32k16.f16", 512u},
                                         {"wmma.load.a.sync.aligned.row.m32n8k16.s8", 512u}, {"wmma.load.c.sync.aligned.row.m16n16k8.f32", 256u},
                                         {"wmma.store.d.sync.aligned.row.m32n8k16.f16", 256u}, {"wmma.load.b.sync.aligned.col.m8n8k128.b1", 1024u}}) {
        const Fragment fragment = wmma_fragment(instruction_of(name, 2));
        std::set<std::pair<unsigned, unsigned>> places;
        for (unsigned lane = 0; lane < 32; ++lane)
            for (unsigned reg = 0; reg < fragment.registers; ++reg)
                for (unsigned i = 0; i < fragment.per_register(); ++i) {
                    const Position at = fragment.position(lane, reg, i);
                    places.emplace(at.row, at.column);
                }
        EXPECT_EQ(places.size(), elements) << name;
    }
}

TEST(Warp, WmmaMultipliesMatrices) {
    // a(i, k) = i, b(k, j) = j where k is 0 or 1, else 0; c = 1: d(i, j) = 2 i j + 1, exact in f32.
    const ptx::Instruction instruction = with_vectors("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", {8, 8, 8, 8});
    const WarpOperation operation = find_warp_function(instruction);
    ASSERT_TRUE(operation);
    const Fragment a{Matrix::kA, {16, 16, 16}, 16, 8}, b{Matrix::kB, {16, 16, 16}, 16, 8}, c{Matrix::kC, {16, 16, 16}, 32, 8};
    const auto half = [](unsigned value) -> uint32_t {  // of 0…15
        if (value == 0) return 0;
        const unsigned exponent = unsigned(std::bit_width(value)) - 1;
        return (exponent + 15) << 10 | (value << (10 - exponent) & 0x3ff);
    };
    uint32_t rows[32][32];
    WarpOperands operands{};
    operands.control = operation.control;
    for (unsigned reg = 0; reg < 8; ++reg)
        for (unsigned lane = 0; lane < 32; ++lane) {
            rows[reg][lane] = half(a.position(lane, reg, 0).row) | half(a.position(lane, reg, 1).row) << 16;
            const auto element = [&](unsigned i) { const Position at = b.position(lane, reg, i); return at.row < 2 ? half(at.column) : 0; };
            rows[8 + reg][lane] = element(0) | element(1) << 16;
            rows[16 + reg][lane] = std::bit_cast<uint32_t>(1.0f);
        }
    for (unsigned i = 0; i < 24; ++i) operands.source[i] = rows[i];
    for (unsigned i = 0; i < 8; ++i) operands.destination[i] = rows[24 + i];
    operation.function(operands);
    for (unsigned reg = 0; reg < 8; ++reg)
        for (unsigned lane = 0; lane < 32; ++lane) {
            const Position at = c.position(lane, reg, 0);
            EXPECT_EQ(std::bit_cast<float>(rows[24 + reg][lane]), float(2 * at.row * at.column + 1));
        }
}

TEST(Warp, UnknownFormsHaveNoFunction) {
    EXPECT_TRUE(find_warp_function(with_vectors("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", {4, 4, 2, 4})));
    EXPECT_FALSE(find_warp_function(with_vectors("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", {4, 4, 4, 4})));
    EXPECT_FALSE(find_warp_function(with_vectors("mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32", {4, 4, 2, 4})));
    EXPECT_FALSE(find_warp_function(with_vectors("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", {4, 2, 2, 4})));
    EXPECT_FALSE(find_warp_function(with_vectors("add.u32", {1, 1, 1})));
}

}  // namespace
}  // namespace lanescope::exec
