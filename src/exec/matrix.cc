// Matrix instructions of a warp: mma and wmma.mma (the arithmetic is mma.h's), and what brings fragments from and to memory.
#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/decoder.h"
#include "exec/mma.h"
#include "exec/run.h"
#include "exec/sites.h"

namespace lanescope::exec {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Suffix;
using ptx::Type;

struct MultiplyPlan {
    WarpOperation operation;
    uint8_t destinations = 0, sources = 0;
};

const Step* multiply(Run& run, const Step& step, uint32_t) {
    const auto& plan = *static_cast<const MultiplyPlan*>(step.plan);
    WarpOperands operands;
    for (unsigned i = 0; i < plan.destinations; ++i) operands.destination[i] = step.rows[i].in(run.rows);
    for (unsigned i = 0; i < plan.sources; ++i) operands.source[i] = step.rows[plan.destinations + i].in(run.rows);
    operands.control = plan.operation.control;
    plan.operation.function(operands);
    return &step + 1;
}

struct MatricesPlan {
    MemoryPlan memory;
    unsigned count = 1;
    bool transposed = false, store = false;
};

std::byte* place(Run& run, const Step& step, const MemoryPlan& memory, unsigned lane, uint64_t address, uint32_t bytes, bool store) {
    switch (memory.space) {
        case ptx::Space::kShared: return run.shared(step, lane, address, bytes, store);
        case ptx::Space::kGlobal: return run.global(step, lane, address, bytes, store);
        default: return run.generic(step, lane, address, bytes, store);
    }
}

/// The addresses that the lanes computed; the space they are announced under.
Space form(Run& run, const MemoryPlan& memory, uint32_t active) {
    Shape shape;
    if (!memory.base) std::fill_n(run.addresses, kWarpLanes, uint64_t(memory.offset));
    else (memory.base_is_32bit ? run.moves.from_32 : run.moves.from_64)(run.addresses, memory.base.in(run.rows), memory.offset, active, 1, shape);
    if (memory.space == ptx::Space::kShared) return Space::kShared;
    const uint64_t first = run.addresses[std::countr_zero(active)];
    return memory.space == ptx::Space::kGeneric && first >= kSharedWindow && first < kLocalWindow ? Space::kShared : Space::kGlobal;
}

/// ldmatrix, stmatrix: 8 rows of 16 bytes a matrix, each at the address of one lane.
const Step* move_matrices(Run& run, const Step& step, uint32_t active) {
    const auto& plan = *static_cast<const MatricesPlan*>(step.plan);
    const uint32_t addressing = plan.count == 4 ? kFullMask : (1u << (8 * plan.count)) - 1;
    form(run, plan.memory, active);
    std::byte* rows[kWarpLanes];
    for (uint32_t rest = addressing; rest != 0; rest &= rest - 1) {
        const auto lane = unsigned(std::countr_zero(rest));
        uint64_t& address = run.addresses[lane];
        if (address % 16 != 0) return run.fail_access(FaultKind::kMisaligned, step, lane, address, 16, plan.store);
        rows[lane] = place(run, step, plan.memory, lane, address, 16, plan.store);
        if (rows[lane] == nullptr) return nullptr;
        if (address >= kSharedWindow) address -= kSharedWindow;
    }
    const uint64_t arrival = run.announce(plan.memory.accesses, Space::kShared, addressing, run.addresses);
    if (!plan.store) run.expect(step, arrival);
    if (run.monitor != nullptr) run.watch(plan.memory, plan.store ? Touch::kWrite : Touch::kRead, Space::kShared, addressing, run.addresses, 16);
    for (unsigned i = 0; i < plan.count; ++i) {
        if (!step.rows[i]) continue;
        auto* values = run.row<uint32_t>(step.rows[i]);
        for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
            for (unsigned index = 0; index < 2; ++index) {
                const Position at = matrix_position(lane, index, plan.transposed);
                std::byte* element = rows[8 * i + at.row] + 2 * at.column;
                auto* half = reinterpret_cast<std::byte*>(&values[lane]) + 2 * index;
                if (plan.store) std::memcpy(element, half, 2);
                else std::memcpy(half, element, 2);
            }
        }
    }
    return &step + 1;
}

/// wmma.load and wmma.store. Machine code (ptxas 13.0 for sm_75 to sm_90) accesses elements of 16 bits by registers of two, in the memory's
/// order: MOVM transposes 8 × 8 of them where the fragment has the other one. a and b come from shared memory by LDSM where each register's
/// rows lie in one piece. Accumulators of 32 and 64 bits take two neighbours at once in the order that the fragment has, else one.
struct FragmentPlan {
    MemoryPlan memory;
    Fragment fragment;
    bool row_major = true, store = false;
    Row stride;                        // in elements; none: dense
    unsigned group = 1;                // elements of a register that are side by side in memory
    unsigned distinct = 1;             // registers that hold each element once
    // What is announced: `span` elements of each of `together` registers in one access, in the transposed order or not; or LDSM of up to
    // `matrices` registers.
    unsigned span = 1, together = 1, matrices = 0;
    bool transposed = false;
};

unsigned dense_stride(const FragmentPlan& plan) {
    const auto& [m, n, k] = plan.fragment.shape;
    const unsigned rows = plan.fragment.matrix == Matrix::kB ? k : m, columns = plan.fragment.matrix == Matrix::kA ? k : n;
    return plan.row_major ? columns : rows;
}

uint64_t element_at(const FragmentPlan& plan, Position at, uint64_t stride) {
    return (plan.row_major ? at.row * stride + at.column : at.column * stride + at.row) * plan.fragment.element_bits / 8;
}

/// Position::at of what machine code accesses for a lane; transposed: within the 8 × 8 elements of the register.
Position accessed(const FragmentPlan& plan, unsigned lane, unsigned reg, unsigned index) {
    const Position at = plan.fragment.position(lane, reg, index);
    if (!plan.transposed) return at;
    const Position origin = plan.fragment.position(0, reg, 0);
    return {origin.row + (at.column - origin.column), origin.column + (at.row - origin.row)};
}

const Step* move_fragment(Run& run, const Step& step, uint32_t active) {
    const auto& plan = *static_cast<const FragmentPlan*>(step.plan);
    const Fragment& fragment = plan.fragment;
    const Space space = form(run, plan.memory, active);
    const uint64_t base = run.addresses[std::countr_zero(active)];
    const uint64_t window = base >= kSharedWindow ? kSharedWindow : 0;
    const uint64_t stride = plan.stride ? run.row<const uint32_t>(plan.stride)[std::countr_zero(active)] : dense_stride(plan);
    const unsigned bits = fragment.element_bits, group_bytes = std::max(1u, plan.group * bits / 8), register_bytes = bits == 64 ? 8 : 4;
    for (unsigned reg = 0; reg < fragment.registers; ++reg) {
        auto* row = step.rows[reg].in(run.rows);
        for (unsigned index = 0; index < fragment.per_register(); index += plan.group)
            for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
                const uint64_t address = base + element_at(plan, fragment.position(lane, reg, index), stride);
                std::byte* host = place(run, step, plan.memory, lane, address, group_bytes, plan.store);
                if (host == nullptr) return nullptr;
                if (row == nullptr) continue;
                auto* value = static_cast<std::byte*>(row) + lane * register_bytes + index * bits / 8;
                if (plan.store) std::memcpy(host, value, group_bytes);
                else std::memcpy(value, host, group_bytes);
            }
    }
    const uint32_t bytes = plan.memory.accesses[0].bytes;
    const auto announce = [&](uint32_t lanes) {
        const uint64_t arrival = run.announce(plan.memory.accesses, space, lanes, run.addresses);
        if (!plan.store) run.expect(step, arrival);
        if (run.monitor != nullptr) run.watch(plan.memory, plan.store ? Touch::kWrite : Touch::kRead, space, lanes, run.addresses, bytes);
    };
    if (plan.matrices > 0) {
        for (unsigned reg = 0; reg < plan.distinct; reg += plan.matrices) {
            const unsigned count = std::min(plan.matrices, plan.distinct - reg);
            for (unsigned lane = 0; lane < 8 * count; ++lane)
                run.addresses[lane] = base - window + element_at(plan, accessed(plan, lane % 8 * 4, reg + lane / 8, 0), stride);
            announce(count == 4 ? kFullMask : (1u << (8 * count)) - 1);
        }
        return &step + 1;
    }
    for (unsigned reg = 0; reg < plan.distinct; reg += plan.together)
        for (unsigned index = 0; index < fragment.per_register(); index += plan.span) {
            for (unsigned lane = 0; lane < kWarpLanes; ++lane) run.addresses[lane] = base - window + element_at(plan, accessed(plan, lane, reg, index), stride);
            announce(kFullMask);
        }
    return &step + 1;
}

bool decode_multiply(Decoder& decoder, const Instruction& instruction) {
    const WarpOperation operation = find_warp_function(instruction);
    if (!operation) return false;
    auto* plan = decoder.plan<MultiplyPlan>();
    plan->operation = operation;
    std::vector<Row> rows;
    decoder.destinations(instruction.operands[0], rows);
    plan->destinations = uint8_t(rows.size());
    for (size_t i = 1; i < instruction.operands.size(); ++i) decoder.sources(instruction.operands[i], Type::kB32, rows);
    plan->sources = uint8_t(rows.size() - plan->destinations);
    if (plan->destinations > 8 || plan->sources > 32) return false;
    decoder.emit(multiply, std::move(rows)).plan = plan;
    return true;
}

bool decode_matrices(Decoder& decoder, const Instruction& instruction) {
    if (!instruction.has(Suffix::kM8n8) || instruction.types[0] != Type::kB16) return false;
    auto* plan = decoder.plan<MatricesPlan>();
    plan->store = instruction.opcode == Opcode::kStmatrix;
    plan->count = instruction.has(Suffix::kX4) ? 4 : instruction.has(Suffix::kX2) ? 2 : 1;
    plan->transposed = instruction.has(Suffix::kTrans);
    plan->memory = decoder.memory_plan();
    plan->memory.space = instruction.space;
    std::vector<Row> rows;
    if (plan->store) decoder.sources(instruction.operands[1], Type::kB32, rows);
    else decoder.destinations(instruction.operands[0], rows);
    if (rows.size() != plan->count) return false;
    decoder.address(instruction.operands[plan->store ? 0 : 1], plan->memory);
    AccessSite site = site_of(instruction, plan->store ? Operation::kStore : Operation::kLoad);
    site.bytes = 16;
    plan->memory.accesses.push_back({decoder.add_site(site), 0, 16, {}});
    decoder.emit(move_matrices, std::move(rows), kOrdered).plan = plan;
    return true;
}

bool decode_fragment(Decoder& decoder, const Instruction& instruction) {
    const Fragment fragment = wmma_fragment(instruction);
    if (fragment.registers == 0) return false;
    auto* plan = decoder.plan<FragmentPlan>();
    plan->fragment = fragment;
    plan->store = instruction.opcode == Opcode::kWmmaStore;
    plan->row_major = instruction.has(Suffix::kRow);
    plan->memory = decoder.memory_plan();
    plan->memory.space = instruction.space;
    std::vector<Row> rows;
    const auto& operands = instruction.operands;
    if (plan->store) decoder.sources(operands[1], Type::kB32, rows);
    else decoder.destinations(operands[0], rows);
    if (rows.size() != fragment.registers) return false;
    decoder.address(operands[plan->store ? 0 : 1], plan->memory);
    if (operands.size() > 2) plan->stride = decoder.source(operands[2], Type::kU32);
    const auto& [m, n, k] = fragment.shape;
    const unsigned elements = fragment.matrix == Matrix::kA ? m * k : fragment.matrix == Matrix::kB ? k * n : m * n;
    plan->distinct = std::max(1u, elements / kWarpLanes / fragment.per_register());
    // A register's elements lie side by side in a row of a and c, in a column of b; elements below a byte always do.
    const Position first = fragment.position(0, 0, 0), second = fragment.position(0, 0, fragment.per_register() > 1 ? 1 : 0);
    const bool along_row = first.row == second.row;
    plan->group = fragment.per_register() == 1 || along_row == plan->row_major || fragment.element_bits < 8 ? fragment.per_register() : 1;
    const bool in_order = along_row == plan->row_major, words = fragment.element_bits == 16 || (fragment.element_bits < 16 && plan->group > 1);
    plan->transposed = fragment.element_bits == 16 && !in_order;
    plan->span = words ? fragment.per_register() : 1;
    if (words && fragment.matrix != Matrix::kC && !plan->store && instruction.space == ptx::Space::kShared) plan->matrices = 4;
    if (fragment.element_bits >= 32 && plan->distinct > 1) {
        const Position next = fragment.position(0, 1, 0);
        if (plan->row_major ? next.column == first.column + 1 : next.row == first.row + 1) plan->together = 2;
    }
    AccessSite site = site_of(instruction, plan->store ? Operation::kStore : Operation::kLoad);
    site.bytes = uint8_t(plan->matrices > 0 ? 16 : std::max(1u, plan->together * plan->span * fragment.element_bits / 8));
    plan->memory.accesses.push_back({decoder.add_site(site), 0, site.bytes, {}});
    decoder.emit(move_fragment, std::move(rows), kOrdered).plan = plan;
    return true;
}

}  // namespace

bool decode_matrix(Decoder& decoder, const Instruction& instruction) {
    switch (instruction.opcode) {
        case Opcode::kMma:
        case Opcode::kWmmaMma:
        case Opcode::kMovmatrix: return decode_multiply(decoder, instruction);
        case Opcode::kLdmatrix:
        case Opcode::kStmatrix: return decode_matrices(decoder, instruction);
        case Opcode::kWmmaLoad:
        case Opcode::kWmmaStore: return decode_fragment(decoder, instruction);
        default: return false;
    }
}

}  // namespace lanescope::exec
