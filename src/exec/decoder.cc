#include "exec/decoder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <optional>

#include "exec/run.h"
#include "exec/schedule.h"
#include "exec/well_formed.h"
#include "ptx/lookup.h"

namespace lanescope::exec {
namespace {

using ptx::Instruction;
using ptx::kNone;
using ptx::Opcode;
using ptx::Operand;
using ptx::Suffix;

using ptx::Type;

constexpr uint32_t round_up(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; }

constexpr uint64_t kMostLocalBytes = 512 << 10, kMostParamBytes = 64 << 10;  // of a thread; of a parameter
constexpr uint32_t kMostSharedBytes = 1 << 20;                              // more than any GPU has
constexpr uint32_t kLongestRow = 512;

bool is_load(const Instruction& instruction) {
    switch (instruction.opcode) {
        case Opcode::kLd: case Opcode::kLdu: return instruction.space != ptx::Space::kParam;
        case Opcode::kAtom: case Opcode::kTex: case Opcode::kTld4: case Opcode::kSuld: case Opcode::kLdmatrix: case Opcode::kWmmaLoad: return true;
        default: return false;
    }
}

/// The type as which an arithmetic instruction reads its k-th source: what an immediate there must become.
Type source_type(const Instruction& instruction, unsigned k) {
    const auto& types = instruction.types;
    unsigned count = 0;
    while (count < types.size() && types[count] != Type::kNone) ++count;
    const Type last = count == 0 ? Type::kB32 : types[count - 1];
    const bool wide = instruction.has(ptx::Suffix::kWide);
    switch (instruction.opcode) {
        case Opcode::kShl: case Opcode::kShr: return k == 1 ? Type::kU32 : types[0];
        case Opcode::kShf: return Type::kU32;
        case Opcode::kBfe: case Opcode::kSzext: case Opcode::kBmsk: return k == 0 ? types[0] : Type::kU32;
        case Opcode::kBfi: return k >= 2 ? Type::kU32 : types[0];
        case Opcode::kFns: case Opcode::kPrmt: case Opcode::kLop3: case Opcode::kDp4a: case Opcode::kDp2a: return Type::kU32;
        case Opcode::kSelp: return k == 2 ? Type::kPred : types[0];
        case Opcode::kSlct: return k == 2 ? last : types[0];
        case Opcode::kSetp: case Opcode::kSet: return k >= 2 ? Type::kPred : last;
        case Opcode::kMad:
            if (wide && k == 2) return types[0] == Type::kU16 || types[0] == Type::kS16 ? Type::kU32 : Type::kU64;
            return types[0];
        case Opcode::kCvt: return k == 2 ? Type::kU32 : last;
        case Opcode::kAdd: case Opcode::kSub: case Opcode::kFma: return count == 2 && k == (instruction.opcode == Opcode::kFma ? 2u : 1u) ? types[0] : last;
        default:
            switch (ptx::class_of(instruction.opcode)) {
                case ptx::OpcodeClass::kArithmetic: return instruction.opcode >= Opcode::kVabsdiff && instruction.opcode <= Opcode::kVsub4 ? Type::kU32 : last;
                default: return last;
            }
    }
}

const Type kElementTypes[] = {Type::kB8, Type::kB16, Type::kB32, Type::kB64, Type::kB128};

}  // namespace

const void* ConstantRows::splat(uint64_t value, unsigned bits) {
    const uint32_t bytes = row_bytes(bits);
    std::unique_ptr<Line[]>& row = rows_[{value, bytes}];
    if (row == nullptr) {
        row = std::make_unique<Line[]>(kLongestRow / 64);  // whoever reads it with a wrong type stays inside
        std::byte* to = row[0].bytes;
        const unsigned element = bytes == 4 ? 4 : bytes == 512 ? 8 : bytes / kWarpLanes;
        for (unsigned i = 0; i < bytes / element; ++i) {
            const uint64_t lane = bytes == 512 && i >= kWarpLanes ? 0 : value;
            std::memcpy(to + size_t(i) * element, &lane, element);
        }
    }
    return row[0].bytes;
}

void Decoder::decode() {
    layout_shared();
    todo_.push_back(kernel_.function_index());
    while (!todo_.empty()) {
        const uint32_t f = todo_.back();
        todo_.pop_back();
        if (f >= module().functions.size() || !module().functions[f].defined || code_.functions.contains(f)) continue;
        decode_function(f);
    }
    code_.entry = code_.functions.at(kernel_.function_index()).get();
}

// Shared variables that the entry and the functions it may call name. Which those are is known after decoding only, so all functions'
// are placed: the entry's first, then the module's, then those of functions that are not entries.
void Decoder::layout_shared() {
    uint32_t bytes = 0;
    const auto place = [&](uint32_t function, uint32_t v, const ptx::Variable& variable) {
        if (variable.space != ptx::Space::kShared || variable.bytes() == 0 || variable.linkage == ptx::Linkage::kExtern) return;
        if (variable.bytes() > kMostSharedBytes - std::min(kMostSharedBytes, bytes)) {
            code_.refusal = "variable " + variable.name + " is larger than the shared memory of a GPU";
            return;
        }
        bytes = round_up(bytes, std::max<uint32_t>(variable.alignment, 1));
        code_.shared[{function, v}] = bytes;
        code_.shared_arrays.push_back({bytes, uint32_t(variable.bytes())});
        bytes += uint32_t(variable.bytes());
    };
    std::vector<bool> named(module().variables.size()), reached(module().functions.size());
    std::vector<uint32_t> order{kernel_.function_index()};
    reached[order[0]] = true;
    bool any = false;
    const auto visit = [&](auto&& self, const Operand& operand) -> void {
        if (operand.kind == Operand::Kind::kVariable && !operand.local_symbol) named[operand.index] = true;
        if (operand.kind == Operand::Kind::kFunction && !reached[operand.index] && !module().functions[operand.index].entry) {   // entries are launched
            reached[operand.index] = true;
            order.push_back(operand.index);
        }
        for (const Operand& element : operand.elements) self(self, element);
    };
    for (size_t i = 0; i < order.size(); ++i) {
        for (const Instruction& instruction : module().functions[order[i]].body) {
            if (instruction.opcode == Opcode::kCall)
                for (const Operand& operand : instruction.operands) any |= operand.kind == Operand::Kind::kRegister;
            for (const Operand& operand : instruction.operands) visit(visit, operand);
        }
        if (i + 1 == order.size() && any) {  // an indirect call may reach whatever is no entry
            any = false;
            for (uint32_t f = 0; f < reached.size(); ++f)
                if (!reached[f] && !module().functions[f].entry) {
                    reached[f] = true;
                    order.push_back(f);
                }
        }
    }
    for (const uint32_t f : order)
        for (uint32_t v = 0; v < module().functions[f].variables.size(); ++v) place(f, v, module().functions[f].variables[v]);
    for (uint32_t v = 0; v < named.size(); ++v)
        if (named[v]) place(kNone, v, module().variables[v]);
    code_.static_shared_bytes = bytes;
}

void Decoder::decode_function(uint32_t index) {
    function_ = &module().functions[index];
    function_index_ = index;
    auto made = std::make_unique<FunctionCode>();
    function_code_ = made.get();
    code_.functions[index] = std::move(made);
    function_code_->function = index;
    // Instructions with missing operands are kept as something harmless, and reported when they are executed.
    ptx::Function checked = *function_;
    malformed_.assign(checked.body.size(), false);
    for (size_t i = 0; i < checked.body.size(); ++i) {
        if (well_formed(checked.body[i], module(), *function_)) continue;
        malformed_[i] = true;
        Instruction harmless;
        harmless.opcode = Opcode::kPmevent;
        harmless.location = checked.body[i].location;
        checked.body[i] = std::move(harmless);
    }
    function_ = &checked;
    const bool optimized = module().target.find("debug") == std::string::npos;  // -G: ptxas leaves everything as it stands
    if (optimized) predicate_selected_loads(checked, Flow(checked));
    const Flow written_flow(*function_);
    const VariableAlignment alignment = [&](const Operand& operand) -> uint8_t {
        const ptx::Variable& variable = operand.local_symbol ? function_->variables[operand.index] : module().variables[operand.index];
        // The place of a static shared variable is known; .extern arrays are placed at launch.
        if (variable.space == ptx::Space::kShared && code_.shared.contains({operand.local_symbol ? function_index_ : kNone, operand.index}))
            return uint8_t(std::countr_zero(shared_offset(operand) | 1024u));
        return uint8_t(std::countr_zero(std::max<uint32_t>(variable.alignment, 1)));
    };
    const Lowering lowering(*function_, written_flow, alignment, optimized);
    lowering_ = &lowering;
    original_.resize(function_->body.size());
    std::iota(original_.begin(), original_.end(), 0u);
    if (optimized) original_ = schedule(*function_, written_flow);
    ptx::Function scheduled = *function_;
    for (size_t i = 0; i < original_.size(); ++i) scheduled.body[i] = function_->body[original_[i]];
    function_ = &scheduled;
    const Flow flow(scheduled);
    flow_ = &flow;
    fixups_.clear();
    place_registers();
    place_variables();
    machine_code_ = optimized ? exec::machine_code(scheduled, flow) : std::vector<MachineCode>(scheduled.body.size());
    find_waits();

    std::vector<bool> meeting(function_->body.size() + 1);
    for (uint32_t b = 0; b < flow.blocks.size(); ++b)
        if (flow.blocks[b].next.size() > 1 && flow.meets[b] != kNone) meeting[flow.meets[b]] = true;
    std::vector<uint32_t> step_of(function_->body.size() + 1);
    std::vector<Step>& steps = function_code_->steps;
    const Row always = Row::at(code_.constants.predicate(true));
    const auto meet_here = [&](uint32_t i) {
        step_of[i] = uint32_t(steps.size());
        if (!meeting[i]) return;
        Step& step = steps.emplace_back();
        step.handler = meet_lanes;
        step.guard = always;
        step.instruction = i < original_.size() ? original_[i] : i;
        step.flags = kControl | kUncounted;
        step.cycles = 0;
    };
    for (index_ = 0; index_ < function_->body.size(); ++index_) {
        meet_here(index_);
        const size_t first = steps.size();
        scratch_used_ = scratch_begin_;
        decode_instruction(function_->body[index_]);
        if (steps.size() > first) {
            steps[first].wait = waits_[index_];
            steps[first].cycles = cycles_[index_];
            steps[first].flags |= uint8_t((machine_code_[index_].late ? kLate : 0) | (machine_code_[index_].once ? kOnce : 0));
            const MachineCode& cost = machine_code_[index_];
            steps[first].pipe = uint8_t(cost.pipe) & 15;
            steps[first].pipe_turns = cost.turns & 31;
            for (size_t s = first; s < steps.size(); ++s) steps[s].issues = 0;
            for (size_t s = first; s < steps.size(); ++s)
                if ((steps[s].flags & kUncounted) == 0) {
                    steps[s].issues = std::min<unsigned>(cost.issues, 15);
                    break;
                }
            for (size_t s = first + 1; s < steps.size(); ++s) steps[s].cycles = 0;
        }
    }
    meet_here(index_);
    Step& end = steps.emplace_back();
    end.handler = leave_function;
    end.guard = always;
    end.instruction = index_;
    end.flags = kControl | kUncounted;

    const auto step_at = [&](uint32_t i) { return i == kNone ? nullptr : &steps[step_of[i]]; };
    for (Fixup& fixup : fixups_) {
        Step& step = steps[fixup.step];
        if (fixup.list != nullptr) {
            for (const uint32_t target : fixup.labels) fixup.list->targets.push_back(step_at(target));
            fixup.list->meet = step_at(fixup.meet);
        } else {
            step.plan = step_at(fixup.target);
            step.control = reinterpret_cast<uintptr_t>(step_at(fixup.meet));
        }
    }
    function_code_->frame_bytes = round_up(scratch_begin_ + scratch_bytes_ + kLongestRow, 64);  // a wrong type at the last row stays inside, too
    flow_ = nullptr;
    lowering_ = nullptr;
    function_ = nullptr;
}

// Linear scan: registers in the order in which their lifetimes begin take the lowest place of their size that is free.
void Decoder::place_registers() {
    const auto& registers = function_->registers;
    register_offsets_.assign(registers.size(), kNone);
    std::vector<uint32_t> order;
    for (uint32_t r = 0; r < registers.size(); ++r)
        if (flow_->lifetimes[r].used()) order.push_back(r);
    const auto life = [&](uint32_t r) { return flow_->lifetimes[r]; };
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return std::pair(life(a).first, a) < std::pair(life(b).first, b); });
    uint32_t top = 64;  // the first line: the carry flag and predicates' first words
    carry_offset_ = 0;
    std::vector<std::pair<uint32_t, std::vector<uint32_t>>> free;  // by size
    const auto free_of = [&](uint32_t bytes) -> std::vector<uint32_t>& {
        for (auto& [size, list] : free)
            if (size == bytes) return list;
        return free.emplace_back(bytes, std::vector<uint32_t>{}).second;
    };
    for (uint32_t offset = 64; offset > 4; offset -= 4) free_of(4).push_back(offset - 4);
    struct Active { uint32_t last, reg; };
    const auto later = [](const Active& a, const Active& b) { return a.last > b.last; };
    std::vector<Active> active;  // a heap, soonest end first
    const auto bytes_of = [&](uint32_t r) { return row_bytes(ptx::bits(registers[r].type)) * std::max<uint32_t>(registers[r].vector, 1); };
    for (const uint32_t r : order) {
        while (!active.empty() && active.front().last < life(r).first) {
            std::pop_heap(active.begin(), active.end(), later);
            free_of(bytes_of(active.back().reg)).push_back(register_offsets_[active.back().reg]);
            active.pop_back();
        }
        const uint32_t bytes = bytes_of(r);
        std::vector<uint32_t>& list = free_of(bytes);
        if (list.empty() && bytes == 4) {
            for (uint32_t offset = 64; offset > 0; offset -= 4) list.push_back(top + offset - 4);
            top += 64;
        }
        if (list.empty()) {
            register_offsets_[r] = top;
            top += round_up(bytes, 64);
        } else {
            register_offsets_[r] = list.back();
            list.pop_back();
        }
        active.push_back({life(r).last, r});
        std::push_heap(active.begin(), active.end(), later);
    }
    for (const uint32_t r : flow_->unset) function_code_->zeroed.push_back({register_offsets_[r], bytes_of(r)});
    function_code_->zeroed.push_back({carry_offset_, 4});
    scratch_begin_ = top;
    scratch_bytes_ = 0;
}

void Decoder::place_variables() {
    variable_offsets_.assign(function_->variables.size(), 0);
    const bool entry = function_->entry;
    scratch_begin_ = round_up(scratch_begin_, kWordRow);
    for (uint32_t v = 0; v < function_->variables.size(); ++v) {
        const ptx::Variable& variable = function_->variables[v];
        const uint64_t limit = variable.space == ptx::Space::kLocal ? kMostLocalBytes - std::min<uint64_t>(kMostLocalBytes, function_code_->local_bytes) : kMostParamBytes;
        if ((variable.space == ptx::Space::kLocal || variable.space == ptx::Space::kParam) && variable.bytes() > limit) {
            code_.refusal = "variable " + variable.name + " of " + function_->name + " is larger than a GPU allows";
        } else if (variable.space == ptx::Space::kLocal) {
            function_code_->local_bytes = round_up(function_code_->local_bytes, std::max<uint32_t>(variable.alignment, 1));
            variable_offsets_[v] = function_code_->local_bytes;
            function_code_->local_bytes += uint32_t(variable.bytes());
        } else if (variable.space == ptx::Space::kParam) {
            const auto& formal = function_->parameter_symbols;
            const auto it = std::find(formal.begin(), formal.end(), v);
            if (entry && it != formal.end()) {
                variable_offsets_[v] = kernel_.parameters()[size_t(it - formal.begin())].offset;
            } else {
                variable_offsets_[v] = scratch_begin_;
                scratch_begin_ += kWordRow * ((uint32_t(variable.bytes()) + 3) / 4);
            }
        }
    }
    function_code_->local_bytes = round_up(function_code_->local_bytes, 16);
    const auto place = [&](const std::vector<ptx::Variable>& formals, const std::vector<uint32_t>& symbols, auto& places) {
        for (size_t p = 0; p < formals.size() && p < symbols.size(); ++p) {
            if (formals[p].space == ptx::Space::kParam) {
                places.push_back({variable_offsets_[symbols[p]], uint32_t(formals[p].bytes()), false});
            } else {
                const uint32_t offset = register_offsets_[symbols[p]];
                const ptx::Register& reg = function_->registers[symbols[p]];
                places.push_back({offset, offset == kNone ? 0 : row_bytes(ptx::bits(reg.type)) * std::max<uint32_t>(reg.vector, 1), true});
            }
        }
    };
    if (!entry) {
        place(function_->parameters, function_->parameter_symbols, function_code_->parameters);
        place(function_->returns, function_->return_symbols, function_code_->returns);
    }
}

// A load's destinations belong to a scoreboard slot, and whoever touches them waits for that slot: for all loads in it. A slot is taken again
// when somebody has waited for it; where all are taken, loads that follow each other share one, as they arrive together. Static distances
// between dependent instructions of a block give the cycles between their issues.
void Decoder::find_waits() {
    const auto& body = function_->body;
    waits_.assign(body.size(), 0);
    cycles_.assign(body.size(), 1);
    slots_.assign(body.size(), 0);
    std::vector<uint32_t> slots_of(function_->registers.size(), 0);
    std::vector<RegisterSets> sets(body.size());
    uint32_t taken = 0;
    uint8_t slot = 0;
    for (uint32_t i = 0; i < body.size(); ++i) {
        sets[i] = registers_of(body[i]);
        for (const uint32_t r : sets[i].uses) taken &= ~slots_of[r];
        for (const uint32_t r : sets[i].definitions)
            if (r != kNone) taken &= ~slots_of[r];
        if (!is_load(body[i])) continue;
        if (~taken != 0) slot = uint8_t(std::countr_one(std::rotr(taken, slot + 1)) + slot + 1) % kScoreboardSlots;
        taken |= 1u << slot;
        slots_[i] = slot;
        for (const uint32_t r : sets[i].definitions)
            if (r != kNone) slots_of[r] |= 1u << slot;
    }
    std::vector<uint32_t> ready(function_->registers.size(), 0);
    std::vector<Pipe> made_by(function_->registers.size(), Pipe::kNone);
    // A cycle more where a result goes from one pipe to the other (int_chain of the timing probes).
    const auto crossing = [](Pipe from, Pipe to) {
        const auto multiplies = [](Pipe pipe) { return pipe == Pipe::kFp32 || pipe == Pipe::kMultiply; };
        return uint32_t((from == Pipe::kAlu && multiplies(to)) || (multiplies(from) && to == Pipe::kAlu));
    };
    uint32_t now = 0;
    const auto time_block = [&](const BasicBlock& block, bool again) {
        for (uint32_t i = block.begin; i < block.end; ++i) {
            const MachineCode& made = machine_code_[i];
            const bool folded = made.issues == 0;
            uint32_t at = folded ? now : now + 1, operands = 0;
            for (const uint32_t r : sets[i].uses) {
                waits_[i] |= slots_of[r];
                operands = std::max(operands, ready[r] + crossing(made_by[r], made.pipe));
            }
            if (!folded) at = std::max(at, operands);
            for (const uint32_t r : sets[i].definitions)
                if (r != kNone) {
                    waits_[i] |= is_load(body[i]) ? slots_of[r] & ~(1u << slots_[i]) : slots_of[r];  // others in its own slot may come later
                    ready[r] = (folded ? std::max(at, operands) : at) + made.latency;
                    made_by[r] = made.pipe;
                }
            cycles_[i] = i == block.begin && !again && !folded ? 1 : uint8_t(std::min<uint32_t>(at - now, 255));
            now = at;
        }
    };
    for (uint32_t b = 0; b < flow_->blocks.size(); ++b) {
        const BasicBlock& block = flow_->blocks[b];
        now += 64;  // a block starts with all results at hand
        time_block(block, false);
        // But a loop of one block with those of the turn before.
        if (std::find(block.next.begin(), block.next.end(), b) != block.next.end()) time_block(block, true);
    }
    // What waits late in a loop's turns has not waited where the loop ends sooner.
    for (const BasicBlock& block : flow_->blocks)
        for (uint32_t i = block.begin; i < block.end && block.end < body.size(); ++i)
            if (machine_code_[i].late && !is_load(body[i])) waits_[block.end] |= waits_[i];
}

uint8_t Decoder::scoreboard_slot() const { return slots_[index_]; }

Row Decoder::guard_row(const Instruction& instruction) {
    if (instruction.guard.predicate == kNone) return Row::at(code_.constants.predicate(true));
    return Row::in_frame(register_offsets_[instruction.guard.predicate]);
}

const Row* Decoder::keep(std::vector<Row> rows) { return code_.rows.emplace_back(std::move(rows)).data(); }

Step& Decoder::emit(Handler handler, std::vector<Row> rows, uint8_t flags) {
    const Instruction& instruction = function_->body[index_];
    Step& step = function_code_->steps.emplace_back();
    step.handler = handler;
    step.rows = keep(std::move(rows));
    step.guard = guard_row(instruction);
    step.guard_flip = instruction.guard.negated ? UINT32_MAX : 0;
    step.instruction = original_[index_];
    step.flags = flags;
    step.slot = slots_[index_];
    return step;
}

void Decoder::branch_to(uint32_t label) {
    const auto size = uint32_t(function_->body.size());
    const uint32_t target = std::min(function_->labels[label].position, size);
    const bool divergent = flow_->blocks[flow_->block_of[index_]].next.size() > 1;
    fixups_.push_back({uint32_t(function_code_->steps.size() - 1), target, nullptr, {}, divergent ? flow_->meets[flow_->block_of[index_]] : kNone});
    if (target <= index_) function_code_->steps.back().flags |= kBackward | kOrdered;
}

void Decoder::branch_table(TargetList* list, const std::vector<uint32_t>& labels) {
    Fixup fixup{uint32_t(function_code_->steps.size() - 1), 0, list, {}, flow_->meets[flow_->block_of[index_]]};
    for (const uint32_t label : labels) fixup.labels.push_back(std::min(function_->labels[label].position, uint32_t(function_->body.size())));
    fixups_.push_back(std::move(fixup));
    function_code_->steps.back().flags |= kBackward | kOrdered;
}

Row Decoder::scratch(unsigned bits) {
    const uint32_t offset = round_up(scratch_used_, 64);
    scratch_used_ = offset + round_up(row_bytes(bits), 64);
    scratch_bytes_ = std::max(scratch_bytes_, scratch_used_ - scratch_begin_);
    return Row::in_frame(offset);
}

unsigned Decoder::register_bits(const Operand& operand) const {
    return operand.kind == Operand::Kind::kRegister ? ptx::bits(function_->registers[operand.index].type) : 0;
}

Row Decoder::destination(const Operand& operand) const {
    if (operand.kind != Operand::Kind::kRegister || register_offsets_[operand.index] == kNone) return {};
    uint32_t offset = register_offsets_[operand.index];
    if (operand.component >= 1 && operand.component <= 4 && function_->registers[operand.index].vector > 1)
        offset += (operand.component - 1u) * row_bytes(register_bits(operand));
    return Row::in_frame(offset);
}

std::optional<uint64_t> Decoder::known(const Operand& operand, Type type) const {
    switch (operand.kind) {
        case Operand::Kind::kImmediate: {
            const bool from_double = operand.immediate_type == Type::kF64, from_float = operand.immediate_type == Type::kF32;
            if (from_double && type == Type::kF32) return std::bit_cast<uint32_t>(float(std::bit_cast<double>(operand.value)));
            if (from_float && type == Type::kF64) return std::bit_cast<uint64_t>(double(std::bit_cast<float>(uint32_t(operand.value))));
            if (type == Type::kPred) return operand.value != 0 ? UINT32_MAX : 0;
            return uint64_t(operand.value);
        }
        case Operand::Kind::kFunction: return Program::function_address(operand.index);
        case Operand::Kind::kVariable: {
            const ptx::Variable& variable = operand.local_symbol ? function_->variables[operand.index] : module().variables[operand.index];
            if (variable.space == ptx::Space::kShared) return shared_offset(operand) + uint64_t(operand.value);
            if (operand.local_symbol) {
                if (variable.space == ptx::Space::kParam && param_place(operand.index).kernel) return param_place(operand.index).offset + uint64_t(operand.value);
                return std::nullopt;
            }
            uint64_t address = program().variable_address(operand.index);
            if (variable.space == ptx::Space::kConst) address -= program().constant_base();
            if (variable.type == Type::kTexref || variable.type == Type::kSamplerref || variable.type == Type::kSurfref)
                return Program::function_address(operand.index) | uint64_t(1) << 62;  // a handle, see Textures
            return address + uint64_t(operand.value);
        }
        default: return std::nullopt;
    }
}

uint32_t Decoder::shared_offset(const Operand& operand) const {
    const auto it = code_.shared.find({operand.local_symbol ? function_index_ : kNone, operand.index});
    if (it != code_.shared.end()) return it->second;
    // .extern .shared: behind all others, 16-byte aligned at least, as hardware places it.
    const ptx::Variable& variable = operand.local_symbol ? function_->variables[operand.index] : module().variables[operand.index];
    return round_up(code_.static_shared_bytes, std::max<uint32_t>(variable.alignment, 16));
}

Decoder::ParamPlace Decoder::param_place(uint32_t variable) const {
    const auto& formal = function_->parameter_symbols;
    const bool is_formal = std::find(formal.begin(), formal.end(), variable) != formal.end();
    return {function_->entry && is_formal, variable_offsets_[variable], uint32_t(function_->variables[variable].bytes())};
}

Row Decoder::source(const Operand& operand, Type type) {
    if (operand.kind == Operand::Kind::kRegister) {
        const Row row = destination(operand);
        return row ? row : constant(0, register_bits(operand));
    }
    if (const auto value = known(operand, type)) return constant(*value, ptx::bits(type));
    if (operand.kind == Operand::Kind::kSpecial) {
        const auto special = ptx::SpecialRegister(operand.index);
        const Row row = scratch(ptx::bits(ptx::type_of(special)));
        Step& step = emit(read_special, {row}, kUncounted);
        step.control = operand.index;
        step.guard = Row::at(code_.constants.predicate(true));
        step.guard_flip = 0;
        return row;
    }
    if (operand.kind == Operand::Kind::kVariable && operand.local_symbol) {
        const Row row = scratch(64);
        const bool local = function_->variables[operand.index].space == ptx::Space::kLocal;
        Step& step = emit(read_local_address, {row, local ? constant(0, 64) : Row{}}, kUncounted);
        step.control = (local ? variable_offsets_[operand.index] : param_address(operand.index)) + uint64_t(operand.value);
        step.guard = Row::at(code_.constants.predicate(true));
        step.guard_flip = 0;
        return row;
    }
    return constant(0, ptx::bits(type));
}

void Decoder::sources(const Operand& operand, Type type, std::vector<Row>& rows) {
    if (operand.kind == Operand::Kind::kVector || operand.kind == Operand::Kind::kPair) {
        for (const Operand& element : operand.elements) sources(element, type, rows);
        return;
    }
    if (operand.kind == Operand::Kind::kRegister && operand.component == 0 && function_->registers[operand.index].vector > 1) {
        for (unsigned c = 0; c < function_->registers[operand.index].vector; ++c)
            rows.push_back(Row::in_frame(register_offsets_[operand.index] + c * row_bytes(register_bits(operand))));
        return;
    }
    rows.push_back(source(operand, type));
}

void Decoder::destinations(const Operand& operand, std::vector<Row>& rows) const {
    if (operand.kind == Operand::Kind::kVector || operand.kind == Operand::Kind::kPair) {
        for (const Operand& element : operand.elements) destinations(element, rows);
        return;
    }
    if (operand.kind == Operand::Kind::kRegister && operand.component == 0 && function_->registers[operand.index].vector > 1 &&
        register_offsets_[operand.index] != kNone) {
        for (unsigned c = 0; c < function_->registers[operand.index].vector; ++c)
            rows.push_back(Row::in_frame(register_offsets_[operand.index] + c * row_bytes(register_bits(operand))));
        return;
    }
    rows.push_back(destination(operand));
}

Row Decoder::policy(const Instruction& instruction) {
    return instruction.has(Suffix::kL2CacheHint) ? source(instruction.operands.back(), Type::kB64) : Row{};
}

MemoryPlan& Decoder::memory_plan() {
    MemoryPlan& plan = code_.plans.emplace_back();
    plan.index = uint32_t(code_.plans.size() - 1);
    plan.function = function_index_;
    plan.instruction = original_[index_];
    return plan;
}

uint32_t Decoder::add_site(AccessSite site) {
    site.function = function_index_;
    site.instruction = original_[index_];
    site.location = function_->body[index_].location;
    sites_.push_back(site);
    return uint32_t(sites_.size() - 1);
}

void Decoder::address(const Operand& operand, MemoryPlan& plan) {
    const Operand& base = operand.elements[0];
    plan.offset = operand.value;
    if (base.kind == Operand::Kind::kRegister) {
        plan.base = source(base, Type::kU64);
        plan.base_is_32bit = register_bits(base) == 32;
    } else if (const auto value = known(base, Type::kU64)) {
        plan.offset += int64_t(*value);
    } else if (base.kind == Operand::Kind::kVariable && base.local_symbol && function_->variables[base.index].space == ptx::Space::kLocal) {
        plan.offset += variable_offsets_[base.index] + base.value;
        plan.local_base = true;
    }
}

void Decoder::reach_any() {
    for (uint32_t f = 0; f < module().functions.size(); ++f)
        if (!module().functions[f].entry) reach(f);
}

namespace {

const Step* report_unsupported(Run& run, const Step& step, uint32_t active) {
    if (active == 0) return &step + 1;
    const auto& why = *static_cast<const std::string*>(step.plan);
    return run.fail(FaultKind::kUnsupported, step, unsigned(std::countr_zero(active)), why);
}

std::string written(const Instruction& instruction) {
    std::string text(ptx::to_string(instruction.opcode));
    for (const ptx::Suffix suffix : instruction.suffixes) text += "." + std::string(ptx::to_string(suffix));
    return text;
}

}  // namespace

void Decoder::unsupported(std::string why) {
    auto* text = plan<std::string>();
    *text = "no semantics for the instruction " + written(module().functions[function_index_].body[original_[index_]]) + (why.empty() ? "" : ": " + why);
    emit(report_unsupported, {}).plan = text;
}

void Decoder::decode_instruction(const Instruction& instruction) {
    if (malformed_[original_[index_]]) return unsupported("operands are missing or of the wrong kind");
    if (decode_control(*this, instruction) || decode_call(*this, instruction) || decode_param(*this, instruction) ||
        decode_memory(*this, instruction) || decode_atomic(*this, instruction) || decode_barrier(*this, instruction) ||
        decode_collective(*this, instruction) || decode_address(*this, instruction) || decode_async(*this, instruction) ||
        decode_matrix(*this, instruction) || decode_texture(*this, instruction) || decode_lanes(instruction))
        return;
    unsupported();
}

bool Decoder::decode_lanes(const Instruction& instruction) {
    const LaneOperation operation = find_lane_function(instruction, function_->registers);
    if (!operation) return false;
    const unsigned count = ptx::destination_count(instruction);
    std::vector<Row> written_rows, read;
    for (unsigned i = 0; i < instruction.operands.size(); ++i) {
        const Operand& operand = instruction.operands[i];
        if (i < count) {
            destinations(operand, written_rows);
        } else if (operand.kind == Operand::Kind::kVector) {
            // An immediate among the parts of a packed value is as wide as its share.
            const auto parts = unsigned(operand.elements.size());
            const unsigned part_bits = std::max(8u, ptx::bits(instruction.types[0]) / std::max(parts, 1u));
            sources(operand, kElementTypes[std::min(4u, unsigned(std::countr_zero(part_bits)) - 3)], read);
        } else {
            sources(operand, source_type(instruction, i - count), read);
        }
    }
    if (written_rows.size() > 4 || read.size() > 8) return false;
    const Row nothing = constant(0, 64);
    std::vector<Row> rows(12);
    const auto destination_place = [](size_t i) { return i == 0 ? 0 : 3 + i; };
    const auto source_place = [](size_t i) { return i < 3 ? 1 + i : 4 + i; };
    for (size_t i = 0; i < 8; ++i) rows[source_place(i)] = i < read.size() ? read[i] : nothing;
    for (size_t i = 0; i < written_rows.size(); ++i) rows[destination_place(i)] = written_rows[i];
    if (operation.carry) rows[destination_place(kCarryDestination)] = rows[source_place(kCarrySource)] = Row::in_frame(carry_offset_);
    const bool many = operation.carry || written_rows.size() > 1 || read.size() > 3;
    if (!many) rows.resize(4);
    if (!many && !written_rows.empty() && !written_rows[0]) return true;  // the result is never used
    Step& step = emit(nullptr, std::move(rows), many ? kMany : 0);
    step.lane = operation.function;
    step.control = operation.control;
    return true;
}

}  // namespace lanescope::exec
