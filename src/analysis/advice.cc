#include "analysis/advice.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/summary.h"
#include "profile/catalogue.h"

namespace lanescope::analysis {
namespace {

using profile::Metrics;
using profile::WhatIf;

double number(const Metrics& metrics, std::string_view name) {
    const auto at = metrics.find(name);
    return at == metrics.end() ? 0 : at->second;
}

double traffic(const Metrics& metrics) { return number(metrics, "dram_bytes") + number(metrics, "link_bytes"); }

/// A request across two lines takes two look-ups in L1 but no time that an H200 shows: filters over unaligned and over packed rows took 35.2
/// and 39.3 µs, aligned 33.2 and 38.9 (docs/records/advice-h200.md), where the model says twice as fast. Only traffic counts for these.
bool only_aligns(const WhatIf& tried) { return tried.change == "alignment" || tried.change == "pitch"; }

/// Records whose every field is used: L1 absorbs what the layout costs, and an H200 shows no time for it either (patterns-1m.csv: pairs as records
/// 6.08 µs, as arrays 6.56; records of four read field by field 9.15 µs, as vectors 9.47). Where L2 and memory are asked for as much as
/// before, such a change must gain more than the model's own error.
bool only_spares_l1(const WhatIf& tried) {
    const double before = number(tried.before, "l2_sectors"), after = number(tried.after, "l2_sectors");
    const bool layout = tried.change == "structure_of_arrays" || tried.change == "blocked_arrays" || tried.change == "wider_access";
    return layout && before > 0 && after > before * (1 - kLeastTrafficGain);
}

/// Fewer bytes, and so many that memory would notice: a thousandth of what it could have moved in that time (small
/// launches take long for what they move). Every byte over the link counts.
bool spares_traffic(const WhatIf& tried, const profile::Launch& launch) {
    if (traffic(tried.after) >= traffic(tried.before) * (1 - kLeastTrafficGain)) return false;
    const double link = number(tried.before, "link_bytes") - number(tried.after, "link_bytes"), dram = number(tried.before, "dram_bytes") - number(tried.after, "dram_bytes");
    const double peak = number(launch.metrics, "lanescope__theoretical_bandwidth") / 1e9;   // bytes a nanosecond
    return link > 0 || dram >= kLeastNoticed * peak * number(tried.before, "time_ns");
}

bool gains(const WhatIf& tried, const profile::Launch& launch, double chance_ns) {
    const double before = number(tried.before, "time_ns"), after = number(tried.after, "time_ns");
    if (before <= 0 || after <= 0) return false;
    const double least = only_spares_l1(tried) ? kLeastL1Gain : kLeastTimeGain;
    if (!only_aligns(tried) && after <= before * (1 - least) && after <= before - chance_ns) return true;
    return after <= before * (1 + kLeastTimeGain) && spares_traffic(tried, launch);
}

bool overlap(const WhatIf& a, const WhatIf& b) {
    return std::find_first_of(a.instructions.begin(), a.instructions.end(), b.instructions.begin(), b.instructions.end()) != a.instructions.end();
}

/// Less time by more than noise; changes that gain the same stay in the order in which they were tried, simpler ones first.
bool better(const WhatIf& a, const WhatIf& b) {
    const double x = number(a.after, "time_ns"), y = number(b.after, "time_ns");
    return x < 0.97 * y || (x < 1.005 * y && traffic(a.after) < 0.9 * traffic(b.after));
}

std::string how(const WhatIf& tried, const ChangeText& text) {
    std::string out(text.how);
    const double row = number(tried.parameters, "row_bytes"), longer = number(tried.parameters, "new_row_bytes");
    if (longer > 0) out += fmt::format(" (rows of {:.0f} B instead of {:.0f} B)", longer, row);
    else if (const double record = number(tried.parameters, "record_bytes"); record > 0) {
        if (number(tried.parameters, "fields") == 1) out = fmt::format("keep what is used, {:.0f} B of each {:.0f} B, side by side in an array of its own", number(tried.parameters, "element_bytes"), record);
        else out += fmt::format(" (records of {:.0f} B)", record);
    }
    else if (const double shift = number(tried.parameters, "shift_bytes"); shift > 0) out += fmt::format(" (it begins {:.0f} B after one)", shift);
    return out;
}

std::string effect(const WhatIf& tried) {
    static constexpr struct {
        std::string_view key, name, metric;   ///< metric: whose unit it has
    } kShown[] = {{"sectors", "sectors", "memory_l2_theoretical_sectors_global"}, {"l2_sectors", "L2 sectors", "lts__t_sectors_srcunit_tex_op_read.sum"},
                  {"dram_bytes", "DRAM", "dram__bytes_read.sum"}, {"link_bytes", "host link", "dram__bytes_read.sum"},
                  {"wavefronts", "shared passes", "memory_l1_wavefronts_shared"}, {"constant_words", "constant words", "memory_l1_wavefronts_shared"}};
    std::string out;
    for (const auto& shown : kShown) {
        const double before = number(tried.before, shown.key), after = number(tried.after, shown.key);
        if (before == after || std::max(before, after) < 1 || std::abs(after / std::max(before, 1.0) - 1) < 0.01) continue;
        const profile::Metric& metric = *profile::find_metric(shown.metric);
        out += fmt::format("{}{} {} → {}", out.empty() ? "" : ", ", shown.name, profile::human(metric, before), profile::human(metric, after));
    }
    return out;
}

}  // namespace

std::vector<Advice> advise(const profile::Launch& launch, double chance_ns) {
    std::vector<const WhatIf*> chosen;
    for (const WhatIf& tried : launch.what_if) {
        if (!gains(tried, launch, chance_ns) || find_change(tried.change) == nullptr) continue;
        const auto rival = std::find_if(chosen.begin(), chosen.end(), [&](const WhatIf* other) { return overlap(tried, *other); });
        if (rival == chosen.end()) chosen.push_back(&tried);
        else if (better(tried, **rival)) *rival = &tried;
    }
    std::vector<Advice> out;
    for (const WhatIf* tried : chosen) {
        Advice advice;
        advice.tried = tried;
        advice.text = find_change(tried->change);
        if (!tried->where.empty()) {
            profile::Line line;
            line.file = tried->where[0].file;
            line.line = tried->where[0].line;
            line.inlined_from.assign(tried->where.begin() + 1, tried->where.end());
            const profile::Frame frame = shown_frame(line);
            advice.file = frame.file;
            advice.line = frame.line;
        }
        advice.how = how(*tried, *advice.text);
        advice.effect = effect(*tried);
        advice.before_ns = number(tried->before, "time_ns");
        advice.after_ns = number(tried->after, "time_ns");
        out.push_back(std::move(advice));
    }
    std::stable_sort(out.begin(), out.end(), [](const Advice& a, const Advice& b) { return a.gain() > b.gain(); });
    return out;
}

}  // namespace lanescope::analysis
