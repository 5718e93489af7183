#include "exec/lowering.h"

#include <algorithm>

#include "ptx/lookup.h"

namespace lanescope::exec {
namespace {

using ptx::Instruction;
using ptx::kNone;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::SpecialRegister;
using ptx::Suffix;
using ptx::Type;

bool is_access(const Instruction& instruction) {
    return (instruction.opcode == Opcode::kLd || instruction.opcode == Opcode::kLdu || instruction.opcode == Opcode::kSt) &&
           instruction.space != Space::kParam;
}

const Operand& value_of(const Instruction& instruction) { return instruction.operands[instruction.opcode == Opcode::kSt ? 1 : 0]; }

uint32_t elements_of(const Instruction& instruction) {
    const Operand& value = value_of(instruction);
    return value.kind == Operand::Kind::kVector ? uint32_t(value.elements.size()) : std::max<uint32_t>(instruction.vector, 1);
}

bool ordered(const Instruction& instruction) {
    return instruction.has(Suffix::kVolatile) || instruction.has(Suffix::kRelaxed) || instruction.has(Suffix::kAcquire) ||
           instruction.has(Suffix::kRelease) || instruction.has(Suffix::kMmio);
}

/// The accesses that read the bytes in `used` (bit i: byte i) of a vector of `width` bytes: the widest aligned pieces without unused elements.
std::vector<Piece> narrow(uint64_t used, uint32_t width, uint32_t element) {
    const auto all_used = [&](uint32_t begin, uint32_t bytes) {
        for (uint32_t e = begin; e < begin + bytes; e += element)
            if ((used >> e & ((uint64_t(1) << element) - 1)) == 0) return false;
        return true;
    };
    std::vector<Piece> pieces;
    for (uint32_t begin = 0; begin < width;) {
        uint32_t bytes = width;
        while (bytes > element && (begin % bytes != 0 || begin + bytes > width || !all_used(begin, bytes))) bytes /= 2;
        if (all_used(begin, bytes)) pieces.push_back({int32_t(begin), bytes});
        begin += bytes;
    }
    return pieces;
}

}  // namespace

Lowering::Lowering(const ptx::Function& function, const Flow& flow) : pieces_(function.body.size()) {
    find_uniform(function);
    for (uint32_t i = 0; i < function.body.size(); ++i) {
        const Instruction& instruction = function.body[i];
        if (!is_access(instruction)) continue;
        const uint32_t element = std::max(1u, ptx::bits(instruction.types[0]) / 8), count = elements_of(instruction), width = element * count;
        const bool load = instruction.opcode != Opcode::kSt;
        if (instruction.space == Space::kLocal && !load && count > 1 && element == 4) {
            for (uint32_t e = 0; e < count; ++e) pieces_[i].push_back({int32_t(e * element), element});
        } else if (load && count > 1 && width <= 32 && (instruction.space == Space::kGlobal || instruction.space == Space::kGeneric) && !ordered(instruction)) {
            uint64_t used = 0;
            for (uint32_t e = 0; e < count; ++e)
                if ((flow.dead[i] >> e & 1) == 0) used |= ((uint64_t(1) << element) - 1) << (e * element);
            if (const auto said = ptx::used_bytes(function, i)) used &= *said;
            pieces_[i] = narrow(used, width, element);
            if (pieces_[i].empty()) pieces_[i] = {{0, width}};
        } else {
            pieces_[i] = {{0, width}};
        }
    }
    merge_shared(function, flow);
}

bool Lowering::uniform(const Operand& operand) const {
    switch (operand.kind) {
        case Operand::Kind::kRegister: return uniform_[operand.index];
        case Operand::Kind::kImmediate:
        case Operand::Kind::kVariable:
        case Operand::Kind::kFunction: return true;
        case Operand::Kind::kSpecial: {
            const auto special = SpecialRegister(operand.index);
            const bool of_lane = (special >= SpecialRegister::kTid && special <= SpecialRegister::kTidW) || special == SpecialRegister::kLaneid ||
                                 (special >= SpecialRegister::kLanemaskEq && special <= SpecialRegister::kLanemaskGt);
            return !of_lane;
        }
        default: return std::all_of(operand.elements.begin(), operand.elements.end(), [&](const Operand& e) { return uniform(e); });
    }
}

// A register is uniform if its only definition computes it from uniform values: of the block, of parameters, or loaded from a uniform
// address of memory that nobody writes.
void Lowering::find_uniform(const ptx::Function& function) {
    uniform_.assign(function.registers.size(), false);
    std::vector<uint32_t> definitions(function.registers.size());
    std::vector<RegisterSets> sets;
    for (const Instruction& instruction : function.body) {
        sets.push_back(registers_of(instruction));
        for (const uint32_t r : sets.back().definitions)
            if (r != kNone) ++definitions[r];
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < function.body.size(); ++i) {
            const Instruction& instruction = function.body[i];
            if (sets[i].definitions.size() != 1 || sets[i].definitions[0] == kNone) continue;
            const uint32_t r = sets[i].definitions[0];
            if (uniform_[r] || definitions[r] != 1 || instruction.guard.predicate != kNone) continue;
            const bool parameter = instruction.opcode == Opcode::kLd && (instruction.space == Space::kParam || instruction.space == Space::kConst);
            const auto kind = ptx::class_of(instruction.opcode);
            if (!parameter && kind != ptx::OpcodeClass::kArithmetic) continue;
            if (parameter && instruction.space == Space::kParam && !function.entry) continue;
            bool all = true;
            for (size_t o = ptx::destination_count(instruction); o < instruction.operands.size(); ++o) all &= uniform(instruction.operands[o]);
            if (all) uniform_[r] = changed = true;
        }
    }
}

bool Lowering::reduces_in_warp(const Instruction& instruction) const {
    const Type type = instruction.types[0];
    const bool integer = type == Type::kU32 || type == Type::kS32 || type == Type::kB32;
    if (!integer || instruction.vector > 1) return false;
    const size_t first = instruction.opcode == Opcode::kAtom ? 1 : 0;
    return uniform(instruction.operands[first]) && uniform(instruction.operands[first + 1]);
}

void Lowering::merge_shared(const ptx::Function&, const Flow&) {}

}  // namespace lanescope::exec
