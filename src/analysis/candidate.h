// Changes to a program's layout, or to how it asks for memory, that a pattern suggests. The emulator replays the launch with each of them
// before anything is advised (emulator/replay.h); what came out stands in profile::Launch::what_if.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"

namespace lanescope::analysis {

enum class ChangeKind : uint8_t {
    kStructureOfArrays,   ///< records of `pitch` bytes: an array for each field
    kBlockedArrays,       ///< the same within blocks of 32 records (AoSoA)
    kInterleave,          ///< each thread walks a chunk of `pitch` bytes: neighbouring threads take neighbouring words instead
    kTile,                ///< columns of a matrix with rows of `pitch` bytes: tiles of 32 × 32 read along rows, turned in shared memory
    kPad,                 ///< rows of a shared array get `new_pitch` bytes
    kSwizzle,             ///< the column index of a shared array is combined with its row by exclusive or
    kAlign,               ///< the data begins `origin` bytes earlier, at a sector
    kPitch,               ///< rows of `pitch` bytes get `new_pitch`
    kWiden,               ///< one access of `width` bytes a lane for several narrow ones beside each other
    kReadOnly,            ///< loads through L1 (const __restrict__, __ldg)
    kBypassL1,            ///< loads past L1 (__ldcg)
    kStreamStores,        ///< stores that make room in L2 first (__stcs)
    kDeviceMemory,        ///< mapped host memory copied to the device first
    kTableInGlobal,       ///< a constant table that lanes index differently, in global memory
    kArrayInShared,       ///< a thread's array, in shared memory
    kCombine,             ///< atomics of one address combined in the warp first
    kSharedBins,          ///< atomics on a small array: each block has its own in shared memory and adds it up at its end
};

struct Field {
    uint16_t begin = 0, bytes = 0;        ///< within a record
};

/// Trivially copyable: it goes to another process through a pipe.
struct Candidate {
    static constexpr uint32_t kMost = 512, kMostFields = 64;   ///< accesses and fields that one change can name
    ChangeKind kind = ChangeKind::kStructureOfArrays;
    uint32_t accesses = 0;
    std::array<uint32_t, kMost> instructions{};   ///< Access::instruction of those that cause it; the costliest first
    uint64_t begin = 0, bytes = 0;        ///< the allocation, or the shared array by offset
    uint64_t origin = 0;                  ///< address of the first record or row; kAlign: bytes by which all of it moves down
    uint64_t pitch = 0, new_pitch = 0;    ///< bytes from one record or row to the next
    uint32_t element = 0;                 ///< bytes
    uint32_t width = 0;                   ///< bytes a lane asks for; kDeviceMemory: 1 copied to the device, 2 copied back
    uint32_t more_shared_bytes = 0;       ///< a block
    uint32_t field_count = 0;
    std::array<Field, kMostFields> fields{};

    void add(uint32_t instruction) {
        if (accesses < kMost) instructions[accesses++] = instruction;
    }
    bool names(uint32_t instruction) const {
        for (uint32_t i = 0; i < accesses; ++i)
            if (instructions[i] == instruction) return true;
        return false;
    }
};

/// What must be known of a launch beside its record.
struct Surroundings {
    struct Region {
        uint64_t begin = 0, bytes = 0;    ///< bytes 0: nothing is there
        bool host = false;                ///< mapped host memory
    };
    /// First addresses of the warps that came first, each warp once.
    struct Sample {
        uint64_t block = 0;
        uint32_t warp = 0;
        uint64_t address = 0;
    };
    std::function<Region(uint64_t address)> region;
    std::function<std::span<const Sample>(uint32_t instruction)> samples;
    std::function<bool(uint32_t instruction)> through_l1;   ///< of a load
    std::vector<Region> shared_arrays;
    uint64_t shared_bytes = 0, most_shared_bytes = 0;       ///< a block's, and what one may have
    uint64_t local_bytes = 0;                               ///< a thread's
};

/// The changes worth trying, the most promising first. `launch` is classified (classify).
std::vector<Candidate> candidates(const profile::Launch& launch, const Surroundings& around);

/// What a change is called and how it is made: one table for profiles, reports and `lanescope explain`.
struct ChangeText {
    ChangeKind kind;
    std::string_view key;                 ///< in profiles: "structure_of_arrays"
    std::string_view name;                ///< "structure of arrays"
    std::string_view how;                 ///< an instruction to the programmer
};
std::span<const ChangeText> change_texts();
const ChangeText& text_of(ChangeKind kind);
/// nullptr: no such change.
const ChangeText* find_change(std::string_view key);

/// The change as a profile keeps it, without its effect: what it is, its numbers, and the source line of its first access.
profile::WhatIf describe(const Candidate& change, const profile::Launch& launch);

}  // namespace lanescope::analysis
