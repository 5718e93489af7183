// The loop that runs a warp's steps, and the bookkeeping of lanes that part and meet.
#include "exec/run.h"

#include <fmt/format.h>

#include <algorithm>

namespace lanescope::exec {
namespace {

// Weighted polls (see kPollWeight) of a split until lanes that wait for it to meet them go on without it: few where that was needed
// before. Hardware would have them wait for ever or not at all, as the compiler placed the meeting points.
constexpr unsigned kPollsBeforeRelease = 64 * kPollWeight;
constexpr unsigned kPollsOfSpinner = 4 * kPollWeight;
constexpr unsigned kTurnsBeforeSwitch = 1024;  // of a loop, until another split that can run gets its turn

}  // namespace

void Run::run_warp(Warp& w) {
    warp = &w;
    block = w.block;
    time = w.time;
    // The split that ran last goes on if it can: convergence is kept where all were stopped by time only.
    if (split >= w.splits.size()) split = uint32_t(w.splits.size() - 1);
    const Step* next = nullptr;
    for (uint32_t i = uint32_t(w.splits.size()); i-- > 0;)
        if (w.splits[i].state == SplitState::kReady) {
            next = enter(i);
            break;
        }
    uint64_t instructions = 0, issued = 0, threads = 0;
    const uint64_t since = time;
    std::array<uint32_t, kPipes> piped{};    // of the steps since they were settled
    uint32_t pipes = 0;                      // of which that is more than 0, by bit
    const auto settle_pipes = [&] {
        for (; pipes != 0; pipes &= pipes - 1) {
            const auto p = size_t(std::countr_zero(pipes));
            // The warp goes on when the pipe has done its work and all that came before. The pipe's clock starts where the turn does: other
            // warps come later in order but earlier in time, and find it idle where this one waited for something else.
            double& free = sm->pipe_free[p];
            free = std::max(free, double(since)) + piped[p] * machine.pipe_cycles[p];
            sm->pipe_turns[p] += piped[p];
            piped[p] = 0;
            time = std::max(time, uint64_t(free));
        }
    };
    auto* counts = launch.count_instructions && next != nullptr ? &executions[frame->code] : nullptr;
    const FunctionCode* counted = frame != nullptr ? frame->code : nullptr;
    while (next != nullptr) {
        const Step& step = *next;
        if (step.wait != 0 || (step.flags & kLate) != 0) {
            // The data's way covers the dependence's own cycles.
            const uint64_t arrived = w.arrival(step);
            if (arrived > time + step.cycles) time = arrived - step.cycles;
        }
        if (w.way_out_free > time && (step.flags & (kOrdered | kStore)) == kOrdered) time = w.way_out_free;
        // At the start of a turn time is before yield_at, so that each makes progress.
        if ((step.wait != 0 || (step.flags & kOrdered) != 0) && time >= yield_at) {
            park(next);
            break;
        }
        const bool made = (step.flags & kOnce) == 0 || w.turn == kTurns - 1;
        time += made ? step.cycles : 0;
        if (step.pipe != 0 && made) {
            piped[step.pipe] += step.pipe_turns;
            pipes |= 1u << step.pipe;
        }
        if ((step.flags & kUncounted) == 0) {
            ++instructions;
            issued += made ? step.issues : 0;
            threads += lanes;
            if (counts != nullptr) [[unlikely]] {
                if (frame->code != counted) {
                    counted = frame->code;
                    counts = &executions[counted];
                }
                if (counts->empty()) counts->resize(counted->steps.size());
                auto& [warps, executed] = (*counts)[size_t(&step - counted->steps.data())];
                ++warps;
                executed += lanes;
            }
        }
        const uint32_t active = mask & (*row<const uint32_t>(step.guard) ^ step.guard_flip);
        if (active == 0 && (step.flags & kControl) == 0) {
            ++next;
            continue;
        }
        if (step.lane != nullptr) {
            LaneOperands operands;
            const Row* r = step.rows;
            operands.destination[0] = r[0].in(rows);
            operands.destination[1] = nullptr;
            operands.source[0] = r[1].in(rows);
            operands.source[1] = r[2].in(rows);
            operands.source[2] = r[3].in(rows);
            operands.control = step.control;
            if ((step.flags & kMany) != 0) {
                for (unsigned i = 1; i < 4; ++i) operands.destination[i] = r[3 + i].in(rows);
                for (unsigned i = 3; i < 8; ++i) operands.source[i] = r[4 + i].in(rows);
            }
            step.lane(operands, active);
            ++next;
        } else {
            if (pipes != 0) settle_pipes();
            next = step.handler(*this, step, active);
        }
    }
    settle_pipes();
    w.time = time;
    warp_instructions += instructions;
    machine_instructions += issued;
    thread_instructions += threads;
    sm->instructions += instructions;
    sm->issue[w.slot % machine.schedulers] += issued;
    if (w.live != 0 || !w.splits.empty()) set_ready(w);
}

const Step* Run::enter(uint32_t index) {
    Split& s = warp->splits[index];
    split = index;
    frame = s.frame;
    rows = frame->rows;
    polls = s.polls;
    set_mask(s.mask);
    return s.next;
}

void Run::park(const Step* next, SplitState state) {
    Split& s = current();
    s.next = next;
    s.state = state;
    s.polls = polls;
}

const Step* Run::switch_split() {
    for (uint32_t i = uint32_t(warp->splits.size()); i-- > 0;)
        if (warp->splits[i].state == SplitState::kReady) return enter(i);
    return nullptr;
}

Join* Run::new_join(const Step* at, Frame* at_frame, uint32_t expected, Join* parent) {
    Join* join;
    if (free_joins.empty()) {
        join = &joins.emplace_back();
    } else {
        join = free_joins.back();
        free_joins.pop_back();
    }
    *join = {parent, at, at_frame, expected, 0};
    return join;
}

const Step* Run::diverge(uint32_t taken, const Step* target, const Step* other, const Step* meet) {
    Split& s = current();
    if (meet != nullptr && !(s.join != nullptr && s.join->at == meet && s.join->frame == frame)) s.join = new_join(meet, frame, mask, s.join);
    const uint32_t rest = mask & ~taken;
    polls = 0;
    // Lanes that go straight to the meeting place wait there and need no split.
    if (meet != nullptr && (target == meet || other == meet) && target != other) {
        const bool taken_arrive = target == meet;
        s.join->arrived |= taken_arrive ? taken : rest;
        s.mask = taken_arrive ? rest : taken;
        set_mask(s.mask);
        return taken_arrive ? other : target;
    }
    s.mask = rest;
    s.next = other;
    s.state = SplitState::kReady;
    s.polls = 0;
    Split second = s;
    second.mask = taken;
    second.next = target;
    // The lanes that fall through run first.
    warp->splits.insert(warp->splits.begin() + split, second);
    return enter(split + 1);
}

const Step* Run::arrive(const Step& at) {
    Split& s = current();
    while (s.join != nullptr && s.join->at == &at && s.join->frame == frame) {
        Join* join = s.join;
        join->arrived |= s.mask;
        if (join->arrived != join->expected) {
            return drop_current();
        }
        s.mask = join->expected;
        s.join = join->parent;
        set_mask(s.mask);
        polls = 0;
        free_joins.push_back(join);
    }
    return &at + 1;
}

const Step* Run::drop_current() {
    warp->splits.erase(warp->splits.begin() + split);
    return switch_split();
}

void Run::release(Join& join) {
    Split waiting;
    waiting.next = join.at + 1;
    waiting.frame = join.frame;
    waiting.join = join.parent;
    waiting.mask = join.arrived;
    join.expected &= ~join.arrived;
    join.arrived = 0;
    // Where it meets the joins further out at the same place, it waits there.
    if (waiting.join != nullptr && waiting.join->at == join.at && waiting.join->frame == join.frame) waiting.next = join.at;
    warp->splits.push_back(waiting);
}

const Step* Run::end_lanes(uint32_t ending, const Step* next) {
    Split& s = current();
    for (Join* join = s.join; join != nullptr;) {
        Join* parent = join->parent;
        join->expected &= ~ending;
        if (join->expected == 0) {
            if (s.join == join) s.join = parent;
            free_joins.push_back(join);
        } else if (join->arrived == join->expected) {
            // The last one that the others waited for.
            Join copy = *join;
            if (s.join == join) s.join = parent;
            free_joins.push_back(join);
            release(copy);
        }
        join = parent;
    }
    Split& same = current();  // release() may have moved the splits
    same.mask &= ~ending;
    if (same.mask == 0) return drop_current();
    set_mask(same.mask);
    return next;
}

const Step* Run::yield_spin(const Step* next) {
    const Join* innermost = current().join;
    const unsigned limit = innermost != nullptr && spins.contains(innermost->at) ? kPollsOfSpinner : kPollsBeforeRelease;
    const bool spinning = polls >= limit;
    if (!spinning && ++turns % kTurnsBeforeSwitch != 0) return next;
    if (spinning) polls = 0;
    park(next);
    // Another split that can run gets its turn: the oldest first, this one last in line.
    const Split mine = current();
    for (uint32_t i = 0; i < warp->splits.size(); ++i)
        if (i != split && warp->splits[i].state == SplitState::kReady) {
            const Split other = warp->splits[i];
            std::vector<Split>& all = warp->splits;
            all.erase(all.begin() + std::max(i, split));
            all.erase(all.begin() + std::min(i, split));
            all.insert(all.begin(), mine);
            all.push_back(other);
            return enter(uint32_t(all.size() - 1));
        }
    for (Join* join = current().join; spinning && join != nullptr; join = join->parent)
        if (join->arrived != 0) {
            spins.insert(join->at);
            release(*join);
            return enter(uint32_t(warp->splits.size() - 1));
        }
    return next;
}

Frame* Run::new_frame(const FunctionCode& function) {
    std::vector<Frame*>& free = free_frames[&function];
    Frame* f;
    if (free.empty()) {
        f = &frames.emplace_back();
        f->storage.resize((function.frame_bytes + 64) / 8 + 8);
        f->rows = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(f->storage.data()) + 63) / 64 * 64);
        f->code = &function;
    } else {
        f = free.back();
        free.pop_back();
    }
    for (const FunctionCode::Range& range : function.zeroed) std::memset(f->rows + range.offset, 0, range.bytes);
    return f;
}

void Run::leave_frame(Frame* f, uint32_t leaving) {
    f->lanes &= ~leaving;
    if (f->lanes == 0 && f->caller != nullptr) free_frames[f->code].push_back(f);
}

bool Run::reserve_local(uint32_t top, const Step& step) {
    const uint64_t limit = kernel.local_bytes() + launch.stack_bytes;
    if (top > limit) {
        fail(FaultKind::kStackOverflow, step, unsigned(std::countr_zero(mask)),
             fmt::format("stack overflow: {} bytes of local memory are needed, the limit is {}", top, limit));
        return false;
    }
    const size_t needed = (size_t(top) + 15) / 16 * 16 * kWarpLanes;
    if (warp->local.size() < needed) warp->local.resize(std::max(needed, warp->local.size() * 2));
    return true;
}

Dim3 Run::thread_of(unsigned lane) const {
    const uint32_t linear = warp->index * kWarpLanes + lane;
    const Dim3& d = launch.block;
    return {linear % d.x, linear / d.x % d.y, linear / d.x / d.y};
}

Fault Run::place(FaultKind kind, const Step& step, unsigned lane) const {
    Fault fault;
    fault.kind = kind;
    fault.function = frame->code->function;
    fault.instruction = step.instruction;
    const ptx::Function& function = module.functions[fault.function];
    if (step.instruction < function.body.size()) fault.location = function.body[step.instruction].location;
    fault.block = block->id;
    fault.thread = thread_of(lane);
    return fault;
}

const Step* Run::fail(FaultKind kind, const Step& step, unsigned lane, std::string message) {
    if (!result.fault) {
        result.fault = place(kind, step, lane);
        result.fault->message = std::move(message);
    }
    stopped = true;
    return nullptr;
}

void Run::warn(FaultKind kind, const Step& step, unsigned lane, std::string message) {
    if (!warned.emplace(kind, frame->code->function, step.instruction).second) return;
    Fault& fault = result.warnings.emplace_back(place(kind, step, lane));
    fault.message = std::move(message);
}

}  // namespace lanescope::exec
