// What the executor tells whoever watches for mistakes that hardware lets pass: what each lane reads and writes, and what orders lanes.
//
// A kernel without a monitor pays one branch for it. Calls come in a reproducible order, from one thread, before the thing happens.
#pragma once

#include <cstdint>

#include "exec/access.h"

namespace lanescope::exec {

/// Who acts: a warp of a block. Blocks of a cluster are numbered by `rank`, clusters by `cluster` (UINT64_MAX: none).
struct Actor {
    uint64_t block = 0;                   ///< linear block index in the grid
    uint64_t cluster = UINT64_MAX;
    uint32_t rank = 0;
    uint32_t sm = 0, block_slot = 0;      ///< together they number the blocks that run at one time
    uint32_t warp = 0;                    ///< in the block
    uint32_t live = 0;                    ///< lanes that have not ended
};

enum class Touch : uint8_t { kRead, kWrite, kUpdate };  ///< kUpdate: an atomic operation

/// How a memory instruction orders: by itself (strong: atomic, volatile, relaxed and stronger), or what came before it.
struct Ordering {
    bool strong = false;
    bool release = false;                 ///< publishes what its thread did before
    bool block_scope = false;             ///< .cta: other blocks need not see it
};

/// One memory instruction of a warp, as the PTX has it (the hardware's accesses are AccessEvents).
struct Use {
    const Actor* actor = nullptr;
    uint32_t place = 0;                   ///< index into Code::plans: which instruction
    Space space = Space::kGlobal;         ///< kGlobal, kShared or kLocal
    Touch touch = Touch::kRead;
    Ordering ordering;
    uint32_t bytes = 0;                   ///< per lane, 1 … 32
    uint32_t active = 0;
    /// Global: device addresses. Shared: offsets (a cluster's: rank + 1 above bit 24). Local: offsets. Active lanes only.
    const uint64_t* addresses = nullptr;
    const std::byte* shared = nullptr;    ///< the block's shared memory
    /// What a store will write: element e of lane i begins at rows[e] + i × row_stride. row_stride 0: not known.
    const void* const* rows = nullptr;
    uint8_t element_bytes = 4, row_stride = 0;

    /// Whether byte `at` of what `lane` will write is known, and which it is.
    bool value(unsigned lane, unsigned at, std::byte& out) const {
        if (row_stride < element_bytes || row_stride > 8 || rows[at / element_bytes] == nullptr) return false;
        out = static_cast<const std::byte*>(rows[at / element_bytes])[lane * row_stride + at % element_bytes];
        return true;
    }
};

/// What threads meet at, or tell each other through: a number for each named barrier, cluster barrier and mbarrier of a grid.
enum class Meeting : uint64_t {};

class Monitor {
public:
    virtual ~Monitor() = default;
    /// `actor`: a block that starts, its warp 0.
    virtual void on_start(const Actor& actor) = 0;
    virtual void on_use(const Use& use) = 0;
    /// Lanes of one warp have met: bar.warp.sync, shfl.sync, vote.sync, …
    virtual void on_lanes(const Actor& actor, uint32_t lanes) = 0;
    /// All threads of the actor's block have met.
    virtual void on_block(const Actor& actor) = 0;
    /// The warp says that it has come so far; it knows what all who have said so at this meeting did before.
    virtual void on_arrive(const Actor& actor, Meeting meeting) = 0;
    virtual void on_leave(const Actor& actor, Meeting meeting) = 0;
    virtual void on_fence(const Actor& actor, bool block_scope) = 0;
};

constexpr Meeting barrier_of(uint64_t block, uint32_t id) { return Meeting(uint64_t(1) << 62 | block << 4 | id); }
constexpr Meeting cluster_barrier_of(uint64_t cluster) { return Meeting(uint64_t(2) << 62 | cluster); }
/// `offset` of the word in the shared memory of `block`.
constexpr Meeting mbarrier_of(uint64_t block, uint64_t offset) { return Meeting(uint64_t(3) << 62 | block << 20 | (offset / 8 & 0xfffff)); }

}  // namespace lanescope::exec
