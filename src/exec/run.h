// The state of a running grid: SMs, blocks, warps, the groups of lanes (splits) a divergent warp consists of, and their frames.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "exec/grid.h"
#include "exec/machine_code.h"
#include "exec/step.h"

namespace lanescope::exec {

constexpr uint64_t kNever = UINT64_MAX;
constexpr uint32_t kFullMask = UINT32_MAX;
constexpr unsigned kPollWeight = 64;  ///< of an access that is how threads wait for each other (cas, exch, volatile, acquire); other atomics: 1

// Generic addresses beyond what a pointer to memory can be, as windows into the other spaces.
constexpr uint64_t kSharedWindow = uint64_t(1) << 48;                    ///< + offset, or + (rank + 1) << 24 + offset in a cluster
constexpr uint64_t kLocalWindow = kSharedWindow + (uint64_t(1) << 32);
constexpr uint64_t kParamWindow = kSharedWindow + (uint64_t(2) << 32);   ///< the kernel's parameters
constexpr unsigned kClusterShift = 24;                                   ///< shared addresses: block of the cluster + 1 above these bits

template <class F>
inline void each_lane_of(uint32_t mask, F f) {
    for (; mask != 0; mask &= mask - 1) f(unsigned(std::countr_zero(mask)));
}

/// The registers of one call of a function, for the lanes that made it together.
struct Frame {
    std::byte* rows = nullptr;
    Frame* caller = nullptr;
    const Step* call = nullptr;              ///< the step in the caller
    const FunctionCode* code = nullptr;
    uint32_t lanes = 0;                      ///< that have not left it
    uint32_t local_base = 0, local_top = 0;  ///< this call's part of each thread's local memory
    std::vector<uint64_t> storage;           ///< holds the rows
};

/// Where lanes that parted meet again.
struct Join {
    Join* parent = nullptr;
    const Step* at = nullptr;
    Frame* frame = nullptr;
    uint32_t expected = 0, arrived = 0;
};

enum class SplitState : uint8_t { kReady, kBarrier, kClusterBarrier, kLaneSync };

struct Run;

/// Lanes of a warp that run together.
struct Split {
    const Step* next = nullptr;
    Frame* frame = nullptr;
    Join* join = nullptr;                    ///< innermost
    uint32_t mask = 0;
    SplitState state = SplitState::kReady;
    uint8_t barrier = 0;                     ///< kBarrier: which
    uint32_t polls = 0;                      ///< Run::polls
    uint32_t awaited = 0;                    ///< kLaneSync: the lanes that must arrive
    uint32_t active = 0;                     ///< kLaneSync: of mask, those whose guard holds
    void (*perform)(Run&, const Step&, uint32_t) = nullptr;  ///< kLaneSync: what they do then
};

struct Block;

struct Warp {
    uint64_t time = 0;                       ///< SM clock at which its next instruction can issue
    uint64_t started = 0;
    std::array<uint64_t, kScoreboardSlots> pending{};  ///< when the loads of each scoreboard slot have arrived
    std::vector<Split> splits;
    uint32_t live = 0;                       ///< lanes that have not ended
    uint32_t index = 0;                      ///< in the block
    uint32_t slot = 0;                       ///< in the SM
    uint32_t turn = 0;                       ///< of a loop whose turns machine code puts together, below kTurns
    uint32_t words = 0;                      ///< that its loads returned to so far, modulo kWordsInFlight
    std::array<uint64_t, kWordsInFlight> in_flight{};  ///< when the last of them arrived
    Block* block = nullptr;
    Frame entry;
    /// Local memory in units of 16 bytes, those of the 32 lanes side by side: byte a of lane i is at (a / 16 × 32 + i) × 16 + a % 16, so
    /// that an aligned access is in one piece and equal offsets are near each other.
    std::vector<std::byte> local;
    uint32_t cluster_phase = 0;              ///< by lane: the phase of barrier.cluster in which it arrived last
    uint64_t way_out_free = 0;               ///< when what the warp stored has room on its way out
    uint64_t copies_arrive = 0;              ///< cp.async since the last commit
    std::vector<uint64_t> copy_groups;       ///< committed cp.async groups, when each has arrived

    /// When a step can be issued for what its loads, or the loads before it, return.
    uint64_t arrival(const Step& step) const {
        uint64_t at = 0;
        if ((step.flags & kLate) != 0) {
            if ((step.flags & (kOrdered | kStore)) == kOrdered) at = in_flight[words];
            else if (turn != kTurns - 1) return 0;
        }
        for (uint32_t slots = step.wait; slots != 0; slots &= slots - 1) at = std::max(at, pending[unsigned(std::countr_zero(slots))]);
        return at;
    }
    /// A load of a loop whose turns are put together returns at `arrival`.
    void note_words(const Step& step, uint64_t arrival) {
        const auto& plan = *static_cast<const MemoryPlan*>(step.plan);
        for (unsigned bytes = 0; bytes < plan.width; bytes += 4) {
            in_flight[words] = arrival;
            words = words + 1 == kWordsInFlight ? 0 : words + 1;
        }
    }
};

struct Barrier {
    uint32_t arrived = 0, expected = 0;      ///< threads; expected 0: all of the block
    uint32_t voted = 0, votes = 0;           ///< barrier.red: threads that took part, and those whose predicate held
    uint64_t time = 0;                       ///< of the latest arrival
};

struct Cluster;

struct Block {
    bool active = false;
    uint64_t index = 0;
    Dim3 id{0, 0, 0};
    uint32_t sm = 0, slot = 0;
    uint32_t threads = 0, live = 0;
    std::byte* shared = nullptr;
    std::vector<Warp> warps;
    std::array<Barrier, 16> barriers;
    Cluster* cluster = nullptr;
    uint32_t rank = 0;                       ///< in the cluster
    std::vector<std::byte> shared_storage;
};

/// Blocks that run side by side and may touch each other's shared memory.
struct Cluster {
    uint64_t index = 0;
    std::vector<Block*> blocks;
    uint32_t threads_arrived = 0, threads_live = 0;
    bool phase = false;                      ///< of barrier.cluster
    uint64_t time = 0;                       ///< of the latest arrival
    uint32_t blocks_done = 0;
};

struct Sm {
    uint32_t index = 0;
    uint64_t cycles = 0, instructions = 0;
    uint64_t active_since = 0, active_cycles = 0, warp_cycles = 0;
    std::array<uint64_t, 8> issue{};         ///< when each scheduler is free
    std::array<double, kPipes> pipe_free{};  ///< when each has done what came so far
    std::array<uint64_t, kPipes> pipe_turns{};
    std::vector<uint64_t> ready;             ///< by warp slot: time << 8 | slot, kNever: cannot run
    uint64_t earliest = kNever;              ///< no key in `ready` is less; kNever: none can run
    std::vector<Block> blocks;
    uint32_t resident = 0;
};

struct FreeSlot {
    uint64_t time = 0;                       ///< since when
    uint32_t sm = 0, slot = 0;
    uint32_t turn = 0;                       ///< among slots of one round that are free since the same time
};

struct CachedRange {
    uint64_t begin = 0, bytes = 0;
    int64_t delta = 0;
    bool read_only = false;
};

/// One grid in execution, with the hot state of the warp that runs now in front.
struct Run {
    std::byte* rows = nullptr;               ///< of the current frame
    uint32_t mask = 0, lanes = 0;            ///< of the current split
    uint64_t time = 0;                       ///< of the current warp
    uint64_t yield_at = 0;                   ///< an ordered step later than this waits for other warps
    Warp* warp = nullptr;
    uint32_t split = 0;                      ///< index into warp->splits
    uint32_t polls = 0, turns = 0;           ///< weighted polls since lanes last parted or met; backward branches
    Frame* frame = nullptr;
    Block* block = nullptr;
    Sm* sm = nullptr;
    Listener* listener = nullptr;
    Monitor* monitor = nullptr;

    const Kernel& kernel;
    const Code& code;
    const Launch& launch;
    DeviceMemory& memory;
    const Machine& machine;
    const Sinks& sinks;
    const ptx::Module& module;
    GridResult& result;
    bool stopped = false;                    ///< a fault ended the grid
    std::vector<CachedRange> ranges;         ///< by MemoryPlan::index
    alignas(64) uint64_t addresses[kWarpLanes];
    alignas(64) uint64_t shifted[kWarpLanes];  ///< addresses of an instruction's further accesses

    std::deque<Join> joins;                  ///< pools: freed ones are reused
    std::vector<Join*> free_joins;
    std::deque<Frame> frames;
    std::unordered_map<const FunctionCode*, std::vector<Frame*>> free_frames;
    std::unordered_set<const Step*> spins;   ///< joins at which lanes were waited for by others that spin
    std::set<std::tuple<FaultKind, uint32_t, uint32_t>> warned;

    std::vector<Sm> sms;
    std::deque<Cluster> clusters;
    std::vector<FreeSlot> freed;             ///< slots that wait for a block
    double launch_clock = 0;                 ///< when the GPU can start the next block
    uint32_t warps_per_block = 1;
    std::array<std::vector<uint32_t>, 3> thread_ids;  ///< %tid.x, .y, .z by linear thread
    uint64_t next_block = 0, blocks = 0, live_blocks = 0;
    uint64_t thread_instructions = 0, warp_instructions = 0, machine_instructions = 0;
    std::unordered_map<const FunctionCode*, std::vector<std::pair<uint64_t, uint64_t>>> executions;

    Split& current() { return warp->splits[split]; }
    template <class T>
    T* row(Row r) const { return static_cast<T*>(r.in(rows)); }

    // --- the warp's loop and its splits (run.cc) ---
    /// Runs the warp until it waits, ends, or others are behind it; its time is advanced and its readiness kept in Sm::ready.
    void run_warp(Warp& w);
    /// Makes `index` the split that runs; its next step is returned.
    const Step* enter(uint32_t index);
    /// Picks another ready split, the newest first; nullptr: none.
    const Step* switch_split();
    /// Keeps where the current split goes on.
    void park(const Step* next, SplitState state = SplitState::kReady);
    /// The current split's lanes part: those in `taken` go to `target`, the others to `other`; they meet at `meet` (nullptr: nowhere).
    const Step* diverge(uint32_t taken, const Step* target, const Step* other, const Step* meet);
    /// The current split is at a place where lanes meet.
    const Step* arrive(const Step& at);
    /// Lanes of the current split end or leave; returns what runs next.
    const Step* end_lanes(uint32_t lanes_ending, const Step* next);
    /// The current split's lanes are gone or wait in a join: takes it off the list and runs another one.
    const Step* drop_current();
    /// At a backward branch: lets others run that the current split may be waiting for.
    const Step* yield_spin(const Step* next);
    /// Lets the lanes that wait in `join` go on without the others.
    void release(Join& join);
    Join* new_join(const Step* at, Frame* at_frame, uint32_t expected, Join* parent);
    Frame* new_frame(const FunctionCode& function);
    void leave_frame(Frame* f, uint32_t lanes_leaving);
    void set_mask(uint32_t m) {
        mask = m;
        lanes = uint32_t(std::popcount(m));
    }
    /// Makes room for `top` bytes of local memory per thread; false: stack overflow (faulted).
    bool reserve_local(uint32_t top, const Step& step);

    /// Copies the return values of `callee` to where `call` wants them (call.cc).
    void copy_returns(const Step& call, const Frame& callee, const Frame& caller, uint32_t returning) const;

    // --- faults ---
    /// Ends the grid. `lane` is a lane of the current warp.
    const Step* fail(FaultKind kind, const Step& step, unsigned lane, std::string message);
    const Step* fail_access(FaultKind kind, const Step& step, unsigned lane, uint64_t address, uint32_t bytes, bool store,
                            std::string message = {});
    void warn(FaultKind kind, const Step& step, unsigned lane, std::string message);
    Fault place(FaultKind kind, const Step& step, unsigned lane) const;
    Dim3 thread_of(unsigned lane) const;

    // --- memory (memory.cc) ---
    /// Host address of `bytes` (aligned to themselves, at most 16 in local memory) at a generic address of the current warp's `lane`;
    /// nullptr: faulted.
    std::byte* generic(const Step& step, unsigned lane, uint64_t address, uint32_t bytes, bool store);
    /// The same for an address of shared space (also a cluster's).
    std::byte* shared(const Step& step, unsigned lane, uint64_t address, uint32_t bytes, bool store);
    std::byte* global(const Step& step, unsigned lane, uint64_t address, uint32_t bytes, bool store);
    /// Host address of a byte of local memory; 16-byte units are in one piece.
    std::byte* local_byte(unsigned lane, uint64_t offset) {
        return warp->local.data() + (offset / 16 * kWarpLanes + lane) * 16 + offset % 16;
    }
    /// Tells the listener of an access. Returns when its result is there.
    uint64_t announce(const std::vector<Access>& accesses, Space space, uint32_t active, const uint64_t* at, bool continued = false, unsigned issuer = kWarpLanes,
                      const uint64_t* destinations = nullptr);
    /// The step's destinations are there at `arrival`.
    void expect(const Step& step, uint64_t arrival) {
        warp->pending[step.slot] = std::max(warp->pending[step.slot], arrival);
        if ((step.flags & kLate) != 0) warp->note_words(step, arrival);
    }
    /// Reads a string that ends with 0 at a generic address; stops at `limit`.
    std::string text_at(const Step& step, unsigned lane, uint64_t address, size_t limit = 65536);
    uint32_t shared_bytes = 0;               ///< of each block
    const MoveFunctions& moves = move_functions();

    // --- the monitor, only where there is one (watch.cc) ---
    void watch(const Step& step, const MemoryPlan& plan, Touch touch, Space space, uint32_t active, const uint64_t* at);
    /// The same where neither a MemoryPlan's width nor its kind of access is meant.
    void watch(const MemoryPlan& plan, Touch touch, Space space, uint32_t active, const uint64_t* at, uint32_t bytes);
    Actor actor() const { return actor(*warp); }
    static Actor actor(const Warp& w);
    void note_lanes(uint32_t together) {
        if (monitor != nullptr) [[unlikely]] monitor->on_lanes(actor(), together);
    }
    void note_arrival(Meeting meeting) {
        if (monitor != nullptr) [[unlikely]] monitor->on_arrive(actor(), meeting);
    }
    void note_leaving(Meeting meeting) {
        if (monitor != nullptr) [[unlikely]] monitor->on_leave(actor(), meeting);
    }
    /// The meeting at an mbarrier, by its address in shared space.
    Meeting mbarrier(uint64_t address) const;

    // --- barriers (barrier.cc) ---
    /// Lets the waiting threads go on if enough have arrived.
    void check_barrier(Block& b, unsigned barrier);
    void check_cluster(Cluster& c);
    void threads_ended(Block& b, uint32_t count);
    /// Keeps in Sm::ready whether and when the warp can run.
    void set_ready(Warp& w);
    /// The current split stops at `step` until all lanes of `members` have come to such a step; then `perform` is done for them together.
    const Step* wait_for_lanes(const Step& step, uint32_t members, uint32_t active, void (*perform)(Run&, const Step&, uint32_t));
    /// Completes what wait_for_lanes stopped; `force`: with the lanes that are there. Whether anything was completed.
    bool check_lanes(bool force);
    /// Lanes of the current split that are not in `active` go on behind `step` by themselves.
    void isolate(const Step& step, uint32_t active);
    /// Moves on the clock of a warp that is made ready.
    void wake(Warp& w, uint64_t at);

    // --- scheduling (grid.cc) ---
    void start_blocks();
    void start_block(Sm& s, uint32_t slot, uint64_t at);
    void end_block(Block& b);
    void advance(Sm& s, uint64_t until);
    /// The warp of a key in Sm::ready.
    Warp& warp_at(Sm& s, uint64_t key) const;
    /// Brings what the warp will need into the host's cache: the warps of a GPU do not fit there.
    static void prefetch(const Warp& w);
    void run();
    void report(FaultKind kind, std::string message);
    void report_runaway(std::string message);
    void report_deadlock();
};

}  // namespace lanescope::exec
