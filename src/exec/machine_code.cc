#include "exec/machine_code.h"

#include <algorithm>

namespace lanescope::exec {
namespace {

using ptx::Instruction;
using ptx::kNone;
using ptx::Opcode;
using ptx::OpcodeClass;
using ptx::Operand;
using ptx::Space;

constexpr size_t kLongestBody = 21;           // instructions of PTX that ptxas unrolls where nothing is loaded
constexpr size_t kLongestBodyOfLoads = 51;    // of PTX, loads counted twice

bool is_register(const Operand& operand, uint32_t reg) { return operand.kind == Operand::Kind::kRegister && operand.index == reg; }

bool reads(const Instruction& instruction, uint32_t reg) {
    const RegisterSets sets = registers_of(instruction);
    return std::find(sets.uses.begin(), sets.uses.end(), reg) != sets.uses.end();
}

bool is_load(const Instruction& instruction) {
    return (instruction.opcode == Opcode::kLd && instruction.space != Space::kParam) || instruction.opcode == Opcode::kLdu ||
           instruction.opcode == Opcode::kTex || instruction.opcode == Opcode::kTld4;
}

/// `r ± constant → r`
bool is_step(const Instruction& instruction) {
    if ((instruction.opcode != Opcode::kAdd && instruction.opcode != Opcode::kSub) || instruction.guard.predicate != kNone || instruction.operands.size() != 3)
        return false;
    const Operand& to = instruction.operands[0];
    return to.kind == Operand::Kind::kRegister && is_register(instruction.operands[1], to.index) && instruction.operands[2].kind == Operand::Kind::kImmediate;
}

/// A loop of one basic block.
class Loop {
public:
    Loop(const ptx::Function& function, const BasicBlock& block) : function_(function), block_(block) {}

    bool turns_together() const {
        size_t loads = 0;
        for (uint32_t i = block_.begin; i < block_.end; ++i) {
            const Instruction& instruction = function_.body[i];
            loads += is_load(instruction);
            const OpcodeClass kind = ptx::class_of(instruction.opcode);
            const bool last = i + 1 == block_.end;
            if ((kind == OpcodeClass::kControl) != last || kind == OpcodeClass::kAsync || kind == OpcodeClass::kMatrix) return false;
            if (instruction.opcode == Opcode::kAtom || instruction.opcode == Opcode::kRed || instruction.opcode == Opcode::kDiv ||
                instruction.opcode == Opcode::kRem || instruction.opcode == Opcode::kSqrt)
                return false;
        }
        for (const ptx::Pragma& pragma : function_.pragmas)
            if (pragma.position == block_.begin && pragma.text.find("nounroll") != std::string::npos) return false;
        const size_t length = block_.end - block_.begin;
        return (loads == 0 ? length <= kLongestBody : length + loads <= kLongestBodyOfLoads) && counter() != kNone;
    }

    void mark(std::vector<MachineCode>& code) const {
        const uint32_t compared = counter();
        for (uint32_t i = block_.begin; i < block_.end; ++i) {
            const Instruction& instruction = function_.body[i];
            // Steps of addresses become offsets; the counter's is one for all turns, as are the comparison and the branch.
            code[i].once = i + 1 == block_.end || i == comparison_ || (is_step(instruction) && only_address_or(instruction.operands[0].index, compared));
        }
        if (!loads_pass_stores()) return;
        const std::vector<bool> needed = needed_at_once();
        for (uint32_t i = block_.begin; i < block_.end; ++i) {
            const Instruction& instruction = function_.body[i];
            const OpcodeClass kind = ptx::class_of(instruction.opcode);
            if (is_load(instruction) && (instruction.space == Space::kGlobal || instruction.space == Space::kGeneric)) code[i].late = true;
            if (kind != OpcodeClass::kArithmetic && instruction.opcode != Opcode::kSt) continue;
            const RegisterSets sets = registers_of(instruction);
            if (instruction.opcode == Opcode::kSt && loaded_in_turn(instruction.operands[0])) continue;
            code[i].late = std::none_of(sets.definitions.begin(), sets.definitions.end(), [&](uint32_t r) { return r != kNone && needed[r]; });
        }
    }

private:
    /// The register that the loop counts with; kNone: it is not counted. Finds comparison_.
    uint32_t counter() const {
        const Instruction& branch = function_.body[block_.end - 1];
        if (branch.opcode != Opcode::kBra || branch.guard.predicate == kNone) return kNone;
        uint32_t set = kNone;
        for (uint32_t i = block_.begin; i + 1 < block_.end; ++i) {
            const RegisterSets sets = registers_of(function_.body[i]);
            if (std::find(sets.definitions.begin(), sets.definitions.end(), branch.guard.predicate) == sets.definitions.end()) continue;
            if (set != kNone) return kNone;
            set = i;
        }
        if (set == kNone || function_.body[set].opcode != Opcode::kSetp || function_.body[set].operands.size() != 3) return kNone;
        comparison_ = set;
        for (const unsigned side : {1u, 2u}) {
            const Operand& counted = function_.body[set].operands[side];
            const Operand& limit = function_.body[set].operands[3 - side];
            if (counted.kind != Operand::Kind::kRegister || definitions(counted.index) != 1) continue;
            if (limit.kind == Operand::Kind::kRegister ? definitions(limit.index) != 0 : limit.kind != Operand::Kind::kImmediate) continue;
            for (uint32_t i = block_.begin; i < set; ++i)
                if (is_step(function_.body[i]) && is_register(function_.body[i].operands[0], counted.index)) return counted.index;
        }
        return kNone;
    }

    unsigned definitions(uint32_t reg) const {
        unsigned count = 0;
        for (uint32_t i = block_.begin; i < block_.end; ++i) {
            const RegisterSets sets = registers_of(function_.body[i]);
            count += unsigned(std::count(sets.definitions.begin(), sets.definitions.end(), reg));
        }
        return count;
    }

    /// Whether a part of an address is what a load of the loop returns.
    bool loaded_in_turn(const Operand& address) const {
        for (uint32_t i = block_.begin; i < block_.end; ++i) {
            if (!is_load(function_.body[i])) continue;
            const RegisterSets sets = registers_of(function_.body[i]);
            for (const uint32_t r : sets.definitions)
                for (const Operand& part : address.elements)
                    if (is_register(part, r)) return true;
        }
        return false;
    }

    /// Whether the register is the counter, or within the loop only stepped and the base of addresses.
    bool only_address_or(uint32_t reg, uint32_t counter) const {
        if (reg == counter) return true;
        for (uint32_t i = block_.begin; i < block_.end; ++i) {
            const Instruction& instruction = function_.body[i];
            if (ptx::class_of(instruction.opcode) != OpcodeClass::kMemory && !(is_step(instruction) && is_register(instruction.operands[0], reg)) && reads(instruction, reg))
                return false;
        }
        return definitions(reg) == 1;
    }

    /// Whether the loads of one turn may be issued before the stores of the turn before; nothing passes a barrier.
    bool loads_pass_stores() const {
        for (uint32_t i = block_.begin; i < block_.end; ++i) {
            const Instruction& store = function_.body[i];
            const OpcodeClass kind = ptx::class_of(store.opcode);
            if (kind == OpcodeClass::kBarrier || kind == OpcodeClass::kCollective || kind == OpcodeClass::kMisc) return false;
            for (const ptx::Suffix suffix : store.suffixes)
                if (suffix == ptx::Suffix::kVolatile || suffix == ptx::Suffix::kRelaxed || suffix == ptx::Suffix::kAcquire || suffix == ptx::Suffix::kRelease) return false;
            if (store.opcode != Opcode::kSt) continue;
            for (uint32_t k = block_.begin; k < block_.end; ++k) {
                const Instruction& load = function_.body[k];
                if (is_load(load) && !load.has(ptx::Suffix::kNc) && load.space != Space::kConst &&
                    (load.space == store.space || load.space == Space::kGeneric || store.space == Space::kGeneric))
                    return false;
            }
        }
        return true;
    }

    /// By register: whether an address, a guard or the loop's end depends on it, in this turn or in a later one.
    std::vector<bool> needed_at_once() const {
        std::vector<bool> needed(function_.registers.size());
        const auto need = [&](const Operand& operand, const auto& self) -> void {
            if (operand.kind == Operand::Kind::kRegister) needed[operand.index] = true;
            for (const Operand& element : operand.elements) self(element, self);
        };
        for (uint32_t i = block_.begin; i < block_.end; ++i) {
            const Instruction& instruction = function_.body[i];
            if (instruction.guard.predicate != kNone) needed[instruction.guard.predicate] = true;
            if (instruction.opcode == Opcode::kTex || instruction.opcode == Opcode::kTld4) need(instruction.operands.back(), need);
            for (const Operand& operand : instruction.operands)
                if (operand.kind == Operand::Kind::kAddress) need(operand, need);
        }
        for (bool changed = true; changed;) {
            changed = false;
            for (uint32_t i = block_.begin; i < block_.end; ++i) {
                if (is_load(function_.body[i])) continue;  // their addresses are needed anyway
                const RegisterSets sets = registers_of(function_.body[i]);
                if (std::none_of(sets.definitions.begin(), sets.definitions.end(), [&](uint32_t r) { return r != kNone && needed[r]; })) continue;
                for (const uint32_t r : sets.uses) {
                    changed |= !needed[r];
                    needed[r] = true;
                }
            }
        }
        return needed;
    }

    const ptx::Function& function_;
    const BasicBlock& block_;
    mutable uint32_t comparison_ = kNone;     // found by counter()
};

/// Finds instructions that become parts of others.
class Folding {
public:
    Folding(const ptx::Function& function, std::vector<MachineCode>& code)
        : function_(function), code_(code), users_(function.registers.size()), definitions_(function.registers.size()), takes_(code.size()) {
        for (uint32_t i = 0; i < code.size(); ++i) {
            const RegisterSets sets = registers_of(function.body[i]);
            for (const uint32_t r : sets.uses)
                if (users_[r].empty() || users_[r].back() != i) users_[r].push_back(i);
            for (const uint32_t r : sets.definitions)
                if (r != kNone) ++definitions_[r];
        }
    }

    void run() {
        for (uint32_t i = 0; i < code_.size(); ++i) {
            const Instruction& instruction = function_.body[i];
            if (instruction.guard.predicate != kNone || instruction.operands.empty() || instruction.operands[0].kind != Operand::Kind::kRegister) continue;
            const uint32_t result = instruction.operands[0].index;
            if (definitions_[result] != 1 || users_[result].empty()) continue;
            const std::vector<uint32_t>& users = users_[result];
            const auto all = [&](auto is) { return std::all_of(users.begin(), users.end(), [&](uint32_t user) { return is(function_.body[user]) && takes_[user] == 0; }); };
            const bool one = users.size() == 1;
            if (is_product(instruction) && all([&](const Instruction& user) { return is_sum(user, result_bits(instruction)); })) {
                for (const uint32_t user : users) {
                    const bool leas = instruction.opcode == Opcode::kShl && !widened(instruction);
                    const bool wide = result_bits(instruction) == 64;
                    take(user, {uint8_t(leas && wide ? 2 : 1), leas ? Pipe::kAlu : Pipe::kMultiply, uint8_t(wide ? 2 : 1), 4});
                }
            } else if (is_widening(instruction) && all([&](const Instruction& user) { return is_product(user) && result_bits(user) == 64; })) {
            } else if (is_sum(instruction, result_bits(instruction)) && takes_[i] == 0 && instruction.operands[2].kind == Operand::Kind::kImmediate &&
                       std::all_of(users.begin(), users.end(), [&](uint32_t user) { return addresses_with(function_.body[user], result); })) {
            } else if (one && takes_[i] == 0 && result_bits(instruction) == 32 && is_sum(instruction, 32) && all([](const Instruction& user) { return is_sum(user, 32); })) {
                take(users[0], code_[users[0]]);
            } else if (one && takes_[i] == 0 && is_logic(instruction) && all([](const Instruction& user) { return is_logic(user); })) {
                take(users[0], code_[users[0]]);
            } else {
                continue;
            }
            static_cast<InstructionCost&>(code_[i]) = {0, Pipe::kNone, 0, 0};
        }
    }

private:
    void take(uint32_t user, InstructionCost cost) {
        static_cast<InstructionCost&>(code_[user]) = cost;
        ++takes_[user];
    }

    static bool is_integer(const Instruction& instruction) {
        const ptx::Type type = instruction.types[0];
        return type != ptx::Type::kPred && ptx::bits(type) >= 32 && type != ptx::Type::kF32 && type != ptx::Type::kF64 && type != ptx::Type::kF16x2 && type != ptx::Type::kBf16x2;
    }
    static unsigned result_bits(const Instruction& instruction) { return ptx::bits(instruction.types[0]) * (instruction.has(ptx::Suffix::kWide) ? 2 : 1); }
    static bool is_sum(const Instruction& instruction, unsigned bits) {
        return (instruction.opcode == Opcode::kAdd || instruction.opcode == Opcode::kSub) && is_integer(instruction) && result_bits(instruction) == bits &&
               !instruction.has(ptx::Suffix::kCc) && instruction.operands.size() == 3;
    }
    static bool is_logic(const Instruction& instruction) {
        return (instruction.opcode == Opcode::kAnd || instruction.opcode == Opcode::kOr || instruction.opcode == Opcode::kXor) && is_integer(instruction) &&
               result_bits(instruction) == 32;
    }
    static bool is_product(const Instruction& instruction) {
        if (!is_integer(instruction)) return false;
        if (instruction.opcode == Opcode::kShl) return instruction.operands[2].kind == Operand::Kind::kImmediate;
        if (instruction.opcode != Opcode::kMul || instruction.has(ptx::Suffix::kHi)) return false;
        return instruction.has(ptx::Suffix::kWide) || result_bits(instruction) == 32;
    }
    static bool is_widening(const Instruction& instruction) {
        return instruction.opcode == Opcode::kCvt && ptx::bits(instruction.types[0]) == 64 && (instruction.types[1] == ptx::Type::kS32 || instruction.types[1] == ptx::Type::kU32);
    }
    /// Whether a shift of 64 bits is of a number of 32.
    bool widened(const Instruction& shift) const {
        const Operand& from = shift.operands[1];
        if (result_bits(shift) != 64 || from.kind != Operand::Kind::kRegister || definitions_[from.index] != 1) return false;
        return std::any_of(function_.body.begin(), function_.body.end(), [&](const Instruction& instruction) {
            return is_widening(instruction) && is_register(instruction.operands[0], from.index);
        });
    }
    static bool addresses_with(const Instruction& instruction, uint32_t reg) {
        if (ptx::class_of(instruction.opcode) != OpcodeClass::kMemory) return false;
        return std::all_of(instruction.operands.begin(), instruction.operands.end(), [&](const Operand& operand) { return !is_register(operand, reg); }) &&
               instruction.guard.predicate != reg;
    }

    const ptx::Function& function_;
    std::vector<MachineCode>& code_;
    std::vector<std::vector<uint32_t>> users_;    // by register
    std::vector<uint32_t> definitions_;           // by register
    std::vector<uint32_t> takes_;                 // by instruction: others that it contains
};

}  // namespace

std::vector<MachineCode> machine_code(const ptx::Function& function, const Flow& flow) {
    std::vector<MachineCode> code(function.body.size());
    for (size_t i = 0; i < code.size(); ++i) static_cast<InstructionCost&>(code[i]) = cost_of(function.body[i]);
    Folding(function, code).run();
    for (uint32_t b = 0; b < flow.blocks.size(); ++b) {
        const BasicBlock& block = flow.blocks[b];
        if (std::find(block.next.begin(), block.next.end(), b) == block.next.end() || block.begin == block.end) continue;
        const Loop loop(function, block);
        if (loop.turns_together()) loop.mark(code);
    }
    return code;
}

}  // namespace lanescope::exec
