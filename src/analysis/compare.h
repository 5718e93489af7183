// What changed between two profiles: kernel by kernel, line by line, matched by content where lines moved.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.h"

namespace lanescope::analysis {

struct Change {
    std::string metric;               ///< of the catalogue
    double before = 0, after = 0;
    bool known_before = true, known_after = true;
    double ratio() const { return before == 0 ? 0 : after / before; }
    bool differs(double tolerance = kTolerance) const;
    static constexpr double kTolerance = 0.001;
};

struct LineChange {
    std::string file, text;
    uint32_t line_before = 0, line_after = 0;   ///< 0: not there
    std::vector<Change> changes;                ///< only those that differ; of a prediction all that both sides know
    double weight = 0;                          ///< change in bytes moved
};

struct KernelChange {
    std::string kernel;
    size_t launches_before = 0, launches_after = 0;
    std::vector<Change> metrics;                ///< the main numbers, changed or not, in a fixed order
    std::vector<LineChange> lines;              ///< largest change first, then by what they move
    bool differs = false;
};

struct Comparison {
    std::string before, after;                  ///< "emulated h200", "hardware h200"
    bool prediction = false;                    ///< one is emulated, the other measured: differences are errors of the model
    bool after_is_measured = false;             ///< of a prediction
    std::vector<KernelChange> kernels;          ///< in the order of the new profile, then those that are gone
};

/// Kernels are matched by name, else by the name without parameters; their launches are summed.
Comparison compare(const profile::Profile& before, const profile::Profile& after);

}  // namespace lanescope::analysis
