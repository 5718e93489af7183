// Module → PTX text, such that parsing the text gives the same module again.
#pragma once

#include <string>

#include "ptx/module.h"

namespace lanescope::ptx {

std::string print(const Module& module);

/// One instruction as the printer writes it, without indentation or semicolon: for messages and listings.
std::string print(const Module& module, const Function& function, const Instruction& instruction);

}  // namespace lanescope::ptx
