// For tests: lane functions by the text of an instruction, called with rows that hold one value a lane.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "exec/lane_op.h"

namespace lanescope::exec::testing {

/// `mnemonic` ("add.sat.s32") with register operands of these types, destinations first; operand counts as the types say.
inline ptx::Instruction instruction_of(std::string_view mnemonic, size_t operands) {
    ptx::Instruction instruction;
    const auto match = ptx::find_opcode(mnemonic);
    if (!match) ADD_FAILURE() << "no opcode " << mnemonic;
    if (!match) return instruction;
    instruction.opcode = match->opcode;
    size_t types = 0;
    std::string_view rest = mnemonic.substr(match->length);
    while (!rest.empty()) {
        rest.remove_prefix(1);
        const std::string_view word = rest.substr(0, rest.find('.'));
        rest.remove_prefix(word.size());
        const auto suffix = ptx::find_suffix(word);
        if (!suffix) ADD_FAILURE() << "no suffix " << word;
        if (!suffix) return instruction;
        instruction.suffixes.push_back(*suffix);
        if (ptx::type_of(*suffix) != ptx::Type::kNone && types < 5) instruction.types[types++] = ptx::type_of(*suffix);
    }
    for (size_t i = 0; i < operands; ++i) {
        ptx::Operand operand;
        operand.kind = ptx::Operand::Kind::kRegister;
        operand.index = static_cast<uint32_t>(i);
        instruction.operands.push_back(operand);
    }
    return instruction;
}

/// Registers of the given widths.
inline std::vector<ptx::Register> registers_of(std::initializer_list<unsigned> bits) {
    std::vector<ptx::Register> registers;
    for (const unsigned width : bits) {
        using enum ptx::Type;
        registers.push_back({"r", width == 1 ? kPred : width == 16 ? kB16 : width == 32 ? kB32 : width == 64 ? kB64 : kB128, 1});
    }
    return registers;
}

/// A row of any width.
struct Row {
    alignas(64) std::array<uint64_t, 64> words{};
    unsigned bits = 32;
    explicit Row(unsigned width = 32) : bits(width) {}
    void set(unsigned lane, uint64_t value) {
        if (bits == 1) words[0] = (words[0] & ~(uint64_t(1) << lane)) | (value & 1) << lane;
        else std::memcpy(reinterpret_cast<char*>(words.data()) + lane * bits / 8, &value, bits / 8);
    }
    uint64_t get(unsigned lane) const {
        if (bits == 1) return words[0] >> lane & 1;
        uint64_t value = 0;
        std::memcpy(&value, reinterpret_cast<const char*>(words.data()) + lane * bits / 8, bits / 8);
        return value;
    }
};

/// What `mnemonic` makes of one set of source values. `widths`: bits of the destination, then of each source.
inline uint64_t compute(std::string_view mnemonic, std::initializer_list<unsigned> widths, std::initializer_list<uint64_t> values) {
    const LaneOperation operation = find_lane_function(instruction_of(mnemonic, widths.size()), registers_of(widths));
    if (!operation) ADD_FAILURE() << "no semantics: " << mnemonic;
    if (!operation) return 0;
    Row destination(*widths.begin());
    std::vector<Row> sources;
    for (size_t i = 0; i < values.size(); ++i) {
        sources.emplace_back(widths.begin()[i + 1]);
        for (unsigned lane = 0; lane < 32; ++lane) sources[i].set(lane, values.begin()[i]);
    }
    LaneOperands operands{};
    operands.destination[0] = destination.words.data();
    for (size_t i = 0; i < sources.size(); ++i) operands.source[i] = sources[i].words.data();
    operands.control = operation.control;
    operation.function(operands, UINT32_MAX);
    return destination.get(17);
}

}  // namespace lanescope::exec::testing
