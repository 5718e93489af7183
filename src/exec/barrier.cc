// Barriers: of blocks (named, with counts and votes), clusters and lanes; mbarrier objects; fences and sleep.
#include <bit>
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

// Arrivals are taken one after the other, then the warps go on: an H200's blocks of 1, 4, 8 and 32 warps need 14.8, 20.9, 28.9 and 76.8 cycles a
// barrier (tests/accuracy/h200/timing.csv), 4 of them for the loop around it.
constexpr uint64_t kArrivalCycles = 2, kBarrierCycles = 9;

enum class BarrierKind : uint8_t { kSync, kArrive, kCount, kAnd, kOr };

struct BarrierPlan {
    BarrierKind kind = BarrierKind::kSync;
    bool aligned = true, has_count = false, negated = false;
    Row destination, id, count, predicate;
};

bool votes(BarrierKind kind) { return kind == BarrierKind::kCount || kind == BarrierKind::kAnd || kind == BarrierKind::kOr; }

void give_vote(const BarrierPlan& plan, const Barrier& barrier, std::byte* rows, uint32_t mask) {
    if (!votes(plan.kind) || !plan.destination) return;
    if (plan.kind == BarrierKind::kCount) {
        each_lane_of(mask, [&](unsigned lane) { static_cast<uint32_t*>(plan.destination.in(rows))[lane] = barrier.votes; });
        return;
    }
    const bool holds = plan.kind == BarrierKind::kAnd ? barrier.votes == barrier.voted : barrier.votes != 0;
    auto* bits = static_cast<uint32_t*>(plan.destination.in(rows));
    *bits = (*bits & ~mask) | (holds ? mask : 0);
}

const Step* wait_at_barrier(Run& run, const Step& step, uint32_t active) {
    const auto& plan = *static_cast<const BarrierPlan*>(step.plan);
    const auto leader = unsigned(std::countr_zero(active));
    const uint32_t id = run.row<const uint32_t>(plan.id)[leader];
    if (id >= run.block->barriers.size())
        return run.fail(FaultKind::kIllegal, step, leader, "barrier " + std::to_string(id) + " of 16");
    Barrier& barrier = run.block->barriers[id];
    const bool whole_warp = active == run.warp->live;
    if (plan.aligned && !whole_warp)
        run.warn(FaultKind::kBarrierDivergence, step, leader, "a barrier is reached by a part of the warp's threads only; the others must reach it, too");
    if (plan.has_count) barrier.expected = run.row<const uint32_t>(plan.count)[leader];
    // With a count warps count whole, whatever lanes have ended.
    barrier.arrived += plan.has_count && whole_warp ? kWarpLanes : uint32_t(std::popcount(active));
    barrier.time = std::max(barrier.time, run.time) + kArrivalCycles;
    if (votes(plan.kind)) {
        const uint32_t bits = *run.row<const uint32_t>(plan.predicate) ^ (plan.negated ? UINT32_MAX : 0);
        barrier.voted += uint32_t(std::popcount(active));
        barrier.votes += uint32_t(std::popcount(bits & active));
    }
    if (run.listener != nullptr) run.listener->on_barrier(run.block->index, id, run.time);
    if (plan.has_count) run.note_arrival(barrier_of(run.block->index, id));  // else all threads of the block will meet
    run.isolate(step, active);
    if (plan.kind == BarrierKind::kArrive) {
        run.check_barrier(*run.block, id);
        return &step + 1;
    }
    run.park(&step, SplitState::kBarrier);
    run.current().barrier = uint8_t(id);
    run.check_barrier(*run.block, id);
    return run.switch_split();
}

struct ClusterPlan { bool arrive = false, wait = false; };

const Step* cluster_barrier(Run& run, const Step& step, uint32_t active) {
    const auto& plan = *static_cast<const ClusterPlan*>(step.plan);
    Cluster* cluster = run.block->cluster;
    if (cluster == nullptr) return &step + 1;  // a cluster of one thread block without a launch attribute: nothing to wait for
    if (plan.arrive) {
        run.warp->cluster_phase = (run.warp->cluster_phase & ~active) | (cluster->phase ? active : 0);
        cluster->threads_arrived += uint32_t(std::popcount(active));
        cluster->time = std::max(cluster->time, run.time);
        run.note_arrival(cluster_barrier_of(cluster->index));
        run.check_cluster(*cluster);
    }
    if (!plan.wait) return &step + 1;
    const uint32_t passed = run.warp->cluster_phase ^ (cluster->phase ? UINT32_MAX : 0);
    if ((passed & active) == active) {
        run.note_leaving(cluster_barrier_of(cluster->index));
        return &step + 1;
    }
    run.isolate(step, active);
    run.park(&step + 1, SplitState::kClusterBarrier);
    return run.switch_split();
}

void nothing(Run&, const Step&, uint32_t) {}

const Step* sync_lanes(Run& run, const Step& step, uint32_t active) {
    const auto* masks = run.row<const uint32_t>(step.rows[0]);
    const uint32_t members = masks[std::countr_zero(active)] & run.warp->live;
    if ((members & ~active) != 0) return run.wait_for_lanes(step, members, active, nothing);
    run.note_lanes(active);
    return &step + 1;
}

/// Every access is done in order here; the monitor is told. `control`: only the block is to see the order.
const Step* fence(Run& run, const Step& step, uint32_t) {
    if (run.monitor != nullptr) [[unlikely]] run.monitor->on_fence(run.actor(), step.control != 0);
    return &step + 1;
}

const Step* sleep(Run& run, const Step& step, uint32_t active) {
    const auto* nanoseconds = run.row<const uint32_t>(step.rows[0]);
    uint32_t most = 0;
    each_lane_of(active, [&](unsigned lane) { most = std::max(most, nanoseconds[lane]); });
    run.time += uint64_t(most) * run.machine.clock_khz / 1'000'000;
    run.polls += kPollWeight;  // threads sleep while they wait for others
    return &step + 1;
}

// --- mbarrier: a 64-bit word in shared memory ---

/// pending and expected arrivals, bytes of transactions still to come, and the number of the phase modulo 2.
struct MbarrierWord {
    int32_t pending = 0, expected = 0, transactions = 0;
    bool phase = false;

    static MbarrierWord from(uint64_t bits) {
        return {int32_t(bits & 0xfffff), int32_t(bits >> 20 & 0xfffff), int32_t(int64_t(bits << 1) >> 41), bits >> 63 != 0};
    }
    uint64_t bits() const {
        return uint64_t(pending & 0xfffff) | uint64_t(expected & 0xfffff) << 20 | (uint64_t(uint32_t(transactions)) & 0x7fffff) << 40 | uint64_t(phase) << 63;
    }
    void check() {
        if (pending != 0 || transactions != 0) return;
        phase = !phase;
        pending = expected;
    }
};

struct MbarrierPlan {
    Opcode opcode{};
    bool shared = false, parity = false, expects = false, relative = false;
    Row address, value, state;        // value: count, bytes or parity
    int64_t offset = 0;
    Row destination;
};

std::byte* mbarrier_at(Run& run, const Step& step, const MbarrierPlan& plan, unsigned lane, uint64_t& address) {
    const uint64_t base = plan.relative ? run.row<const uint32_t>(plan.address)[lane] : run.row<const uint64_t>(plan.address)[lane];
    address = base + uint64_t(plan.offset);
    if (address % 8 != 0) {
        run.fail_access(FaultKind::kMisaligned, step, lane, address, 8, true);
        return nullptr;
    }
    return plan.shared ? run.shared(step, lane, address, 8, true) : run.generic(step, lane, address, 8, true);
}

const Step* use_mbarrier(Run& run, const Step& step, uint32_t active) {
    const auto& plan = *static_cast<const MbarrierPlan*>(step.plan);
    uint32_t complete = 0;
    for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
        const auto lane = unsigned(std::countr_zero(rest));
        uint64_t address = 0;
        std::byte* at = mbarrier_at(run, step, plan, lane, address);
        if (at == nullptr) return nullptr;
        uint64_t bits = 0;
        std::memcpy(&bits, at, 8);
        MbarrierWord word = MbarrierWord::from(bits);
        const auto value = int32_t(plan.value ? run.row<const uint32_t>(plan.value)[lane] : 1);
        const Meeting meeting = run.mbarrier(plan.shared ? address : address - kSharedWindow);
        switch (plan.opcode) {
            case Opcode::kMbarrierInit: word = {value, value, 0, false}; break;
            case Opcode::kMbarrierInval: word = {}; break;
            case Opcode::kMbarrierExpectTx: word.transactions += value; break;
            case Opcode::kMbarrierCompleteTx:
                word.transactions -= value;
                word.check();
                break;
            case Opcode::kMbarrierArriveDrop: word.expected -= plan.expects ? 1 : value; [[fallthrough]];
            case Opcode::kMbarrierArrive:
                run.note_arrival(meeting);
                if (plan.expects) word.transactions += value;
                word.pending -= plan.expects ? 1 : value;
                word.check();
                break;
            default: {  // test_wait, try_wait
                bool phase = false;
                if (plan.parity) phase = (run.row<const uint32_t>(plan.state)[lane] & 1) != 0;
                else phase = run.row<const uint64_t>(plan.state)[lane] >> 63 != 0;
                complete |= uint32_t(word.phase != phase) << lane;
                if (word.phase != phase) run.note_leaving(meeting);
                continue;
            }
        }
        const uint64_t after = word.bits();
        std::memcpy(at, &after, 8);
        if (plan.destination) run.row<uint64_t>(plan.destination)[lane] = bits;
    }
    if (plan.opcode == Opcode::kMbarrierTestWait || plan.opcode == Opcode::kMbarrierTryWait) {
        if (plan.destination) {
            auto* row = run.row<uint32_t>(plan.destination);
            *row = (*row & ~active) | complete;
        }
        if (complete != active) {
            run.polls += kPollWeight;
            if (plan.opcode == Opcode::kMbarrierTryWait) run.time += 100;  // suspended for a while
        }
    }
    return &step + 1;
}

const Step* pending_count(Run& run, const Step& step, uint32_t active) {
    const auto* states = run.row<const uint64_t>(step.rows[1]);
    auto* counts = run.row<uint32_t>(step.rows[0]);
    each_lane_of(active, [&](unsigned lane) { counts[lane] = uint32_t(MbarrierWord::from(states[lane]).pending); });
    return &step + 1;
}

bool decode_mbarrier(Decoder& decoder, const Instruction& instruction) {
    const Opcode opcode = instruction.opcode;
    if (opcode == Opcode::kMbarrierPendingCount) {
        decoder.emit(pending_count, {decoder.destination(instruction.operands[0]), decoder.source(instruction.operands[1], Type::kU64)});
        return true;
    }
    auto* plan = decoder.plan<MbarrierPlan>();
    plan->opcode = opcode;
    plan->shared = instruction.space == ptx::Space::kShared;
    plan->parity = instruction.has(Suffix::kParity);
    plan->expects = instruction.has(Suffix::kExpectTx) && opcode != Opcode::kMbarrierExpectTx;
    size_t i = 0;
    const auto& operands = instruction.operands;
    if (operands[0].kind != Operand::Kind::kAddress) plan->destination = decoder.destination(operands[i++]);
    MemoryPlan address;
    decoder.address(operands[i++], address);
    plan->relative = address.base_is_32bit;
    plan->offset = address.offset;
    plan->address = address.base ? address.base : decoder.constant(0, 64);
    const bool waits = opcode == Opcode::kMbarrierTestWait || opcode == Opcode::kMbarrierTryWait;
    if (i < operands.size()) {
        if (waits) plan->state = decoder.source(operands[i], plan->parity ? Type::kU32 : Type::kU64);
        else plan->value = decoder.source(operands[i], Type::kU32);
    }
    decoder.emit(use_mbarrier, {}, kOrdered).plan = plan;
    return true;
}

}  // namespace

/// The transaction bytes of an asynchronous copy have arrived (async.cc).
bool complete_transactions(Run& run, const Step& step, unsigned lane, uint64_t address, uint32_t bytes, bool arrive) {
    std::byte* at = run.shared(step, lane, address, 8, true);
    if (at == nullptr) return false;
    uint64_t bits = 0;
    std::memcpy(&bits, at, 8);
    MbarrierWord word = MbarrierWord::from(bits);
    run.note_arrival(run.mbarrier(address));
    word.transactions -= int32_t(bytes);
    if (arrive) --word.pending;
    word.check();
    bits = word.bits();
    std::memcpy(at, &bits, 8);
    return true;
}

void Run::isolate(const Step& step, uint32_t active) {
    if (active == mask) return;
    Split rest = current();
    rest.mask = mask & ~active;
    rest.next = &step + 1;
    rest.state = SplitState::kReady;
    current().mask = active;
    warp->splits.insert(warp->splits.begin() + split, rest);
    ++split;
    set_mask(active);
}

void Run::wake(Warp& w, uint64_t at) {
    if (&w == warp) {
        time = std::max(time, at);
        return;
    }
    w.time = std::max(w.time, at);
    set_ready(w);
    if (w.block->sm == sm->index) yield_at = std::min(yield_at, w.time);
}

void Run::check_barrier(Block& b, unsigned id) {
    Barrier& barrier = b.barriers[id];
    const uint32_t expected = barrier.expected != 0 ? barrier.expected : b.live;
    if (barrier.arrived == 0 || barrier.arrived < expected) return;
    const uint64_t at = barrier.time + kBarrierCycles;
    uint32_t waiting = 0;
    if (monitor != nullptr) {
        for (const Warp& w : b.warps)
            for (const Split& s : w.splits) waiting += s.state == SplitState::kBarrier && s.barrier == id ? uint32_t(std::popcount(s.mask)) : 0;
        if (waiting == b.live) monitor->on_block(actor(b.warps[0]));
    }
    for (Warp& w : b.warps) {
        bool woken = false;
        for (Split& s : w.splits)
            if (s.state == SplitState::kBarrier && s.barrier == id) {
                give_vote(*static_cast<const BarrierPlan*>(s.next->plan), barrier, s.frame->rows, s.mask);
                ++s.next;
                s.state = SplitState::kReady;
                woken = true;
            }
        if (!woken) continue;
        if (monitor != nullptr && waiting != b.live) monitor->on_leave(actor(w), barrier_of(b.index, id));
        wake(w, at);
    }
    barrier = {};
}

void Run::check_cluster(Cluster& c) {
    if (c.threads_arrived == 0 || c.threads_arrived < c.threads_live) return;
    c.threads_arrived = 0;
    c.phase = !c.phase;
    for (Block* b : c.blocks)
        for (Warp& w : b->warps) {
            bool woken = false;
            for (Split& s : w.splits)
                if (s.state == SplitState::kClusterBarrier) {
                    s.state = SplitState::kReady;
                    woken = true;
                }
            if (!woken) continue;
            if (monitor != nullptr) monitor->on_leave(actor(w), cluster_barrier_of(c.index));
            wake(w, c.time + kBarrierCycles);
        }
}

const Step* Run::wait_for_lanes(const Step& step, uint32_t members, uint32_t active, void (*perform)(Run&, const Step&, uint32_t)) {
    isolate(step, active);
    park(&step, SplitState::kLaneSync);
    Split& s = current();
    s.awaited = members;
    s.active = active;
    s.perform = perform;
    check_lanes(false);
    const Step* next = switch_split();
    if (next != nullptr) return next;
    for (const Split& other : warp->splits)
        if (other.state != SplitState::kLaneSync) return nullptr;  // may come yet, when its barrier opens
    check_lanes(true);
    return switch_split();
}

bool Run::check_lanes(bool force) {
    uint32_t there = 0;
    for (const Split& s : warp->splits)
        if (s.state == SplitState::kLaneSync) there |= s.active;
    bool any = false;
    std::byte* const current_rows = rows;
    for (size_t i = 0; i < warp->splits.size(); ++i) {
        const Split first = warp->splits[i];
        if (first.state != SplitState::kLaneSync || (!force && (first.awaited & warp->live & ~there) != 0)) continue;
        uint32_t together = 0;
        for (Split& s : warp->splits)
            if (s.state == SplitState::kLaneSync && s.next == first.next && s.frame == first.frame) {
                together |= s.active;
                s.state = SplitState::kReady;
                ++s.next;
            }
        rows = first.frame->rows;
        note_lanes(together);
        first.perform(*this, *first.next, together);
        any = true;
    }
    rows = current_rows;
    return any;
}

bool decode_barrier(Decoder& decoder, const Instruction& instruction) {
    switch (instruction.opcode) {
        case Opcode::kBar:
        case Opcode::kBarrier: break;
        case Opcode::kBarrierCluster: {
            auto* plan = decoder.plan<ClusterPlan>();
            plan->arrive = instruction.has(Suffix::kArrive);
            plan->wait = instruction.has(Suffix::kWait);
            decoder.emit(cluster_barrier, {}, kOrdered).plan = plan;
            return true;
        }
        case Opcode::kBarWarpSync: decoder.emit(sync_lanes, {decoder.source(instruction.operands[0], Type::kB32)}); return true;
        case Opcode::kMembar:
        case Opcode::kFence: decoder.emit(fence, {}).control = instruction.has(Suffix::kCta); return true;
        case Opcode::kNanosleep: decoder.emit(sleep, {decoder.source(instruction.operands[0], Type::kU32)}, kOrdered); return true;
        case Opcode::kMbarrierInit: case Opcode::kMbarrierInval: case Opcode::kMbarrierExpectTx: case Opcode::kMbarrierCompleteTx:
        case Opcode::kMbarrierArrive: case Opcode::kMbarrierArriveDrop: case Opcode::kMbarrierTestWait: case Opcode::kMbarrierTryWait:
        case Opcode::kMbarrierPendingCount: return decode_mbarrier(decoder, instruction);
        default: return false;
    }
    auto* plan = decoder.plan<BarrierPlan>();
    plan->aligned = instruction.opcode == Opcode::kBar || instruction.has(Suffix::kAligned);
    size_t i = 0;
    const auto& operands = instruction.operands;
    if (instruction.has(Suffix::kRed)) {
        plan->kind = instruction.has(Suffix::kPopc) ? BarrierKind::kCount : instruction.has(Suffix::kAnd) ? BarrierKind::kAnd : BarrierKind::kOr;
        plan->destination = decoder.destination(operands[i++]);
        plan->predicate = decoder.source(operands.back(), Type::kPred);
        plan->negated = operands.back().negated;
    } else if (instruction.has(Suffix::kArrive)) {
        plan->kind = BarrierKind::kArrive;
    }
    const size_t end = operands.size() - (votes(plan->kind) ? 1 : 0);
    plan->id = i < end ? decoder.source(operands[i++], Type::kU32) : decoder.constant(0, 32);
    plan->has_count = i < end;
    if (plan->has_count) plan->count = decoder.source(operands[i], Type::kU32);
    decoder.emit(wait_at_barrier, {}, kOrdered).plan = plan;
    return true;
}

}  // namespace lanescope::exec
