#include "analysis/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/summary.h"
#include "profile/catalogue.h"

namespace lanescope::analysis {
namespace {

/// What a kernel is compared by, in this order; what neither profile knows is left out.
constexpr const char* kKernelMetrics[] = {"gpu__time_duration.sum", "memory_l2_theoretical_sectors_global", "memory_l2_theoretical_sectors_global_ideal", "sectors_per_request",
                                          "gld_efficiency", "gst_efficiency", "memory_l1_wavefronts_shared", "bank_conflicts",
                                          "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct",
                                          "lts__t_sectors_srcunit_tex_op_read.sum", "lts__t_sectors_srcunit_tex_op_write.sum", "lts__t_sector_op_read_hit_rate.pct",
                                          "dram__bytes_read.sum", "dram__bytes_write.sum"};
constexpr const char* kLineMetrics[] = {"memory_l2_theoretical_sectors_global", "sectors_per_request", "memory_l1_wavefronts_shared", "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
                                        "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "dram_bytes"};

/// One kernel of one profile: its launches summed by the summary of all its shapes.
struct Side {
    profile::Metrics metrics;
    size_t launches = 0;
    std::vector<const SourceRow*> lines;
    std::set<std::string> unknown;    ///< counters of lines and accesses that the backend does not count
};

std::map<std::string, Side> sides(const Summary& summary, const profile::Profile& profile) {
    std::map<std::string, Side> out;
    std::set<std::string> unknown;
    for (const profile::Launch& launch : profile.launches)
        for (const profile::Counter& counter : profile::counters())
            if (launch.absent.contains(std::string(counter.name))) unknown.emplace(counter.name);
    for (const KernelSummary& kernel : summary.kernels) {
        Side& side = out[kernel.kernel];
        side.launches += kernel.launches.size();
        for (const auto& [name, value] : kernel.metrics) {
            const profile::Metric* metric = profile::find_metric(name);
            if (metric == nullptr || metric->name != name) continue;
            if (metric->kind == profile::Kind::kCount || metric->kind == profile::Kind::kBytes || metric->kind == profile::Kind::kNanoseconds) side.metrics[name] += value;
        }
        for (const SourceRow& line : kernel.lines) side.lines.push_back(&line);
    }
    for (auto& [name, side] : out) {
        profile::derive(side.metrics);
        side.unknown = unknown;
    }
    return out;
}

std::optional<double> value(const char* name, const profile::Metrics& metrics) { return profile::value_of(*profile::find_metric(name), metrics); }

std::optional<double> value(const char* name, const std::vector<const SourceRow*>& rows, const std::set<std::string>& unknown) {
    const profile::Metric& wanted = *profile::find_metric(name);
    for (const std::string& counter : unknown)
        if (wanted.formula.find("sum(" + counter + ",") != std::string_view::npos) return std::nullopt;
    profile::Metrics sum;
    std::vector<const profile::Access*> accesses;
    for (const SourceRow* row : rows) {
        for (const auto& [metric, each] : row->metrics) sum[metric] += each;
        for (const AccessRow& access : row->accesses) accesses.insert(accesses.end(), access.accesses.begin(), access.accesses.end());
    }
    return profile::value_of(wanted, sum, accesses);
}

Change change(const char* name, std::optional<double> before, std::optional<double> after) {
    return {name, before.value_or(0), after.value_or(0), before.has_value(), after.has_value()};
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// The rows of one source line (shapes of a kernel have one each).
struct Place {
    std::string file, text;
    uint32_t line = 0;
    std::vector<const SourceRow*> rows;
};

std::vector<Place> places(const std::vector<const SourceRow*>& rows) {
    std::vector<Place> out;
    for (const SourceRow* row : rows) {
        const auto at = std::find_if(out.begin(), out.end(), [&](const Place& place) { return place.file == file_name(row->file) && place.line == row->line; });
        if (at == out.end()) out.push_back({file_name(row->file), row->text, row->line, {row}});
        else at->rows.push_back(row);
    }
    std::sort(out.begin(), out.end(), [](const Place& a, const Place& b) { return std::tie(a.file, a.line) < std::tie(b.file, b.line); });
    return out;
}

/// Pairs of places: equal text in the same file first (in order, so that repeated texts pair up as they stand), then equal numbers.
std::vector<std::pair<const Place*, const Place*>> match(const std::vector<Place>& before, const std::vector<Place>& after) {
    std::vector<std::pair<const Place*, const Place*>> pairs;
    std::set<const Place*> taken;
    const auto pair_up = [&](auto same) {
        for (const Place& b : after) {
            if (taken.contains(&b)) continue;
            for (const Place& a : before) {
                if (taken.contains(&a) || a.file != b.file || !same(a, b)) continue;
                taken.insert(&a);
                taken.insert(&b);
                pairs.emplace_back(&a, &b);
                break;
            }
        }
    };
    pair_up([](const Place& a, const Place& b) { return a.line == b.line && a.text == b.text; });
    pair_up([](const Place& a, const Place& b) { return !a.text.empty() && a.text == b.text; });
    pair_up([](const Place& a, const Place& b) { return a.line == b.line; });
    for (const Place& a : before)
        if (!taken.contains(&a)) pairs.emplace_back(&a, nullptr);
    for (const Place& b : after)
        if (!taken.contains(&b)) pairs.emplace_back(nullptr, &b);
    return pairs;
}

std::vector<LineChange> line_changes(const Side* before, const Side* after, bool prediction) {
    const std::vector<Place> old_places = before == nullptr ? std::vector<Place>() : places(before->lines), new_places = after == nullptr ? std::vector<Place>() : places(after->lines);
    std::vector<LineChange> out;
    for (const auto& [a, b] : match(old_places, new_places)) {
        LineChange line;
        const Place& shown = b != nullptr ? *b : *a;
        line.file = shown.file;
        line.text = shown.text.empty() && a != nullptr ? a->text : shown.text;   // a measured profile may have no sources
        line.line_before = a == nullptr ? 0 : a->line;
        line.line_after = b == nullptr ? 0 : b->line;
        double cost_before = 0, cost_after = 0;
        if (a != nullptr)
            for (const SourceRow* row : a->rows) cost_before += row->cost;
        if (b != nullptr)
            for (const SourceRow* row : b->rows) cost_after += row->cost;
        line.weight = std::abs(cost_after - cost_before) + 1e-9 * std::max(cost_after, cost_before);
        for (const char* name : kLineMetrics) {
            const Change each = change(name, a == nullptr ? std::nullopt : value(name, a->rows, before->unknown),
                                       b == nullptr ? std::nullopt : value(name, b->rows, after->unknown));
            if (a != nullptr && b != nullptr && each.known_before != each.known_after) continue;  // one side can't say
            const bool told = prediction && each.known_before && each.known_after && (each.before != 0 || each.after != 0);
            if (told || ((each.known_before || each.known_after) && each.differs())) line.changes.push_back(each);
        }
        if (!line.changes.empty()) out.push_back(std::move(line));
    }
    std::stable_sort(out.begin(), out.end(), [](const LineChange& a, const LineChange& b) { return a.weight > b.weight; });
    return out;
}

KernelChange kernel_change(const std::string& name, const Side* before, const Side* after, bool prediction) {
    KernelChange out;
    out.kernel = name;
    out.launches_before = before == nullptr ? 0 : before->launches;
    out.launches_after = after == nullptr ? 0 : after->launches;
    for (const char* metric : kKernelMetrics) {
        const Change each = change(metric, before == nullptr ? std::nullopt : value(metric, before->metrics), after == nullptr ? std::nullopt : value(metric, after->metrics));
        if ((each.known_before || each.known_after) && (each.before != 0 || each.after != 0)) out.metrics.push_back(each);
        out.differs |= each.differs();
    }
    out.lines = line_changes(before, after, prediction);
    for (const LineChange& line : out.lines) out.differs |= std::any_of(line.changes.begin(), line.changes.end(), [](const Change& each) { return each.differs(); });
    out.differs |= out.launches_before != out.launches_after;
    return out;
}

}  // namespace

bool Change::differs(double tolerance) const {
    if (known_before != known_after) return before != after;
    return std::abs(after - before) > tolerance * std::max(std::abs(before), std::abs(after));
}

Comparison compare(const profile::Profile& before, const profile::Profile& after) {
    Comparison out;
    out.before = fmt::format("{} {}", before.backend, before.gpu_name);
    out.after = fmt::format("{} {}", after.backend, after.gpu_name);
    out.prediction = before.backend != after.backend;
    out.after_is_measured = after.backend != "emulated";
    const Summary old_summary = summarize(before), new_summary = summarize(after);
    const std::map<std::string, Side> old_sides = sides(old_summary, before), new_sides = sides(new_summary, after);
    std::set<std::string> matched, listed;
    // A kernel whose parameters changed is still the same kernel, if only one of that name is left on either side.
    const auto partner = [&](const std::string& kernel) -> const Side* {
        if (const auto at = old_sides.find(kernel); at != old_sides.end()) {
            matched.insert(at->first);
            return &at->second;
        }
        std::vector<const std::string*> candidates;
        for (const auto& [name, side] : old_sides)
            if (!new_sides.contains(name) && !matched.contains(name) && short_name(name) == short_name(kernel)) candidates.push_back(&name);
        if (candidates.size() != 1) return nullptr;
        matched.insert(*candidates[0]);
        return &old_sides.at(*candidates[0]);
    };
    for (const KernelSummary& kernel : new_summary.kernels)
        if (listed.insert(kernel.kernel).second) out.kernels.push_back(kernel_change(kernel.kernel, partner(kernel.kernel), &new_sides.at(kernel.kernel), out.prediction));
    for (const KernelSummary& kernel : old_summary.kernels)
        if (!matched.contains(kernel.kernel) && listed.insert(kernel.kernel).second) out.kernels.push_back(kernel_change(kernel.kernel, &old_sides.at(kernel.kernel), nullptr, out.prediction));
    return out;
}

}  // namespace lanescope::analysis
