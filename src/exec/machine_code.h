// What ptxas makes of PTX's instructions, as far as it changes time: instructions that cost nothing, and loops that it unrolls.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/flow.h"
#include "exec/instruction_cost.h"
#include "ptx/module.h"

namespace lanescope::exec {

/// ptxas puts this many turns of a loop together.
constexpr unsigned kTurns = 4;

/// So many 32-bit words a lane does ptxas have loads return to at most before it uses the first: it stays within the 32 registers that let an SM be
/// full (counted in its code for sums of 16 to 60 loads, which use 30 to 32 registers).
constexpr unsigned kWordsInFlight = 20;

/// InstructionCost with `issues` 0: the instruction is part of those that use its result; its latency counts from its operands.
struct MachineCode : InstructionCost {
    /// In a loop whose turns are put together. `once`: only the last of them has the instruction. `late`: it waits for loads in the last
    /// of them only, as by then the loads of all have been issued; a load: it waits until no more than kWordsInFlight are on their way.
    bool once = false, late = false;
};

/// By instruction of the function, whose body is in the order of issue.
///
/// Parts of others: products and shifts by constants that are added to something (IMAD, IMAD.WIDE, LEA), widening before them, constants added to
/// addresses, the inner of two additions (IADD3) or of two logical operations (LOP3), signs, and logic of predicates.
///
/// Loops: ptxas 13.0 (sm_90) puts four turns of a loop together where the loop is one basic block that ends with a branch on the comparison of a
/// register, which a turn changes by a constant once, with something that stays; without `.pragma "nounroll"`, divisions and atomics;
/// and no longer than kLongestBody. Found by compiling some 200 loops.
std::vector<MachineCode> machine_code(const ptx::Function& function, const Flow& flow);

}  // namespace lanescope::exec
