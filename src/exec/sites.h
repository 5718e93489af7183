// From an instruction's suffixes to what the memory system must know of its accesses.
#pragma once

#include "exec/access.h"
#include "exec/monitor.h"
#include "ptx/module.h"

namespace lanescope::exec {

/// Cache operator, hints and prefetch size; bytes and places are the caller's.
AccessSite site_of(const ptx::Instruction& instruction, Operation operation);
Ordering ordering_of(const ptx::Instruction& instruction);
/// Whether a load is how threads wait for each other.
bool is_poll(const ptx::Instruction& instruction);
bool is_signed(ptx::Type type);

}  // namespace lanescope::exec
