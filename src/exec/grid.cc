// Places blocks on SMs and lets their warps take turns in time.
#include "exec/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "exec/run.h"

namespace lanescope::exec {
namespace {

// SMs advance together by so many cycles, one after the other: shorter than any latency by which they could influence each other.
constexpr uint64_t kQuantum = 128;
// A warp runs on until it waits or is this far ahead of the next one: the schedulers of hardware are greedy as well, and a warp's
// back-to-back stores reach L1 together.
constexpr uint64_t kSlack = 24;
constexpr unsigned kSlotBits = 8;

GridResult refuse(std::string message) {
    GridResult result;
    result.fault.emplace();
    result.fault->kind = FaultKind::kInvalidLaunch;
    result.fault->message = std::move(message);
    return result;
}

}  // namespace

std::string_view to_string(FaultKind kind) {
    switch (kind) {
        case FaultKind::kOutOfBounds: return "out_of_bounds";
        case FaultKind::kNull: return "null_pointer";
        case FaultKind::kUseAfterFree: return "use_after_free";
        case FaultKind::kMisaligned: return "misaligned";
        case FaultKind::kWrongSpace: return "wrong_space";
        case FaultKind::kReadOnly: return "read_only";
        case FaultKind::kUnsupported: return "unsupported";
        case FaultKind::kIllegal: return "illegal";
        case FaultKind::kRunaway: return "runaway";
        case FaultKind::kBarrierDivergence: return "barrier_divergence";
        case FaultKind::kAssert: return "assert";
        case FaultKind::kStackOverflow: return "stack_overflow";
        case FaultKind::kTrap: return "trap";
        case FaultKind::kInterrupted: return "interrupted";
        case FaultKind::kInvalidLaunch: return "invalid_launch";
    }
    return "unknown";
}

void Run::set_ready(Warp& w) {
    uint64_t key = kNever;
    for (const Split& s : w.splits)
        if (s.state == SplitState::kReady) {
            key = w.time << kSlotBits | w.slot;
            break;
        }
    Sm& s = sms[w.block->sm];
    s.ready[w.slot] = key;
    s.earliest = std::min(s.earliest, key);
}

void Run::start_block(Sm& s, uint32_t slot, uint64_t at) {
    if (s.resident == 0) s.active_since = at;
    Block& b = s.blocks[slot];
    const Dim3& grid = launch.grid;
    const Dim3& c = launch.cluster;
    const uint64_t per_cluster = c.count();
    // Blocks of a cluster are numbered behind each other.
    const uint64_t number = next_block++;
    if (per_cluster == 1) {
        b.id = {uint32_t(number % grid.x), uint32_t(number / grid.x % grid.y), uint32_t(number / grid.x / grid.y)};
    } else {
        const uint64_t cluster = number / per_cluster, rank = number % per_cluster;
        const Dim3 all{grid.x / c.x, grid.y / c.y, grid.z / c.z};
        b.rank = uint32_t(rank);
        b.id = {uint32_t(cluster % all.x * c.x + rank % c.x), uint32_t(cluster / all.x % all.y * c.y + rank / c.x % c.y),
                uint32_t(cluster / all.x / all.y * c.z + rank / c.x / c.y)};
        if (rank == 0) clusters.emplace_back().index = cluster;
        b.cluster = &clusters.back();
        b.cluster->blocks.push_back(&b);
        b.cluster->threads_live += uint32_t(launch.block.count());
    }
    b.index = b.id.x + uint64_t(grid.x) * (b.id.y + uint64_t(grid.y) * b.id.z);
    b.active = true;
    b.sm = s.index;
    b.slot = slot;
    b.threads = b.live = uint32_t(launch.block.count());
    b.barriers = {};
    if (shared_bytes != 0) {
        b.shared_storage.assign(shared_bytes + 64, std::byte{0});
        b.shared = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(b.shared_storage.data()) + 63) / 64 * 64);
    }
    const uint32_t warps = (b.threads + kWarpLanes - 1) / kWarpLanes;
    if (b.warps.empty()) b.warps.resize(warps);
    for (uint32_t i = 0; i < warps; ++i) {
        Warp& w = b.warps[i];
        w.index = i;
        w.slot = slot * warps + i;
        w.block = &b;
        w.time = w.started = at + uint64_t(i * machine.warp_launch);
        w.pending.fill(0);
        w.way_out_free = 0;
        w.copies_arrive = 0;
        w.copy_groups.clear();
        w.cluster_phase = 0;
        w.turn = w.words = 0;
        w.in_flight.fill(0);
        const uint32_t lanes_here = std::min(kWarpLanes, b.threads - i * kWarpLanes);
        w.live = lanes_here == kWarpLanes ? kFullMask : (1u << lanes_here) - 1;
        Frame& f = w.entry;
        const FunctionCode& entry = *code.entry;
        if (f.rows == nullptr) {
            f.storage.resize(entry.frame_bytes / 8 + 8);
            f.rows = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(f.storage.data()) + 63) / 64 * 64);
            f.code = &entry;
            w.local.resize(size_t(entry.local_bytes + 15) / 16 * 16 * kWarpLanes);
        }
        for (const FunctionCode::Range& range : entry.zeroed) std::memset(f.rows + range.offset, 0, range.bytes);
        f.lanes = w.live;
        f.local_top = entry.local_bytes;
        w.splits.clear();
        Split& first = w.splits.emplace_back();
        first.next = entry.steps.data();
        first.frame = &f;
        first.mask = w.live;
        set_ready(w);
    }
    ++s.resident;
    ++live_blocks;
    if (listener != nullptr) listener->on_block_start(b.index, s.index, slot, at);
    if (monitor != nullptr) monitor->on_start(actor(b.warps[0]));
}

void Run::threads_ended(Block& b, uint32_t count) {
    b.live -= count;
    if (b.cluster != nullptr) {
        b.cluster->threads_live -= count;
        check_cluster(*b.cluster);
    }
    if (b.live == 0) {
        end_block(b);
        return;
    }
    for (unsigned id = 0; id < b.barriers.size(); ++id)
        if (b.barriers[id].arrived != 0) check_barrier(b, id);
}

void Run::end_block(Block& b) {
    Sm& s = sms[b.sm];
    s.cycles = std::max(s.cycles, time);
    if (listener != nullptr) listener->on_block_end(b.index, b.sm, b.slot, time);
    --live_blocks;
    if (--s.resident == 0) s.active_cycles += time - s.active_since;
    for (Warp& w : b.warps) s.ready[w.slot] = kNever;
    // A cluster's blocks keep their shared memory until all have ended.
    if (b.cluster != nullptr) {
        if (++b.cluster->blocks_done < b.cluster->blocks.size()) {
            b.active = false;
            return;
        }
        for (Block* other : b.cluster->blocks) freed.push_back({time, other->sm, other->slot, other->sm});
        b.active = false;
        return;
    }
    b.active = false;
    freed.push_back({time, b.sm, b.slot, b.sm});
}

// Free slots take the next blocks in the order in which they became free; the GPU starts so many blocks a cycle at most.
void Run::start_blocks() {
    std::sort(freed.begin(), freed.end(), [](const FreeSlot& a, const FreeSlot& b) { return std::tie(a.time, a.slot, a.turn) < std::tie(b.time, b.slot, b.turn); });
    const double cycles_per_block = machine.blocks_launched_per_clock > 0 ? 1 / machine.blocks_launched_per_clock : 0;
    const uint64_t group = launch.cluster.count();
    size_t used = 0;
    while (next_block < blocks && used + group <= freed.size()) {
        for (uint64_t i = 0; i < group; ++i) {
            const FreeSlot& free = freed[used++];
            const double at = std::max(launch_clock, double(free.time));
            launch_clock = at + cycles_per_block;
            start_block(sms[free.sm], free.slot, uint64_t(at) + (free.time != 0 ? machine.block_turnaround : 0));
        }
    }
    freed.erase(freed.begin(), freed.begin() + ptrdiff_t(used));
}

Warp& Run::warp_at(Sm& s, uint64_t key) const {
    const auto slot = uint32_t(key & ((1u << kSlotBits) - 1));
    return s.blocks[slot / warps_per_block].warps[slot % warps_per_block];
}

void Run::prefetch(const Warp& w) {
    for (size_t at = 0; at < sizeof(Warp); at += 64) __builtin_prefetch(reinterpret_cast<const std::byte*>(&w) + at);
    // The rows of its next instructions.
    const Step* step = w.splits.back().next;
    for (unsigned i = 0; i < 3 && step->lane != nullptr; ++i, ++step)
        for (unsigned r = 0; r < 3; ++r) {
            const auto* const row_at = static_cast<const std::byte*>(step->rows[r].in(w.entry.rows));
            __builtin_prefetch(row_at);
            __builtin_prefetch(row_at + 64);
        }
}

void Run::advance(Sm& s, uint64_t until) {
    sm = &s;
    const unsigned schedulers = machine.schedulers;
    while (!stopped) {
        uint64_t first, second;
        moves.least_two(s.ready.data(), unsigned(s.ready.size()), first, second);
        const uint64_t at = first >> kSlotBits;
        s.earliest = first;
        if (first == kNever || at >= until) return;
        Warp& w = warp_at(s, first);
        const uint32_t slot = w.slot;
        uint64_t& issue = s.issue[slot % schedulers];
        if (issue > at) {  // its scheduler is busy
            w.time = issue;
            if (issue >= until) {
                set_ready(w);
                continue;
            }
        } else {
            issue = at;
        }
        if (second != kNever) prefetch(warp_at(s, second));
        yield_at = std::min(until, second == kNever ? until : std::max(second >> kSlotBits, w.time) + kSlack);
        s.ready[slot] = kNever;
        run_warp(w);
    }
}

void Run::run() {
    const auto count = uint32_t(sms.size());
    const uint32_t from = blocks > uint64_t(count) * machine.resident_blocks ? machine.first_sm : 0;
    const bool ranked = machine.sm_rank.size() == count && launch.cluster.count() == 1;
    for (uint32_t slot = 0; slot < machine.resident_blocks && freed.size() < blocks; ++slot) {
        const uint64_t left = blocks - freed.size();
        for (uint32_t s = 0; s < count; ++s)
            if (left >= count || (ranked ? machine.sm_rank[s] : s) < left) freed.push_back({0, (s + from) % count, slot, s});
    }
    start_blocks();
    const auto start = std::chrono::steady_clock::now();
    uint64_t now = 0;
    for (uint64_t quanta = 0; live_blocks != 0 && !stopped; ++quanta) {
        uint64_t next = kNever;
        for (Sm& s : sms) {
            if (s.resident == 0) continue;
            advance(s, now + kQuantum);
            if (stopped) break;
        }
        if (stopped) break;
        if (!freed.empty() && next_block < blocks) start_blocks();
        for (const Sm& s : sms)
            if (s.resident != 0) next = std::min(next, s.earliest);
        if (live_blocks == 0) break;
        if (next == kNever) {
            report_deadlock();
            break;
        }
        now = std::max(now + kQuantum, (next >> kSlotBits) / kQuantum * kQuantum);
        if (machine.instruction_limit != 0 && thread_instructions > machine.instruction_limit)
            report_runaway(fmt::format("the kernel has executed {} thread instructions, the limit is {}", thread_instructions, machine.instruction_limit));
        if (quanta % 64 == 0) {
            if (sinks.stop != nullptr && sinks.stop->load(std::memory_order_relaxed)) report(FaultKind::kInterrupted, "interrupted");
            const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
            if (machine.time_limit_s > 0 && elapsed.count() > machine.time_limit_s)
                report_runaway(fmt::format("the kernel has run for {:.1f} s, the limit is {:.1f} s", elapsed.count(), machine.time_limit_s));
        }
    }
}

void Run::report(FaultKind kind, std::string message) {
    // The first warp that still runs stands for all.
    for (Sm& s : sms)
        for (Block& b : s.blocks) {
            if (!b.active) continue;
            for (Warp& w : b.warps)
                for (const Split& split_here : w.splits) {
                    warp = &w;
                    block = &b;
                    frame = split_here.frame;
                    fail(kind, *split_here.next, unsigned(std::countr_zero(split_here.mask)), std::move(message));
                    return;
                }
        }
    result.fault.emplace();
    result.fault->kind = kind;
    result.fault->message = std::move(message);
    stopped = true;
}

void Run::report_runaway(std::string message) { report(FaultKind::kRunaway, std::move(message)); }

void Run::report_deadlock() {
    report(FaultKind::kBarrierDivergence, "threads wait at a barrier that other threads of the block never reach");
}

GridResult run_grid(const Kernel& kernel, const Launch& launch, DeviceMemory& memory, const Machine& machine, Listener* listener,
                    const Sinks& sinks) {
    const uint64_t threads = launch.block.count();
    const Dim3& c = launch.cluster;
    if (launch.grid.count() == 0 || threads == 0) return refuse("a grid and a block have at least one thread");
    if (threads > 1024) return refuse(fmt::format("a block of {} threads; at most 1024 are possible", threads));
    if (c.count() == 0 || launch.grid.x % c.x != 0 || launch.grid.y % c.y != 0 || launch.grid.z % c.z != 0)
        return refuse("the grid is no multiple of the cluster");
    if (launch.parameters.size() < kernel.parameter_bytes())
        return refuse(fmt::format("{} bytes of parameters, the kernel takes {}", launch.parameters.size(), kernel.parameter_bytes()));
    if (!kernel.code().refusal.empty()) return refuse(kernel.code().refusal);
    if (machine.sms == 0 || machine.resident_blocks == 0) return refuse("no block fits on an SM");
    if (machine.schedulers == 0 || machine.schedulers > 8) return refuse("an SM has 1 to 8 schedulers");

    GridResult result;
    const auto warps = uint32_t((threads + kWarpLanes - 1) / kWarpLanes);
    // Slots beyond what the key's bits can number would never be filled on hardware.
    const uint32_t resident = std::min(machine.resident_blocks, (1u << kSlotBits) / warps);
    Machine effective = machine;
    effective.resident_blocks = resident;
    Run run{.kernel = kernel, .code = kernel.code(), .launch = launch, .memory = memory, .machine = effective, .sinks = sinks,
            .module = kernel.program().module(), .result = result};
    run.listener = listener;
    run.monitor = sinks.monitor;
    run.warps_per_block = warps;
    run.blocks = launch.grid.count();
    run.ranges.resize(run.code.plans.size());
    run.shared_bytes = (run.code.static_shared_bytes + 15) / 16 * 16 * (launch.dynamic_shared_bytes != 0) +
                       run.code.static_shared_bytes * (launch.dynamic_shared_bytes == 0) + launch.dynamic_shared_bytes;
    for (unsigned part = 0; part < 3; ++part) run.thread_ids[part].resize(size_t(warps) * kWarpLanes);
    for (uint32_t t = 0; t < warps * kWarpLanes; ++t) {
        run.thread_ids[0][t] = t % launch.block.x;
        run.thread_ids[1][t] = t / launch.block.x % launch.block.y;
        run.thread_ids[2][t] = t / launch.block.x / launch.block.y;
    }
    run.sms.resize(machine.sms);
    for (uint32_t s = 0; s < run.sms.size(); ++s) {
        run.sms[s].index = s;
        run.sms[s].blocks.resize(c.count() > 1 ? resident : std::min<uint64_t>(resident, (run.blocks + machine.sms - 1) / machine.sms));
        run.sms[s].ready.assign((size_t(resident) * warps + 7) / 8 * 8, kNever);
    }
    run.run();

    result.warp_instructions = run.warp_instructions;
    result.issued = run.machine_instructions;
    result.thread_instructions = run.thread_instructions;
    for (const Sm& s : run.sms) {
        result.sm_cycles.push_back(s.cycles);
        result.sm_instructions.push_back(s.instructions);
        result.active_cycles += s.active_cycles;
        result.warp_cycles += s.warp_cycles;
        for (unsigned p = 0; p < kPipes; ++p) result.pipe_cycles[p] += double(s.pipe_turns[p]) * machine.pipe_cycles[p];
        result.cycles = std::max(result.cycles, s.cycles);
    }
    for (const auto& [function, counts] : run.executions) {
        std::vector<Executions> by_instruction;
        for (size_t s = 0; s < counts.size(); ++s) {
            if (counts[s].first == 0) continue;
            result.executions.push_back({function->function, function->steps[s].instruction, counts[s].first, counts[s].second});
        }
    }
    std::sort(result.executions.begin(), result.executions.end(),
              [](const Executions& a, const Executions& b) { return std::tie(a.function, a.instruction) < std::tie(b.function, b.instruction); });
    return result;
}

}  // namespace lanescope::exec
