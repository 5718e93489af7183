#include "analysis/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <regex>

#include "analysis/summary.h"
#include "base/toml_file.h"
#include "profile/catalogue.h"

namespace lanescope::analysis {
namespace {

using profile::Access;
using profile::Launch;
using profile::Line;
using profile::Metric;

std::vector<const Access*> accesses_of(const Launch& launch) {
    std::vector<const Access*> out;
    for (const Line& line : launch.lines)
        for (const Access& access : line.accesses) out.push_back(&access);
    return out;
}

std::vector<const Access*> accesses_of(const Line& line) {
    std::vector<const Access*> out;
    for (const Access& access : line.accesses) out.push_back(&access);
    return out;
}

/// "src/a.cu" names "/home/me/src/a.cu".
bool names_file(const std::string& wanted, const std::string& file) {
    return file == wanted || (file.size() > wanted.size() && file.ends_with(wanted) && file[file.size() - wanted.size() - 1] == '/');
}

/// Where a line counts nothing of a metric that its launch counts, that is 0.
std::optional<double> line_value(const Metric& metric, const Line& line) {
    const auto all = accesses_of(line);
    return profile::value_of(metric, line.metrics, all);
}

/// The line whose own value of the metric is the most (or least) of the launch: the one to look at.
const Line* guilty_line(const Metric& metric, const Launch& launch, bool is_max) {
    const Line* worst = nullptr;
    double most = 0;
    for (const Line& line : launch.lines) {
        const auto value = line_value(metric, line);
        if (!value || line.file.empty()) continue;
        if (worst == nullptr || (is_max ? *value > most : *value < most)) {
            worst = &line;
            most = *value;
        }
    }
    return worst;
}

bool breaks(const Limit& limit, double value) { return limit.is_max ? value > limit.value : value < limit.value; }

void set_place(Broken& broken, const profile::Profile& profile, const Line& line) {
    const profile::Frame frame = shown_frame(line);
    broken.file = frame.file;
    broken.line = frame.line;
    broken.text = source_text(profile, frame.file, frame.line);
}

std::optional<double> parse_value(std::string text) {
    double factor = 1;
    if (!text.empty()) {
        const char last = text.back();
        factor = last == 'k' ? 1e3 : last == 'M' ? 1e6 : last == 'G' ? 1e9 : 1;
        if (factor != 1 || last == '%') text.pop_back();
    }
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != 0 || !std::isfinite(value)) return std::nullopt;
    return value * factor;
}

std::string trimmed(const std::string& text) {
    const size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
    return first == std::string::npos ? std::string() : text.substr(first, last - first + 1);
}

base::Status check_regex(const std::string& pattern) {
    try {
        const std::regex compiled(pattern, std::regex::ECMAScript);
    } catch (const std::regex_error& error) {
        return base::error(fmt::format("'{}' is not a regular expression: {}", pattern, error.what()));
    }
    return {};
}

std::string describe(const Limit& limit) {
    std::string out = fmt::format("{} {} {}", limit.metric, limit.is_max ? "at most" : "at least", profile::number(limit.value));
    if (!limit.kernel.empty()) out += fmt::format(", kernel '{}'", limit.kernel);
    if (!limit.file.empty()) out += fmt::format(", line {}:{}", limit.file, limit.line);
    return out;
}

/// Lines by place, so that growth is told where it is.
using Totals = std::map<std::string, double>;
constexpr const char* kWatched[] = {"memory_l2_theoretical_sectors_global", "memory_l1_wavefronts_shared", "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
                                    "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "lts__t_sectors_srcunit_tex_op_read.sum",
                                    "lts__t_sectors_srcunit_tex_op_write.sum", "dram_bytes"};

}  // namespace

base::Result<Limit> parse_limit(const std::string& text, bool is_max) {
    Limit limit;
    limit.is_max = is_max;
    const size_t equals = text.find('=');
    if (equals == std::string::npos) return base::error(fmt::format("'{}' is not METRIC=VALUE", text));
    limit.metric = trimmed(text.substr(0, equals));
    const auto value = parse_value(trimmed(text.substr(equals + 1)));
    if (!value) return base::error(fmt::format("'{}' is not a number", trimmed(text.substr(equals + 1))));
    limit.value = *value;
    if (profile::find_metric(limit.metric) == nullptr) {
        const auto similar = profile::similar_names(limit.metric);
        return base::error(fmt::format("there is no metric '{}'{}", limit.metric, similar.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(similar, ", "))));
    }
    return limit;
}

base::Status parse_place(const std::string& text, Limit& limit) {
    const size_t colon = text.rfind(':');
    char* end = nullptr;
    const unsigned long line = colon == std::string::npos ? 0 : std::strtoul(text.c_str() + colon + 1, &end, 10);
    if (line == 0 || *end != 0 || line > UINT32_MAX || colon == 0) return base::error(fmt::format("'{}' is not FILE:LINE", text));
    limit.file = text.substr(0, colon);
    limit.line = static_cast<uint32_t>(line);
    return {};
}

base::Result<std::vector<Limit>> parse_limits(std::string_view toml, const std::string& file) {
    base::TomlFile source(toml, file);
    const auto root = source.parse();
    if (!root) return source.errors();
    std::vector<Limit> limits;
    const auto text_of = [&](const toml::table& table, std::string_view key) -> std::optional<std::string> {
        const toml::node* node = table.get(key);
        if (node == nullptr) return std::nullopt;
        if (const auto text = node->value<std::string>(); text && node->is_string()) return text;
        source.fail(node->source(), fmt::format("{} must be a text", key));
        return std::nullopt;
    };
    for (const auto& [key, node] : *root) {
        if (key.str() != "limit" || !node.is_array()) {
            source.fail(node.source(), fmt::format("unknown entry '{}': limits stand under [[limit]]", key.str()));
            continue;
        }
        for (const toml::node& each : *node.as_array()) {
            const toml::table* table = each.as_table();
            if (table == nullptr) {
                source.fail(each.source(), "a limit is a table: [[limit]]");
                continue;
            }
            for (const auto& [name, value] : *table)
                if (name.str() != "max" && name.str() != "min" && name.str() != "kernel" && name.str() != "line") source.fail(value.source(), fmt::format("unknown entry '{}'", name.str()));
            const auto max = text_of(*table, "max"), min = text_of(*table, "min");
            if (max.has_value() == min.has_value()) {
                source.fail(table->source(), "a limit has one of max and min");
                continue;
            }
            auto limit = parse_limit(max ? *max : *min, max.has_value());
            if (!limit.ok()) {
                source.fail(table->get(max ? "max" : "min")->source(), limit.errors().front().message);
                continue;
            }
            limit->kernel = text_of(*table, "kernel").value_or("");
            if (const base::Status valid = check_regex(limit->kernel); !valid.ok()) source.fail(table->get("kernel")->source(), valid.errors().front().message);
            if (const auto place = text_of(*table, "line"))
                if (const base::Status valid = parse_place(*place, *limit); !valid.ok()) source.fail(table->get("line")->source(), valid.errors().front().message);
            limit->where = fmt::format("{}:{}", file, table->source().begin.line);
            limits.push_back(std::move(*limit));
        }
    }
    if (!source.ok()) return source.errors();
    return limits;
}

CheckResult check(const profile::Profile& profile, const std::vector<Limit>& limits) {
    CheckResult result;
    for (const Limit& limit : limits) {
        const Metric* metric = profile::find_metric(limit.metric);
        if (metric == nullptr) continue;
        if (!check_regex(limit.kernel).ok()) {
            result.unmatched.push_back(fmt::format("{}: not a regular expression", describe(limit)));
            continue;
        }
        const std::regex kernel(limit.kernel, std::regex::ECMAScript);
        std::map<std::string, Broken> worst;  // one row a kernel: its worst launch
        std::map<std::string, double> worst_value;
        size_t compared = 0;
        bool kernel_seen = false;
        const auto compare = [&](const Launch& launch, double value, const Line* line) {
            ++compared;
            if (!breaks(limit, value)) return;
            const auto at = worst_value.find(launch.kernel);
            if (at != worst_value.end() && (limit.is_max ? value <= at->second : value >= at->second)) return;
            worst_value[launch.kernel] = value;
            Broken& broken = worst[launch.kernel];
            broken.limit = &limit;
            broken.kernel = launch.kernel;
            broken.launch = launch.index;
            broken.message = fmt::format("{} is {}, {} than {}", limit.metric, profile::number(value), limit.is_max ? "more" : "less", profile::number(limit.value));
            if (line == nullptr) line = guilty_line(*metric, launch, limit.is_max);
            if (line != nullptr) set_place(broken, profile, *line);
        };
        for (const Launch& launch : profile.launches) {
            if (!limit.kernel.empty() && !std::regex_search(launch.kernel, kernel)) continue;
            kernel_seen = true;
            if (limit.file.empty()) {
                if (const auto value = profile::value_of(*metric, launch.metrics, accesses_of(launch))) compare(launch, *value, nullptr);
                continue;
            }
            for (const Line& line : launch.lines) {
                const profile::Frame frame = shown_frame(line);
                if (frame.line != limit.line || !names_file(limit.file, frame.file)) continue;
                if (const auto value = line_value(*metric, line)) compare(launch, *value, &line);
            }
        }
        if (compared == 0) result.unmatched.push_back(fmt::format("{}: {}", describe(limit), !kernel_seen ? "no kernel of that name ran" : limit.file.empty() ? "the profile does not know this metric" : "no memory access is counted there"));
        result.compared += compared;
        for (auto& [name, broken] : worst) result.broken.push_back(std::move(broken));
    }
    return result;
}

std::vector<Broken> check_against(const profile::Profile& profile, const profile::Profile& baseline, double tolerance) {
    // Kernels are compared by their total over all launches: the number of launches is the program's business too.
    const auto totals = [](const profile::Profile& p) {
        std::map<std::string, Totals> out;
        for (const Launch& launch : p.launches)
            for (const char* name : kWatched)
                if (const auto value = profile::value_of(*profile::find_metric(name), launch.metrics)) out[launch.kernel][name] += *value;
        return out;
    };
    std::vector<Broken> all;
    const auto before = totals(baseline), now = totals(profile);
    for (const auto& [kernel, metrics] : now) {
        const auto old = before.find(kernel);
        if (old == before.end()) continue;  // a new kernel is no regression
        for (const auto& [name, value] : metrics) {
            const auto was = old->second.find(name);
            if (was == old->second.end() || value <= was->second * (1 + tolerance) + 0.5) continue;
            Broken broken;
            broken.kernel = kernel;
            broken.message = was->second > 0 ? fmt::format("{} grew from {} to {} ({:+.1f} %)", name, profile::number(was->second), profile::number(value), 100 * (value / was->second - 1))
                                             : fmt::format("{} grew from 0 to {}", name, profile::number(value));
            const auto launch = std::find_if(profile.launches.begin(), profile.launches.end(), [&](const Launch& each) { return each.kernel == kernel; });
            broken.launch = launch->index;
            if (const Line* line = guilty_line(*profile::find_metric(name), *launch, true)) set_place(broken, profile, *line);
            all.push_back(std::move(broken));
        }
    }
    return all;
}

}  // namespace lanescope::analysis
