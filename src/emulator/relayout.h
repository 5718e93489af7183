// A program's accesses as a changed program would make them: stands between the executor and the memory model while a launch is replayed.
// What the kernel computes is untouched.
#pragma once

#include <array>
#include <cstdint>
#include <queue>
#include <vector>

#include "analysis/candidate.h"
#include "memory/model.h"

namespace lanescope::emulator {

class Relayout {
public:
    Relayout(const analysis::Candidate& change, memory::Model& model, uint32_t schedulers = 4);

    /// Hands one access, or those that it becomes, to the model; `instruction` is its site. Returns as Model::access does.
    uint32_t access(const memory::Access& access, uint32_t instruction, uint32_t warp);
    /// A block of the SM has ended: what it has counted is added up.
    void block_ends(uint32_t sm, uint32_t block_slot, uint64_t time);
    /// The grid has ended: what still waits is done.
    void finish();

private:
    static constexpr uint32_t kLanes = 32;
    using Addresses = std::array<uint64_t, kLanes>;

    bool named(uint32_t instruction) const { return instruction < named_.size() && named_[instruction]; }
    bool inside(uint64_t address) const { return address - change_.begin < change_.bytes; }
    /// Where a byte of the region lies in the changed layout.
    uint64_t moved(uint64_t address, uint32_t bytes);
    uint64_t moved_record(uint64_t address, uint32_t bytes);
    uint64_t moved_tile(uint64_t address) const;
    uint64_t moved_row(uint64_t address) const;
    /// The largest piece of an access of `bytes` a lane that stays in one piece in the changed layout.
    uint32_t piece(const memory::Access& access);
    uint32_t relaid(const memory::Access& access);
    uint32_t widened(const memory::Access& access, uint32_t instruction);
    uint32_t combined(const memory::Access& access);
    uint32_t through_tile(const memory::Access& access, bool turned);
    /// What has waited until `time`.
    void release(uint32_t sm, uint64_t time);
    void wait_until(uint64_t time, const memory::Access& access, const Addresses& addresses);
    uint32_t table(const memory::Access& access);
    uint32_t in_bins(const memory::Access& access);
    uint32_t in_shared(const memory::Access& access, uint32_t warp);

    analysis::Candidate change_;
    memory::Model& model_;
    std::vector<bool> named_;                     ///< by instruction
    std::vector<analysis::Field> field_of_;       ///< by byte of a record; bytes 0: not known yet
    uint64_t records_ = 0;                        ///< that the region holds, rounded up so that arrays begin aligned
    struct Wide {
        uint64_t base = 0, arrival = 0;
        uint64_t served = 0;                      ///< bit i: the i-th instruction of the change has had its part
    };
    std::vector<Wide> wide_;                      ///< by SM and warp slot
    struct Later {
        memory::Access access;                    ///< time: when it can begin
        Addresses addresses;
        bool operator<(const Later& other) const { return access.time > other.access.time; }   // the earliest on top of the queue
    };
    struct Tile {
        uint64_t there = 0;                       ///< when what the block has asked for has come and the barrier opens
        double issued = 0;                        ///< when the warps that went on are out of the way of the next
    };
    std::vector<Tile> tiles_;                     ///< by SM and block slot
    std::vector<std::vector<bool>> touched_;      ///< by SM and block slot, word of the bins
    memory::Access update_;                       ///< one of those that now update shared memory
    double turn_cycles_;                          ///< of a scheduler's time, for each access through a tile
    std::vector<std::priority_queue<Later>> waiting_;   ///< by SM
    Addresses addresses_{};
};

}  // namespace lanescope::emulator
