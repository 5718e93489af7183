// Who touched each 32-byte sector of global memory last, and which words of it were never written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "hazard/order.h"

namespace lanescope::hazard {

constexpr uint32_t kSectorBytes = 32;

/// What one warp did to some bytes of a sector with one instruction: 16 bytes, so that a cache line of the host holds those of a cache
/// line of the device.
struct Record {
    uint32_t mask = 0;                    ///< bytes of the sector. With `list`: index of the list
    uint32_t warp = 0;                    ///< number in the grid, modulo 2^32. With `list`: records in it
    uint64_t clock : kClockBits = 0;
    uint64_t generation : 12 = 0;         ///< which launch; 0: none
    uint64_t place : 16 = 0;              ///< which instruction: Use::place; kPlaces: one of those beyond
    uint64_t lane : 5 = 0;                ///< of byte 0: the lane of byte b is lane + (b >> shift), modulo 32
    uint64_t shift : 3 = 5;
    uint64_t many : 1 = 0;                ///< several lanes touched the same bytes, `lane` is one of them
    uint64_t write : 1 = 0;
    uint64_t strong : 1 = 0;
    uint64_t list : 1 = 0;                ///< the sector has several records

    unsigned lane_of(unsigned byte) const { return many != 0 ? unsigned(lane) : (unsigned(lane) + (byte >> shift)) % exec::kWarpLanes; }
    bool same_lanes(const Record& other) const { return lane == other.lane && shift == other.shift && (many | other.many) == 0; }
    bool operator==(const Record&) const = default;
};
static_assert(sizeof(Record) == 16);
constexpr uint32_t kPlaces = 0xffff;
constexpr uint32_t kGenerations = 4096;

/// 2 MiB of device addresses.
struct Region {
    static constexpr uint64_t kBytes = 2 << 20;
    static constexpr uint32_t kSectors = kBytes / kSectorBytes;
    enum class Defined : uint8_t { kAll, kNone, kSome };

    Record* records = nullptr;            ///< kSectors; nullptr: none yet, or none can be had
    uint32_t generation = 0;              ///< of the latest launch that touched it
    Defined defined = Defined::kAll;
    std::unique_ptr<uint8_t[]> undefined; ///< kSome: a bit for each word of each sector
    bool refused = false;                 ///< in this launch
};

/// Memory of the history is bounded: regions and lists beyond are not watched.
class History {
public:
    static constexpr uint64_t kRecordBytes = uint64_t(576) << 20;  ///< at most, for 1.1 GiB of device memory touched by one launch
    static constexpr uint64_t kListBytes = uint64_t(192) << 20;
    static constexpr uint32_t kLongest = 28;                       ///< records of a sector; beyond, the oldest is forgotten

    History() = default;
    ~History();
    History(const History&) = delete;
    History& operator=(const History&) = delete;

    Region& region(uint64_t address) {
        Cached& cached = cache_[address / Region::kBytes % cache_.size()];
        if (cached.number != address / Region::kBytes) cached = {address / Region::kBytes, &find(address / Region::kBytes)};
        return *cached.region;
    }
    /// The records of an address will be looked at soon: changes nothing that is recorded.
    void prefetch(uint64_t address) {
        if (const Region& at = region(address); at.records != nullptr) __builtin_prefetch(&at.records[address / kSectorBytes % Region::kSectors], 1);
    }
    /// The region's records, made if there is room; nullptr: not watched in this launch.
    Record* records(Region& region, uint32_t generation) {
        region.generation = generation;
        return region.records != nullptr || region.refused ? region.records : make(region);
    }
    /// A launch begins. `fresh`: what earlier ones left is before all that it does.
    void begin(bool fresh);
    /// Forgets everything recorded.
    void forget();

    /// The records of a cell with a list: Record::warp of them, with room for Record::place.
    Record* list(const Record& cell) { return lists_ + size_t(cell.mask) * kUnit; }
    /// Makes room in a cell for one more record than it has; false: there is none.
    bool grow(Record& cell);

    bool complete() const { return complete_; }  ///< everything of this launch could be watched

    void undefine(uint64_t address, uint64_t bytes);
    void define(uint64_t address, uint64_t bytes);
    /// Makes a region's bitmap.
    static void spread(Region& region);

private:
    struct Cached {
        uint64_t number = UINT64_MAX;
        Region* region = nullptr;
    };
    Region& find(uint64_t number);
    Record* make(Region& region);
    void set(uint64_t address, uint64_t bytes, bool defined);

    std::unordered_map<uint64_t, std::unique_ptr<Region>> regions_;
    std::array<Cached, 256> cache_;
    uint64_t record_bytes_ = 0;
    static constexpr uint32_t kUnit = 4;
    Record* lists_ = nullptr;             ///< in units of kUnit records
    uint32_t lists_used_ = 0;             ///< units
    bool complete_ = true;
};

}  // namespace lanescope::hazard
