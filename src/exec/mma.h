// Matrix instructions of one warp: where the elements of a matrix lie in its registers, and the arithmetic of mma and wmma.mma.
#pragma once

#include <cstdint>

#include "ptx/module.h"

namespace lanescope::exec {

/// Rows as in LaneOperands, all 32 lanes of them. A destination may be a source.
struct WarpOperands {
    void* destination[8];
    const void* source[32];               ///< a, b, c (vectors flattened)
    uint64_t control;                     ///< WarpOperation::control
};
using WarpFunction = void (*)(const WarpOperands& operands);
struct WarpOperation {
    WarpFunction function = nullptr;
    uint64_t control = 0;
    explicit operator bool() const { return function != nullptr; }
};
/// What computes an mma, wmma.mma or movmatrix; no function: nothing here does.
WarpOperation find_warp_function(const ptx::Instruction& instruction);

/// a is m × k, b is k × n, c and d are m × n.
enum class Matrix : uint8_t { kA, kB, kC };
struct MatrixShape {
    unsigned m = 0, n = 0, k = 0;
};
struct Position {
    unsigned row = 0, column = 0;
    friend bool operator==(const Position&, const Position&) = default;
};

/// How one matrix is spread over the registers of a warp: blocks of 8 rows by 4 lanes' registers, as the PTX ISA shows for mma; the
/// same for wmma, whose fragments it leaves open. A wmma fragment with more registers than blocks holds them several times.
struct Fragment {
    Matrix matrix{};
    MatrixShape shape;
    unsigned element_bits = 0;            ///< 1, 4, 8, 16, 32 or 64
    unsigned registers = 0;               ///< per lane
    /// Elements of a register; 64-bit registers hold one.
    unsigned per_register() const { return element_bits >= 32 ? 1 : 32 / element_bits; }
    /// Where element `index` of register `reg` of `lane` belongs.
    Position position(unsigned lane, unsigned reg, unsigned index) const;
};
/// The fragment that wmma.load fills and wmma.store empties, or one without registers where the instruction has none.
Fragment wmma_fragment(const ptx::Instruction& instruction);

/// ldmatrix and stmatrix of 8 × 8 matrices of 16-bit elements: where element `index` (0 or 1) of a lane's register belongs. Row r of
/// matrix i begins at the address of lane 8 × i + r.
Position matrix_position(unsigned lane, unsigned index, bool transposed);

}  // namespace lanescope::exec
