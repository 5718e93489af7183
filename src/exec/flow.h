// What decoding must know about a function as a whole: its control flow, where branches meet again, which registers are live where.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/module.h"

namespace lanescope::exec {

/// Calls `use(register)` and `define(register)` for the registers of an instruction, the guard included. A register that is written only
/// in part (a component of a vector register) counts as used, too.
struct RegisterSets {
    std::vector<uint32_t> uses, definitions;  ///< definitions in operand order, vectors flattened; kNone for `_`
};
RegisterSets registers_of(const ptx::Instruction& instruction);

struct BasicBlock {
    uint32_t begin = 0, end = 0;          ///< instructions [begin, end)
    std::vector<uint32_t> next;           ///< successors in the function
    bool leaves = false;                  ///< may end the thread or return
    bool reachable = false;
};

/// First and last position (2 × instruction for its reads, + 1 for its writes) at which a register holds a value that is needed.
struct Lifetime {
    uint32_t first = UINT32_MAX, last = 0;
    bool used() const { return first <= last; }
};

struct Flow {
    explicit Flow(const ptx::Function& function);

    std::vector<BasicBlock> blocks;
    std::vector<uint32_t> block_of;               ///< instruction → block; one more entry for the function's end
    /// The instruction at which lanes that part at the end of block b meet again: begin of b's immediate post-dominator; kNone: they do
    /// not before the function returns or the thread ends.
    std::vector<uint32_t> meets;
    std::vector<Lifetime> lifetimes;              ///< by register
    std::vector<uint32_t> unset;                  ///< registers that may be read before they are written
    std::vector<bool> compared;                   ///< by register: its value comes to an atom.cas as what it compares with
    /// Bit k: the k-th of the instruction's definitions is never read.
    std::vector<uint32_t> dead;

private:
    void find_blocks(const ptx::Function& function);
    void find_meetings(const ptx::Function& function);
    void find_lifetimes(const ptx::Function& function);
    void find_compared(const ptx::Function& function);
};

}  // namespace lanescope::exec
