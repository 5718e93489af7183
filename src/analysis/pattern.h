// What the lanes of an access do, told from its counters and from an example of its addresses.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "profile/profile.h"

namespace lanescope::analysis {

enum class PatternKind : uint8_t {
    kUnknown,             ///< nothing recorded to tell it from
    kCoalesced,           ///< neighbouring lanes, neighbouring words, aligned
    kMisaligned,          ///< the same, but not starting at a sector
    kBroadcast,           ///< all lanes one word
    kReversed,            ///< neighbouring words in falling order
    kStrided,             ///< a constant distance larger than the word
    kRecordField,         ///< strided, and other accesses use other fields of the same records
    kRows,                ///< runs of neighbouring words that lie apart: the warp spans several rows
    kTransposed,          ///< strided by a row or more, while the same line's other side is contiguous
    kGroups,              ///< groups of neighbouring lanes use one word each
    kGather, kScatter,    ///< no regular distance: loads, stores
    kPartial,             ///< few lanes take part
    kBankConflict,        ///< shared memory: several words of one bank
    kConflictFree,        ///< shared memory without conflicts
    kConstantUniform, kConstantDivergent,
    kLocal, kLocalDivergent,  ///< local memory: one index for all lanes, or one for each
    kAtomicSame, kAtomic, ///< atomics on one address, on several
    kTexture,
};

struct Pattern {
    PatternKind kind = PatternKind::kUnknown;
    int64_t stride_bytes = 0;     ///< kStrided, kRecordField, kRows (between runs)
    uint32_t ways = 0;            ///< kBankConflict: passes instead of one; kConstantDivergent: words
    uint32_t element_bytes = 0;
    double share = 1;             ///< of the requests that are of this kind
};

/// What a PatternKind is called and means, for people: one table for reports and `lanescope explain`.
struct PatternText {
    PatternKind kind;
    std::string_view name;        ///< "strided"
    std::string_view meaning;     ///< what the lanes do
    std::string_view cost;        ///< what that costs, by the rules of the hardware
    std::string_view remedy;      ///< what usually helps; empty: nothing to do
};
std::span<const PatternText> pattern_texts();
const PatternText& text_of(PatternKind kind);

/// From the lanes of one request.
Pattern pattern_of(std::string_view space, std::string_view operation, uint32_t bytes, uint32_t active, std::span<const uint64_t> addresses);
/// From what was counted over all requests of the access, and its example for the rest.
Pattern pattern_of(const profile::Access& access);
/// "strided 4096 B", "32-way bank conflict", "coalesced"; empty for kUnknown.
std::string label(const Pattern& pattern);
/// The kind that a label names; kUnknown: none.
PatternKind kind_of(std::string_view label);

/// Fills in Access::pattern where it is empty, recognising records by all accesses of a launch.
void classify(profile::Profile& profile);

}  // namespace lanescope::analysis
