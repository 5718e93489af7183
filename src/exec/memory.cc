// Loads and stores of all spaces, prefetches, and the checks of addresses.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/decoder.h"
#include "exec/run.h"
#include "exec/sites.h"

namespace lanescope::exec {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Suffix;
using ptx::Type;

constexpr uint64_t kFirstPage = 4096;
constexpr uint32_t kAdvisedBytes = 128;   // by one lane of discard or applypriority
constexpr uint32_t kPrefetchedBytes = 32;

unsigned first_lane(uint32_t mask) { return unsigned(std::countr_zero(mask)); }

/// The shape of some of the addresses that form_addresses made.
Shape shape_of(const uint64_t* addresses, uint32_t mask) {
    Shape shape{UINT64_MAX, 0, 0, false};
    each_lane_of(mask, [&](unsigned lane) {
        shape.low = std::min(shape.low, addresses[lane]);
        shape.high = std::max(shape.high, addresses[lane]);
        shape.bits |= addresses[lane];
    });
    return shape;
}

const Step* fail_misaligned(Run& run, const Step& step, const MemoryPlan& plan, uint32_t active) {
    unsigned bad = 0;
    each_lane_of(active, [&, found = false](unsigned lane) mutable {
        if (!found && run.addresses[lane] % plan.width != 0) {
            bad = lane;
            found = true;
        }
    });
    return run.fail_access(FaultKind::kMisaligned, step, bad, run.addresses[bad], plan.width, plan.store);
}

/// Announces the access; a load's destinations are there when its data is, a store holds its warp up while the way out is full.
inline void note(Run& run, const Step& step, const MemoryPlan& plan, Space space, uint32_t active) {
    const uint64_t arrival = run.announce(plan.accesses, space, active, run.addresses);
    if (!plan.store) run.expect(step, arrival);
    else if (run.listener != nullptr) run.warp->way_out_free = std::max(run.warp->way_out_free, arrival);
    if (run.monitor != nullptr && space != Space::kConst) [[unlikely]]
        run.watch(step, plan, plan.store ? Touch::kWrite : Touch::kRead, space, active, run.addresses);
}

void transfer(Run& run, const Step& step, const MemoryPlan& plan, const uint64_t* addresses, int64_t delta, uint32_t mask, bool contiguous) {
    Transfer t;
    for (unsigned v = 0; v < plan.vector; ++v) t.rows[v] = step.rows[v].in(run.rows);
    t.vector = plan.vector;
    t.addresses = addresses;
    t.delta = delta;
    t.mask = mask;
    t.contiguous = contiguous;
    plan.move(t);
}

/// Lanes of one access that lie in several allocations, or in none.
const Step* access_scattered(Run& run, const Step& step, const MemoryPlan& plan, uint32_t active) {
    for (uint32_t rest = active; rest != 0; rest &= rest - 1)
        if (run.global(step, first_lane(rest), run.addresses[first_lane(rest)], plan.width, plan.store) == nullptr) return nullptr;
    note(run, step, plan, Space::kGlobal, active);
    for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
        const unsigned lane = first_lane(rest);
        const Allocation* allocation = run.memory.find(run.addresses[lane]);
        transfer(run, step, plan, run.addresses, allocation->host_delta, 1u << lane, false);
    }
    return &step + 1;
}

const Step* finish_global(Run& run, const Step& step, const MemoryPlan& plan, uint32_t active, const Shape& shape) {
    if ((shape.bits & (plan.width - 1u)) != 0) return fail_misaligned(run, step, plan, active);
    CachedRange& range = run.ranges[plan.index];
    const uint64_t reach = shape.high - shape.low + plan.width;
    if (shape.low - range.begin >= range.bytes || reach > range.bytes - (shape.low - range.begin)) {
        const Allocation* allocation = run.memory.find(shape.low);
        if (allocation == nullptr || reach > allocation->end() - shape.low || (plan.store && allocation->read_only))
            return access_scattered(run, step, plan, active);
        range = {allocation->begin, allocation->bytes, allocation->host_delta};
    }
    note(run, step, plan, Space::kGlobal, active);
    transfer(run, step, plan, run.addresses, range.delta, active, shape.contiguous);
    return &step + 1;
}

const Step* finish_shared(Run& run, const Step& step, const MemoryPlan& plan, uint32_t active, const Shape& shape) {
    if ((shape.bits & (plan.width - 1u)) != 0) return fail_misaligned(run, step, plan, active);
    if (shape.high + plan.width <= run.shared_bytes) {
        note(run, step, plan, Space::kShared, active);
        transfer(run, step, plan, run.addresses, int64_t(reinterpret_cast<uintptr_t>(run.block->shared)), active, shape.contiguous);
        return &step + 1;
    }
    uint64_t hosts[kWarpLanes];
    for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
        const unsigned lane = first_lane(rest);
        std::byte* host = run.shared(step, lane, run.addresses[lane], plan.width, plan.store);
        if (host == nullptr) return nullptr;
        hosts[lane] = reinterpret_cast<uintptr_t>(host);
    }
    note(run, step, plan, Space::kShared, active);
    transfer(run, step, plan, hosts, 0, active, false);
    return &step + 1;
}

const Step* finish_local(Run& run, const Step& step, const MemoryPlan& plan, uint32_t active, const Shape& shape) {
    if ((shape.bits & (plan.width - 1u)) != 0) return fail_misaligned(run, step, plan, active);
    if (shape.high + plan.width > run.frame->local_top || shape.high > UINT32_MAX)
        for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
            const uint64_t address = run.addresses[first_lane(rest)];
            if (address > run.frame->local_top || address + plan.width > run.frame->local_top)
                return run.fail_access(FaultKind::kOutOfBounds, step, first_lane(rest), address, plan.width, plan.store,
                                       fmt::format("the thread's local memory has {} bytes", run.frame->local_top));
        }
    note(run, step, plan, Space::kLocal, active);
    uint64_t hosts[kWarpLanes];
    const auto base = reinterpret_cast<uintptr_t>(run.warp->local.data());
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        const uint64_t offset = run.addresses[lane];
        hosts[lane] = base + (offset / 16 * kWarpLanes + lane) * 16 + offset % 16;
    }
    if (plan.width <= 16) {
        transfer(run, step, plan, hosts, 0, active, false);
        return &step + 1;
    }
    Transfer t;  // 32 bytes: two units of local memory
    t.vector = 1;
    t.addresses = hosts;
    t.mask = active;
    t.contiguous = false;
    for (unsigned v = 0; v < plan.vector; ++v) {
        const unsigned byte = v * plan.element_bytes;
        t.rows[0] = step.rows[v].in(run.rows);
        t.delta = byte / 16 * kWarpLanes * 16 + byte % 16;
        plan.move(t);
    }
    return &step + 1;
}

const Step* finish_constant(Run& run, const Step& step, const MemoryPlan& plan, uint32_t active, const Shape& shape) {
    if ((shape.bits & (plan.width - 1u)) != 0) return fail_misaligned(run, step, plan, active);
    const Program& program = run.kernel.program();
    if (shape.high + plan.width > program.constant_bytes() || shape.high > UINT32_MAX) {
        unsigned bad = first_lane(active);
        each_lane_of(active, [&](unsigned lane) { bad = run.addresses[lane] == shape.high ? lane : bad; });
        return run.fail_access(FaultKind::kOutOfBounds, step, bad, run.addresses[bad], plan.width, false,
                               fmt::format("the constant bank has {} bytes", program.constant_bytes()));
    }
    note(run, step, plan, Space::kConst, active);
    const std::byte* bank = run.memory.host(program.constant_base(), program.constant_bytes());
    transfer(run, step, plan, run.addresses, int64_t(reinterpret_cast<uintptr_t>(bank)), active, shape.contiguous);
    return &step + 1;
}

/// The kernel's parameters at a generic address.
const Step* finish_parameters(Run& run, const Step& step, const MemoryPlan& plan, uint32_t active, const Shape& shape) {
    const auto parameters = run.launch.parameters;
    if (plan.store || shape.high + plan.width > parameters.size())
        return run.fail_access(plan.store ? FaultKind::kReadOnly : FaultKind::kOutOfBounds, step, first_lane(active), shape.high, plan.width, plan.store,
                               fmt::format("the kernel's parameters have {} bytes and cannot be written", parameters.size()));
    transfer(run, step, plan, run.addresses, int64_t(reinterpret_cast<uintptr_t>(parameters.data())), active, shape.contiguous);
    return &step + 1;
}

/// Generic addresses that are not all global: each window's lanes by themselves.
const Step* finish_generic(Run& run, const Step& step, const MemoryPlan& plan, uint32_t active) {
    struct Window { uint64_t begin, bytes; const Step* (*finish)(Run&, const Step&, const MemoryPlan&, uint32_t, const Shape&); };
    static constexpr Window kWindows[] = {{0, kSharedWindow, finish_global},
                                          {kSharedWindow, kLocalWindow - kSharedWindow, finish_shared},
                                          {kLocalWindow, kParamWindow - kLocalWindow, finish_local},
                                          {kParamWindow, uint64_t(1) << 32, finish_parameters},
                                          {kParamWindow + (uint64_t(1) << 32), UINT64_MAX - kParamWindow - (uint64_t(1) << 32), finish_global}};
    uint64_t given[kWarpLanes];
    std::copy_n(run.addresses, kWarpLanes, given);
    for (const Window& window : kWindows) {
        uint32_t lanes = 0;
        each_lane_of(active, [&](unsigned lane) { lanes |= uint32_t(given[lane] - window.begin < window.bytes) << lane; });
        if (lanes == 0) continue;
        for (unsigned lane = 0; lane < kWarpLanes; ++lane) run.addresses[lane] = given[lane] - (window.finish == finish_global ? 0 : window.begin);
        if (window.finish(run, step, plan, lanes, shape_of(run.addresses, lanes)) == nullptr) return nullptr;
    }
    return &step + 1;
}

inline Shape form(Run& run, const MemoryPlan& plan, uint32_t active) {
    Shape shape;
    const int64_t offset = plan.offset + (plan.local_base ? run.frame->local_base : 0);
    if (!plan.base) {  // one address for all
        std::fill_n(run.addresses, kWarpLanes, uint64_t(offset));
        return {uint64_t(offset), uint64_t(offset), uint64_t(offset), false};
    }
    (plan.base_is_32bit ? run.moves.from_32 : run.moves.from_64)(run.addresses, plan.base.in(run.rows), offset, active, plan.width, shape);
    return shape;
}

template <const Step* (*kFinish)(Run&, const Step&, const MemoryPlan&, uint32_t, const Shape&)>
const Step* access(Run& run, const Step& step, uint32_t active) {
    const auto& plan = *static_cast<const MemoryPlan*>(step.plan);
    if (plan.polls) run.polls += kPollWeight;
    return kFinish(run, step, plan, active, form(run, plan, active));
}

const Step* access_generic(Run& run, const Step& step, uint32_t active) {
    const auto& plan = *static_cast<const MemoryPlan*>(step.plan);
    if (plan.polls) run.polls += kPollWeight;
    const Shape shape = form(run, plan, active);
    return shape.high < kSharedWindow ? finish_global(run, step, plan, active, shape) : finish_generic(run, step, plan, active);
}

/// Prefetches never fault; only lanes with memory behind their address count. Each wants the sector its address is in.
const Step* prefetch(Run& run, const Step& step, uint32_t active) {
    const auto& plan = *static_cast<const MemoryPlan*>(step.plan);
    form(run, plan, active);
    uint32_t lanes = 0;
    each_lane_of(active, [&](unsigned lane) {
        lanes |= uint32_t(run.memory.find(run.addresses[lane]) != nullptr) << lane;
        run.addresses[lane] &= ~uint64_t(kPrefetchedBytes - 1);
    });
    if (lanes != 0) run.announce(plan.accesses, Space::kGlobal, lanes, run.addresses);
    return &step + 1;
}

const Step* skip(Run&, const Step& step, uint32_t) { return &step + 1; }

/// What discarded memory holds is undefined: here, what it held.
template <Advice kAdvice>
const Step* advise(Run& run, const Step& step, uint32_t active) {
    const auto& plan = *static_cast<const MemoryPlan*>(step.plan);
    const Shape shape = form(run, plan, active);
    if (shape.bits % kAdvisedBytes != 0) return fail_misaligned(run, step, plan, active);
    for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
        const unsigned lane = first_lane(rest);
        if (run.global(step, lane, run.addresses[lane], kAdvisedBytes, kAdvice == Advice::kDiscard) == nullptr) return nullptr;
        if (run.listener != nullptr) run.listener->on_advice(kAdvice, run.addresses[lane], run.sm->index, run.time);
    }
    return &step + 1;
}

/// st.bulk: zeroes `size` bytes of shared memory.
const Step* zero_bulk(Run& run, const Step& step, uint32_t active) {
    const auto& plan = *static_cast<const MemoryPlan*>(step.plan);
    form(run, plan, active);
    const auto* sizes = run.row<const uint64_t>(step.rows[0]);
    for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
        const unsigned lane = first_lane(rest);
        uint64_t address = run.addresses[lane];
        if (plan.space == ptx::Space::kGeneric) address -= kSharedWindow;
        if (sizes[lane] > UINT32_MAX) return run.fail_access(FaultKind::kOutOfBounds, step, lane, address, UINT32_MAX, true);
        std::byte* to = run.shared(step, lane, address, uint32_t(sizes[lane]), true);
        if (to == nullptr) return nullptr;
        if (run.monitor != nullptr)
            for (uint64_t at = address; at < address + sizes[lane]; at += 8) {
                run.addresses[lane] = at;
                run.watch(plan, Touch::kWrite, Space::kShared, 1u << lane, run.addresses, 8);
            }
        std::memset(to, 0, sizes[lane]);
    }
    return &step + 1;
}

}  // namespace

// --- addresses of single lanes ---

std::byte* Run::global(const Step& step, unsigned lane, uint64_t address, uint32_t bytes, bool store) {
    const Allocation* allocation = memory.find(address);
    if (allocation == nullptr || bytes > allocation->end() - address) {
        fail_access(address < kFirstPage ? FaultKind::kNull : FaultKind::kOutOfBounds, step, lane, address, bytes, store);
        return nullptr;
    }
    if (store && allocation->read_only) {
        fail_access(FaultKind::kReadOnly, step, lane, address, bytes, store);
        return nullptr;
    }
    return reinterpret_cast<std::byte*>(address + uint64_t(allocation->host_delta));
}

std::byte* Run::shared(const Step& step, unsigned lane, uint64_t address, uint32_t bytes, bool store) {
    const Block* owner = block;
    uint64_t offset = address;
    if (const uint64_t rank = address >> kClusterShift; rank != 0 && block->cluster != nullptr && rank <= block->cluster->blocks.size()) {
        owner = block->cluster->blocks[rank - 1];
        offset = address & ((uint64_t(1) << kClusterShift) - 1);
    }
    if (offset > shared_bytes || bytes > shared_bytes - offset || owner->shared == nullptr) {
        fail_access(FaultKind::kOutOfBounds, step, lane, address, bytes, store, fmt::format("the block has {} bytes of shared memory", shared_bytes));
        return nullptr;
    }
    return owner->shared + offset;
}

std::byte* Run::generic(const Step& step, unsigned lane, uint64_t address, uint32_t bytes, bool store) {
    if (address % std::min<uint32_t>(std::bit_floor(std::max(bytes, 1u)), 16) != 0) {
        fail_access(FaultKind::kMisaligned, step, lane, address, bytes, store);
        return nullptr;
    }
    if (address >= kSharedWindow && address < kLocalWindow) return shared(step, lane, address - kSharedWindow, bytes, store);
    if (address >= kLocalWindow && address < kParamWindow) {
        const uint64_t offset = address - kLocalWindow;
        if (offset + bytes > frame->local_top) {
            fail_access(FaultKind::kOutOfBounds, step, lane, address, bytes, store, fmt::format("the thread's local memory has {} bytes", frame->local_top));
            return nullptr;
        }
        return local_byte(lane, offset);
    }
    if (address >= kParamWindow && address - kParamWindow + bytes <= launch.parameters.size() && !store)
        return const_cast<std::byte*>(launch.parameters.data()) + (address - kParamWindow);
    return global(step, lane, address, bytes, store);
}

std::string Run::text_at(const Step& step, unsigned lane, uint64_t address, size_t limit) {
    std::string text;
    while (text.size() < limit) {
        const std::byte* at = generic(step, lane, address + text.size(), 1, false);
        if (at == nullptr || *at == std::byte{0}) break;
        text.push_back(char(*at));
    }
    return text;
}

uint64_t Run::announce(const std::vector<Access>& accesses, Space space, uint32_t active, const uint64_t* at, bool continued, unsigned issuer,
                       const uint64_t* destinations) {
    if (listener == nullptr) {
        const bool near = space == Space::kShared || space == Space::kConst;
        return time + (near ? machine.shared_latency : machine.global_latency);
    }
    uint64_t arrival = time;
    AccessEvent event;
    event.space = space;
    event.active = active;
    event.remote = space == Space::kShared && block->cluster != nullptr && at[first_lane(active)] >> kClusterShift != 0 &&
                   at[first_lane(active)] >> kClusterShift != block->rank + 1;
    event.continued = continued;
    event.destinations = destinations;
    event.sm = sm->index;
    event.warp_slot = warp->slot;
    event.block_slot = block->slot;
    event.block = block->index;
    event.warp = warp->index;
    event.time = time;
    for (const Access& access : accesses) {
        event.site = access.site;
        event.addresses = at;
        if (access.policy) [[unlikely]] event.policy = base::L2Policy(row<const uint64_t>(access.policy)[issuer == kWarpLanes ? first_lane(active) : issuer]);
        if (access.offset != 0) {
            for (unsigned lane = 0; lane < kWarpLanes; ++lane) shifted[lane] = at[lane] + uint64_t(int64_t(access.offset));
            event.addresses = shifted;
        }
        arrival = std::max(arrival, time + listener->on_access(event));
    }
    return arrival;
}

const Step* Run::fail_access(FaultKind kind, const Step& step, unsigned lane, uint64_t address, uint32_t bytes, bool store, std::string detail) {
    const char* what = store ? "store" : "load";
    Fault fault = place(kind, step, lane);
    fault.address = address;
    fault.bytes = bytes;
    fault.store = store;
    if (kind == FaultKind::kMisaligned) {
        fault.message = fmt::format("misaligned {} of {} bytes at {:#x}: {} bytes past a multiple of {}", what, bytes, address, address % bytes, bytes);
    } else if (!detail.empty()) {
        fault.message = fmt::format("{} of {} bytes at {:#x} is out of bounds: {}", what, bytes, address, detail);
        if (kind == FaultKind::kReadOnly) fault.message = fmt::format("{} of {} bytes at {:#x}: {}", what, bytes, address, detail);
    } else if (kind == FaultKind::kNull) {
        fault.message = fmt::format("{} of {} bytes through a null pointer (address {:#x})", what, bytes, address);
    } else {
        const Nearest nearest = memory.nearest(address);
        fault.nearest = nearest;
        const Allocation& a = nearest.allocation;
        const std::string name = fmt::format("allocation {} ({}, {} bytes at {:#x})", a.id, a.name, a.bytes, a.begin);
        if (kind == FaultKind::kReadOnly) {
            fault.message = fmt::format("store of {} bytes at {:#x} to read-only memory: {}", bytes, address, name);
        } else if (nearest.freed) {
            fault.kind = FaultKind::kUseAfterFree;
            fault.message = fmt::format("{} of {} bytes at {:#x} in {}, which was freed", what, bytes, address, name);
        } else if (nearest.distance == 0 && a.contains(address)) {
            fault.message = fmt::format("{} of {} bytes at {:#x} runs {} bytes past the end of {}", what, bytes, address, address + bytes - a.end(), name);
        } else if (!memory.in_device_arena(address) && (a.id == 0 || nearest.distance > 1 << 20)) {
            fault.kind = FaultKind::kWrongSpace;
            fault.nearest.reset();
            fault.message = fmt::format("{} of {} bytes at {:#x}, which is no device address: host memory that is not registered, or not a pointer", what,
                                        bytes, address);
        } else if (a.id == 0) {
            fault.nearest.reset();
            fault.message = fmt::format("{} of {} bytes at {:#x}: there are no allocations", what, bytes, address);
        } else {
            fault.message = fmt::format("{} of {} bytes at {:#x} is out of bounds: {} bytes {} {}", what, bytes, address, nearest.distance,
                                        nearest.after ? "past the end of" : "before", name);
        }
    }
    if (!result.fault) result.fault = std::move(fault);
    stopped = true;
    return nullptr;
}

// --- decoding ---

AccessSite site_of(const Instruction& instruction, Operation operation) {
    AccessSite site;
    site.operation = operation;
    bool strong = false, near = false;
    for (const Suffix suffix : instruction.suffixes) {
        switch (suffix) {
            case Suffix::kCa: site.cache = CacheOperator::kCa; break;
            case Suffix::kCg: site.cache = CacheOperator::kCg; break;
            case Suffix::kCs: site.cache = CacheOperator::kCs; break;
            case Suffix::kLu: site.cache = CacheOperator::kLu; break;
            case Suffix::kCv: site.cache = CacheOperator::kCv; break;
            case Suffix::kWb: site.cache = CacheOperator::kWb; break;
            case Suffix::kWt: site.cache = CacheOperator::kWt; break;
            case Suffix::kNc: site.cache = CacheOperator::kNonCoherent; break;
            case Suffix::kVolatile:
            case Suffix::kMmio: site.cache = CacheOperator::kVolatile; break;
            case Suffix::kRelaxed:
            case Suffix::kAcquire:
            case Suffix::kRelease: strong = true; break;
            case Suffix::kCta: near = true; break;
            case Suffix::kL1EvictFirst: site.l1 = Eviction::kFirst; break;
            case Suffix::kL1EvictLast: site.l1 = Eviction::kLast; break;
            case Suffix::kL1EvictUnchanged: site.l1 = Eviction::kUnchanged; break;
            case Suffix::kL1NoAllocate: site.l1 = Eviction::kNoAllocate; break;
            case Suffix::kL2EvictFirst: site.policy = base::L2Policy::always(base::L2Priority::kFirst); break;
            case Suffix::kL2EvictLast: site.policy = base::L2Policy::always(base::L2Priority::kLast); break;
            case Suffix::kL264B: site.prefetch_bytes = 64; break;
            case Suffix::kL2128B: site.prefetch_bytes = 128; break;
            case Suffix::kL2256B: site.prefetch_bytes = 256; break;
            default: break;
        }
    }
    // Ordered beyond the block: L1 cannot answer.
    if (strong && !near && site.cache == CacheOperator::kDefault) site.cache = CacheOperator::kVolatile;
    return site;
}

Ordering ordering_of(const Instruction& instruction) {
    Ordering ordering;
    for (const Suffix suffix : instruction.suffixes) {
        ordering.release |= suffix == Suffix::kRelease || suffix == Suffix::kAcqRel;
        ordering.block_scope |= suffix == Suffix::kCta;
        ordering.strong |= suffix == Suffix::kVolatile || suffix == Suffix::kRelaxed || suffix == Suffix::kAcquire || suffix == Suffix::kMmio;
    }
    ordering.strong |= ordering.release;
    return ordering;
}

bool is_poll(const Instruction& instruction) {
    return instruction.has(Suffix::kVolatile) || instruction.has(Suffix::kRelaxed) || instruction.has(Suffix::kAcquire) ||
           instruction.has(Suffix::kMmio) || instruction.has(Suffix::kCv);
}

bool is_signed(Type type) { return type == Type::kS8 || type == Type::kS16 || type == Type::kS32 || type == Type::kS64; }

bool decode_memory(Decoder& decoder, const Instruction& instruction) {
    MemoryPlan* plan = nullptr;
    switch (instruction.opcode) {
        case Opcode::kLd:
        case Opcode::kLdu:
        case Opcode::kSt: break;
        case Opcode::kPrefetch:
        case Opcode::kPrefetchu: {
            if (instruction.space == ptx::Space::kLocal || instruction.operands.empty() || instruction.opcode == Opcode::kPrefetchu) {
                decoder.emit(skip, {});
                return true;
            }
            plan = &decoder.memory_plan();
            decoder.address(instruction.operands[0], *plan);
            AccessSite site = site_of(instruction, Operation::kPrefetch);
            site.bytes = kPrefetchedBytes;
            const bool into_l2 = instruction.has(Suffix::kL2) || instruction.has(Suffix::kL2EvictLast) || instruction.has(Suffix::kL2EvictNormal);
            site.cache = into_l2 ? CacheOperator::kCg : CacheOperator::kDefault;
            plan->accesses.push_back({decoder.add_site(site), 0, 1, {}});
            decoder.emit(prefetch, {}, kOrdered).plan = plan;
            return true;
        }
        case Opcode::kDiscard:
        case Opcode::kApplypriority:
            plan = &decoder.memory_plan();
            decoder.address(instruction.operands[0], *plan);
            plan->width = kAdvisedBytes;
            plan->store = instruction.opcode == Opcode::kDiscard;
            decoder.emit(plan->store ? advise<Advice::kDiscard> : advise<Advice::kEvictNormal>, {}, kOrdered).plan = plan;
            return true;
        case Opcode::kStBulk: {
            plan = &decoder.memory_plan();
            plan->space = instruction.space;
            decoder.address(instruction.operands[0], *plan);
            decoder.emit(zero_bulk, {decoder.source(instruction.operands[1], Type::kU64)}, kOrdered).plan = plan;
            return true;
        }
        default: return false;
    }
    const bool store = instruction.opcode == Opcode::kSt;
    const Operand& value = instruction.operands[store ? 1 : 0];
    const Type type = instruction.types[0];
    std::vector<Row> rows;
    if (store) decoder.sources(value, type, rows);
    else decoder.destinations(value, rows);
    unsigned bits = 0;
    for (const Operand& element : value.elements) bits = std::max(bits, decoder.register_bits(element));
    bits = std::max(bits, decoder.register_bits(value));
    if (bits == 0) bits = ptx::bits(type);
    plan = &decoder.memory_plan();
    plan->space = instruction.space;
    plan->store = store;
    plan->element_bytes = uint8_t(std::max(1u, ptx::bits(type) / 8));
    plan->vector = uint8_t(rows.size());
    plan->width = uint8_t(plan->element_bytes * plan->vector);
    plan->row_stride = uint8_t(row_bytes(bits) / kWarpLanes);
    plan->ordering = ordering_of(instruction);
    // The first read of a loop around atomicCAS: what it sees is of use only if the exchange finds it unchanged, whatever ran in between.
    plan->ordering.strong |= !store && decoder.compared(value);
    plan->polls = !store && is_poll(instruction);
    plan->move = rows.size() <= 8 ? move_functions().find(plan->element_bytes, row_bytes(bits) / kWarpLanes, is_signed(type), store) : nullptr;
    if (plan->move == nullptr || !std::has_single_bit(unsigned(plan->width))) return decoder.unsupported("this width"), true;
    decoder.address(instruction.operands[store ? 0 : 1], *plan);

    AccessSite site = site_of(instruction, store ? Operation::kStore : Operation::kLoad);
    if (instruction.space == ptx::Space::kConst) {
        const Operand& base = instruction.operands[1].elements[0];
        if (base.kind != Operand::Kind::kRegister) site.constant_path = ConstantPath::kOperand;
        else if (type == Type::kF32 && decoder.lowering().uniform(base)) site.constant_path = ConstantPath::kUniform;
    }
    for (const Piece& piece : decoder.lowering().pieces(decoder.index())) {
        site.bytes = uint8_t(piece.bytes);
        plan->accesses.push_back({decoder.add_site(site), int16_t(piece.offset), uint8_t(piece.bytes), decoder.policy(instruction)});
    }
    Handler handler = access_generic;
    uint8_t flags = plan->store ? kOrdered | kStore : kOrdered;
    switch (instruction.space) {
        case ptx::Space::kGlobal: handler = access<finish_global>; break;
        case ptx::Space::kShared: handler = access<finish_shared>; break;
        case ptx::Space::kLocal: handler = access<finish_local>; break;
        case ptx::Space::kConst:
            if (store) return decoder.unsupported("a store to constant memory"), true;
            handler = access<finish_constant>;
            break;
        default: break;
    }
    decoder.emit(handler, std::move(rows), flags).plan = plan;
    return true;
}

}  // namespace lanescope::exec
