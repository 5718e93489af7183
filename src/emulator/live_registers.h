// An estimate of the registers a thread of a kernel needs, for when no machine code can be asked.
#pragma once

#include <cstdint>

#include "ptx/module.h"

namespace lanescope::emulator {

/// The most 32-bit registers that are live at one instruction of `function` (predicates not counted, called functions neither).
/// An assembler may need more (addresses, spilling order) or fewer (recomputed values).
uint32_t live_registers(const ptx::Function& function);

}  // namespace lanescope::emulator
