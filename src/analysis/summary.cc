#include "analysis/summary.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analysis/bound.h"
#include "analysis/pattern.h"
#include "profile/catalogue.h"

namespace lanescope::analysis {
namespace {

/// A counter of lines and accesses is no metric that a reader misses in a kernel's totals.
bool is_counter_by_line(const std::string& name) {
    return std::any_of(profile::counters().begin(), profile::counters().end(), [&](const profile::Counter& each) { return each.name == name; });
}

using profile::Access;
using profile::Launch;
using profile::Line;
using profile::Metrics;

double counter(const Metrics& metrics, std::string_view name) {
    const auto at = metrics.find(name);
    return at == metrics.end() ? 0 : at->second;
}

void add(Metrics& into, const Metrics& metrics) {
    for (const auto& [name, value] : metrics) into[name] += value;
}

bool is_toolkit(const std::string& file) {
    const auto has = [&](std::string_view part) { return file.find(part) != std::string::npos; };
    return (has("/include/") && (has("/targets/") || has("/cuda") || has("/nvidia/cu"))) || has("/thrust/") || has("/cub/") || has("/libcudacxx/") ||
           file == "cuda_runtime.h";
}

/// What an access is measured in, and how well it does. `metrics`: sum over `row.accesses`.
void measure(AccessRow& row, const Metrics& metrics, bool cold) {
    row.requests = counter(metrics, "requests");
    if (row.requests == 0) row.requests = counter(metrics, "instructions");
    if (row.space == "shared") {
        row.unit = "wavefronts";
        row.moved = counter(metrics, "wavefronts");
        row.ideal = counter(metrics, "ideal_wavefronts");
    } else if (row.space == "constant" || row.space == "param") {
        row.unit = "words";
        row.moved = counter(metrics, "constant_words");
        row.ideal = row.requests;
    } else {
        const bool kepler = counter(metrics, "transactions") > 0;
        row.unit = kepler ? "transactions" : "sectors";
        row.moved = counter(metrics, kepler ? "transactions" : "sectors");
        row.ideal = counter(metrics, "ideal_sectors");
        if (row.moved == 0 && counter(metrics, "requests") == 0) {  // the copy engine goes past L1: what it moves is sectors of L2
            row.moved = counter(metrics, "l2_reads") + counter(metrics, "l2_writes");
            row.ideal = std::ceil(counter(metrics, "unique_bytes") / 32);
        }
        const double bytes = kepler ? counter(metrics, "transaction_bytes") : 32 * row.moved;
        if (kepler) row.ideal = std::ceil(counter(metrics, "unique_bytes") / 128);
        if (bytes > 0 && metrics.contains("unique_bytes")) row.useful = counter(metrics, "unique_bytes") / bytes;
        if (row.space == "global") row.rereads = rereads_of(row.operation, kind_of(row.pattern), metrics, cold);
        const bool cached = row.operation == "load" || row.operation == "async_copy";
        if (cached && counter(metrics, "sectors") > 0 && (metrics.contains("l1_hits") || metrics.contains("l2_reads")))
            row.l1_hit = counter(metrics, "l1_hits") / counter(metrics, "sectors");
        const double lookups = counter(metrics, "l2_reads") + counter(metrics, "l2_writes");
        if (lookups > 0) row.l2_hit = (counter(metrics, "l2_read_hits") + counter(metrics, "l2_write_hits")) / lookups;
        if (lookups > 0 && row.space == "global" && metrics.contains("unique_bytes")) {
            row.beyond_l1 = lookups;
            row.beyond_l1_needed = counter(metrics, "unique_bytes") / 32;
        }
        if (lookups > 0 || metrics.contains("dram_read_bytes") || metrics.contains("dram_write_bytes"))
            row.dram_bytes = counter(metrics, "dram_read_bytes") + counter(metrics, "dram_write_bytes");
    }
}

/// By what an access moves beside what it needs; excess that L1 absorbs costs little, as L2 and device memory do not see it.
Grade grade_of(const AccessRow& row) {
    const double ratio = row.ideal > 0 ? row.moved / row.ideal : 1;
    if (ratio >= 1.9 && !row.absorbed()) return Grade::kBad;
    return ratio > 1.02 || row.space == "local" ? Grade::kFair : Grade::kGood;
}

/// Fields of one record share the sectors that any of them brings into L1.
void share_records(std::vector<SourceRow>& lines) {
    struct Sum {
        double beyond = 0, needed = 0;
    };
    std::map<std::pair<std::string, std::string>, Sum> records;
    const auto each_field = [&](auto visit) {
        for (SourceRow& line : lines)
            for (AccessRow& row : line.accesses)
                if (kind_of(row.pattern) == PatternKind::kRecordField) visit(row, records[{row.operation, row.pattern}]);
    };
    each_field([](AccessRow& row, Sum& sum) {
        sum.beyond += row.beyond_l1.value_or(0);
        sum.needed += row.beyond_l1_needed != 0 ? row.beyond_l1_needed : row.useful.value_or(0) * row.moved;
    });
    each_field([](AccessRow& row, Sum& sum) {
        if (sum.beyond == 0) return;
        row.beyond_l1 = sum.beyond;
        row.beyond_l1_needed = sum.needed;
    });
}

/// Bytes over L1's data stage: comparable between spaces.
double cost_of(const AccessRow& row) { return row.moved * (row.unit == "wavefronts" ? 128 : row.unit == "words" ? 4 : 32); }

struct RowKey {
    std::string space, operation, pattern;
    uint32_t bytes;
    friend auto operator<=>(const RowKey&, const RowKey&) = default;
};

struct LineKey {
    std::string file;
    uint32_t line;
    std::vector<profile::Frame> around;
    friend auto operator<=>(const LineKey&, const LineKey&) = default;
};

struct LineSums {
    Metrics metrics;
    std::map<RowKey, std::pair<AccessRow, Metrics>> rows;
};

std::vector<SourceRow> source_rows(const profile::Profile& profile, const std::vector<const Launch*>& launches) {
    std::map<LineKey, LineSums> lines;
    for (const Launch* launch : launches)
        for (const Line& line : launch->lines) {
            LineKey key;
            const profile::Frame frame = shown_frame(line, &key.around);
            key.file = frame.file;
            key.line = frame.line;
            LineSums& sums = lines[key];
            add(sums.metrics, line.metrics);
            for (const Access& access : line.accesses) {
                auto& [row, metrics] = sums.rows[{access.space, access.operation, access.pattern, access.bytes}];
                add(metrics, access.metrics);
                row.accesses.push_back(&access);
                if (row.example == nullptr && access.example) row.example = &*access.example;
            }
        }
    const auto caches = profile.settings.find("caches");
    const bool cold = caches != profile.settings.end() && caches->second == "cold";
    std::vector<SourceRow> out;
    for (auto& [key, sums] : lines) {
        SourceRow row;
        row.file = key.file;
        row.line = key.line;
        row.inlined_from = key.around;
        row.text = source_text(profile, key.file, key.line);
        row.metrics = std::move(sums.metrics);
        for (auto& [access_key, access] : sums.rows) {
            AccessRow& each = access.first;
            each.space = access_key.space;
            each.operation = access_key.operation;
            each.pattern = access_key.pattern;
            each.bytes = access_key.bytes;
            measure(each, access.second, cold);
            row.cost += cost_of(each);
            row.accesses.push_back(std::move(each));
        }
        std::stable_sort(row.accesses.begin(), row.accesses.end(), [](const AccessRow& a, const AccessRow& b) { return cost_of(a) > cost_of(b); });
        out.push_back(std::move(row));
    }
    share_records(out);
    for (SourceRow& row : out)
        for (AccessRow& each : row.accesses) {
            each.grade = grade_of(each);
            row.grade = std::max(row.grade, each.grade);
        }
    std::stable_sort(out.begin(), out.end(), [](const SourceRow& a, const SourceRow& b) { return a.cost > b.cost; });
    return out;
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string place(const SourceRow& row) { return row.file.empty() ? "code without a source line" : fmt::format("{}:{}", file_name(row.file), row.line); }

/// "loads", "stores", …
std::string_view verb(const std::string& operation) {
    return operation == "load" || operation == "async_copy" ? "loads" : operation == "store" ? "stores" : operation == "prefetch" ? "prefetches" : "updates";
}

void judge(KernelSummary& kernel) {
    // The access whose excess weighs most decides.
    const AccessRow* worst = nullptr;
    double weight = 0, total = 0, excess_in_all = 0;
    for (const SourceRow& line : kernel.lines) {
        total += line.cost;
        for (const AccessRow& row : line.accesses) {
            const double excess = cost_of(row) * (row.moved > 0 ? row.excess() / row.moved : 0);
            if (row.grade == Grade::kBad) excess_in_all += excess;
            if (row.grade == Grade::kBad && excess > weight) {
                weight = excess;
                worst = &row;
                kernel.worst = &line;
            }
        }
    }
    if (worst == nullptr || weight < 0.05 * total) {
        kernel.worst = nullptr;
        const AccessRow* absorbed = nullptr;
        bool fair = false;
        for (const SourceRow& line : kernel.lines)
            for (const AccessRow& row : line.accesses) {
                fair |= row.grade != Grade::kGood;
                if (row.moved >= 1.9 * row.ideal && row.absorbed() && cost_of(row) >= 0.05 * total && (absorbed == nullptr || row.excess() > absorbed->excess())) absorbed = &row;
            }
        kernel.grade = fair ? Grade::kFair : Grade::kGood;
        kernel.headline = kernel.lines.empty() ? "no memory access" : absorbed != nullptr ? "L1 absorbs the excess" : fair ? "close to ideal" : "ideal";
        if (kernel.lines.empty()) kernel.verdict = "No memory access.";
        else if (absorbed != nullptr)
            kernel.verdict = fmt::format("L1 absorbs the excess: {} take {:.3g} sectors a request at L1 ({}), but L2 sees {:.0f} % of what is needed. It costs L1 time, not traffic beyond L1.", verb(absorbed->operation),
                                         absorbed->per_request(), absorbed->pattern, 100 * *absorbed->beyond_l1 / std::max(1.0, absorbed->beyond_l1_needed));
        else kernel.verdict = fair ? "Close to ideal: no line moves much more than it needs." : "Ideal: no line moves more than it needs. No action needed.";
        return;
    }
    kernel.grade = Grade::kBad;
    const double share = total > 0 ? 100 * excess_in_all / total : 0;
    if (worst->unit == "wavefronts")
        kernel.verdict = fmt::format("{} takes {:.3g} passes over the shared memory banks where {:.3g} would do", place(*kernel.worst), worst->per_request(), worst->ideal_per_request());
    else if (worst->unit == "words")
        kernel.verdict = fmt::format("{} reads {:.3g} different constant words a request, one after the other", place(*kernel.worst), worst->per_request());
    else
        kernel.verdict = fmt::format("{} {} {:.3g} {} a request where {:.3g} would do", place(*kernel.worst), verb(worst->operation), worst->per_request(), worst->unit,
                                     worst->ideal_per_request());
    kernel.headline = fmt::format("{}: {:.3g} {}, not {:.3g}", kernel.worst->file.empty() ? "[no source]" : fmt::format("line {}", kernel.worst->line), worst->per_request(),
                                  worst->unit == "wavefronts" ? "passes" : worst->unit, worst->ideal_per_request());
    if (!worst->pattern.empty()) kernel.verdict += fmt::format(" ({})", worst->pattern);
    kernel.verdict += fmt::format("; {:.0f} % of this kernel's traffic at L1 is such excess.", share);
}

/// What can be gained. A fault that no change mends is no reason to act.
void find_advice(KernelSummary& kernel, const profile::Profile& profile) {
    const Launch* replayed = nullptr;                 // the last: of a kernel's launches a larger one is tried again
    for (const Launch* launch : kernel.launches)
        if (!launch->what_if.empty()) replayed = launch;
    if (replayed == nullptr) return;
    kernel.tried = replayed->what_if.size();
    const auto gpu = nlohmann::json::parse(profile.gpu_json, nullptr, false);
    kernel.advice = advise(*replayed, gpu.is_object() ? gpu.value("dram_latency_ns", 0.0) : 0.0);
    for (size_t i = 0; i < kernel.advice.size(); ++i) {
        const std::vector<uint32_t>& changed = kernel.advice[i].tried->instructions;
        for (SourceRow& line : kernel.lines) {
            const auto concerned = [&](const AccessRow& row) {
                return std::any_of(row.accesses.begin(), row.accesses.end(), [&](const Access* access) {
                    return std::find(changed.begin(), changed.end(), access->instruction) != changed.end();
                });
            };
            if (std::any_of(line.accesses.begin(), line.accesses.end(), concerned)) line.advice.push_back(i);
        }
    }
    if (!kernel.advice.empty()) {
        kernel.grade = std::max(kernel.grade, kernel.advice[0].gain() > 1.1 ? Grade::kBad : Grade::kFair);
        if (kernel.worst == nullptr) kernel.headline = fmt::format("{} would gain", kernel.advice[0].text->name);
        return;
    }
    if (kernel.grade == Grade::kBad) kernel.grade = Grade::kFair;
    kernel.verdict += fmt::format(" {} replayed, and {} gains: no action needed.", kernel.tried == 1 ? "One change was" : fmt::format("{} changes were", kernel.tried),
                                  kernel.tried == 1 ? "nothing" : "none");
}

void fill(KernelSummary& kernel, const profile::Profile& profile) {
    for (const Launch* launch : kernel.launches) {
        for (const auto& [name, value] : launch->metrics) {
            const profile::Metric* metric = profile::find_metric(name);
            const bool adds = metric != nullptr && metric->name == name &&
                              (metric->kind == profile::Kind::kCount || metric->kind == profile::Kind::kBytes || metric->kind == profile::Kind::kNanoseconds) &&
                              !name.starts_with("launch__");
            if (adds) kernel.metrics[name] += value;
            else if (kernel.launches.size() == 1) kernel.metrics[name] = value;
        }
        for (const std::string& note : launch->notes)
            if (std::find(kernel.notes.begin(), kernel.notes.end(), note) == kernel.notes.end()) kernel.notes.push_back(note);
        for (const auto& [name, reason] : launch->absent)
            if (!is_counter_by_line(name)) kernel.absent.emplace(name, reason);
        kernel.varies |= counter(launch->metrics, "memory_l2_theoretical_sectors_global") !=
                         counter(kernel.launches.front()->metrics, "memory_l2_theoretical_sectors_global");
    }
    profile::derive(kernel.metrics);
    kernel.time_ns = counter(kernel.metrics, "gpu__time_duration.sum");
    kernel.lines = source_rows(profile, kernel.launches);
    for (const SourceRow& line : kernel.lines) kernel.cost += line.cost;
    judge(kernel);
    find_advice(kernel, profile);
    const auto time_of = [](const Launch* launch) { return counter(launch->metrics, "gpu__time_duration.sum"); };
    const Launch& longest = **std::max_element(kernel.launches.begin(), kernel.launches.end(), [&](auto a, auto b) { return time_of(a) < time_of(b); });
    kernel.bound = describe_bound(longest);
    kernel.bandwidth = describe_bandwidth(longest.metrics);
    if (const std::string efficiency = describe_efficiency(longest.metrics); !efficiency.empty())
        kernel.bandwidth += (kernel.bandwidth.empty() ? "" : " ") + efficiency;
    for (const profile::Fault& fault : profile.faults)
        for (const Launch* launch : kernel.launches)
            if (fault.ended_kernel() && fault.launch == launch->index) {
                kernel.grade = Grade::kBad;
                kernel.headline = "faulted";
                kernel.verdict = "Faulted before its end; what was counted until then is below.";
            }
}

}  // namespace

profile::Frame shown_frame(const Line& line, std::vector<profile::Frame>* around) {
    std::vector<profile::Frame> frames = {{line.file, line.line, line.function}};
    frames.insert(frames.end(), line.inlined_from.begin(), line.inlined_from.end());
    size_t shown = 0;
    while (shown + 1 < frames.size() && is_toolkit(frames[shown].file)) ++shown;
    if (around != nullptr) around->assign(frames.begin() + static_cast<std::ptrdiff_t>(shown) + 1, frames.end());
    return frames[shown];
}

std::string short_name(const std::string& kernel) {
    // The parameter list is the last parenthesis at depth 0; template arguments hold parentheses too.
    std::string name = kernel;
    int depth = 0;
    for (size_t i = name.size(); i-- > 0;) {
        if (name[i] == ')') ++depth;
        if (name[i] == '(' && --depth == 0) {
            name.resize(i);
            break;
        }
        if (depth == 0) break;  // does not end with a parameter list
    }
    // "void " in front of templates; casts in front of their integers.
    if (const size_t blank = name.find(' '); blank != std::string::npos && blank < name.find('<') && name.find('<') != std::string::npos)
        name.erase(0, blank + 1);
    for (const std::string_view cast : {"(int)", "(bool)", "(unsigned int)"})
        for (size_t at = name.find(cast); at != std::string::npos; at = name.find(cast, at)) name.erase(at, cast.size());
    return name;
}

std::string source_text(const profile::Profile& profile, const std::string& file, uint32_t line) {
    const auto at = profile.sources.find(file);
    if (at == profile.sources.end() || line == 0 || line > at->second.size()) return {};
    const std::string& text = at->second[line - 1];
    const size_t first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
    return first == std::string::npos ? std::string() : text.substr(first, last - first + 1);
}

Summary summarize(const profile::Profile& profile, bool each_launch) {
    Summary summary;
    summary.profile = &profile;
    std::map<std::tuple<std::string, std::vector<uint32_t>, size_t>, size_t> groups;
    for (size_t i = 0; i < profile.launches.size(); ++i) {
        const Launch& launch = profile.launches[i];
        std::vector<uint32_t> shape(launch.grid, launch.grid + 3);
        shape.insert(shape.end(), launch.block, launch.block + 3);
        const auto [at, fresh] = groups.emplace(std::tuple(launch.kernel, shape, each_launch ? i : 0), summary.kernels.size());
        if (fresh) {
            summary.kernels.emplace_back();
            summary.kernels.back().kernel = launch.kernel;
            summary.kernels.back().symbol = launch.symbol;
        }
        summary.kernels[at->second].launches.push_back(&launch);
    }
    for (KernelSummary& kernel : summary.kernels) {
        fill(kernel, profile);
        summary.total_ns += kernel.time_ns;
        summary.total_cost += kernel.cost;
    }
    const bool timed = std::all_of(summary.kernels.begin(), summary.kernels.end(), [](const KernelSummary& kernel) { return kernel.time_ns > 0; });
    std::stable_sort(summary.kernels.begin(), summary.kernels.end(),
                     [&](const KernelSummary& a, const KernelSummary& b) { return timed ? a.time_ns > b.time_ns : a.cost > b.cost; });
    // `worst` points into lines, which moved with their kernel but not in memory: vectors keep their elements when moved.
    std::map<std::pair<std::string, std::string>, size_t> transfers;
    for (const profile::Transfer& transfer : profile.transfers) {
        const auto [at, fresh] = transfers.emplace(std::pair(transfer.kind, transfer.memory), summary.transfers.size());
        if (fresh) summary.transfers.push_back({transfer.kind, transfer.memory});
        TransferRow& row = summary.transfers[at->second];
        ++row.count;
        row.bytes += transfer.bytes;
        row.duration_ns += transfer.duration_ns;
    }
    return summary;
}

}  // namespace lanescope::analysis
