#include "replay.h"

#include <cstring>
#include <map>

#include "exec/lane_op.h"
#include "exec/mma.h"
#include "ptx/parser.h"

namespace lanescope::semantics {
namespace {

/// A register row of any width; predicates are one word.
struct Row {
    alignas(64) uint64_t words[32] = {};
    void set(unsigned bits, unsigned lane, uint64_t value) {
        if (bits == 1) words[0] = (words[0] & ~(uint64_t(1) << lane)) | (value & 1) << lane;
        else std::memcpy(reinterpret_cast<char*>(words) + lane * bits / 8, &value, bits / 8);
    }
    uint64_t get(unsigned bits, unsigned lane) const {
        if (bits == 1) return words[0] >> lane & 1;
        uint64_t value = 0;
        std::memcpy(&value, reinterpret_cast<const char*>(words) + lane * bits / 8, bits / 8);
        return value;
    }
};

/// One instruction with its operands bound to rows.
struct Step {
    exec::LaneOperation operation;
    exec::LaneOperands operands{};
    exec::WarpOperation warp_operation;
    exec::WarpOperands warp_operands{};
};

}  // namespace

Replayed replay(const Variant& variant) {
    Replayed result;
    const auto module = ptx::parse(bare_module(variant), variant.text);
    if (!module) {
        result.failure = base::to_string(module.errors());
        return result;
    }
    const ptx::Function& function = module->functions.at(0);
    std::vector<Row> rows(function.registers.size());
    std::vector<Row> immediates(16);
    size_t used_immediates = 0;
    Row carry;
    std::map<std::string, uint32_t> by_name;
    for (uint32_t i = 0; i < function.registers.size(); ++i) by_name[function.registers[i].name] = i;

    std::vector<Step> steps;
    for (const ptx::Instruction& instruction : function.body) {
        if (instruction.opcode == ptx::Opcode::kRet) break;
        Step step;
        step.operation = exec::find_lane_function(instruction, function.registers);
        step.warp_operation = exec::find_warp_function(instruction);
        if (!step.operation && !step.warp_operation) {
            result.failure = "no semantics";
            return result;
        }
        step.operands.control = step.operation.control;
        step.warp_operands.control = step.warp_operation.control;
        step.operands.destination[exec::kCarryDestination] = carry.words;
        step.operands.source[exec::kCarrySource] = carry.words;
        size_t destinations = 0, sources = 0;
        const auto bind = [&](const ptx::Operand& operand, bool writes) {
            Row* row = nullptr;
            if (operand.kind == ptx::Operand::Kind::kRegister) {
                row = &rows[operand.index];
            } else {
                row = &immediates.at(used_immediates++);
                for (unsigned lane = 0; lane < 32; ++lane) row->set(32, lane, uint64_t(operand.value));
            }
            if (step.warp_operation && writes) step.warp_operands.destination[destinations++] = row->words;
            else if (step.warp_operation) step.warp_operands.source[sources++] = row->words;
            else if (writes) step.operands.destination[destinations++] = row->words;
            else step.operands.source[sources++] = row->words;
        };
        for (size_t i = 0; i < instruction.operands.size(); ++i) {
            const ptx::Operand& operand = instruction.operands[i];
            if (operand.elements.empty()) bind(operand, i == 0);
            for (const ptx::Operand& element : operand.elements) bind(element, i == 0);
        }
        steps.push_back(step);
    }

    result.outputs.assign(variant.outputs.size(), std::vector<uint64_t>(kSamples));
    for (unsigned warp = 0; warp < kSamples / 32; ++warp) {
        for (unsigned k = 0; k < variant.inputs.size(); ++k)
            for (unsigned lane = 0; lane < 32; ++lane) rows[by_name.at("i" + std::to_string(k))].set(variant.inputs[k].bits, lane, input(variant, k, 32 * warp + lane));
        for (const Step& step : steps) {
            if (step.warp_operation) step.warp_operation.function(step.warp_operands);
            else step.operation.function(step.operands, UINT32_MAX);
        }
        for (unsigned k = 0; k < variant.outputs.size(); ++k)
            for (unsigned lane = 0; lane < 32; ++lane)
                result.outputs[k][32 * warp + lane] = rows[by_name.at("o" + std::to_string(k))].get(variant.outputs[k].bits, lane);
    }
    return result;
}

}  // namespace lanescope::semantics
