// What changes gain: those that were tried and are worth making.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/candidate.h"
#include "profile/profile.h"

namespace lanescope::analysis {

struct Advice {
    const profile::WhatIf* tried = nullptr;   ///< its numbers, before and after
    const ChangeText* text = nullptr;
    std::string file;                         ///< of the line that gains most, as people are shown it; empty: not known
    uint32_t line = 0;
    std::string how;                          ///< "make the rows of the shared array longer, so that …: 128 B → 132 B"
    std::string effect;                       ///< "sectors 1.18 M → 262 k, DRAM 34.1 MB → 4.19 MB"; empty: only time changes
    double before_ns = 0, after_ns = 0;       ///< of the kernel
    double gain() const { return after_ns > 0 ? before_ns / after_ns : 1; }
};

/// The changes that gain, the best of those that concern the same accesses, largest gain first. A change gains if the kernel takes
/// kLeastTimeGain and `chance_ns` less time (one trip to memory more or less is chance), or asks memory and link for kLeastTrafficGain
/// fewer bytes in no more time, if memory would notice. What only aligns gains by bytes alone.
std::vector<Advice> advise(const profile::Launch& launch, double chance_ns);
constexpr double kLeastTimeGain = 0.02, kLeastL1Gain = 0.2, kLeastTrafficGain = 0.1, kLeastNoticed = 0.001;

}  // namespace lanescope::analysis
