#include "exec/flow.h"

#include <algorithm>

#include "ptx/lookup.h"

namespace lanescope::exec {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::kNone;
using ptx::Opcode;
using ptx::Operand;

void add_uses(const Operand& operand, std::vector<uint32_t>& uses) {
    if (operand.kind == Operand::Kind::kRegister) uses.push_back(operand.index);
    for (const Operand& element : operand.elements) add_uses(element, uses);
}

void add_definitions(const Operand& operand, RegisterSets& sets) {
    switch (operand.kind) {
        case Operand::Kind::kRegister:
            sets.definitions.push_back(operand.index);
            if (operand.component != 0) sets.uses.push_back(operand.index);
            break;
        case Operand::Kind::kVector:
        case Operand::Kind::kPair:
        case Operand::Kind::kList:
            for (const Operand& element : operand.elements) add_definitions(element, sets);
            break;
        case Operand::Kind::kSink: sets.definitions.push_back(kNone); break;
        default: add_uses(operand, sets.uses);
    }
}

bool ends_block(Opcode opcode) {
    return opcode == Opcode::kBra || opcode == Opcode::kBrxIdx || opcode == Opcode::kRet || opcode == Opcode::kExit || opcode == Opcode::kTrap;
}

/// One bit a register.
class Bits {
public:
    explicit Bits(size_t size) : words_((size + 63) / 64) {}
    bool get(uint32_t i) const { return words_[i / 64] >> (i % 64) & 1; }
    void set(uint32_t i) { words_[i / 64] |= uint64_t(1) << (i % 64); }
    void clear(uint32_t i) { words_[i / 64] &= ~(uint64_t(1) << (i % 64)); }
    /// this |= other; whether anything changed
    bool merge(const Bits& other) {
        uint64_t changed = 0;
        for (size_t w = 0; w < words_.size(); ++w) {
            changed |= other.words_[w] & ~words_[w];
            words_[w] |= other.words_[w];
        }
        return changed != 0;
    }
    template <class F>
    void each(F f) const {
        for (size_t w = 0; w < words_.size(); ++w)
            for (uint64_t rest = words_[w]; rest != 0; rest &= rest - 1) f(uint32_t(w * 64 + unsigned(__builtin_ctzll(rest))));
    }

private:
    std::vector<uint64_t> words_;
};

}  // namespace

RegisterSets registers_of(const Instruction& instruction) {
    RegisterSets sets;
    const unsigned destinations = ptx::destination_count(instruction);
    for (unsigned i = 0; i < instruction.operands.size(); ++i) {
        if (i < destinations) add_definitions(instruction.operands[i], sets);
        else add_uses(instruction.operands[i], sets.uses);
    }
    // The accumulator of wgmma is read as well.
    if (instruction.opcode == Opcode::kWgmmaMmaAsync && destinations != 0) add_uses(instruction.operands[0], sets.uses);
    if (instruction.guard.predicate != kNone) sets.uses.push_back(instruction.guard.predicate);
    return sets;
}

Flow::Flow(const Function& function) {
    find_blocks(function);
    find_meetings(function);
    find_lifetimes(function);
    find_compared(function);
}

void Flow::find_blocks(const Function& function) {
    const auto size = uint32_t(function.body.size());
    std::vector<bool> leader(size + 1);
    leader[0] = true;
    for (const ptx::Label& label : function.labels) leader[std::min(label.position, size)] = true;
    for (uint32_t i = 0; i < size; ++i)
        if (ends_block(function.body[i].opcode)) leader[i + 1] = true;
    block_of.resize(size + 1);
    for (uint32_t i = 0; i <= size; ++i) {
        if (leader[i] || i == size) {
            if (!blocks.empty()) blocks.back().end = i;
            blocks.push_back({i, i, {}, false, false});  // the last one is empty: the implicit ret at the end
        }
        block_of[i] = uint32_t(blocks.size() - 1);
    }
    blocks.back().end = size;
    blocks.back().leaves = true;
    for (uint32_t b = 0; b + 1 < blocks.size(); ++b) {
        BasicBlock& block = blocks[b];
        const Instruction& last = function.body[block.end - 1];
        const bool guarded = last.guard.predicate != kNone;
        bool falls_through = true;
        const auto go_to = [&](uint32_t label) { block.next.push_back(block_of[std::min(function.labels[label].position, size)]); };
        switch (last.opcode) {
            case Opcode::kBra:
                go_to(last.operands[0].index);
                falls_through = guarded;
                break;
            case Opcode::kBrxIdx:
                for (const uint32_t label : function.tables[last.operands[1].index].targets) go_to(label);
                falls_through = guarded;
                break;
            case Opcode::kRet:
            case Opcode::kExit:
            case Opcode::kTrap:
                block.leaves = true;
                falls_through = guarded;
                break;
            default: break;
        }
        if (falls_through) block.next.push_back(b + 1);
        std::sort(block.next.begin(), block.next.end());
        block.next.erase(std::unique(block.next.begin(), block.next.end()), block.next.end());
    }
    std::vector<uint32_t> todo{0};
    blocks[0].reachable = true;
    while (!todo.empty()) {
        const uint32_t b = todo.back();
        todo.pop_back();
        for (const uint32_t next : blocks[b].next)
            if (!blocks[next].reachable) {
                blocks[next].reachable = true;
                todo.push_back(next);
            }
    }
}

// Immediate post-dominators by the iterative algorithm over the reversed graph (Cooper, Harvey and Kennedy: A Simple, Fast Dominance
// Algorithm); a virtual exit follows every block that leaves, and every endless loop's blocks stay without one.
void Flow::find_meetings(const Function& function) {
    const auto count = uint32_t(blocks.size()), exit = count;
    std::vector<std::vector<uint32_t>> previous(count + 1);
    for (uint32_t b = 0; b < count; ++b) {
        for (const uint32_t next : blocks[b].next) previous[next].push_back(b);
        if (blocks[b].leaves) previous[exit].push_back(b);
    }
    // Depth-first postorder from the exit, backwards along the edges.
    std::vector<uint32_t> order, number(count + 1, kNone);
    std::vector<std::pair<uint32_t, uint32_t>> stack{{exit, 0}};
    std::vector<bool> seen(count + 1);
    seen[exit] = true;
    while (!stack.empty()) {
        auto& [node, child] = stack.back();
        if (child < previous[node].size()) {
            const uint32_t p = previous[node][child++];
            if (!seen[p]) {
                seen[p] = true;
                stack.emplace_back(p, 0);
            }
        } else {
            number[node] = uint32_t(order.size());
            order.push_back(node);
            stack.pop_back();
        }
    }
    std::vector<uint32_t> dominator(count + 1, kNone);
    dominator[exit] = exit;
    const auto intersect = [&](uint32_t a, uint32_t b) {
        while (a != b) {
            while (number[a] < number[b]) a = dominator[a];
            while (number[b] < number[a]) b = dominator[b];
        }
        return a;
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (auto it = order.rbegin(); it != order.rend(); ++it) {
            const uint32_t b = *it;
            if (b == exit) continue;
            uint32_t found = kNone;
            const auto consider = [&](uint32_t next) {
                if (dominator[next] == kNone) return;
                found = found == kNone ? next : intersect(found, next);
            };
            for (const uint32_t next : blocks[b].next) consider(next);
            if (blocks[b].leaves) consider(exit);
            if (found != dominator[b]) {
                dominator[b] = found;
                changed = true;
            }
        }
    }
    // Lanes that come to a kernel's end do not wait there for others: machine code ends them at once. It matters to barriers in loops that
    // threads leave one after the other: they count those that are left.
    const bool barriers = function.entry && std::any_of(function.body.begin(), function.body.end(), [](const Instruction& each) {
        return each.opcode == Opcode::kBar || each.opcode == Opcode::kBarrier;
    });
    const auto only_ends = [&](uint32_t b) {
        const Instruction& first = function.body[blocks[b].begin];
        return barriers && (first.opcode == Opcode::kRet || first.opcode == Opcode::kExit) && first.guard.predicate == kNone;
    };
    meets.resize(count, kNone);
    for (uint32_t b = 0; b < count; ++b)
        if (dominator[b] != kNone && dominator[b] != exit && !only_ends(dominator[b])) meets[b] = blocks[dominator[b]].begin;
}

void Flow::find_compared(const Function& function) {
    compared.assign(function.registers.size(), false);
    bool changed = false;
    const auto mark = [&](const Operand& operand) {
        if (operand.kind != Operand::Kind::kRegister || compared[operand.index]) return;
        compared[operand.index] = changed = true;
    };
    for (const Instruction& instruction : function.body)
        if (instruction.opcode == Opcode::kAtom && instruction.has(ptx::Suffix::kCas) && instruction.operands.size() > 2) mark(instruction.operands[2]);
    while (changed) {
        changed = false;
        for (const Instruction& instruction : function.body) {
            const bool copies = (instruction.opcode == Opcode::kMov || instruction.opcode == Opcode::kCvt) && instruction.operands.size() == 2;
            if (copies && instruction.operands[0].kind == Operand::Kind::kRegister && compared[instruction.operands[0].index]) mark(instruction.operands[1]);
        }
    }
}

void Flow::find_lifetimes(const Function& function) {
    const size_t registers = function.registers.size();
    const size_t count = blocks.size();
    std::vector<RegisterSets> sets(function.body.size());
    for (size_t i = 0; i < sets.size(); ++i) sets[i] = registers_of(function.body[i]);
    const auto kills = [&](uint32_t i) { return function.body[i].guard.predicate == kNone; };

    std::vector<Bits> live_in(count, Bits(registers)), killed(count, Bits(registers)), live_out(count, Bits(registers));
    Bits at_end(registers);  // values that the caller reads: return values in registers
    for (size_t r = 0; r < function.return_symbols.size() && r < function.returns.size(); ++r)
        if (function.returns[r].space == ptx::Space::kRegister) at_end.set(function.return_symbols[r]);
    for (uint32_t b = 0; b < count; ++b) {
        if (blocks[b].leaves) live_out[b].merge(at_end);
        for (uint32_t i = blocks[b].end; i-- > blocks[b].begin;) {
            if (kills(i))
                for (const uint32_t r : sets[i].definitions)
                    if (r != kNone) {
                        live_in[b].clear(r);
                        killed[b].set(r);
                    }
            for (const uint32_t r : sets[i].uses) live_in[b].set(r);
        }
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = uint32_t(count); b-- > 0;) {
            bool more = false;
            for (const uint32_t next : blocks[b].next) more |= live_out[b].merge(live_in[next]);
            if (!more && !blocks[b].leaves) continue;
            Bits through = live_out[b];
            killed[b].each([&](uint32_t r) { through.clear(r); });
            changed |= live_in[b].merge(through) || more;
        }
    }
    lifetimes.resize(registers);
    dead.resize(function.body.size());
    const auto extend = [&](uint32_t r, uint32_t position) {
        lifetimes[r].first = std::min(lifetimes[r].first, position);
        lifetimes[r].last = std::max(lifetimes[r].last, position);
    };
    for (uint32_t b = 0; b < count; ++b) {
        live_in[b].each([&](uint32_t r) { extend(r, 2 * blocks[b].begin); });
        live_out[b].each([&](uint32_t r) { extend(r, 2 * blocks[b].end); });
        Bits live = live_out[b];
        for (uint32_t i = blocks[b].end; i-- > blocks[b].begin;) {
            const std::vector<uint32_t>& definitions = sets[i].definitions;
            for (size_t k = 0; k < definitions.size() && k < 32; ++k)
                if (definitions[k] == kNone || !live.get(definitions[k])) dead[i] |= 1u << k;
            for (const uint32_t r : definitions)
                if (r != kNone) {
                    extend(r, 2 * i + 1);
                    if (kills(i)) live.clear(r);
                }
            for (const uint32_t r : sets[i].uses) {
                extend(r, 2 * i);
                live.set(r);
            }
        }
    }
    // A destination never shares a row with a source of the same instruction, so that steps may write while they read: a lifetime ends
    // at the write position of its last reader.
    for (Lifetime& lifetime : lifetimes)
        if (lifetime.used()) lifetime.last |= 1;
    Bits parameters(registers);
    for (size_t p = 0; p < function.parameter_symbols.size() && p < function.parameters.size(); ++p)
        if (function.parameters[p].space == ptx::Space::kRegister) {
            parameters.set(function.parameter_symbols[p]);
            extend(function.parameter_symbols[p], 0);
        }
    live_in[0].each([&](uint32_t r) {
        if (!parameters.get(r)) unset.push_back(r);
    });
}

}  // namespace lanescope::exec
