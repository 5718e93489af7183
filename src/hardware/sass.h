// The memory instructions of the machine code: which space, which operation, how many bytes a lane.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lanescope::hardware {

struct MemoryInstruction {
    std::string_view space;      ///< as profile::Access: global, local, shared, constant, texture, surface, generic
    std::string_view operation;  ///< load, store, reduction, atomic, async_copy
    uint32_t bytes = 0;          ///< per lane; 0: not fixed by the instruction (textures)
};

/// Decodes the two halves of one 128-bit instruction (sm_70 to sm_121). Nothing for instructions that aren't memory accesses.
std::optional<MemoryInstruction> decode(uint64_t low, uint64_t high, unsigned architecture);

/// The same for the instruction at byte `pc` of a function's code; nothing past its end.
std::optional<MemoryInstruction> decode(std::string_view code, uint64_t pc, unsigned architecture);

}  // namespace lanescope::hardware
