// What happens before what among the warps of a grid.
//
// Each warp has a clock that goes up whenever something orders it. An access is known by its warp and that warp's clock; whether it
// happened before what another warp does now follows from barriers of the whole block (one number), or from what the other warp has
// learned at a meeting: barriers of some warps, of clusters, mbarriers, and memory that is written and read with strong operations.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "exec/monitor.h"

namespace lanescope::hazard {

constexpr unsigned kClockBits = 24;

/// Where the warps of one block were when one of them told others: everything of the block before `base`, and of single warps up to a clock.
struct Position {
    uint32_t base = 0;
    std::vector<uint32_t> clocks;         ///< by warp: accesses with at most this clock; 0: none
};

/// A meeting of which somebody knows the first so many arrivals.
struct Known {
    uint32_t place = 0, arrivals = 0;
};
using Knowledge = std::vector<Known>;

struct WarpState {
    uint32_t clock = 1;
    uint32_t lanes_met = 0;               ///< the warp's own accesses before this clock are ordered for all of its lanes
    Knowledge known;
    std::shared_ptr<const Position> fenced[2];  ///< what a strong write tells others: [0] the whole GPU, [1] the block
    std::unique_ptr<std::array<std::array<uint32_t, exec::kWarpLanes>, exec::kWarpLanes>> lanes;  ///< [later][earlier]: clock up to which it is ordered
};

/// A block that runs, by where it runs. Clocks of a place only go up, so that what its earlier blocks did is before everything.
struct BlockState {
    uint64_t block = UINT64_MAX;
    uint32_t start = 1, base = 1, top = 1;  ///< clocks: the block's first, of its latest barrier, the highest of its warps
    bool fenced = false, informed = false;  ///< whether a warp has fenced or learned something since the block began
    std::vector<WarpState> warps;
};

class Order {
public:
    /// A grid starts. `lockstep`: the GPU runs the lanes of a warp in step, so that different instructions of one warp are ordered.
    void begin(uint32_t warps_per_block, bool lockstep);

    BlockState& at(const exec::Actor& actor) { return places_[actor.sm * kSlots + actor.block_slot]; }
    bool lockstep() const { return lockstep_; }
    /// A block starts. False: clocks have run out; everything that was recorded must be forgotten, and forget() called.
    bool start(const exec::Actor& actor);
    void forget();

    void meet_lanes(const exec::Actor& actor, uint32_t lanes);
    void meet_block(const exec::Actor& actor);
    void arrive(const exec::Actor& actor, uint64_t meeting);
    void leave(const exec::Actor& actor, uint64_t meeting);
    void fence(const exec::Actor& actor, bool block_scope);
    /// A strong write to `location` tells what was fenced; with `release` all that came before.
    /// False: there is nothing to tell.
    bool publish(const exec::Actor& actor, uint64_t location, exec::Ordering ordering);
    /// A strong read of `location` learns what was published there.
    void learn(const exec::Actor& actor, uint64_t location);
    /// Lockstep only: an instruction of the warp is over.
    void step(const exec::Actor& actor);

    struct Access {
        uint64_t block = 0;
        uint32_t warp = 0, clock = 0;
        unsigned lane = 0;
        bool lanes_unknown = false;
    };
    /// Whether `access` happened before what `lane` of `now` does next.
    bool before(const Access& access, const exec::Actor& now, unsigned lane);

    uint32_t place_of(const exec::Actor& actor) const { return actor.sm * kSlots + actor.block_slot; }
    /// Where the block of that rank in the actor's cluster runs.
    uint32_t place_of_rank(const exec::Actor& actor, uint32_t rank) const;
    uint64_t block_of_rank(const exec::Actor& actor, uint32_t rank) const { return places_.at(place_of_rank(actor, rank)).block; }

private:
    static constexpr uint32_t kSlots = 256;   // blocks of an SM
    struct Arrival {
        uint64_t block = 0;
        bool block_scope = false;
        std::shared_ptr<const Position> position;
        Knowledge known;
    };
    struct Place {
        std::deque<Arrival> arrivals;
        std::unordered_map<uint64_t, std::vector<uint32_t>> by_block;  ///< indices of arrivals, ascending
    };
    Place* find(uint64_t meeting, uint32_t* index, bool make);
    void tell(const exec::Actor& actor, uint64_t meeting, std::shared_ptr<const Position> position, bool block_scope);
    std::shared_ptr<const Position> position(const BlockState& b, uint32_t warp, const Position* earlier) const;
    bool known(const Knowledge& knowledge, const Access& access, uint64_t block);
    static void add(Knowledge& to, Known known);

    std::vector<BlockState> places_;       ///< by place
    std::unordered_map<uint64_t, std::vector<uint32_t>> clusters_;  ///< places by rank
    std::unordered_map<uint64_t, uint32_t> meetings_;
    std::deque<Place> meeting_places_;
    uint64_t told_ = 0;                   ///< arrivals kept
    uint32_t warps_ = 1, top_ = 1;
    bool lockstep_ = false;
};

}  // namespace lanescope::hazard
