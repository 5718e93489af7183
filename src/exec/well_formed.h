// Whether an instruction has the operands that its opcode needs: the parser accepts any.
#pragma once

#include "ptx/module.h"

namespace lanescope::exec {

bool well_formed(const ptx::Instruction& instruction, const ptx::Module& module, const ptx::Function& function);

}  // namespace lanescope::exec
