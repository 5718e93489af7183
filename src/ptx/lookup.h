// Questions about a module.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/module.h"

namespace lanescope::ptx {

/// nullptr where there is none. Of a declaration and a definition of one name the parser keeps only the definition.
const Function* find_function(const Module& module, std::string_view name);
const Variable* find_variable(const Module& module, std::string_view name);

struct SourceFrame {
    std::string file;
    uint32_t line = 0, column = 0;
    std::string function;  ///< the inlined function that the position is in, mangled; empty in the outermost frame
};

/// Where an instruction's location stands in the CUDA source, innermost frame first. Empty for kNone.
std::vector<SourceFrame> source_frames(const Module& module, uint32_t location);

/// How many leading operands `instruction` writes (an operand may be a vector or a pair).
unsigned destination_count(const Instruction& instruction);

/// Which bytes of a vector load's destination the program uses, bit 0 the lowest, where the compiler says so
/// (`.pragma "used_bytes_mask N"` before the load at `function.body[instruction]`).
std::optional<uint64_t> used_bytes(const Function& function, uint32_t instruction);

}  // namespace lanescope::ptx
