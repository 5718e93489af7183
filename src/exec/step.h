// Decoded code: what runs. A function is a flat stream of steps; an operand is a place in the warp's frame or a constant row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "exec/access.h"
#include "exec/lane_op.h"
#include "exec/monitor.h"
#include "exec/move.h"
#include "exec/program.h"
#include "ptx/module.h"

namespace lanescope::exec {

struct Run;
struct Step;
/// Executes a step for the lanes in `active` (never 0 unless the step is kControl) and returns the next one; nullptr: the warp stops for
/// now, and where it goes on stands in its split.
using Handler = const Step* (*)(Run& run, const Step& step, uint32_t active);

/// Where a row of 32 lanes is: at an offset of the frame (kept as offset + 1, odd) or at an address (even). 0: no row (`_`).
struct Row {
    uintptr_t tagged = 0;
    static Row in_frame(uint32_t offset) { return {uintptr_t(offset) + 1}; }
    static Row at(const void* address) { return {reinterpret_cast<uintptr_t>(address)}; }
    explicit operator bool() const { return tagged != 0; }
    void* in(std::byte* frame) const {
        return reinterpret_cast<void*>(tagged + ((reinterpret_cast<uintptr_t>(frame) - 1) & -(tagged & 1)));
    }
};

enum StepFlags : uint8_t {
    kControl = 1,   ///< runs even if its guard holds for no lane
    kOrdered = 2,   ///< touches memory that other warps see: warps that are behind in time go first
    kMany = 4,      ///< a lane step with more than one destination or three sources
    kUncounted = 8, ///< not an instruction of the program: joins, reads of special registers on behalf of an instruction
    kBackward = 16, ///< a branch to an earlier place: a spinning split is noticed here
    kStore = 32,    ///< stores follow each other without waiting for the way out: only what comes after them does
    kLate = 64,     ///< MachineCode::late
    kOnce = 128,    ///< MachineCode::once
};

struct alignas(64) Step {
    LaneFunction lane = nullptr;   ///< set: arithmetic. rows are d0 s0 s1 s2, with kMany then d1 d2 d3 s3 … s7
    Handler handler = nullptr;
    uint64_t control = 0;          ///< for `lane`; else the handler's own
    const Row* rows = nullptr;     ///< for a handler: as its decoder wrote them
    const void* plan = nullptr;    ///< the handler's own; branches: the target step
    Row guard;                     ///< predicate row; unguarded steps have a row of ones
    uint32_t guard_flip = 0;       ///< ~0 for `@!p`
    uint32_t instruction : 28 = 0; ///< index into the function's body
    uint32_t issues : 4 = 1;       ///< InstructionCost::issues, at most 15
    uint32_t wait = 0;             ///< scoreboard slots whose loads must have arrived
    uint8_t flags = 0;
    uint8_t cycles = 1;            ///< from the issue of the step before to this one's, by dependences alone
    uint16_t slot : 5 = 0;         ///< scoreboard slot of a load's destinations
    uint16_t pipe : 4 = 0;         ///< a Pipe
    uint16_t pipe_turns : 5 = 0;   ///< instructions of machine code that go through it
};
static_assert(sizeof(Step) == 64);

constexpr unsigned kScoreboardSlots = 32;  ///< bits of Step::wait
constexpr unsigned kDependentCycles = 4;  ///< from an arithmetic instruction to one that needs its result, Volta and later

/// Bytes of the row of a register of `type`.
constexpr uint32_t row_bytes(unsigned bits) { return bits == 1 ? 4 : bits <= 16 ? 64 : bits * 4; }

constexpr uint32_t kWordRow = 4 * kWarpLanes;  ///< bytes of one word of a .param variable for all lanes

/// One access of the machine code that a memory step makes.
struct Access {
    uint32_t site = 0;
    int16_t offset = 0;             ///< from the instruction's own address
    uint8_t bytes = 0;
    Row policy;                     ///< L2::cache_hint
};

/// What the handler of a load or store must know.
struct MemoryPlan {
    uint32_t index = 0;             ///< among the kernel's plans: for caches of allocations, and the monitor's Use::place
    uint32_t function = 0, instruction = 0;  ///< index into the module, into the function's body
    ptx::Space space = ptx::Space::kGeneric;
    bool store = false, polls = false;  ///< polls: may be how a thread waits for another one
    bool atomic = false;
    uint8_t element_bytes = 4, vector = 1, width = 4;
    uint8_t row_stride = 4;         ///< bytes of a register row a lane
    Ordering ordering;
    Move move = nullptr;
    Row base;                       ///< 64- or 32-bit addresses; none: `offset` is the address
    bool base_is_32bit = false;
    bool local_base = false;        ///< a .local variable: the frame's local base is to be added
    int64_t offset = 0;
    std::vector<Access> accesses;
};

struct FunctionCode {
    uint32_t function = 0;          ///< index into the module
    std::vector<Step> steps;        ///< ends with a ret
    uint32_t frame_bytes = 0;       ///< rows
    uint32_t local_bytes = 0;       ///< .local variables: bytes a thread
    struct Range { uint32_t offset, bytes; };
    std::vector<Range> zeroed;      ///< rows that may be read before they are written
    /// .param variables live in the frame as rows of 4-byte words: word k of all lanes, then word k + 1. `offset` is in the frame.
    struct ParamVariable { uint32_t offset = 0, bytes = 0; bool is_register = false; };
    std::vector<ParamVariable> parameters, returns;
};

/// Rows that never change, one for each value and width.
class ConstantRows {
public:
    const void* splat(uint64_t value, unsigned bits);
    const void* predicate(bool value) { return splat(value ? UINT32_MAX : 0, 1); }

private:
    struct alignas(64) Line { std::byte bytes[64]; };
    std::map<std::pair<uint64_t, unsigned>, std::unique_ptr<Line[]>> rows_;
};

struct Code {
    std::map<uint32_t, std::unique_ptr<FunctionCode>> functions;  ///< by index into the module
    const FunctionCode* entry = nullptr;
    ConstantRows constants;
    std::string refusal;                                          ///< why the kernel cannot be launched; empty: it can
    std::deque<std::vector<Row>> rows;
    std::deque<MemoryPlan> plans;
    std::vector<std::shared_ptr<void>> others;                    ///< plans of other kinds
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> shared;     ///< (function or kNone, variable) → offset in shared memory
    std::vector<Kernel::SharedArray> shared_arrays;               ///< the same with their sizes, in order
    uint32_t static_shared_bytes = 0;                             ///< of all variables; .extern .shared arrays begin behind them
};

}  // namespace lanescope::exec
