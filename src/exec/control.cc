// Branches, and the ends of threads.
#include "exec/decoder.h"
#include "exec/run.h"

namespace lanescope::exec {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;

const Step* branch(Run& run, const Step& step, uint32_t active) {
    const auto* target = static_cast<const Step*>(step.plan);
    const Step* next;
    if (active == run.mask) next = target;
    else if (active == 0) return &step + 1;
    else next = run.diverge(active, target, &step + 1, reinterpret_cast<const Step*>(step.control));
    if ((step.flags & kBackward) != 0) next = run.yield_spin(next);
    return next;
}

/// The branch at the end of a loop whose turns are put together.
const Step* branch_turn(Run& run, const Step& step, uint32_t active) {
    run.warp->turn = active == 0 ? 0 : (run.warp->turn + 1) % kTurns;
    return branch(run, step, active);
}

const Step* branch_indexed(Run& run, const Step& step, uint32_t active) {
    if (active == 0) return &step + 1;
    const auto& list = *static_cast<const Decoder::TargetList*>(step.plan);
    const auto* index = run.row<const uint32_t>(step.rows[0]);
    const unsigned leader = unsigned(std::countr_zero(active));
    if (index[leader] >= list.targets.size())
        return run.fail(FaultKind::kIllegal, step, leader, "brx.idx with index " + std::to_string(index[leader]) + " of a table of " +
                                                               std::to_string(list.targets.size()) + " targets");
    uint32_t same = 0;
    each_lane_of(active, [&](unsigned lane) { same |= uint32_t(index[lane] == index[leader]) << lane; });
    const Step* target = list.targets[index[leader]];
    if (same == run.mask) return run.yield_spin(target);
    // The leader's group parts from the others, which come back to this step.
    return run.diverge(same, target, active == same ? &step + 1 : &step, list.meet);
}

/// Ends `ending` lanes of the current split for good.
const Step* end_threads(Run& run, const Step& step, uint32_t ending) {
    for (Frame* frame = run.frame; frame != nullptr;) {
        Frame* caller = frame->caller;
        run.leave_frame(frame, ending);
        frame = caller;
    }
    run.warp->live &= ~ending;
    run.time = std::max(run.time, run.warp->way_out_free);
    if (run.warp->live == 0) run.sm->warp_cycles += run.time - run.warp->started;
    const Step* next = run.end_lanes(ending, &step + 1);
    run.threads_ended(*run.block, uint32_t(std::popcount(ending)));
    if (run.warp->live != 0) run.check_lanes(false);
    if (next == nullptr && run.block->active) next = run.switch_split();
    return next;
}

const Step* exit_threads(Run& run, const Step& step, uint32_t active) { return active == 0 ? &step + 1 : end_threads(run, step, active); }

const Step* trap(Run& run, const Step& step, uint32_t active) {
    return run.fail(FaultKind::kTrap, step, unsigned(std::countr_zero(active)), "trap");
}

const Step* skip(Run&, const Step& step, uint32_t) { return &step + 1; }

}  // namespace

const Step* meet_lanes(Run& run, const Step& step, uint32_t) { return run.arrive(step); }

const Step* leave_function(Run& run, const Step& step, uint32_t active) {
    if (active == 0) return &step + 1;
    if (run.frame->caller == nullptr) return end_threads(run, step, active);
    // Return values go to the caller's rows, which the call step names behind its arguments.
    Frame* callee = run.frame;
    Frame* caller = callee->caller;
    const Step& call = *callee->call;
    run.copy_returns(call, *callee, *caller, active);
    Split& current = run.current();
    if (active != run.mask) {  // the others stay in the function
        Split rest = current;
        rest.mask = run.mask & ~active;
        rest.next = &step + 1;
        current.mask = active;
        run.warp->splits.insert(run.warp->splits.begin() + run.split, rest);
        ++run.split;
    }
    Split& returning = run.current();
    returning.frame = caller;
    run.leave_frame(callee, active);
    run.frame = caller;
    run.rows = caller->rows;
    run.set_mask(active);
    return run.arrive(call);  // the lanes that called together go on together
}

bool decode_control(Decoder& decoder, const Instruction& instruction) {
    switch (instruction.opcode) {
        case Opcode::kBra:
            decoder.emit(decoder.machine_code().once ? branch_turn : branch, {}, kControl);
            decoder.branch_to(instruction.operands[0].index);
            return true;
        case Opcode::kBrxIdx: {
            const Row index = decoder.source(instruction.operands[0], ptx::Type::kU32);
            auto* list = decoder.plan<Decoder::TargetList>();
            decoder.emit(branch_indexed, {index}, kControl).plan = list;
            decoder.branch_table(list, decoder.function().tables[instruction.operands[1].index].targets);
            return true;
        }
        case Opcode::kRet: decoder.emit(leave_function, {}, kControl); return true;
        case Opcode::kExit: decoder.emit(exit_threads, {}, kControl); return true;
        case Opcode::kTrap:
        case Opcode::kBrkpt: decoder.emit(trap, {}); return true;  // a breakpoint without a debugger ends the kernel on hardware, too
        case Opcode::kPmevent:
        case Opcode::kSetmaxnreg:
        case Opcode::kGriddepcontrol: decoder.emit(skip, {}); return true;
        default: return false;
    }
}

}  // namespace lanescope::exec
