// Watches grids for races and for reads of memory that was never written.
//
// Global memory: a record for each 32-byte sector of who touched it last, a list of them where several warps did. Shared memory: who wrote and
// who read each word last. Only where two accesses meet is it asked whether something orders them (Order).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exec/device_memory.h"
#include "hazard/history.h"
#include "hazard/order.h"
#include "hazard/race.h"

namespace lanescope::hazard {

class Detector final : public exec::Monitor {
public:
    /// What is watched for.
    Detector(bool races, bool undefined) : races_(races), watch_undefined_(undefined) {}

    /// A grid starts. `concurrent`: of the earlier launches that were named to begin(), those that may run at the same time; the others
    /// are before it. `lockstep`: lanes of a warp run in step (before Volta).
    void begin(const Grid& grid, const exec::DeviceMemory& memory, bool lockstep, const std::set<uint64_t>& concurrent);
    /// What has been found since the last call, in the order of the instructions; valid until the next begin().
    std::vector<Race> take_races();
    std::vector<Undefined> take_undefined();
    /// Whether memory allowed to watch everything that the launch touched.
    bool complete() const { return history_.complete(); }

    /// A copy or memset of the host touches device memory while the launches `concurrent` may run: what of theirs it meets is a race.
    void host_touches(uint64_t address, uint64_t bytes, bool write, const std::set<uint64_t>& concurrent);
    void allocated(uint64_t address, uint64_t bytes) {
        if (watch_undefined_) history_.undefine(address, bytes);
    }
    /// Written by the host, or gone.
    void defined(uint64_t address, uint64_t bytes) { history_.define(address, bytes); }
    /// Kernels that were named to begin() are going away.
    void forget();

    void on_start(const exec::Actor& actor) override;
    void on_use(const exec::Use& use) override;
    void on_lanes(const exec::Actor& actor, uint32_t lanes) override { order_.meet_lanes(actor, lanes); }
    void on_block(const exec::Actor& actor) override { order_.meet_block(actor); }
    void on_arrive(const exec::Actor& actor, exec::Meeting meeting) override { order_.arrive(actor, uint64_t(meeting)); }
    void on_leave(const exec::Actor& actor, exec::Meeting meeting) override { order_.leave(actor, uint64_t(meeting)); }
    void on_fence(const exec::Actor& actor, bool block_scope) override { order_.fence(actor, block_scope); }

private:
    /// A word of a block's shared memory: packed records, see shared.cc. In the order of their clocks, so that one comparison tells that
    /// everything is before a barrier.
    struct Word {
        uint64_t written = 0, read = 0, other = 0;    ///< other: a second warp that read
        void note(uint64_t now, bool write, uint64_t settled);
    };
    /// An access that met no other: a record without lane and bytes.
    struct Noted {
        uint64_t record = 0;
        uint32_t active = 0, bytes = 0;
        bool write = false;
        std::array<uint32_t, exec::kWarpLanes> addresses{};
    };
    /// A block's shared memory.
    struct Shared {
        uint64_t start = 0, settled = 0;      ///< clocks, as in records: the block's first, of its latest barrier
        std::vector<uint32_t> defined;        ///< a bit a word: the block has written it
        // Since the latest barrier:
        std::vector<uint32_t> read, written;  ///< a bit a word
        std::vector<Noted> noted;             ///< accesses that are in no word's record yet
        bool by_word = false;                 ///< words have their records
        std::vector<Word> words;
        void fit(uint64_t bytes);
    };
    // global.cc
    void touch_global(const exec::Use& use);
    void touch(const exec::Use& use, uint64_t sector, const Record& now);
    void meet(const exec::Use& use, uint64_t sector, Record& cell, Record now);
    void check(const exec::Use& use, uint64_t sector, const Record& earlier, const Record& now);
    void check_lanes(const exec::Use& use, unsigned first, unsigned second);
    void check_defined(const exec::Use& use, Region& region, uint64_t sector, uint32_t mask);
    // shared.cc
    void touch_shared(const exec::Use& use);
    Shared& shared_of(uint32_t place, uint64_t start, uint64_t settled, bool clustered);
    /// Fills bits_ with the words of an access, in the order of its lanes; whether lanes share a word.
    bool find_words(const exec::Use& use);
    /// Whether the access, whose words are bits_, cannot race with any since the barrier; it is noted then. Else all that was noted has become
    /// records. `shared`: see find_words.
    bool apart(Shared& s, const exec::Use& use, uint64_t me, bool shared);
    void check_defined(Shared& s, const exec::Use& use, unsigned lane, uint64_t word);
    void check_shared_defined(Shared& s, const exec::Use& use);
    void check_shared(const exec::Use& use, unsigned lane, uint64_t earlier, bool earlier_writes, uint64_t now, uint64_t address);
    void touch_local(const exec::Use& use);
    // detector.cc
    /// Two instructions, whichever is first, `first` of the launch `generation`.
    uint64_t pair(uint32_t generation, uint32_t first, uint32_t second, exec::Space space) const {
        if (generation == generation_ && first > second) std::swap(first, second);
        return uint64_t(generation) << 40 | uint64_t(first) << 24 | uint64_t(second) << 8 | uint64_t(space);
    }
    /// Whether the two instructions have met often enough not to look again.
    bool counted(uint64_t pair) const {
        const auto found = found_.find(pair);
        return found != found_.end() && found->second.count >= Race::kCounted;
    }
    static uint64_t location(const exec::Use& use, unsigned lane);
    void add(uint64_t pair, const Race& race);
    void add_undefined(const exec::Use& use, unsigned lane, uint64_t address, uint32_t bytes);
    Party party(const Grid& grid, uint32_t place, bool write, uint64_t block, uint32_t thread) const;
    Party party(const exec::Use& use, unsigned lane) const;
    /// Whether what `lane` is about to write is what `host` holds (nullptr: no), or with `other` what that lane writes.
    static bool same_value(const exec::Use& use, unsigned lane, const std::byte* host);
    static bool same_value(const exec::Use& use, unsigned lane, unsigned other);

    bool races_, watch_undefined_;
    Order order_;
    History history_;
    const exec::DeviceMemory* memory_ = nullptr;
    const Grid* grid_ = nullptr;
    uint32_t generation_ = 0, warps_per_block_ = 1;
    std::map<uint32_t, Grid> grids_;                     ///< by generation: this launch, and those before it that some launch overlapped
    std::vector<bool> concurrent_ = std::vector<bool>(kGenerations);  ///< by generation: may run at the same time as this launch
    bool any_concurrent_ = false;
    std::vector<Shared> shared_;                         ///< by place of the block
    struct Bits { uint32_t group, mask; };               ///< some of 32 neighbouring words
    std::vector<Bits> bits_;                             ///< of the access that is looked at
    uint64_t stretches_ = 0, stretches_by_word_ = 0;     ///< from barrier to barrier, of this launch
    std::unordered_map<uint64_t, std::vector<uint32_t>> local_;  ///< by place and warp: for each word the lanes that have written it
    std::unordered_map<uint64_t, Race> found_;           ///< by pair()
    std::map<uint32_t, Undefined> undefined_;            ///< by instruction
};

}  // namespace lanescope::hazard
