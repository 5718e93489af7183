// What the lanes of an access do, told from its counters and from an example of its addresses.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "profile/profile.h"

namespace lanescope::analysis {

/// The classes of patterns.def.
enum class PatternKind : uint8_t {
#define PATTERN(kind, name, meaning, cost, remedy) kind,
#include "analysis/patterns.def"
#undef PATTERN
};

struct Pattern {
    PatternKind kind = PatternKind::kUnknown;
    int64_t stride_bytes = 0;     ///< kStrided, kRecordField, kRows (between runs), kBankConflict; 0: not constant
    uint32_t ways = 0;            ///< kBankConflict: passes instead of one; kConstantDivergent: words
    uint32_t element_bytes = 0;
    double share = 1;             ///< of the requests that are of this kind
};

/// How often the same bytes are read: by the warps of an SM (L1 serves all but the first) and by different SMs (L2 does). 1: once.
/// Only where lanes are in order: fields of records and columns share sectors without sharing bytes.
struct Rereads {
    double by_warps = 1, by_blocks = 1;
    double times() const { return by_warps * by_blocks; }
};
/// Of a global load's counters. `cold`: caches were empty before the launch, so that what came from memory is what there was to read.
Rereads rereads_of(std::string_view operation, PatternKind kind, const profile::Metrics& metrics, bool cold);
constexpr double kReread = 1.9;   ///< times from which on it is said

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

/// Bytes from each lane to the next, by lane number, or from row to row where a block narrower than a warp goes down several columns (runs of 4,
/// 8 or 16 lanes, all alike); 0: neither.
int64_t lane_stride(uint32_t active, std::span<const uint64_t> addresses, uint32_t bytes);
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
