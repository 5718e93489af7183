#include "exec/lowering.h"

#include <algorithm>
#include <bit>

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

/// Words of one base that are accessed together: the pieces of machine code that cover them. `elements`: offset → bytes, disjoint.
struct Word { int64_t offset = 0; uint32_t bytes = 0, instruction = 0; };

/// Merges [begin, begin + bytes): the whole window is one access where its halves are both there and, for loads, one of them is whole; for
/// stores, both. Measured with ptxas 13.0 for sm_90: loads of words 0 1 2, 0 1 3, 1 2 3 of four are one of 128 bits, 0 1 and 2 3 one of 64,
/// 0 2, 0 3 and 1 2 stay two; stores of 0 1 2 are one of 64 and one of 32 bits. It narrows global vector loads to their used words likewise.
struct Merged { int64_t offset; uint32_t bytes; };
bool merge(const std::vector<Word>& words, int64_t begin, uint32_t bytes, bool store, std::vector<Merged>& out) {
    const auto inside = [&](const Word& w) { return w.offset >= begin && w.offset + w.bytes <= begin + bytes; };
    const auto first = std::find_if(words.begin(), words.end(), inside);
    if (first == words.end()) return false;
    if (first->offset == begin && first->bytes == bytes) {
        out.push_back({begin, bytes});
        return true;
    }
    if (bytes == 1) return false;
    std::vector<Merged> low, high;
    const bool whole_low = merge(words, begin, bytes / 2, store, low), whole_high = merge(words, begin + bytes / 2, bytes / 2, store, high);
    const bool together = store ? whole_low && whole_high : (whole_low || whole_high) && !low.empty() && !high.empty();
    if (together) {
        out.push_back({begin, bytes});
        return true;
    }
    out.insert(out.end(), low.begin(), low.end());
    out.insert(out.end(), high.begin(), high.end());
    return false;
}

/// The accesses that read the bytes in `used` (bit i: byte i) of a vector of `width` bytes; never less than words of 32 bits.
std::vector<Piece> narrow(uint64_t used, uint32_t width, uint32_t element) {
    const uint32_t unit = std::min(width, std::max(element, 4u));
    std::vector<Word> words;
    for (uint32_t begin = 0; begin < width; begin += unit)
        if ((used >> begin & ((uint64_t(1) << unit) - 1)) != 0) words.push_back({begin, unit, 0});
    std::vector<Merged> merged;
    merge(words, 0, width, false, merged);
    std::vector<Piece> pieces;
    for (const Merged& m : merged) pieces.push_back({int32_t(m.offset), m.bytes});
    return pieces;
}

}  // namespace

Lowering::Lowering(const ptx::Function& function, const Flow& flow, const VariableAlignment& of_variable, bool optimized)
    : pieces_(function.body.size()) {
    find_uniform(function);
    for (uint32_t i = 0; i < function.body.size(); ++i) {
        const Instruction& instruction = function.body[i];
        if (!is_access(instruction)) continue;
        const uint32_t element = std::max(1u, ptx::bits(instruction.types[0]) / 8), count = elements_of(instruction), width = element * count;
        const bool load = instruction.opcode != Opcode::kSt;
        if (instruction.space == Space::kLocal && !load && count > 1 && element == 4) {
            for (uint32_t e = 0; e < count; ++e) pieces_[i].push_back({int32_t(e * element), element});
        } else if (optimized && load && count > 1 && width <= 32 && (instruction.space == Space::kGlobal || instruction.space == Space::kGeneric) && !ordered(instruction)) {
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
    if (optimized) merge_shared(function, flow, of_variable);
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

bool Lowering::reduces_in_warp(const Instruction& instruction, bool unused) const {
    const Type type = instruction.types[0];
    const unsigned bits = ptx::bits(type);
    const bool is_float = type == Type::kF32 || type == Type::kF64 || type == Type::kF16 || type == Type::kF16x2 || type == Type::kBf16 || type == Type::kBf16x2;
    if (is_float || instruction.vector > 1) return false;
    for (const Suffix suffix : instruction.suffixes)
        if (suffix == Suffix::kCas || suffix == Suffix::kExch || suffix == Suffix::kInc || suffix == Suffix::kDec) return false;
    const size_t first = instruction.opcode == Opcode::kAtom ? 1 : 0;
    if (!uniform(instruction.operands[first])) return false;
    // Every lane's old value can be told from the first one's only if all add the same; 64-bit operands cannot be combined otherwise either.
    const bool same = uniform(instruction.operands[first + 1]) && instruction.has(Suffix::kAdd);
    return same || (unused && bits == 32);
}

namespace {

constexpr uint8_t kAligned = 31;  // log2 of "any power of two": zero

uint8_t alignment_of(uint64_t value) { return value == 0 ? kAligned : uint8_t(std::min<unsigned>(kAligned, unsigned(std::countr_zero(value)))); }

/// log2 of the largest power of two that is known to divide each register.
class Alignments {
public:
    Alignments(const ptx::Function& function, const VariableAlignment& of_variable) : of_variable_(of_variable), known_(function.registers.size(), kAligned) {
        std::vector<bool> defined(function.registers.size());
        for (const Instruction& instruction : function.body)
            for (const uint32_t r : registers_of(instruction).definitions)
                if (r != kNone) defined[r] = true;
        for (size_t r = 0; r < known_.size(); ++r)
            if (!defined[r]) known_[r] = 0;
        // From "anything" down to what all definitions guarantee.
        for (bool changed = true; changed;) {
            changed = false;
            for (const Instruction& instruction : function.body) {
                const RegisterSets sets = registers_of(instruction);
                for (const uint32_t r : sets.definitions) {
                    if (r == kNone) continue;
                    const uint8_t now = sets.definitions.size() == 1 ? result_of(instruction) : 0;
                    if (now < known_[r]) {
                        known_[r] = now;
                        changed = true;
                    }
                }
            }
        }
    }
    uint8_t of(const Operand& operand) const {
        switch (operand.kind) {
            case Operand::Kind::kRegister: return known_[operand.index];
            case Operand::Kind::kImmediate: return alignment_of(uint64_t(operand.value));
            case Operand::Kind::kVariable: return std::min(of_variable_(operand), alignment_of(uint64_t(operand.value)));
            default: return 0;
        }
    }

private:
    uint8_t result_of(const Instruction& instruction) const {
        const auto& o = instruction.operands;
        const auto sum = [](unsigned a, unsigned b) { return uint8_t(std::min<unsigned>(kAligned, a + b)); };
        switch (instruction.opcode) {
            case Opcode::kMov: case Opcode::kCvta: return o.size() == 2 ? of(o[1]) : 0;
            case Opcode::kCvt: {
                const bool integers = std::all_of(instruction.types.begin(), instruction.types.begin() + 2, [](Type t) {
                    return t >= Type::kU16 && t <= Type::kS64;
                });
                return integers && !instruction.has(Suffix::kSat) ? of(o[1]) : 0;
            }
            case Opcode::kAdd: case Opcode::kSub: case Opcode::kOr: case Opcode::kXor: return std::min(of(o[1]), of(o[2]));
            case Opcode::kAnd: return std::max(of(o[1]), of(o[2]));
            case Opcode::kMul: return instruction.has(Suffix::kHi) ? 0 : sum(of(o[1]), of(o[2]));
            case Opcode::kMad: return instruction.has(Suffix::kHi) ? 0 : std::min(sum(of(o[1]), of(o[2])), of(o[3]));
            case Opcode::kShl: return o[2].kind == Operand::Kind::kImmediate ? sum(of(o[1]), unsigned(std::min<int64_t>(o[2].value & 63, kAligned))) : of(o[1]);
            case Opcode::kSelp: return std::min(of(o[1]), of(o[2]));
            default: return 0;
        }
    }
    const VariableAlignment& of_variable_;
    std::vector<uint8_t> known_;
};

}  // namespace

void Lowering::merge_shared(const ptx::Function& function, const Flow& flow, const VariableAlignment& of_variable) {
    const bool any = std::any_of(function.body.begin(), function.body.end(), [](const Instruction& i) { return is_access(i) && i.space == Space::kShared; });
    if (!any) return;
    const Alignments alignments(function, of_variable);
    struct Group {
        const Operand* base = nullptr;
        ptx::Guard guard;
        bool store = false;
        std::vector<Word> words;
    };
    std::vector<Group> groups;
    const auto finish = [&](Group& group) {
        if (group.words.size() < 2) return;
        const int64_t window = int64_t(1) << std::min<unsigned>(alignments.of(*group.base), 4);
        std::sort(group.words.begin(), group.words.end(), [](const Word& a, const Word& b) { return a.offset < b.offset; });
        std::vector<Merged> merged;
        for (size_t i = 0; i < group.words.size();) {
            const int64_t begin = group.words[i].offset - ((group.words[i].offset % window) + window) % window;
            std::vector<Word> words;
            for (; i < group.words.size() && group.words[i].offset < begin + window; ++i) words.push_back(group.words[i]);
            const bool fits = std::all_of(words.begin(), words.end(), [&](const Word& w) { return w.offset + w.bytes <= begin + window; });
            if (fits) merge(words, begin, uint32_t(window), group.store, merged);
            else for (const Word& w : words) merged.push_back({w.offset, w.bytes});
        }
        // The first instruction in program order of those that an access covers makes it (of a store: the last, when all values are there).
        for (const Word& word : group.words) pieces_[word.instruction].clear();
        for (const Merged& m : merged) {
            const Word* leader = nullptr;
            for (const Word& word : group.words) {
                if (word.offset < m.offset || word.offset >= m.offset + m.bytes) continue;
                if (leader == nullptr || (group.store ? word.instruction > leader->instruction : word.instruction < leader->instruction)) leader = &word;
            }
            if (leader != nullptr) pieces_[leader->instruction].push_back({int32_t(m.offset - leader->offset), m.bytes});
        }
    };
    const auto finish_if = [&](auto condition) {
        for (size_t g = 0; g < groups.size();) {
            if (condition(groups[g])) {
                finish(groups[g]);
                groups.erase(groups.begin() + ptrdiff_t(g));
            } else {
                ++g;
            }
        }
    };
    for (const BasicBlock& block : flow.blocks) {
        for (uint32_t i = block.begin; i < block.end; ++i) {
            const Instruction& instruction = function.body[i];
            const bool shared = is_access(instruction) && instruction.space == Space::kShared && !ordered(instruction);
            const bool store = instruction.opcode == Opcode::kSt;
            if (shared) {
                const Operand& address = instruction.operands[store ? 0 : 1];
                const uint32_t bytes = std::max(1u, ptx::bits(instruction.types[0]) / 8) * elements_of(instruction);
                // A store ends what was loaded before it, a load what was stored; another base's store may hit this one's words.
                finish_if([&](const Group& g) { return g.store != store || (store && !(*g.base == address.elements[0])); });
                if (bytes <= 16) {
                    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
                        return *g.base == address.elements[0] && g.guard == instruction.guard;
                    });
                    const auto overlaps = [&](const Group& g) {
                        return std::any_of(g.words.begin(), g.words.end(), [&](const Word& w) {
                            return address.value < w.offset + w.bytes && w.offset < address.value + int64_t(bytes);
                        });
                    };
                    if (group != groups.end() && overlaps(*group)) {
                        finish(*group);
                        groups.erase(group);
                        group = groups.end();
                    }
                    if (group == groups.end()) group = groups.insert(groups.end(), {&address.elements[0], instruction.guard, store, {}});
                    group->words.push_back({address.value, bytes, i});
                }
            } else {
                const auto kind = ptx::class_of(instruction.opcode);
                const bool reads_only = kind == ptx::OpcodeClass::kArithmetic || kind == ptx::OpcodeClass::kAddress ||
                                        (is_access(instruction) && !store && !ordered(instruction) && instruction.space != Space::kGeneric) ||
                                        (store && (instruction.space == Space::kGlobal || instruction.space == Space::kLocal) && !ordered(instruction)) ||
                                        instruction.space == Space::kParam;
                if (!reads_only) finish_if([](const Group&) { return true; });
            }
            // A base, guard or stored register that changes ends its groups.
            for (const uint32_t r : registers_of(instruction).definitions)
                finish_if([&](const Group& g) { return (g.base->kind == Operand::Kind::kRegister && g.base->index == r) || g.guard.predicate == r; });
        }
        finish_if([](const Group&) { return true; });
    }
}

namespace {

bool plain_load(const Instruction& instruction) {
    return instruction.opcode == Opcode::kLd && instruction.guard.predicate == kNone && !ordered(instruction) &&
           ptx::bits(instruction.types[0]) <= 32 && instruction.operands[0].kind == Operand::Kind::kRegister &&
           (instruction.space == Space::kGlobal || instruction.space == Space::kShared || instruction.space == Space::kLocal || instruction.space == Space::kGeneric);
}

/// Whether a load of `space` must not move below `instruction`.
bool holds_back(const Instruction& instruction, Space space) {
    if (is_access(instruction)) {
        if (instruction.opcode != Opcode::kSt) return ordered(instruction);
        return ordered(instruction) || space == Space::kGeneric || instruction.space == space || instruction.space == Space::kGeneric;
    }
    const auto kind = ptx::class_of(instruction.opcode);
    return kind != ptx::OpcodeClass::kArithmetic && kind != ptx::OpcodeClass::kAddress && instruction.space != Space::kParam;
}

}  // namespace

void predicate_selected_loads(ptx::Function& function, const Flow& flow) {
    constexpr uint32_t kSeveral = kNone - 1;
    std::vector<uint32_t> definition(function.registers.size(), kNone), uses(function.registers.size());
    for (uint32_t i = 0; i < function.body.size(); ++i) {
        const RegisterSets sets = registers_of(function.body[i]);
        for (const uint32_t r : sets.definitions)
            if (r != kNone) definition[r] = definition[r] == kNone ? i : kSeveral;
        for (const uint32_t r : sets.uses) ++uses[r];
    }
    const auto defined_by = [&](const Operand& operand) -> const Instruction* {
        const bool one = operand.kind == Operand::Kind::kRegister && definition[operand.index] < kSeveral;
        return one ? &function.body[definition[operand.index]] : nullptr;
    };
    for (const BasicBlock& block : flow.blocks)
        for (uint32_t i = block.begin; i < block.end; ++i) {
            const Instruction& select = function.body[i];
            if (select.opcode != Opcode::kSelp || select.guard.predicate != kNone || ptx::bits(select.types[0]) > 32) continue;
            const Operand& predicate = select.operands[3];
            if (predicate.kind != Operand::Kind::kRegister || definition[predicate.index] >= kSeveral) continue;
            // The load to guard: the only use of its result is here, nothing between holds it back, the predicate is there.
            const auto load_of = [&](const Operand& value) -> uint32_t {
                const Instruction* load = defined_by(value);
                if (load == nullptr || !plain_load(*load) || uses[value.index] != 1) return kNone;
                const uint32_t at = definition[value.index];
                if (at < block.begin || at >= i) return kNone;
                for (uint32_t between = at + 1; between < i; ++between)
                    if (holds_back(function.body[between], load->space)) return kNone;
                return at;
            };
            const uint32_t first = load_of(select.operands[1]), second = load_of(select.operands[2]);
            const bool of_second = second != kNone && (first == kNone || second > first);
            const uint32_t load = of_second ? second : first;
            if (load == kNone) continue;
            const uint32_t set = definition[predicate.index];
            if (set >= block.begin && set > load && set < block.end) continue;
            // The other value must be in the register that the load fills in the other lanes: another load's, the destination itself,
            // a parameter, or what a lane computed for this only.
            const Operand& other = select.operands[of_second ? 1 : 2];
            if (other.kind != Operand::Kind::kRegister) continue;
            const Instruction* made = defined_by(other);
            const bool parameter = made != nullptr && made->opcode == Opcode::kLd && made->space == Space::kParam;
            const bool constant = made != nullptr && made->opcode == Opcode::kMov && made->operands[1].kind != Operand::Kind::kRegister;
            if (!(other == select.operands[0]) && !parameter && (constant || made == nullptr || uses[other.index] != 1)) continue;
            function.body[load].guard = {predicate.index, of_second};
        }
}

}  // namespace lanescope::exec
