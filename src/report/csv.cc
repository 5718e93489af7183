#include "report/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "profile/catalogue.h"

namespace lanescope::report {
namespace {

using profile::Launch;
using profile::Metric;

/// Every field quoted, quotes doubled; line breaks and control characters cannot leave their field.
std::string field(std::string_view text) {
    std::string out = "\"";
    for (const char c : base::printable(text)) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + '"';
}

void row(std::string& out, const std::vector<std::string>& fields) {
    for (size_t i = 0; i < fields.size(); ++i) out += (i == 0 ? "" : ",") + field(fields[i]);
    out += '\n';
}

std::string dims(const uint32_t (&dim)[3]) { return fmt::format("({}, {}, {})", dim[0], dim[1], dim[2]); }

/// Names in use, those of the catalogue first and in its order.
std::vector<std::string> columns_of(const profile::Profile& profile) {
    std::set<std::string> used;
    for (const Launch& launch : profile.launches)
        for (const auto& [name, value] : launch.metrics) used.insert(name);
    std::vector<std::string> out;
    for (const Metric& metric : profile::catalogue())
        if (used.erase(std::string(metric.name)) != 0) out.emplace_back(metric.name);
    out.insert(out.end(), used.begin(), used.end());
    return out;
}

std::string_view unit_of(const std::string& name) {
    const Metric* metric = profile::find_metric(name);
    return metric != nullptr && metric->name == name ? metric->unit : std::string_view();
}

}  // namespace

std::string ncu_csv(const profile::Profile& profile) {
    const std::vector<std::string> metrics = columns_of(profile);
    std::vector<std::string> names = {"ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device", "CC"};
    std::vector<std::string> units(names.size());
    const std::string program = profile.argv.empty() ? "" : profile.argv[0].substr(profile.argv[0].rfind('/') + 1);
    for (const std::string& metric : metrics) {
        names.push_back(metric);
        units.emplace_back(unit_of(metric));
    }
    const auto gpu = nlohmann::json::parse(profile.gpu_json, nullptr, false);
    const int number = gpu.is_object() && gpu.contains("compute_capability") && gpu["compute_capability"].is_number() ? gpu["compute_capability"].get<int>() : 0;
    const std::string capability = number == 0 ? "" : fmt::format("{}.{}", number / 10, number % 10);
    std::string out;
    row(out, names);
    row(out, units);
    for (const Launch& launch : profile.launches) {
        std::vector<std::string> fields = {std::to_string(launch.index), "0", program, "127.0.0.1", launch.kernel, "1", std::to_string(launch.stream), dims(launch.block), dims(launch.grid), "0", capability};
        for (const std::string& metric : metrics) {
            const auto at = launch.metrics.find(metric);
            fields.push_back(at == launch.metrics.end() ? "" : profile::number(at->second));
        }
        row(out, fields);
    }
    return out;
}

std::string nvprof_csv(const profile::Profile& profile) {
    struct Range {
        size_t count = 0;
        double least = 0, most = 0, sum = 0;
    };
    std::map<std::string, std::map<size_t, Range>> kernels;  // metric by its place in the catalogue
    std::vector<std::string> order;
    const auto catalogue = profile::catalogue();
    for (const Launch& launch : profile.launches) {
        const auto [at, fresh] = kernels.try_emplace(launch.kernel);
        if (fresh) order.push_back(launch.kernel);
        for (size_t i = 0; i < catalogue.size(); ++i) {
            const auto value = launch.metrics.find(catalogue[i].name);
            if (catalogue[i].nvprof.empty() || value == launch.metrics.end()) continue;
            Range& range = at->second[i];
            range.least = range.count == 0 ? value->second : std::min(range.least, value->second);
            range.most = range.count == 0 ? value->second : std::max(range.most, value->second);
            range.sum += value->second;
            ++range.count;
        }
    }
    std::string out;
    row(out, {"Device", "Kernel", "Invocations", "Metric Name", "Metric Description", "Min", "Max", "Avg"});
    for (const std::string& kernel : order)
        for (const auto& [index, range] : kernels[kernel]) {
            const Metric& metric = catalogue[index];
            const auto text = [&](double value) { return metric.kind == profile::Kind::kPercent ? fmt::format("{:.2f}%", value) : fmt::format("{:.6g}", value); };
            const auto exact = [&](double value) { return metric.kind == profile::Kind::kCount || metric.kind == profile::Kind::kBytes ? profile::number(value) : text(value); };
            row(out, {profile.gpu_name + " (0)", kernel, std::to_string(range.count), std::string(metric.nvprof), std::string(metric.meaning), exact(range.least),
                      exact(range.most), exact(range.sum / static_cast<double>(range.count))});
        }
    return out;
}

}  // namespace lanescope::report
