// Addresses and special registers: cvta, isspacep, mapa, getctarank, alloca, stacksave, and `mov` of what is not a register.
#include <bit>
#include <cstring>

#include "exec/async.h"

namespace lanescope::exec {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::SpecialRegister;
using ptx::Suffix;
using ptx::Type;

template <class T, class F>
void each_value(Run& run, Row row, uint32_t active, F value) {
    auto* to = run.row<T>(row);
    if (to == nullptr) return;
    if (active == kFullMask) {
        for (unsigned lane = 0; lane < kWarpLanes; ++lane) to[lane] = T(value(lane));
    } else {
        each_lane_of(active, [&](unsigned lane) { to[lane] = T(value(lane)); });
    }
}

uint32_t component(const Dim3& d, unsigned index) { return index == 0 ? d.x : index == 1 ? d.y : index == 2 ? d.z : 0; }

/// Special registers that are the same for the whole warp.
uint64_t uniform_special(const Run& run, SpecialRegister special) {
    const Launch& launch = run.launch;
    const Block& block = *run.block;
    const Dim3& cluster = launch.cluster;
    const auto id = unsigned(special);
    const auto part = [&](SpecialRegister x) { return id - unsigned(x); };
    const auto among = [&](SpecialRegister x) { return id - unsigned(x) < 4; };
    if (among(SpecialRegister::kNtidX)) return component(launch.block, part(SpecialRegister::kNtidX));
    if (among(SpecialRegister::kCtaidX)) return component(block.id, part(SpecialRegister::kCtaidX));
    if (among(SpecialRegister::kNctaidX)) return component(launch.grid, part(SpecialRegister::kNctaidX));
    const Dim3 cluster_id{block.id.x / cluster.x, block.id.y / cluster.y, block.id.z / cluster.z};
    const Dim3 clusters{launch.grid.x / cluster.x, launch.grid.y / cluster.y, launch.grid.z / cluster.z};
    const Dim3 in_cluster{block.id.x % cluster.x, block.id.y % cluster.y, block.id.z % cluster.z};
    if (among(SpecialRegister::kClusteridX)) return component(cluster_id, part(SpecialRegister::kClusteridX));
    if (among(SpecialRegister::kNclusteridX)) return component(clusters, part(SpecialRegister::kNclusteridX));
    if (among(SpecialRegister::kClusterCtaidX)) return component(in_cluster, part(SpecialRegister::kClusterCtaidX));
    if (among(SpecialRegister::kClusterNctaidX)) return component(cluster, part(SpecialRegister::kClusterNctaidX));
    const uint64_t nanoseconds = run.sinks.start_ns + run.time * 1'000'000 / std::max(run.machine.clock_khz, 1u);
    const uint32_t dynamic = launch.dynamic_shared_bytes;
    switch (special) {
        case SpecialRegister::kWarpid: return run.warp->slot;
        case SpecialRegister::kNwarpid: return run.sm->ready.size();
        case SpecialRegister::kSmid: return run.sm->index;
        case SpecialRegister::kNsmid: return run.machine.sms;
        case SpecialRegister::kGridid: return launch.grid_id;
        case SpecialRegister::kIsExplicitCluster: return cluster.count() > 1 ? UINT32_MAX : 0;
        case SpecialRegister::kClusterCtarank: return block.rank;
        case SpecialRegister::kClusterNctarank: return cluster.count();
        case SpecialRegister::kClock: return uint32_t(run.time);
        case SpecialRegister::kClockHi: return run.time >> 32;
        case SpecialRegister::kClock64: return run.time;
        case SpecialRegister::kGlobaltimer: return nanoseconds;
        case SpecialRegister::kGlobaltimerLo: return uint32_t(nanoseconds);
        case SpecialRegister::kGlobaltimerHi: return nanoseconds >> 32;
        case SpecialRegister::kTotalSmemSize:
        case SpecialRegister::kAggrSmemSize: return run.shared_bytes;
        case SpecialRegister::kDynamicSmemSize: return dynamic;
        case SpecialRegister::kEnvreg1: return launch.grid_workspace >> 32;
        case SpecialRegister::kEnvreg2: return uint32_t(launch.grid_workspace);
        default: return 0;  // performance monitors, environment, reserved shared memory: zero as without a tool or driver
    }
}

void write_special(Run& run, SpecialRegister special, Row row, uint32_t active) {
    const auto id = unsigned(special);
    if (id - unsigned(SpecialRegister::kTidX) < 4) {
        const unsigned part = id - unsigned(SpecialRegister::kTidX);
        if (part == 3) return each_value<uint32_t>(run, row, active, [](unsigned) { return 0u; });
        const uint32_t* ids = run.thread_ids[part].data() + size_t(run.warp->index) * kWarpLanes;
        return each_value<uint32_t>(run, row, active, [=](unsigned lane) { return ids[lane]; });
    }
    switch (special) {
        case SpecialRegister::kLaneid: return each_value<uint32_t>(run, row, active, [](unsigned lane) { return lane; });
        case SpecialRegister::kLanemaskEq: return each_value<uint32_t>(run, row, active, [](unsigned lane) { return 1u << lane; });
        case SpecialRegister::kLanemaskLt: return each_value<uint32_t>(run, row, active, [](unsigned lane) { return (1u << lane) - 1; });
        case SpecialRegister::kLanemaskLe: return each_value<uint32_t>(run, row, active, [](unsigned lane) { return (2u << lane) - 1; });
        case SpecialRegister::kLanemaskGt: return each_value<uint32_t>(run, row, active, [](unsigned lane) { return ~((2u << lane) - 1); });
        case SpecialRegister::kLanemaskGe: return each_value<uint32_t>(run, row, active, [](unsigned lane) { return ~((1u << lane) - 1); });
        default: break;
    }
    const uint64_t value = uniform_special(run, special);
    if (ptx::bits(ptx::type_of(special)) == 64) return each_value<uint64_t>(run, row, active, [=](unsigned) { return value; });
    if (special == SpecialRegister::kIsExplicitCluster) {
        auto* bits = run.row<uint32_t>(row);
        if (bits != nullptr) *bits = (*bits & ~active) | (value != 0 ? active : 0);
        return;
    }
    each_value<uint32_t>(run, row, active, [=](unsigned) { return uint32_t(value); });
}

/// `mov.u64 %rd, %tid.x` and the like: through a 32-bit row.
const Step* read_special_wide(Run& run, const Step& step, uint32_t active) {
    write_special(run, SpecialRegister(step.control), step.rows[1], active);
    const auto* from = run.row<const uint32_t>(step.rows[1]);
    each_value<uint64_t>(run, step.rows[0], active, [=](unsigned lane) { return uint64_t(from[lane]); });
    return &step + 1;
}

struct ConvertPlan { uint64_t window = 0; bool to_window = false; bool wide_from = true, wide_to = true; };

/// cvta: adds or subtracts the window of the space.
const Step* convert_address(Run& run, const Step& step, uint32_t active) {
    const auto& plan = *static_cast<const ConvertPlan*>(step.plan);
    const uint64_t add = plan.to_window ? uint64_t(0) - plan.window : plan.window;
    if (plan.wide_from && plan.wide_to) {
        const auto* from = run.row<const uint64_t>(step.rows[1]);
        each_value<uint64_t>(run, step.rows[0], active, [=](unsigned lane) { return from[lane] + add; });
        return &step + 1;
    }
    const auto value = [&](unsigned lane) {
        const uint64_t from = plan.wide_from ? run.row<const uint64_t>(step.rows[1])[lane] : run.row<const uint32_t>(step.rows[1])[lane];
        return from + add;
    };
    if (plan.wide_to) each_value<uint64_t>(run, step.rows[0], active, value);
    else each_value<uint32_t>(run, step.rows[0], active, value);
    return &step + 1;
}

struct SpacePlan { ptx::Space space{}; bool cluster = false; };

const Step* is_in_space(Run& run, const Step& step, uint32_t active) {
    const auto& plan = *static_cast<const SpacePlan*>(step.plan);
    const auto* addresses = run.row<const uint64_t>(step.rows[1]);
    const Program& program = run.kernel.program();
    uint32_t bits = 0;
    each_lane_of(active, [&](unsigned lane) {
        const uint64_t a = addresses[lane];
        bool in = false;
        switch (plan.space) {
            case ptx::Space::kShared: in = a >= kSharedWindow && a < kLocalWindow && (plan.cluster || (a - kSharedWindow) >> kClusterShift == 0); break;
            case ptx::Space::kLocal: in = a >= kLocalWindow && a < kParamWindow; break;
            case ptx::Space::kParam: in = a >= kParamWindow && a - kParamWindow < uint64_t(1) << 32; break;
            case ptx::Space::kConst: in = a - program.constant_base() < program.constant_bytes(); break;
            default: in = a < kSharedWindow; break;
        }
        bits |= uint32_t(in) << lane;
    });
    auto* to = run.row<uint32_t>(step.rows[0]);
    if (to != nullptr) *to = (*to & ~active) | bits;
    return &step + 1;
}

struct MapPlan { bool generic = false, wide = false; };

/// mapa: the same place in the shared memory of another block of the cluster.
const Step* map_to_block(Run& run, const Step& step, uint32_t active) {
    const auto& plan = *static_cast<const MapPlan*>(step.plan);
    const auto* ranks = run.row<const uint32_t>(step.rows[2]);
    const auto value = [&](unsigned lane) {
        uint64_t address = plan.wide ? run.row<const uint64_t>(step.rows[1])[lane] : run.row<const uint32_t>(step.rows[1])[lane];
        const uint64_t window = plan.generic ? kSharedWindow : 0;
        address = (address - window) & ((uint64_t(1) << kClusterShift) - 1);
        return window + ((uint64_t(ranks[lane]) + 1) << kClusterShift) + address;
    };
    if (plan.wide) each_value<uint64_t>(run, step.rows[0], active, value);
    else each_value<uint32_t>(run, step.rows[0], active, value);
    return &step + 1;
}

const Step* rank_of_address(Run& run, const Step& step, uint32_t active) {
    const auto& plan = *static_cast<const MapPlan*>(step.plan);
    each_value<uint32_t>(run, step.rows[0], active, [&](unsigned lane) {
        uint64_t address = plan.wide ? run.row<const uint64_t>(step.rows[1])[lane] : run.row<const uint32_t>(step.rows[1])[lane];
        if (plan.generic) address -= kSharedWindow;
        const uint64_t rank = address >> kClusterShift;
        return rank == 0 ? run.block->rank : uint32_t(rank - 1);
    });
    return &step + 1;
}

/// alloca: the same amount for all lanes, the most that one asks for.
const Step* allocate_stack(Run& run, const Step& step, uint32_t active) {
    const bool wide = step.control != 0;
    uint64_t most = 0;
    each_lane_of(active, [&](unsigned lane) {
        most = std::max<uint64_t>(most, wide ? run.row<const uint64_t>(step.rows[1])[lane] : run.row<const uint32_t>(step.rows[1])[lane]);
    });
    const uint32_t begin = (run.frame->local_top + 15) / 16 * 16;
    const uint64_t top = begin + (most + 15) / 16 * 16;
    if (!run.reserve_local(uint32_t(std::min<uint64_t>(top, UINT32_MAX)), step)) return nullptr;
    run.frame->local_top = uint32_t(top);
    if (wide) each_value<uint64_t>(run, step.rows[0], active, [=](unsigned) { return begin; });
    else each_value<uint32_t>(run, step.rows[0], active, [=](unsigned) { return begin; });
    return &step + 1;
}

const Step* save_stack(Run& run, const Step& step, uint32_t active) {
    const uint32_t top = run.frame->local_top;
    if (step.control != 0) each_value<uint64_t>(run, step.rows[0], active, [=](unsigned) { return top; });
    else each_value<uint32_t>(run, step.rows[0], active, [=](unsigned) { return top; });
    return &step + 1;
}

const Step* restore_stack(Run& run, const Step& step, uint32_t active) {
    // Only when all lanes of the frame give their memory back together.
    const auto lane = unsigned(std::countr_zero(active));
    const uint64_t top = step.control != 0 ? run.row<const uint64_t>(step.rows[0])[lane] : run.row<const uint32_t>(step.rows[0])[lane];
    if (active == run.frame->lanes && top < run.frame->local_top) run.frame->local_top = uint32_t(top);
    return &step + 1;
}

struct PolicyPlan { base::L2Priority first = base::L2Priority::kUnchanged, second = base::L2Priority::kUnchanged; Address address; };

const Step* make_fraction_policy(Run& run, const Step& step, uint32_t active) {
    const auto& plan = *static_cast<const PolicyPlan*>(step.plan);
    const auto* fractions = run.row<const float>(step.rows[1]);
    each_value<uint64_t>(run, step.rows[0], active, [&](unsigned lane) { return base::L2Policy::fraction(plan.first, plan.second, fractions[lane]).bits(); });
    return &step + 1;
}

const Step* make_range_policy(Run& run, const Step& step, uint32_t active) {
    const auto& plan = *static_cast<const PolicyPlan*>(step.plan);
    const auto *first = run.row<const uint32_t>(step.rows[1]), *all = run.row<const uint32_t>(step.rows[2]);
    each_value<uint64_t>(run, step.rows[0], active, [&](unsigned lane) {
        return base::L2Policy::range(plan.first, plan.second, plan.address.of(run, lane), first[lane], all[lane]).bits();
    });
    return &step + 1;
}

/// createpolicy.cvt: an access property has the same bits.
const Step* take_policy(Run& run, const Step& step, uint32_t active) {
    const auto* from = run.row<const uint64_t>(step.rows[1]);
    each_value<uint64_t>(run, step.rows[0], active, [=](unsigned lane) { return from[lane]; });
    return &step + 1;
}

base::L2Priority priority_of(Suffix suffix) {
    switch (suffix) {
        case Suffix::kL2EvictFirst: return base::L2Priority::kFirst;
        case Suffix::kL2EvictLast: return base::L2Priority::kLast;
        case Suffix::kL2EvictNormal: return base::L2Priority::kNormal;
        default: return base::L2Priority::kUnchanged;
    }
}

void decode_policy(Decoder& decoder, const Instruction& instruction) {
    const auto& operands = instruction.operands;
    const Row to = decoder.destination(operands[0]);
    if (instruction.has(Suffix::kCvt)) {
        decoder.emit(take_policy, {to, decoder.source(operands[1], Type::kB64)});
        return;
    }
    auto* plan = decoder.plan<PolicyPlan>();
    base::L2Priority* next = &plan->first;                  // .fractional.L2::primary{.L2::secondary}
    for (const Suffix suffix : instruction.suffixes) {
        if (suffix != Suffix::kL2EvictFirst && suffix != Suffix::kL2EvictLast && suffix != Suffix::kL2EvictNormal && suffix != Suffix::kL2EvictUnchanged) continue;
        *next = priority_of(suffix);
        next = &plan->second;
    }
    if (instruction.has(Suffix::kRange)) {
        plan->address = address_of(decoder, operands[1]);
        decoder.emit(make_range_policy, {to, decoder.source(operands[2], Type::kU32), decoder.source(operands[3], Type::kU32)}).plan = plan;
        return;
    }
    const Row fraction = operands.size() > 1 ? decoder.source(operands[1], Type::kF32) : decoder.constant(std::bit_cast<uint32_t>(1.f), 32);
    decoder.emit(make_fraction_policy, {to, fraction}).plan = plan;
}

uint64_t window_of(const Decoder& decoder, const Instruction& instruction) {
    switch (instruction.space) {
        case ptx::Space::kShared: return kSharedWindow;
        case ptx::Space::kLocal: return kLocalWindow;
        case ptx::Space::kParam: return kParamWindow;
        case ptx::Space::kConst: return decoder.program().constant_base();
        default: return 0;
    }
}

bool decode_move(Decoder& decoder, const Instruction& instruction) {
    const Operand& from = instruction.operands[1];
    if (from.kind != Operand::Kind::kSpecial) return false;
    const auto special = SpecialRegister(from.index);
    if (ptx::vector_of(special) > 1) {  // mov.v4.u32 {…}, %tid: its components follow in the table
        std::vector<Row> rows;
        decoder.destinations(instruction.operands[0], rows);
        for (unsigned c = 0; c < rows.size() && c < 4; ++c) decoder.emit(read_special, {rows[c]}, c == 0 ? 0 : kUncounted).control = from.index + 1 + c;
        return true;
    }
    const unsigned bits = decoder.register_bits(instruction.operands[0]);
    const unsigned special_bits = ptx::bits(ptx::type_of(special));
    const Row to = decoder.destination(instruction.operands[0]);
    if (bits == 64 && special_bits == 32) decoder.emit(read_special_wide, {to, decoder.scratch(32)}).control = from.index;
    else if (bits == 32 && special_bits == 64) return false;
    else decoder.emit(read_special, {to}).control = from.index;
    return true;
}

}  // namespace

const Step* read_special(Run& run, const Step& step, uint32_t active) {
    write_special(run, SpecialRegister(step.control), step.rows[0], active);
    return &step + 1;
}

const Step* read_local_address(Run& run, const Step& step, uint32_t active) {
    const uint64_t address = step.control + (step.rows[1] ? run.frame->local_base : 0);
    each_value<uint64_t>(run, step.rows[0], active, [=](unsigned) { return address; });
    return &step + 1;
}

bool decode_address(Decoder& decoder, const Instruction& instruction) {
    const auto& operands = instruction.operands;
    const auto wide = [&](const Operand& operand) { return decoder.register_bits(operand) != 32; };
    switch (instruction.opcode) {
        case Opcode::kMov: return decode_move(decoder, instruction);
        case Opcode::kCvta: {
            auto* plan = decoder.plan<ConvertPlan>();
            plan->window = window_of(decoder, instruction);
            plan->to_window = instruction.has(Suffix::kTo);
            plan->wide_from = operands[1].kind != Operand::Kind::kRegister || wide(operands[1]);
            plan->wide_to = wide(operands[0]);
            const Row from = decoder.source(operands[1], Type::kU64);
            decoder.emit(convert_address, {decoder.destination(operands[0]), from}).plan = plan;
            return true;
        }
        case Opcode::kIsspacep: {
            auto* plan = decoder.plan<SpacePlan>();
            plan->space = instruction.space;
            plan->cluster = instruction.has(Suffix::kSharedCluster);
            const Row from = decoder.source(operands[1], Type::kU64);
            decoder.emit(is_in_space, {decoder.destination(operands[0]), from}).plan = plan;
            return true;
        }
        case Opcode::kMapa: {
            auto* plan = decoder.plan<MapPlan>();
            plan->generic = instruction.space == ptx::Space::kGeneric;
            plan->wide = wide(operands[0]);
            const Row from = decoder.source(operands[1], plan->wide ? Type::kU64 : Type::kU32);
            const Row rank = decoder.source(operands[2], Type::kU32);
            decoder.emit(map_to_block, {decoder.destination(operands[0]), from, rank}).plan = plan;
            return true;
        }
        case Opcode::kGetctarank: {
            auto* plan = decoder.plan<MapPlan>();
            plan->generic = instruction.space == ptx::Space::kGeneric;
            plan->wide = wide(operands[1]);
            const Row from = decoder.source(operands[1], plan->wide ? Type::kU64 : Type::kU32);
            decoder.emit(rank_of_address, {decoder.destination(operands[0]), from}).plan = plan;
            return true;
        }
        case Opcode::kAlloca: {
            const Row size = decoder.source(operands[1], wide(operands[0]) ? Type::kU64 : Type::kU32);
            decoder.emit(allocate_stack, {decoder.destination(operands[0]), size}).control = wide(operands[0]);
            return true;
        }
        case Opcode::kStacksave: decoder.emit(save_stack, {decoder.destination(operands[0])}).control = wide(operands[0]); return true;
        case Opcode::kStackrestore: decoder.emit(restore_stack, {decoder.source(operands[0], Type::kU64)}).control = wide(operands[0]); return true;
        case Opcode::kCreatepolicy: decode_policy(decoder, instruction); return true;
        default: return false;
    }
}

}  // namespace lanescope::exec
