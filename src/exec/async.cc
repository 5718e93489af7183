// Copies that complete later: cp.async with its groups, cp.async.bulk with mbarriers. The bytes move at once, as no program may look at
// them before it has waited; waiting takes the time that the memory system says.
#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/async.h"
#include "exec/sites.h"

namespace lanescope::exec {

Address address_of(Decoder& decoder, const ptx::Operand& operand) {
    MemoryPlan plan;
    decoder.address(operand, plan);
    return {plan.base, plan.offset, plan.base_is_32bit};
}

void EngineTraffic::add(uint64_t address, uint32_t bytes) {
    for (uint64_t at = address & ~uint64_t(15); at < address + bytes; at += 16) {
        if (lanes_ == kWarpLanes) flush();
        run_.addresses[lanes_++] = at;
    }
}

void EngineTraffic::flush() {
    if (lanes_ != 0) run_.announce(accesses_, Space::kGlobal, lanes_ == kWarpLanes ? kFullMask : (1u << lanes_) - 1, run_.addresses, continued_, issuer_);
    continued_ |= lanes_ != 0;
    lanes_ = 0;
}

void watch_engine(Run& run, const MemoryPlan& watched, unsigned lane, Touch touch, bool shared, uint64_t address, uint32_t bytes) {
    for (uint32_t done = 0; run.monitor != nullptr && done < bytes; done += 16) {
        run.shifted[lane] = address + done;
        run.watch(watched, touch, shared ? Space::kShared : Space::kGlobal, 1u << lane, run.shifted, uint8_t(std::min<uint32_t>(16, bytes - done)));
    }
}

namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Suffix;
using ptx::Type;

struct CopyPlan {
    Address to, from, barrier;
    uint32_t bytes = 0;                // cp.async: of the destination
    Row size;                          // bytes to read (cp.async), or of the whole copy (bulk)
    Row ignore;                        // cp.async: predicate, reads nothing
    bool ignore_negated = false;
    bool to_shared = true, from_shared = false, completes_barrier = false;
    const MemoryPlan* watched = nullptr;
    std::vector<Access> accesses;
};

const Step* copy(Run& run, const Step& step, uint32_t active) {
    const auto& plan = *static_cast<const CopyPlan*>(step.plan);
    const uint32_t ignored = plan.ignore ? *run.row<const uint32_t>(plan.ignore) ^ (plan.ignore_negated ? UINT32_MAX : 0) : 0;
    uint32_t reading = 0;
    for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
        const auto lane = unsigned(std::countr_zero(rest));
        const uint64_t from = plan.from.of(run, lane), to = in_shared(plan.to.of(run, lane));
        uint32_t bytes = plan.size ? std::min(run.row<const uint32_t>(plan.size)[lane], plan.bytes) : plan.bytes;
        if ((ignored >> lane & 1) != 0) bytes = 0;
        if (to % plan.bytes != 0) return run.fail_access(FaultKind::kMisaligned, step, lane, to, plan.bytes, true);
        std::byte* destination = run.shared(step, lane, to, plan.bytes, true);
        if (destination == nullptr) return nullptr;
        run.addresses[lane] = from;
        run.shifted[lane] = to;
        if (bytes != 0) {
            if (from % plan.bytes != 0) return run.fail_access(FaultKind::kMisaligned, step, lane, from, plan.bytes, false);
            const std::byte* source = run.global(step, lane, from, bytes, false);
            if (source == nullptr) return nullptr;
            std::memcpy(destination, source, bytes);
            reading |= 1u << lane;
        }
        std::memset(destination + bytes, 0, plan.bytes - bytes);
    }
    if (run.monitor != nullptr) {
        if (reading != 0) run.watch(*plan.watched, Touch::kRead, Space::kGlobal, reading, run.addresses, plan.bytes);
        run.watch(*plan.watched, Touch::kWrite, Space::kShared, active, run.shifted, plan.bytes);
    }
    if (reading != 0) run.warp->copies_arrive = std::max(run.warp->copies_arrive, run.announce(plan.accesses, Space::kGlobal, reading, run.addresses, false, kWarpLanes, run.shifted));
    return &step + 1;
}

const Step* commit(Run& run, const Step& step, uint32_t) {
    run.warp->copy_groups.push_back(run.warp->copies_arrive);
    run.warp->copies_arrive = 0;
    return &step + 1;
}

/// Waits until at most `control` of the latest groups are on their way; UINT64_MAX: for everything.
const Step* wait_for_copies(Run& run, const Step& step, uint32_t) {
    std::vector<uint64_t>& groups = run.warp->copy_groups;
    if (step.control == UINT64_MAX) {
        groups.push_back(run.warp->copies_arrive);
        run.warp->copies_arrive = 0;
    }
    const size_t keep = step.control == UINT64_MAX ? 0 : size_t(step.control);
    while (groups.size() > keep) {
        run.time = std::max(run.time, groups.front());
        groups.erase(groups.begin());
    }
    return &step + 1;
}

/// cp.async.mbarrier.arrive: the copies before it have completed. Without .noinc it raises the pending count first: no change.
const Step* arrive_when_copied(Run& run, const Step& step, uint32_t active) {
    const auto& plan = *static_cast<const CopyPlan*>(step.plan);
    run.time = std::max(run.time, run.warp->copies_arrive);
    for (uint32_t rest = active; rest != 0 && plan.completes_barrier; rest &= rest - 1) {
        const auto lane = unsigned(std::countr_zero(rest));
        if (!complete_transactions(run, step, lane, in_shared(plan.barrier.of(run, lane)), 0, true)) return nullptr;
    }
    return &step + 1;
}

void announce_bulk(Run& run, const CopyPlan& plan, unsigned lane, uint64_t address, uint32_t bytes) {
    EngineTraffic traffic(run, plan.accesses, lane);
    traffic.add(address, bytes);
}

const Step* copy_bulk(Run& run, const Step& step, uint32_t active) {
    const auto& plan = *static_cast<const CopyPlan*>(step.plan);
    const auto* sizes = run.row<const uint32_t>(plan.size);
    for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
        const auto lane = unsigned(std::countr_zero(rest));
        const uint32_t bytes = sizes[lane];
        uint64_t to = plan.to.of(run, lane), from = plan.from.of(run, lane);
        if (plan.to_shared) to = in_shared(to);
        if (plan.from_shared) from = in_shared(from);
        if (bytes % 16 != 0 || to % 16 != 0) return run.fail_access(FaultKind::kMisaligned, step, lane, to % 16 != 0 ? to : bytes, 16, true);
        if (from % 16 != 0) return run.fail_access(FaultKind::kMisaligned, step, lane, from, 16, false);
        const std::byte* source = plan.from_shared ? run.shared(step, lane, from, bytes, false) : run.global(step, lane, from, bytes, false);
        if (source == nullptr) return nullptr;
        std::byte* destination = plan.to_shared ? run.shared(step, lane, to, bytes, true) : run.global(step, lane, to, bytes, true);
        if (destination == nullptr) return nullptr;
        watch_engine(run, *plan.watched, lane, Touch::kRead, plan.from_shared, from, bytes);
        watch_engine(run, *plan.watched, lane, Touch::kWrite, plan.to_shared, to, bytes);
        std::memmove(destination, source, bytes);
        if (!plan.from_shared) announce_bulk(run, plan, lane, from, bytes);
        else if (!plan.to_shared) announce_bulk(run, plan, lane, to, bytes);
        if (plan.completes_barrier) {
            // The barrier is in the same block's shared memory as the destination.
            if (!complete_transactions(run, step, lane, in_shared(plan.barrier.of(run, lane)), bytes, false)) return nullptr;
        }
    }
    return &step + 1;
}

/// Prefetches into L2 never fault.
const Step* prefetch_bulk(Run& run, const Step& step, uint32_t active) {
    const auto& plan = *static_cast<const CopyPlan*>(step.plan);
    for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
        const auto lane = unsigned(std::countr_zero(rest));
        const uint64_t from = plan.from.of(run, lane);
        const uint32_t bytes = run.row<const uint32_t>(plan.size)[lane];
        if (run.memory.host(from, bytes) != nullptr) announce_bulk(run, plan, lane, from, bytes);
    }
    return &step + 1;
}

const Step* skip(Run&, const Step& step, uint32_t) { return &step + 1; }

bool decode_copy(Decoder& decoder, const Instruction& instruction) {
    const auto& operands = instruction.operands;
    auto* plan = decoder.plan<CopyPlan>();
    plan->to = address_of(decoder, operands[0]);
    plan->from = address_of(decoder, operands[1]);
    const auto bytes = decoder.known(operands[2], Type::kU32);
    if (!bytes || (*bytes != 4 && *bytes != 8 && *bytes != 16)) return decoder.unsupported("this size"), true;
    plan->bytes = uint32_t(*bytes);
    const size_t end = operands.size() - (instruction.has(Suffix::kL2CacheHint) ? 1 : 0);
    if (end > 3) {
        const Operand& last = operands[3];
        if (decoder.register_bits(last) == 1) {
            plan->ignore = decoder.source(last, Type::kPred);
            plan->ignore_negated = last.negated;
        } else {
            plan->size = decoder.source(last, Type::kU32);
        }
    }
    AccessSite site = site_of(instruction, Operation::kAsyncCopy);
    site.bytes = uint8_t(plan->bytes);
    plan->accesses.push_back({decoder.add_site(site), 0, site.bytes, decoder.policy(instruction)});
    plan->watched = &decoder.memory_plan();
    decoder.emit(copy, {}, kOrdered).plan = plan;
    return true;
}

bool decode_bulk(Decoder& decoder, const Instruction& instruction) {
    const auto& operands = instruction.operands;
    auto* plan = decoder.plan<CopyPlan>();
    const bool prefetch = instruction.opcode == Opcode::kCpAsyncBulkPrefetch;
    if (!prefetch && (instruction.has(Suffix::kMulticastCluster) || instruction.has(Suffix::kCpMask))) return decoder.unsupported("this form"), true;
    if (!prefetch) plan->to = address_of(decoder, operands[0]);
    plan->from = address_of(decoder, operands[prefetch ? 0 : 1]);
    plan->size = decoder.source(operands[prefetch ? 1 : 2], Type::kU32);
    // The state spaces stand in the order destination, source.
    std::vector<ptx::Space> spaces;
    for (const Suffix suffix : instruction.suffixes)
        if (suffix == Suffix::kGlobal || suffix == Suffix::kShared || suffix == Suffix::kSharedCta || suffix == Suffix::kSharedCluster)
            spaces.push_back(ptx::space_of(suffix));
    plan->to_shared = !prefetch && !spaces.empty() && spaces[0] == ptx::Space::kShared;
    plan->from_shared = !prefetch && spaces.size() > 1 && spaces[1] == ptx::Space::kShared;
    plan->completes_barrier = instruction.has(Suffix::kMbarrierCompleteTxBytes);
    if (plan->completes_barrier) plan->barrier = address_of(decoder, operands[3]);
    AccessSite site = site_of(instruction, prefetch ? Operation::kPrefetch : plan->from_shared ? Operation::kStore : Operation::kAsyncCopy);
    site.bytes = 16;
    site.bulk = true;
    plan->accesses.push_back({decoder.add_site(site), 0, 16, decoder.policy(instruction)});
    plan->watched = &decoder.memory_plan();
    decoder.emit(prefetch ? prefetch_bulk : copy_bulk, {}, kOrdered).plan = plan;
    return true;
}

}  // namespace

bool decode_async(Decoder& decoder, const Instruction& instruction) {
    const auto& operands = instruction.operands;
    switch (instruction.opcode) {
        case Opcode::kCpAsync: return decode_copy(decoder, instruction);
        case Opcode::kCpAsyncCommitGroup: decoder.emit(commit, {}); return true;
        case Opcode::kCpAsyncWaitGroup:
            decoder.emit(wait_for_copies, {}, kOrdered).control = decoder.known(operands[0], Type::kU32).value_or(0);
            return true;
        case Opcode::kCpAsyncWaitAll: decoder.emit(wait_for_copies, {}, kOrdered).control = UINT64_MAX; return true;
        case Opcode::kCpAsyncMbarrierArrive: {
            auto* plan = decoder.plan<CopyPlan>();
            plan->barrier = address_of(decoder, operands[0]);
            plan->completes_barrier = instruction.has(Suffix::kNoinc);
            decoder.emit(arrive_when_copied, {}, kOrdered).plan = plan;
            return true;
        }
        case Opcode::kCpAsyncBulk:
        case Opcode::kCpAsyncBulkPrefetch: return decode_bulk(decoder, instruction);
        case Opcode::kCpAsyncBulkTensor:
        case Opcode::kCpAsyncBulkPrefetchTensor: return decode_tensor_copy(decoder, instruction);
        case Opcode::kCpAsyncBulkCommitGroup:
        case Opcode::kCpAsyncBulkWaitGroup: decoder.emit(skip, {}); return true;  // the copies' effects are there already
        default: return false;
    }
}

}  // namespace lanescope::exec
