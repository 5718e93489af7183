// A profile arranged for people: kernels by cost, their lines by what they move, and one sentence for each kernel. Every report
// renders this and computes nothing itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/advice.h"
#include "analysis/pattern.h"
#include "profile/catalogue.h"
#include "profile/profile.h"

namespace lanescope::analysis {

enum class Grade : uint8_t { kGood, kFair, kBad };

/// Accesses of one line that do the same: space, operation, width and pattern.
struct AccessRow {
    std::string space, operation, pattern;
    uint32_t bytes = 0;                       ///< per lane
    Grade grade = Grade::kGood;
    double requests = 0;                      ///< executed warp instructions that reach the memory system
    std::string_view unit;                    ///< what `moved` and `ideal` count: sectors, transactions, wavefronts, words
    double moved = 0, ideal = 0;
    std::optional<double> useful;             ///< distinct bytes used / bytes moved, 0 … 1
    std::optional<double> l1_hit, l2_hit;     ///< 0 … 1; nothing where nothing was looked up, or not known
    std::optional<double> dram_bytes;
    /// Sectors that go on to L2, beside those that the distinct bytes would take; fields of one record count together, as the sectors that
    /// one brings in serve the others. Nothing where caches were not modelled.
    std::optional<double> beyond_l1;
    double beyond_l1_needed = 0;
    Rereads rereads;
    std::vector<const profile::Access*> accesses;
    const profile::ExampleWarp* example = nullptr;

    double per_request() const { return requests == 0 ? 0 : moved / requests; }
    double ideal_per_request() const { return requests == 0 ? 0 : ideal / requests; }
    double excess() const { return moved > ideal ? moved - ideal : 0; }
    /// L1 takes the excess and hardly notices: what goes on to L2 is about what is needed, and a request takes at most four times its ideal.
    /// Recorded on an H200: records of two and three floats (2 and 3 times) cost nothing, columns of a matrix (8 times, 7 of 8 sectors hit)
    /// 1.4 times the time of rows.
    bool absorbed() const { return beyond_l1 && *beyond_l1 < 1.5 * beyond_l1_needed && moved <= 4 * ideal; }
};

struct SourceRow {
    std::string file;                         ///< empty: no source
    uint32_t line = 0;
    std::string text;                         ///< of the source line, without surrounding blanks; empty: not known
    std::vector<profile::Frame> inlined_from; ///< frames around the one shown
    std::vector<AccessRow> accesses;          ///< worst first
    double cost = 0;                          ///< bytes moved at L1 (sectors × 32), wavefronts × 128
    Grade grade = Grade::kGood;
    profile::Metrics metrics;                 ///< sums over launches
    std::vector<size_t> advice;               ///< of KernelSummary::advice: what concerns accesses of this line
};

/// Repeated launches of a kernel with one shape.
struct KernelSummary {
    std::string kernel, symbol;
    std::vector<const profile::Launch*> launches;
    profile::Metrics metrics;                 ///< counts and times summed, ratios derived anew
    std::vector<SourceRow> lines;             ///< by cost
    Grade grade = Grade::kGood;
    std::string headline;                     ///< the verdict in a few words: "line 31: 32 sectors, not 4"
    std::string verdict;                      ///< one or two sentences
    std::string bound, bandwidth;             ///< a sentence or two each, of the longest launch; empty: not known
    const SourceRow* worst = nullptr;         ///< line of the verdict
    std::vector<Advice> advice;               ///< changes that gain, by the model's replay; the largest gain first
    size_t tried = 0;                         ///< changes that were replayed, useful or not; 0: nothing is known of gains
    double time_ns = 0;                       ///< 0: not known
    double cost = 0;
    bool varies = false;                      ///< counts differ between the launches
    std::vector<std::string> notes;
    std::map<std::string, std::string> absent;
};

struct TransferRow {
    std::string kind, memory;
    uint64_t count = 0, bytes = 0;
    double duration_ns = 0;
};

struct Summary {
    const profile::Profile* profile = nullptr;
    std::vector<KernelSummary> kernels;       ///< most expensive first
    std::vector<TransferRow> transfers;
    double total_ns = 0, total_cost = 0;
};

/// Points into `profile`, which must outlive it. `each_launch`: no grouping.
Summary summarize(const profile::Profile& profile, bool each_launch = false);

/// The frame of `line` that people are shown: the first outside the toolkit's headers. `around`: the frames further out.
profile::Frame shown_frame(const profile::Line& line, std::vector<profile::Frame>* around = nullptr);
/// "transpose<0>" of "void transpose<(int)0>(const int *, int *)".
std::string short_name(const std::string& kernel);
/// The text of a source line without surrounding blanks; empty: not known.
std::string source_text(const profile::Profile& profile, const std::string& file, uint32_t line);

}  // namespace lanescope::analysis
