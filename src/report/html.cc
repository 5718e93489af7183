#include "report/html.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include <nlohmann/json.hpp>

#include "analysis/pattern.h"
#include "analysis/timeline.h"
#include "report/difference.h"
#include "report/text.h"

namespace lanescope::report {

extern const std::string_view kPage;  // page.html

namespace {

using Json = nlohmann::ordered_json;
using analysis::AccessRow;
using analysis::Grade;
using analysis::KernelSummary;
using analysis::SourceRow;

constexpr std::string_view kTimelineKinds[] = {"kernel", "to_device", "to_host", "on_device"};
constexpr std::string_view kGrades[] = {"good", "fair", "bad"};
std::string_view grade(Grade g) { return kGrades[static_cast<size_t>(g)]; }

Json optional(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json frames(const std::vector<profile::Frame>& all) {
    Json out = Json::array();
    for (const profile::Frame& frame : all) out.push_back({{"file", frame.file}, {"line", frame.line}});
    return out;
}

Json advice(const analysis::Advice& advice) {
    return {{"name", advice.text->name}, {"file", advice.file}, {"line", advice.line}, {"how", advice.how}, {"effect", advice.effect},
            {"gain", advice.gain()}, {"before_ns", advice.before_ns}, {"after_ns", advice.after_ns}};
}

Json access(const AccessRow& row, bool tried) {
    const analysis::PatternText& text = analysis::text_of(analysis::kind_of(row.pattern));
    Json out = {{"space", row.space}, {"operation", row.operation}, {"bytes", row.bytes}, {"pattern", row.pattern}, {"grade", grade(row.grade)},
                {"requests", row.requests}, {"unit", row.unit}, {"per_request", row.per_request()}, {"ideal_per_request", row.ideal_per_request()},
                {"excess", row.excess()}, {"useful", optional(row.useful)}, {"l1_hit", optional(row.l1_hit)}, {"l2_hit", optional(row.l2_hit)},
                {"dram_bytes", optional(row.dram_bytes)}};
    if (text.kind != analysis::PatternKind::kUnknown) {
        out["meaning"] = text.meaning;
        out["cost"] = text.cost;
        if (!tried) out["remedy"] = text.remedy;   // where changes were tried, advice says what helps, or nothing does
    }
    if (row.rereads.times() >= analysis::kReread) out["rereads"] = {row.rereads.by_warps, row.rereads.by_blocks};
    if (row.example != nullptr)
        out["example"] = {{"block", row.example->block}, {"warp", row.example->warp}, {"active", row.example->active}, {"addresses", row.example->addresses}};
    return out;
}

Json line(const SourceRow& row, bool tried) {
    Json accesses = Json::array();
    for (const AccessRow& each : row.accesses) accesses.push_back(access(each, tried));
    return {{"file", row.file}, {"line", row.line}, {"cost", row.cost}, {"grade", grade(row.grade)}, {"inlined_from", frames(row.inlined_from)},
            {"accesses", accesses}, {"advice", row.advice}};
}

/// Bytes between lanes, L1, L2 and device memory; nothing where the kernel's backend knows none of it.
Json flow(const KernelSummary& kernel) {
    const auto get = [&](std::initializer_list<const char*> names, double factor) -> Json {
        double sum = 0;
        for (const char* name : names) {
            const auto at = kernel.metrics.find(name);
            if (at == kernel.metrics.end()) return {};
            sum += at->second;
        }
        return sum * factor;
    };
    const Json asked = {{"read", get({"lanescope__requested_bytes_mem_global_op_ld.sum"}, 1)}, {"write", get({"lanescope__requested_bytes_mem_global_op_st.sum"}, 1)}};
    const Json l2 = {{"read", get({"lts__t_sectors_srcunit_tex_op_read.sum"}, 32)}, {"write", get({"lts__t_sectors_srcunit_tex_op_write.sum"}, 32)}};
    const Json dram = {{"read", get({"dram__bytes_read.sum"}, 1)}, {"write", get({"dram__bytes_write.sum"}, 1)}};
    if (asked["read"].is_null() && l2["read"].is_null() && dram["read"].is_null()) return {};
    return Json::array({asked, l2, dram});
}

Json tiles(const KernelSummary& kernel) {
    Json out = Json::array();
    const auto tile = [&](std::string_view name, std::string value) { out.push_back({{"name", name}, {"value", std::move(value)}}); };
    if (kernel.time_ns > 0) tile(kernel.launches.size() > 1 ? "time of all launches" : "time", time(kernel.time_ns));
    for (const auto& [metric_name, title] : std::initializer_list<std::pair<const char*, const char*>>{
             {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "sectors a load request"},
             {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", "sectors a store request"},
             {"gld_efficiency", "of loaded bytes used"},
             {"gst_efficiency", "of stored sectors written"},
             {"l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct", "L1 hit rate of loads"},
             {"lts__t_sector_op_read_hit_rate.pct", "L2 hit rate of reads"},
             {"dram__bytes_read.sum", "read from device memory"},
             {"dram__bytes_write.sum", "written to device memory"},
             {"sm__warps_active.avg.pct_of_peak_sustained_active", "occupancy"},
             {"dram__throughput.avg.pct_of_peak_sustained_elapsed", "of peak memory throughput"}}) {
        const auto at = kernel.metrics.find(metric_name);
        if (at != kernel.metrics.end()) tile(title, profile::human(*profile::find_metric(metric_name), at->second));
    }
    return out;
}

/// Two values of a metric, and what tells them apart: of a prediction (first) its error, else the change. A text is empty where a value is not known.
Json pair_of(const analysis::Change& change, const analysis::Comparison& comparison) {
    const profile::Metric& metric = *profile::find_metric(change.metric);
    const bool turned = comparison.prediction && !comparison.after_is_measured;
    const std::string before = change.known_before ? profile::human(metric, change.before) : "", after = change.known_after ? profile::human(metric, change.after) : "";
    Json out = {{"title", title_of(change.metric)}, {"name", change.metric}, {"meaning", metric.meaning}, {"first", turned ? after : before}, {"second", turned ? before : after},
                {"text", ""}, {"grade", ""}};
    if (!change.known_before || !change.known_after) return out;
    const bool backwards = comparison.prediction && comparison.after_is_measured;   // an error is told by how far the prediction is from what was measured
    const double from = backwards ? change.after : change.before, to = backwards ? change.before : change.after;
    const bool percent = metric.kind == profile::Kind::kPercent;
    const double off = percent ? (to - from) / 100 : from == 0 ? (to == 0 ? 0 : 1) : to / from - 1;
    out["text"] = !change.differs() ? "same" : percent ? fmt::format("{:+.3g} points", 100 * off) : from == 0 ? "new" : fmt::format("{:+.3g} %", 100 * off);
    if (comparison.prediction) out["grade"] = grade(std::abs(off) <= 0.05 ? Grade::kGood : std::abs(off) <= 0.15 ? Grade::kFair : Grade::kBad);
    else if (change.differs()) out["grade"] = grade((change.after < change.before) == less_is_better(change.metric) ? Grade::kGood : Grade::kBad);
    return out;
}

Json pairs(const analysis::KernelChange& kernel, const analysis::Comparison& comparison) {
    Json metrics = Json::array(), lines = Json::array();
    for (const analysis::Change& change : kernel.metrics) metrics.push_back(pair_of(change, comparison));
    for (const analysis::LineChange& line : kernel.lines) {
        Json changes = Json::array();
        for (const analysis::Change& change : line.changes) changes.push_back(pair_of(change, comparison));
        lines.push_back({{"file", line.file}, {"before", line.line_before}, {"after", line.line_after}, {"text", line.text}, {"metrics", changes}});
    }
    return {{"metrics", metrics}, {"lines", lines}};
}

Json kernel_json(const KernelSummary& kernel, const analysis::Summary& summary, const analysis::Comparison* beside) {
    const profile::Launch& first = *kernel.launches.front();
    const auto dims = [](const uint32_t (&d)[3]) { return d[2] != 1 ? fmt::format("{}×{}×{}", d[0], d[1], d[2]) : d[1] != 1 ? fmt::format("{}×{}", d[0], d[1]) : fmt::format("{}", d[0]); };
    Json metrics = Json::array();
    for (const auto& [name, value] : kernel.metrics) {
        const profile::Metric* metric = profile::find_metric(name);
        const bool known = metric != nullptr && metric->name == name;
        metrics.push_back({{"name", name}, {"text", known ? profile::human(*metric, value) : profile::number(value)}, {"meaning", known ? metric->meaning : ""}});
    }
    Json lines = Json::array();
    for (const SourceRow& row : kernel.lines) lines.push_back(line(row, kernel.tried > 0));
    Json offers = Json::array();
    for (const analysis::Advice& each : kernel.advice) offers.push_back(advice(each));
    const bool timed = summary.total_ns > 0;
    const double whole = timed ? summary.total_ns : summary.total_cost, part = timed ? kernel.time_ns : kernel.cost;
    const auto ratio = [&](const char* name) -> Json {
        const auto at = kernel.metrics.find(name);
        return at == kernel.metrics.end() ? Json() : Json(at->second / 100);
    };
    Json out = {{"name", kernel.kernel}, {"short", analysis::short_name(kernel.kernel)}, {"launches", kernel.launches.size()},
                {"shape", fmt::format("{} of {} blocks × {} threads", kernel.launches.size() == 1 ? "one launch" : fmt::format("{} launches", kernel.launches.size()), dims(first.grid), dims(first.block))},
                {"grade", grade(kernel.grade)}, {"headline", kernel.headline}, {"verdict", kernel.verdict}, {"bound", kernel.bound}, {"bandwidth", kernel.bandwidth}, {"time_ns", kernel.time_ns},
                {"share", whole > 0 ? part / whole : 0}, {"tiles", tiles(kernel)}, {"flow", flow(kernel)},
                {"l1_hit", ratio("l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct")}, {"l2_hit", ratio("lts__t_sector_hit_rate.pct")},
                {"advice", offers}, {"tried", kernel.tried}, {"lines", lines}, {"worst", kernel.worst == nullptr ? -1 : kernel.worst - kernel.lines.data()}, {"metrics", metrics}, {"notes", kernel.notes},
                {"absent", kernel.absent}};
    if (beside != nullptr)
        for (const analysis::KernelChange& each : beside->kernels)
            if (each.kernel == kernel.kernel || analysis::short_name(each.kernel) == analysis::short_name(kernel.kernel)) {
                out["beside"] = pairs(each, *beside);
                if (each.kernel == kernel.kernel) break;
            }
    return out;
}

/// JSON that may stand inside a script element: nothing in it can end the element or begin a comment.
std::string inside_script(const Json& json) {
    std::string out;
    for (const char c : json.dump(-1, ' ', true, Json::error_handler_t::replace)) {
        if (c == '<' || c == '>' || c == '&') out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        else out += c;
    }
    return out;
}

}  // namespace

std::string html(const analysis::Summary& summary, const analysis::Comparison* beside) {
    const profile::Profile& profile = *summary.profile;
    Json kernels = Json::array(), sources = Json::object(), items = Json::array(), rows = Json::array(), faults = Json::array();
    for (const KernelSummary& kernel : summary.kernels) {
        kernels.push_back(kernel_json(kernel, summary, beside));
        for (const SourceRow& row : kernel.lines)
            if (const auto at = profile.sources.find(row.file); at != profile.sources.end() && !sources.contains(row.file)) sources[row.file] = at->second;
    }
    const analysis::Timeline timeline = analysis::timeline_of(profile);
    for (const analysis::TimelineItem& item : timeline.items)
        items.push_back({{"kind", kTimelineKinds[size_t(item.kind)]}, {"name", item.name}, {"stream", item.stream}, {"bytes", item.bytes}, {"start_ns", item.start_ns}, {"end_ns", item.end_ns}});
    for (const analysis::TransferRow& row : summary.transfers)
        rows.push_back({{"kind", row.kind}, {"memory", row.memory}, {"count", row.count}, {"bytes", row.bytes}, {"duration_ns", row.duration_ns}});
    for (const profile::Fault& fault : profile.faults)
        faults.push_back({{"kind", fault.kind}, {"message", fault.message}, {"warning", fault.warning}, {"where", frames(fault.where)}, {"other", frames(fault.other == fault.where ? std::vector<profile::Frame>() : fault.other)}});
    const Json gpu = Json::parse(profile.gpu_json, nullptr, false);
    Json data = {{"gpu", profile.gpu_name}, {"memory", gpu.is_object() && gpu.contains("memory_type") ? gpu["memory_type"] : Json("device memory")},
                       {"backend", profile.backend}, {"argv", profile.argv}, {"settings", profile.settings}, {"total_ns", summary.total_ns}, {"kernels", kernels},
                       {"sources", sources}, {"timeline", {{"items", items}, {"streams", timeline.streams}, {"end_ns", timeline.end_ns}, {"kernels_ns", timeline.kernels_ns}, {"copies_ns", timeline.copies_ns}, {"both_ns", timeline.both_ns}}},
                       {"transfer_rows", rows}, {"faults", faults}};
    if (beside != nullptr) {
        const bool turned = beside->prediction && !beside->after_is_measured;
        data["beside"] = {{"first", turned ? beside->after : beside->before}, {"second", turned ? beside->before : beside->after}, {"prediction", beside->prediction}};
    }
    constexpr std::string_view kMark = "@DATA@";
    const size_t at = kPage.find(kMark);
    std::string out(kPage.substr(0, at));
    out += inside_script(data);
    out += kPage.substr(at + kMark.size());
    return out;
}

}  // namespace lanescope::report
