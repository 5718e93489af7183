// The instruction variants that are compared with real hardware: their list, their PTX, their input values and the file of results.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lanescope::semantics {

constexpr unsigned kSamples = 512;  ///< threads that run each variant: 16 warps

/// One operand slot of a variant; operands are written as the type of their values ("s32", "f16x2", "u32#": a small count).
struct Slot {
    std::string type;
    bool count = false;
    unsigned bits = 0;         ///< of the register: 1, 16, 32 or 64
};

/// A variant: one instruction, or several that follow each other (carry chains).
struct Variant {
    std::string text;          ///< "add.cc.u32 u32, u32, u32; addc.u32 u32, u32, u32"
    std::string code;          ///< the instructions with register names: outputs o0, o1, …, inputs i0, i1, …
    std::vector<Slot> outputs, inputs;
};

/// Every variant that the templates of `list` stand for: `[a|b]` is each alternative in turn, `$2` the choice of the second group.
std::vector<Variant> expand(std::string_view list);
/// The variant of one expanded line.
Variant parse_variant(std::string text);

/// A PTX kernel `name(in, out)` that runs the variant on kSamples threads; slot k of thread t is the 8 bytes at (k × kSamples + t) × 8.
std::string kernel(const Variant& variant, std::string_view name);
std::string_view module_header();
/// The variant alone, in a kernel that declares its registers, as a module.
std::string bare_module(const Variant& variant);

/// Input k of thread `sample`; the same on every machine.
uint64_t input(const Variant& variant, unsigned k, unsigned sample);
/// Of all inputs of the variant: whether a recording belongs to today's inputs.
uint32_t input_checksum(const Variant& variant);

}  // namespace lanescope::semantics
