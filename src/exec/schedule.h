// The order in which machine code issues instructions: loads before what waits for other loads.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/access.h"
#include "exec/flow.h"
#include "ptx/module.h"

namespace lanescope::exec {

/// The instructions of `function` in the order of issue. Each stays in its basic block; dependences by registers and by memory, barriers
/// and whatever else others can see keep their order. Like ptxas's, the order lets several loads be in flight where the text has each
/// followed by its use.
std::vector<uint32_t> schedule(const ptx::Function& function, const Flow& flow);

}  // namespace lanescope::exec
