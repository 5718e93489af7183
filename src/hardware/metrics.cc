#include "hardware/metrics.h"

#include <algorithm>
#include <set>

#include "hardware/hardware.h"
#include "profile/catalogue.h"

namespace lanescope::hardware {

namespace {

/// Whether a counter must be read for a metric of the catalogue.
bool is_counter(const profile::Metric& metric) {
    auto starts = [&](std::string_view prefix) { return metric.name.starts_with(prefix); };
    if (metric.name.find("__") == std::string_view::npos || starts("launch__") || starts("lanescope__")) return false;
    if (starts("smsp__sass_inst_executed_op")) return false;  // sums over the counts by line
    bool quotient = metric.kind == profile::Kind::kRatio || metric.kind == profile::Kind::kPercent || metric.kind == profile::Kind::kRate;
    // Distinct bytes are in no count by line, so a formula over them can't be followed here; the counter itself can be read.
    return !quotient || metric.formula.empty() || metric.formula.find("unique_bytes") != std::string_view::npos;
}

}  // namespace

std::vector<std::string> default_metrics() {
    std::vector<std::string> out;
    for (auto& metric : profile::catalogue())
        if (is_counter(metric)) out.emplace_back(metric.name);
    return out;
}

std::vector<std::string> counters_of(const std::vector<std::string>& metrics) {
    std::vector<std::string> out;
    auto add = [&](std::string_view name) {
        if (std::find(out.begin(), out.end(), name) == out.end()) out.emplace_back(name);
    };
    for (auto& name : metrics) {
        const profile::Metric* known = profile::find_metric(name);
        if (!known || is_counter(*known)) {
            std::string_view own = known ? known->name : std::string_view(name);
            if (own.find("__") != std::string::npos && !own.starts_with("launch__") && !own.starts_with("lanescope__")) add(own);
            continue;
        }
        // What its formula is made of.
        for (auto& part : profile::catalogue())
            if (is_counter(part) && known->formula.find(part.name) != std::string_view::npos) add(part.name);
    }
    return out;
}

std::vector<std::string> metrics_in(const profile::Profile& profile) {
    std::set<std::string> seen;
    for (auto& launch : profile.launches)
        for (auto& [name, value] : launch.metrics) seen.insert(name);
    std::vector<std::string> out;
    for (auto& metric : profile::catalogue())
        if (seen.erase(std::string(metric.name))) out.emplace_back(metric.name);
    out.insert(out.end(), seen.begin(), seen.end());
    return out;
}

std::vector<std::string> names_on_chips(const std::string& metric) {
    std::vector<std::string> out{metric};
    // GB20x counts by operation: dram__bytes_op_read.
    for (auto& direction : {"_read", "_write"}) {
        size_t at = metric.find(direction);
        if (metric.starts_with("dram__") && at != std::string::npos) out.push_back(metric.substr(0, at) + "_op" + metric.substr(at));
    }
    return out;
}

const std::vector<SassMetric>& sass_metrics() {
    static const std::vector<SassMetric> kMetrics = {
        {"instructions", {{"smsp__sass_inst_executed"}}},
        {"threads", {{"smsp__sass_thread_inst_executed"}}},
        {"sectors", {{"smsp__sass_sectors_mem_global"}}},
        {"ideal_sectors",
         {{"smsp__sass_sectors_mem_global_ideal"}, {"smsp__sass_sectors_mem_global_op_ld_ideal", "smsp__sass_sectors_mem_global_op_st_ideal"}}},
        {"tags", {{"smsp__sass_l1tex_tags_mem_global"}}},
        {"wavefronts", {{"smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared"}}},
        {"ideal_wavefronts", {{"smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal"}}},
        {"local_sectors", {{"smsp__sass_sectors_mem_local"}}},
    };
    return kMetrics;
}

}  // namespace lanescope::hardware
