// What one PTX instruction costs as machine code: instructions issued, the pipe that binds them most, and latency.
#pragma once

#include <cstdint>

#include "exec/access.h"
#include "ptx/module.h"

namespace lanescope::exec {

struct InstructionCost {
    uint8_t issues = 1;                   ///< instructions that a scheduler issues, but for kSequence's turns
    Pipe pipe = Pipe::kNone;
    uint8_t turns = 0;                    ///< of its instructions, those through the pipe
    uint8_t latency = 4;                  ///< cycles from the issue to that of an instruction that needs the result, without memory
};

/// Counted in ptxas's code for sm_90 (13.0), ways for special cases aside; latencies and which pipe binds were measured on an H200
/// (`operation` of timing_probes.cu). Where other generations differ it is the pipe's rate (Machine::pipe_cycles) that says so.
InstructionCost cost_of(const ptx::Instruction& instruction);

}  // namespace lanescope::exec
