#include "exec/schedule.h"

#include <algorithm>
#include <numeric>

#include "exec/instruction_cost.h"
#include "exec/step.h"

namespace lanescope::exec {
namespace {

using ptx::Instruction;
using ptx::kNone;
using ptx::Opcode;
using ptx::OpcodeClass;
using ptx::Operand;
using ptx::SpecialRegister;
using ptx::Suffix;
using ptx::Type;

constexpr uint32_t kWindow = 64;         // how far an instruction may overtake: registers are limited; assumed
constexpr unsigned kMemoryCycles = 300;  // for ordering only: far more than anything else

enum class Kind : uint8_t { kPlain, kLoad, kReadOnlyLoad, kStore, kFence };

bool is_ordered(const Instruction& instruction) {
    for (const Suffix suffix : instruction.suffixes)
        if (suffix == Suffix::kVolatile || suffix == Suffix::kRelaxed || suffix == Suffix::kAcquire || suffix == Suffix::kRelease ||
            suffix == Suffix::kMmio || suffix == Suffix::kCv)
            return true;
    return false;
}

bool reads_changing_special(const Operand& operand) {
    if (operand.kind == Operand::Kind::kSpecial) {
        const auto special = SpecialRegister(operand.index);
        return special >= SpecialRegister::kClock && special <= SpecialRegister::kGlobaltimerHi;
    }
    return std::any_of(operand.elements.begin(), operand.elements.end(), reads_changing_special);
}

Kind kind_of(const Instruction& instruction, bool entry) {
    switch (instruction.opcode) {
        case Opcode::kLd:
        case Opcode::kLdu:
            if (is_ordered(instruction)) return Kind::kFence;
            if (instruction.space == ptx::Space::kParam) return entry ? Kind::kReadOnlyLoad : Kind::kFence;
            return instruction.space == ptx::Space::kConst || instruction.has(Suffix::kNc) ? Kind::kReadOnlyLoad : Kind::kLoad;
        case Opcode::kSt: return is_ordered(instruction) || instruction.space == ptx::Space::kParam ? Kind::kFence : Kind::kStore;
        case Opcode::kAtom:
        case Opcode::kRed: return is_ordered(instruction) ? Kind::kFence : Kind::kStore;
        case Opcode::kTex:
        case Opcode::kTld4: return Kind::kReadOnlyLoad;
        case Opcode::kAlloca:
        case Opcode::kStacksave:
        case Opcode::kStackrestore: return Kind::kFence;
        default: break;
    }
    const OpcodeClass opcode_class = ptx::class_of(instruction.opcode);
    if (opcode_class != OpcodeClass::kArithmetic && opcode_class != OpcodeClass::kAddress) return Kind::kFence;
    return std::any_of(instruction.operands.begin(), instruction.operands.end(), reads_changing_special) ? Kind::kFence : Kind::kPlain;
}

bool uses_carry(const Instruction& instruction) {
    return instruction.opcode == Opcode::kAddc || instruction.opcode == Opcode::kSubc || instruction.opcode == Opcode::kMadc || instruction.has(Suffix::kCc);
}

bool is_atomic(const Instruction& instruction) { return instruction.opcode == Opcode::kAtom || instruction.opcode == Opcode::kRed; }

struct Reach {
    ptx::Space space{};
    Operand base;
    uint32_t version = kNone;   // definition of the base register that the address uses
    int64_t begin = 0, end = 0;
    bool atomic = false;        // keeps its place among all accesses
};

bool may_overlap(const Reach& a, const Reach& b) {
    if (a.atomic || b.atomic) return true;
    if (a.space != b.space && a.space != ptx::Space::kGeneric && b.space != ptx::Space::kGeneric) return false;
    if (a.base == b.base && a.version == b.version) return a.begin < b.end && b.begin < a.end;
    return true;
}

/// Orders one block.
class BlockScheduler {
public:
    /// `last_definition`, `readers`: by register, empty before and after.
    BlockScheduler(const ptx::Function& function, uint32_t begin, uint32_t end, std::vector<uint32_t>& last_definition,
                   std::vector<std::vector<uint32_t>>& readers)
        : function_(function), begin_(begin), count_(end - begin), next_(count_), waiting_(count_), earliest_(count_), last_definition_(last_definition),
          readers_(readers) {}

    void order(std::vector<uint32_t>& out) {
        find_dependences();
        std::vector<bool> issued(count_);
        uint32_t oldest = 0;
        uint64_t now = 0;
        for (uint32_t done = 0; done < count_; ++done) {
            while (issued[oldest]) ++oldest;
            uint32_t best = kNone;
            for (uint32_t i = oldest; i < std::min(count_, oldest + kWindow); ++i) {
                if (issued[i] || waiting_[i] != 0) continue;
                if (earliest_[i] <= now) {
                    best = i;
                    break;
                }
                if (best == kNone || earliest_[i] < earliest_[best]) best = i;
            }
            issued[best] = true;
            now = std::max(now, earliest_[best]) + 1;
            out.push_back(begin_ + best);
            for (const Edge& edge : next_[best]) {
                --waiting_[edge.to];
                earliest_[edge.to] = std::max(earliest_[edge.to], now - 1 + edge.cycles);
            }
        }
    }

private:
    struct Edge { uint32_t to; unsigned cycles; };

    void depend(uint32_t before, uint32_t after, unsigned cycles) {
        if (before == kNone || before == after) return;
        next_[before].push_back({after, cycles});
        ++waiting_[after];
    }

    void find_dependences() {
        std::vector<uint32_t> touched;
        std::vector<std::pair<uint32_t, Reach>> loads, stores;
        uint32_t fence = kNone, carry = kNone;
        for (uint32_t i = 0; i < count_; ++i) {
            const Instruction& instruction = function_.body[begin_ + i];
            const RegisterSets sets = registers_of(instruction);
            const Kind kind = kind_of(instruction, function_.entry);
            for (const uint32_t r : sets.uses)
                if (const uint32_t d = last_definition_[r]; d != kNone) depend(d, i, cycles_of(function_.body[begin_ + d]));
            depend(fence, i, 1);
            if (uses_carry(instruction)) {
                depend(carry, i, kDependentCycles);
                carry = i;
            }
            if (kind == Kind::kLoad || kind == Kind::kStore) {
                const Reach reach = reach_of(instruction);
                for (const auto& [store, other] : stores)
                    if (may_overlap(reach, other)) depend(store, i, 1);
                if (kind == Kind::kStore)
                    for (const auto& [load, other] : loads)
                        if (may_overlap(reach, other)) depend(load, i, 1);
                (kind == Kind::kStore ? stores : loads).emplace_back(i, reach);
            } else if (kind == Kind::kFence) {
                for (uint32_t before = fence == kNone ? 0 : fence + 1; before < i; ++before) depend(before, i, 1);
                fence = i;
                loads.clear();
                stores.clear();
            }
            for (const uint32_t r : sets.definitions) {
                if (r == kNone) continue;
                depend(last_definition_[r], i, 1);
                for (const uint32_t reader : readers_[r]) depend(reader, i, 1);
            }
            for (const uint32_t r : sets.definitions) {
                if (r == kNone) continue;
                readers_[r].clear();
                last_definition_[r] = i;
                touched.push_back(r);
            }
            for (const uint32_t r : sets.uses) {
                readers_[r].push_back(i);
                touched.push_back(r);
            }
        }
        for (const uint32_t r : touched) {
            last_definition_[r] = kNone;
            readers_[r].clear();
        }
    }

    static unsigned cycles_of(const Instruction& instruction) {
        const bool memory = (instruction.opcode == Opcode::kLd && instruction.space != ptx::Space::kParam) || instruction.opcode == Opcode::kLdu ||
                            instruction.opcode == Opcode::kTex || instruction.opcode == Opcode::kTld4 || instruction.opcode == Opcode::kAtom;
        return memory ? (instruction.space == ptx::Space::kShared || instruction.space == ptx::Space::kConst ? 30 : kMemoryCycles) : cost_of(instruction).latency;
    }

    Reach reach_of(const Instruction& instruction) const {
        if (is_atomic(instruction)) return {.space = ptx::Space::kGeneric, .atomic = true};
        const bool store = instruction.opcode == Opcode::kSt;
        const Operand& address = instruction.operands[store ? 0 : 1];
        const Operand& value = instruction.operands[store ? 1 : 0];
        const int64_t count = value.kind == Operand::Kind::kVector ? int64_t(value.elements.size()) : std::max<int64_t>(instruction.vector, 1);
        Reach reach;
        reach.space = instruction.space;
        reach.base = address.elements[0];
        if (reach.base.kind == Operand::Kind::kRegister) reach.version = last_definition_[reach.base.index];
        reach.begin = address.value;
        reach.end = address.value + count * std::max<int64_t>(1, ptx::bits(instruction.types[0]) / 8);
        return reach;
    }

    const ptx::Function& function_;
    const uint32_t begin_, count_;
    std::vector<std::vector<Edge>> next_;
    std::vector<uint32_t> waiting_;       // dependences not yet issued
    std::vector<uint64_t> earliest_;
    std::vector<uint32_t>& last_definition_;
    std::vector<std::vector<uint32_t>>& readers_;  // since the register's last definition
};

}  // namespace

std::vector<uint32_t> schedule(const ptx::Function& function, const Flow& flow) {
    std::vector<uint32_t> order;
    order.reserve(function.body.size());
    std::vector<uint32_t> last_definition(function.registers.size(), kNone);
    std::vector<std::vector<uint32_t>> readers(function.registers.size());
    for (const BasicBlock& block : flow.blocks) BlockScheduler(function, block.begin, block.end, last_definition, readers).order(order);
    return order;
}

}  // namespace lanescope::exec
