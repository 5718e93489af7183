#include "emulator/live_registers.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "ptx/lookup.h"

namespace lanescope::emulator {
namespace {

using Set = std::vector<uint64_t>;   // bit i: register i

void add(Set& set, uint32_t i) { set[i / 64] |= uint64_t(1) << i % 64; }
void remove(Set& set, uint32_t i) { set[i / 64] &= ~(uint64_t(1) << i % 64); }

void each_register(const ptx::Operand& operand, const std::function<void(uint32_t)>& use) {
    if (operand.kind == ptx::Operand::Kind::kRegister) use(operand.index);
    for (const ptx::Operand& element : operand.elements) each_register(element, use);
}

/// Makes what is live after `instruction` what is live before it.
void step_back(const ptx::Instruction& instruction, Set& live) {
    size_t written = std::min<size_t>(ptx::destination_count(instruction), instruction.operands.size());
    bool always = instruction.guard.predicate == ptx::kNone;
    for (size_t i = 0; i < written; ++i) {
        const ptx::Operand& operand = instruction.operands[i];
        bool address = operand.kind == ptx::Operand::Kind::kAddress;
        if (always && !address) each_register(operand, [&](uint32_t r) { remove(live, r); });
    }
    for (size_t i = 0; i < instruction.operands.size(); ++i) {
        const ptx::Operand& operand = instruction.operands[i];
        if (i >= written || operand.kind == ptx::Operand::Kind::kAddress) each_register(operand, [&](uint32_t r) { add(live, r); });
    }
    if (!always) add(live, instruction.guard.predicate);
}

}  // namespace

uint32_t live_registers(const ptx::Function& function) {
    const auto& body = function.body;
    if (body.empty()) return 0;
    std::vector<uint32_t> weight;
    for (const ptx::Register& r : function.registers) weight.push_back(r.type == ptx::Type::kPred ? 0 : (ptx::bits(r.type) * r.vector + 31) / 32);

    // Where control goes from each instruction that does not simply fall through.
    auto targets = [&](const ptx::Instruction& instruction) {
        std::vector<uint32_t> to;
        for (const ptx::Operand& operand : instruction.operands) {
            if (operand.kind == ptx::Operand::Kind::kLabel) to.push_back(function.labels[operand.index].position);
            if (operand.kind == ptx::Operand::Kind::kTable && instruction.opcode == ptx::Opcode::kBrxIdx)
                for (uint32_t label : function.tables[operand.index].targets) to.push_back(function.labels[label].position);
        }
        return to;
    };
    auto ends = [](const ptx::Instruction& instruction) {
        using ptx::Opcode;
        return instruction.guard.predicate == ptx::kNone &&
               (instruction.opcode == Opcode::kBra || instruction.opcode == Opcode::kBrxIdx || instruction.opcode == Opcode::kRet ||
                instruction.opcode == Opcode::kExit || instruction.opcode == Opcode::kTrap);
    };

    // Live sets at labels until nothing changes; in between they are followed instruction by instruction.
    const size_t words = function.registers.size() / 64 + 1;
    std::vector<Set> at_label(body.size() + 1);
    for (const ptx::Label& label : function.labels) at_label[label.position].assign(words, 0);
    uint32_t most = 0;
    for (bool changed = true; changed;) {
        changed = false;
        Set live(words, 0);
        for (size_t i = body.size(); i-- > 0;) {
            if (ends(body[i])) live.assign(words, 0);
            for (uint32_t target : targets(body[i]))
                for (size_t w = 0; w < words; ++w) live[w] |= at_label[target][w];
            step_back(body[i], live);
            uint32_t count = 0;
            for (size_t r = 0; r < weight.size(); ++r) count += (live[r / 64] >> r % 64 & 1) * weight[r];
            most = std::max(most, count);
            if (!at_label[i].empty() && at_label[i] != live) {
                at_label[i] = live;
                changed = true;
            }
        }
    }
    return most;
}

}  // namespace lanescope::emulator
