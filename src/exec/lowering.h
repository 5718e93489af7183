// What machine code makes of PTX's memory instructions, as far as it changes counts: the accesses that ptxas emits for each.
//
// - A global vector load of which only some components are used is narrowed to loads of those, by words of 32 bits (H200, sweeps.cu: ld.v4
//   using x and w is two 32-bit loads; ptxas 13.0 for sm_90: any three of four are one of 128 bits, x and z of ushort4 one of 64).
// - Loads or stores of adjacent shared words become one wide access where the address is known to be aligned (patterns.cu).
// - A vector local store is one 32-bit store a component (patterns.cu, local_dynamic: 33 requests a warp for 8 st.local.v4 and one st.local).
// - An atomic whose result is unused is a reduction. Lanes that are known to go to one address combine their integer operands first and
//   one of them issues it (sweeps.cu, atomic_same; ptxas 13.0 for sm_80 and later: POPC or REDUX, then RED of one lane).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "exec/flow.h"
#include "ptx/module.h"

namespace lanescope::exec {

/// A piece of an instruction's accesses: `bytes` a lane at `offset` from the address that the instruction computes.
struct Piece {
    int32_t offset = 0;
    uint32_t bytes = 0;
};

/// log2 of the alignment that is known of a variable's address.
using VariableAlignment = std::function<uint8_t(const ptx::Operand&)>;

class Lowering {
public:
    /// `optimized`: not built with -G, which leaves accesses as they are written.
    Lowering(const ptx::Function& function, const Flow& flow, const VariableAlignment& of_variable, bool optimized);

    /// What a load or store accesses; empty: a neighbour's wider access covers it. Also for instructions of generic space.
    const std::vector<Piece>& pieces(uint32_t instruction) const { return pieces_[instruction]; }
    /// Whether all lanes of a warp are known to hold the same value in a register wherever they read it.
    bool uniform(uint32_t reg) const { return uniform_[reg]; }
    bool uniform(const ptx::Operand& operand) const;
    /// Whether an atomic is combined in the warp first, so that one lane issues it; `unused`: nobody reads its result.
    bool reduces_in_warp(const ptx::Instruction& instruction, bool unused) const;

private:
    void find_uniform(const ptx::Function& function);
    void merge_shared(const ptx::Function& function, const Flow& flow, const VariableAlignment& of_variable);

    std::vector<std::vector<Piece>> pieces_;
    std::vector<bool> uniform_;
};

/// Guards each load whose only use is as one value of a selp with that selp's predicate, as ptxas 13.0 does for sm_75 to sm_90: of two such
/// loads the later one (H200, workloads.cu, descend). Not where the other value is a constant or is needed elsewhere, nor above stores
/// that may change the loaded word, nor 64-bit values or vectors.
void predicate_selected_loads(ptx::Function& function, const Flow& flow);

}  // namespace lanescope::exec
