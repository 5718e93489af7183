// Contract between the executor and the arithmetic: one function computes one PTX instruction for all 32 lanes.
//
// A register is a *row*: 32 lanes side by side, so that compilers vectorise over lanes.
//   predicate          one uint32_t, bit i = lane i
//   8- and 16-bit      uint16_t[32]   (8-bit values zero- or sign-extended as their type says)
//   32-bit             uint32_t[32]
//   64-bit             uint64_t[32]
//   128-bit            uint64_t[2][32], low halves first
// Immediates arrive as rows too (filled at decode), so that an operation never asks what an operand is.
#pragma once

#include <cstdint>
#include <span>

#include "ptx/module.h"

namespace lanescope::exec {

struct LaneOperands {
    void* destination[4];                 ///< rows written, nullptr for `_`; second is the `|q` predicate, or further vector elements
    const void* source[8];                ///< rows read, in operand order (vector operands flattened); a `!p` arrives as p's row
    uint64_t control;                     ///< LaneOperation::control
};
/// Where the carry flag of a LaneOperation with `carry` is: a predicate row, one a warp.
constexpr unsigned kCarryDestination = 3, kCarrySource = 7;

/// Writes the destination rows of the lanes in `mask` and leaves other lanes as they are. A destination row may be a source row
/// too; rows never overlap otherwise.
using LaneFunction = void (*)(const LaneOperands& operands, uint32_t mask);

struct LaneOperation {
    LaneFunction function = nullptr;
    uint64_t control = 0;                 ///< what the function must know beyond its rows: copy it into LaneOperands
    bool carry = false;                   ///< reads and writes the carry flag (.cc, addc, subc, madc)
    explicit operator bool() const { return function != nullptr; }
};

/// What computes `instruction`, whose register operands are indices into `registers` (a cvt reads rows wider than its type).
/// No function: the instruction has no lane-wise semantics here (memory, control, barriers and warp-collective instructions are
/// the executor's; anything else is reported when it is executed).
LaneOperation find_lane_function(const ptx::Instruction& instruction, std::span<const ptx::Register> registers);

}  // namespace lanescope::exec
