// Lanes of a warp exchange values: shfl, vote, match, redux, elect, activemask.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "exec/decoder.h"
#include "exec/run.h"

namespace lanescope::exec {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Suffix;
using ptx::Type;

using Perform = void (*)(Run& run, const Step& step, uint32_t active);

struct CollectivePlan {
    Perform perform = nullptr;
    Row members;                          // none: the lanes that are active (without .sync)
    Row destination, predicate;           // d, and the `|p`
    Row a, b, c;
    bool grouped = false;                 // what a lane gets depends on which lanes its mask names
    bool negated = false, wide = false, is_signed = false;
    bool absolute = false, nan = false;   // redux of floats
};

const CollectivePlan& plan_of(const Step& step) { return *static_cast<const CollectivePlan*>(step.plan); }

/// Lanes with different masks come together but are groups of their own (masks of match, labelled partitions). A shuffle's result is no group's.
void perform_in_groups(Run& run, const Step& step, uint32_t lanes) {
    const CollectivePlan& plan = plan_of(step);
    if (!plan.grouped) return plan.perform(run, step, lanes);
    uint32_t masks[kWarpLanes];                   // a copy: the result may replace them
    std::memcpy(masks, run.row<const uint32_t>(plan.members), sizeof masks);
    for (uint32_t rest = lanes; rest != 0;) {
        const uint32_t mask = masks[std::countr_zero(rest)];
        uint32_t group = 0;
        each_lane_of(rest, [&](unsigned lane) { group |= uint32_t(masks[lane] == mask) << lane; });
        plan.perform(run, step, group);
        rest &= ~group;
    }
}

const Step* collect(Run& run, const Step& step, uint32_t active) {
    const CollectivePlan& plan = plan_of(step);
    if (!plan.members) {
        plan.perform(run, step, active);
        return &step + 1;
    }
    const auto* masks = run.row<const uint32_t>(plan.members);
    uint32_t members = masks[std::countr_zero(active)];
    const bool groups = (active & ~members) != 0;
    if (groups) each_lane_of(active, [&](unsigned lane) { members |= masks[lane]; });
    members &= run.warp->live;
    if ((members & ~active) != 0) return run.wait_for_lanes(step, members, active, perform_in_groups);
    run.note_lanes(active);
    if (groups) perform_in_groups(run, step, active);
    else plan.perform(run, step, active);
    return &step + 1;
}

void set_bits(Run& run, Row row, uint32_t bits, uint32_t active) {
    if (!row) return;
    auto* word = run.row<uint32_t>(row);
    *word = (*word & ~active) | (bits & active);
}

uint32_t predicate_bits(const Run& run, const CollectivePlan& plan) { return *run.row<const uint32_t>(plan.a) ^ (plan.negated ? UINT32_MAX : 0); }

enum class Shuffle : uint8_t { kUp, kDown, kButterfly, kIndex };

template <Shuffle kMode>
void shuffle(Run& run, const Step& step, uint32_t active) {
    const CollectivePlan& plan = plan_of(step);
    uint32_t from[kWarpLanes];
    std::memcpy(from, run.row<const uint32_t>(plan.a), sizeof from);
    const auto* b = run.row<const uint32_t>(plan.b);
    const auto* c = run.row<const uint32_t>(plan.c);
    auto* to = run.row<uint32_t>(plan.destination);
    uint32_t in_range = 0;
    each_lane_of(active, [&](unsigned lane) {
        const uint32_t distance = b[lane] & 31, clamp = c[lane] & 31, segment = c[lane] >> 8 & 31;
        const uint32_t first = lane & segment, last = first | (clamp & ~segment);
        int source = 0;
        bool valid = false;
        switch (kMode) {
            case Shuffle::kUp:
                source = int(lane) - int(distance);
                valid = source >= int(last);
                break;
            case Shuffle::kDown:
                source = int(lane + distance);
                valid = source <= int(last);
                break;
            case Shuffle::kButterfly:
                source = int(lane ^ distance);
                valid = source <= int(last);
                break;
            case Shuffle::kIndex:
                source = int(first | (distance & ~segment));
                valid = source <= int(last);
                break;
        }
        if (to != nullptr) to[lane] = from[valid ? source & 31 : int(lane)];
        in_range |= uint32_t(valid) << lane;
    });
    set_bits(run, plan.predicate, in_range, active);
}

void vote_all(Run& run, const Step& step, uint32_t active) {
    const CollectivePlan& plan = plan_of(step);
    set_bits(run, plan.destination, (predicate_bits(run, plan) & active) == active ? UINT32_MAX : 0, active);
}
void vote_any(Run& run, const Step& step, uint32_t active) {
    const CollectivePlan& plan = plan_of(step);
    set_bits(run, plan.destination, (predicate_bits(run, plan) & active) != 0 ? UINT32_MAX : 0, active);
}
void vote_uniform(Run& run, const Step& step, uint32_t active) {
    const CollectivePlan& plan = plan_of(step);
    const uint32_t bits = predicate_bits(run, plan) & active;
    set_bits(run, plan.destination, bits == 0 || bits == active ? UINT32_MAX : 0, active);
}
void ballot(Run& run, const Step& step, uint32_t active) {
    const CollectivePlan& plan = plan_of(step);
    if (!plan.destination) return;
    const uint32_t bits = predicate_bits(run, plan) & active;
    auto* to = run.row<uint32_t>(plan.destination);
    each_lane_of(active, [&](unsigned lane) { to[lane] = bits; });
}

uint64_t value_of(const Run& run, const CollectivePlan& plan, unsigned lane) {
    return plan.wide ? run.row<const uint64_t>(plan.a)[lane] : run.row<const uint32_t>(plan.a)[lane];
}

void match_any(Run& run, const Step& step, uint32_t active) {
    const CollectivePlan& plan = plan_of(step);
    if (!plan.destination) return;
    auto* to = run.row<uint32_t>(plan.destination);
    uint32_t groups[kWarpLanes];
    for (uint32_t rest = active; rest != 0;) {
        const uint64_t value = value_of(run, plan, unsigned(std::countr_zero(rest)));
        uint32_t same = 0;
        each_lane_of(rest, [&](unsigned lane) { same |= uint32_t(value_of(run, plan, lane) == value) << lane; });
        each_lane_of(same, [&](unsigned lane) { groups[lane] = same; });
        rest &= ~same;
    }
    each_lane_of(active, [&](unsigned lane) { to[lane] = groups[lane]; });
}
void match_all(Run& run, const Step& step, uint32_t active) {
    const CollectivePlan& plan = plan_of(step);
    const uint64_t value = value_of(run, plan, unsigned(std::countr_zero(active)));
    bool same = true;
    each_lane_of(active, [&](unsigned lane) { same &= value_of(run, plan, lane) == value; });
    if (plan.destination) {
        auto* to = run.row<uint32_t>(plan.destination);
        each_lane_of(active, [&](unsigned lane) { to[lane] = same ? active : 0; });
    }
    set_bits(run, plan.predicate, same ? UINT32_MAX : 0, active);
}

template <class F>
void reduce(Run& run, const Step& step, uint32_t active, F combine) {
    const CollectivePlan& plan = plan_of(step);
    if (!plan.destination) return;
    const auto* from = run.row<const uint32_t>(plan.a);
    uint32_t result = from[std::countr_zero(active)];
    each_lane_of(active & (active - 1), [&](unsigned lane) { result = combine(result, from[lane]); });
    auto* to = run.row<uint32_t>(plan.destination);
    each_lane_of(active, [&](unsigned lane) { to[lane] = result; });
}
void reduce_add(Run& run, const Step& step, uint32_t active) { reduce(run, step, active, [](uint32_t a, uint32_t b) { return a + b; }); }
void reduce_and(Run& run, const Step& step, uint32_t active) { reduce(run, step, active, [](uint32_t a, uint32_t b) { return a & b; }); }
void reduce_or(Run& run, const Step& step, uint32_t active) { reduce(run, step, active, [](uint32_t a, uint32_t b) { return a | b; }); }
void reduce_xor(Run& run, const Step& step, uint32_t active) { reduce(run, step, active, [](uint32_t a, uint32_t b) { return a ^ b; }); }
template <bool kLeast>
void reduce_integer(Run& run, const Step& step, uint32_t active) {
    const bool is_signed = plan_of(step).is_signed;
    reduce(run, step, active, [=](uint32_t a, uint32_t b) {
        const bool less = is_signed ? int32_t(a) < int32_t(b) : a < b;
        return less == kLeast ? a : b;
    });
}
template <bool kLeast>
void reduce_float(Run& run, const Step& step, uint32_t active) {
    const CollectivePlan& plan = plan_of(step);
    reduce(run, step, active, [&](uint32_t x, uint32_t y) {
        auto a = std::bit_cast<float>(x), b = std::bit_cast<float>(y);
        if (plan.absolute) {
            a = std::fabs(a);
            b = std::fabs(b);
        }
        if (std::isnan(a) || std::isnan(b)) {
            if (plan.nan || (std::isnan(a) && std::isnan(b))) return uint32_t(0x7fffffff);
            return std::bit_cast<uint32_t>(std::isnan(a) ? b : a);
        }
        const bool less = a < b || (a == b && std::signbit(a) && !std::signbit(b));
        return std::bit_cast<uint32_t>(less == kLeast ? a : b);
    });
}

void elect(Run& run, const Step& step, uint32_t active) {
    const CollectivePlan& plan = plan_of(step);
    const auto leader = uint32_t(std::countr_zero(active));
    if (plan.destination) {
        auto* to = run.row<uint32_t>(plan.destination);
        each_lane_of(active, [&](unsigned lane) { to[lane] = leader; });
    }
    set_bits(run, plan.predicate, 1u << leader, active);
}

void active_lanes(Run& run, const Step& step, uint32_t active) {
    auto* to = run.row<uint32_t>(plan_of(step).destination);
    if (to != nullptr) each_lane_of(active, [&](unsigned lane) { to[lane] = active; });
}

Perform reduction_of(const Instruction& instruction) {
    const bool is_float = instruction.types[0] == Type::kF32;
    if (instruction.has(Suffix::kMin)) return is_float ? reduce_float<true> : reduce_integer<true>;
    if (instruction.has(Suffix::kMax)) return is_float ? reduce_float<false> : reduce_integer<false>;
    if (is_float) return nullptr;
    if (instruction.has(Suffix::kAdd)) return reduce_add;
    if (instruction.has(Suffix::kAnd)) return reduce_and;
    if (instruction.has(Suffix::kOr)) return reduce_or;
    return instruction.has(Suffix::kXor) ? reduce_xor : nullptr;
}

}  // namespace

bool decode_collective(Decoder& decoder, const Instruction& instruction) {
    const auto& operands = instruction.operands;
    CollectivePlan plan;
    const bool sync = instruction.has(Suffix::kSync);
    switch (instruction.opcode) {
        case Opcode::kShfl:
            plan.perform = instruction.has(Suffix::kUp)     ? shuffle<Shuffle::kUp>
                           : instruction.has(Suffix::kDown) ? shuffle<Shuffle::kDown>
                           : instruction.has(Suffix::kBfly) ? shuffle<Shuffle::kButterfly>
                                                            : shuffle<Shuffle::kIndex>;
            plan.a = decoder.source(operands[1], Type::kB32);
            plan.b = decoder.source(operands[2], Type::kB32);
            plan.c = decoder.source(operands[3], Type::kB32);
            if (sync) plan.members = decoder.source(operands[4], Type::kB32);
            break;
        case Opcode::kVote:
            plan.perform = instruction.has(Suffix::kAll)   ? vote_all
                           : instruction.has(Suffix::kAny) ? vote_any
                           : instruction.has(Suffix::kUni) ? vote_uniform
                                                           : ballot;
            plan.a = decoder.source(operands[1], Type::kPred);
            plan.negated = operands[1].negated;
            if (sync) plan.members = decoder.source(operands[2], Type::kB32);
            break;
        case Opcode::kMatch:
            plan.perform = instruction.has(Suffix::kAll) ? match_all : match_any;
            plan.wide = ptx::bits(instruction.types[0]) == 64;
            plan.a = decoder.source(operands[1], instruction.types[0]);
            plan.members = decoder.source(operands[2], Type::kB32);
            break;
        case Opcode::kRedux:
            plan.perform = reduction_of(instruction);
            plan.is_signed = instruction.types[0] == Type::kS32;
            plan.absolute = instruction.has(Suffix::kAbs);
            plan.nan = instruction.has(Suffix::kNaN);
            plan.a = decoder.source(operands[1], instruction.types[0]);
            plan.members = decoder.source(operands[2], Type::kB32);
            break;
        case Opcode::kElect:
            plan.perform = elect;
            plan.members = decoder.source(operands[1], Type::kB32);
            break;
        case Opcode::kActivemask: plan.perform = active_lanes; break;
        default: return false;
    }
    if (plan.perform == nullptr) return false;
    const Operand& destination = operands[0];
    if (destination.kind == Operand::Kind::kPair) {
        plan.destination = decoder.destination(destination.elements[0]);
        plan.predicate = decoder.destination(destination.elements[1]);
    } else {
        plan.destination = decoder.destination(destination);
    }
    plan.grouped = plan.members && instruction.opcode != Opcode::kShfl;
    auto* kept = decoder.plan<CollectivePlan>();
    *kept = plan;
    decoder.emit(collect, {}).plan = kept;
    return true;
}

}  // namespace lanescope::exec
