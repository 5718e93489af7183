#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "lab/render.h"

namespace lanescope::lab {
namespace {

using report::Color;
using report::Style;

std::string text_of(const Cell& cell) {
    if (const auto* text = std::get_if<std::string>(&cell)) return base::printable(*text);
    return fmt::format("{:.10g}", std::get<double>(cell));
}

const double* number_in(const Row& row, const std::string& name) {
    const auto found = row.find(name);
    return found == row.end() ? nullptr : std::get_if<double>(&found->second);
}

/// Cells of text laid out in columns: the first `labels` columns to the left, the others to the right. Columns that stay empty are left out.
std::string layout(const std::vector<std::vector<std::string>>& table, size_t labels, size_t heads, const Style& style) {
    std::vector<unsigned> width(table.empty() ? 0 : table[0].size());
    for (size_t c = 0; c < width.size(); ++c) {
        bool any = false;
        for (size_t r = 0; r < table.size(); ++r) {
            width[c] = std::max(width[c], report::columns(table[r][c]));
            any |= r >= heads && !table[r][c].empty();
        }
        if (!any) width[c] = 0;
    }
    std::string out;
    for (size_t r = 0; r < table.size(); ++r) {
        std::string line;
        for (size_t c = 0; c < width.size(); ++c) {
            if (width[c] == 0) continue;
            if (!line.empty()) line += "  ";
            line += c < labels ? report::left(table[r][c], width[c]) : report::right(table[r][c], width[c]);
        }
        line.resize(line.find_last_not_of(' ') + 1);
        out += "  " + report::paint(style, r < heads ? Color::kDim : Color::kPlain, line) + '\n';
    }
    return out;
}

/// The cases of all GPUs side by side: rows that have the same name are one row.
std::string table(const ExperimentResult& result, const Style& style) {
    const Experiment& e = *result.experiment;
    std::vector<std::string> names;
    std::map<std::string, std::vector<const Row*>> rows;  // by name: one for each GPU, or nullptr
    for (size_t g = 0; g < result.gpus.size(); ++g)
        for (const Row& row : result.gpus[g].data.cases) {
            const bool has_value = std::any_of(e.columns.begin(), e.columns.end(), [&](const Column& c) { return c.shown && number_in(row, c.name); });
            if (!has_value) continue;
            const std::string name = name_of(row, e.rows);
            auto& entry = rows[name];
            if (entry.empty()) names.push_back(name);
            entry.resize(result.gpus.size());
            if (entry[g] == nullptr) entry[g] = &row;
        }
    // As many GPUs side by side as fit.
    const auto build = [&](size_t first, size_t last) {
        std::vector<std::vector<std::string>> cells(2);
        for (const std::string& field : e.rows) cells[0].push_back(field), cells[1].emplace_back();
        for (const Column& column : e.columns) {
            bool named = false;   // at the first GPU that knows the column: those that do not are left out
            for (size_t g = first; column.shown && g < last; ++g) {
                const bool known = std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row.second[g] && number_in(*row.second[g], column.name); });
                cells[0].push_back(known && !std::exchange(named, named || known) ? column.label.en : "");
                cells[1].push_back(result.gpus[g].gpu);
            }
        }
        for (const std::string& name : names) {
            const auto& entry = rows[name];
            const Row* any = nullptr;
            for (size_t g = first; g < last; ++g)
                if (any == nullptr) any = entry[g];
            if (any == nullptr) continue;
            auto& line = cells.emplace_back();
            for (const std::string& field : e.rows) line.push_back(any->count(field) ? text_of(any->at(field)) : "");
            for (const Column& column : e.columns)
                for (size_t g = first; column.shown && g < last; ++g) {
                    const double* value = entry[g] == nullptr ? nullptr : number_in(*entry[g], column.name);
                    line.push_back(value == nullptr ? "" : shown(*value, column.unit));
                }
        }
        return layout(cells, e.rows.size(), 2, style);
    };
    std::string whole = build(0, result.gpus.size());
    const std::string first_line = whole.substr(0, whole.find('\n'));
    if (result.gpus.size() == 1 || report::columns(first_line) <= style.width) return whole;
    whole.clear();
    for (size_t g = 0; g < result.gpus.size(); ++g) whole += build(g, g + 1) + '\n';
    whole.pop_back();
    return whole;
}

struct Point {
    std::string x;
    double y;
};
/// The plot's points by GPU and series, in order.
std::vector<std::pair<std::string, std::vector<Point>>> series_of(const ExperimentResult& result, const Plot& plot) {
    std::vector<std::pair<std::string, std::vector<Point>>> all;
    for (const GpuResult& gpu : result.gpus)
        for (const Row& row : gpu.data.cases) {
            const double* value = number_in(row, plot.y);
            if (value == nullptr || !row.count(plot.x) || !Expression::matches(row, plot.where)) continue;
            std::string name = result.gpus.size() > 1 ? gpu.gpu : "";
            if (!plot.series.empty() && row.count(plot.series)) name += (name.empty() ? "" : " ") + text_of(row.at(plot.series));
            auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.first == name; });
            if (found == all.end()) found = all.insert(all.end(), {name, {}});
            found->second.push_back({text_of(row.at(plot.x)), *value});
        }
    return all;
}

/// Bars for comparisons; for a sweep a line of columns "▁▄█" for each series.
std::string plot_of(const ExperimentResult& result, const Plot& plot, const Style& style) {
    constexpr std::string_view kColumns[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const auto unit = std::find_if(result.experiment->columns.begin(), result.experiment->columns.end(), [&](const Column& c) { return c.name == plot.y; })->unit;
    const auto all = series_of(result, plot);
    double most = 0;
    unsigned names = 0, labels = 0;
    for (const auto& [name, points] : all) {
        names = std::max(names, report::columns(name));
        for (const Point& point : points) most = std::max(most, point.y), labels = std::max(labels, report::columns(point.x));
    }
    if (most <= 0) return {};
    const bool sweep = plot.kind == Plot::Kind::kLine && style.unicode;
    std::string out = "  " + report::paint(style, Color::kBold, plot.title.en);
    if (sweep) out += report::paint(style, Color::kDim, fmt::format("  {} = {} … {}", plot.x, all[0].second.front().x, all[0].second.back().x));
    out += '\n';
    for (const auto& [name, points] : all) {
        std::string head = report::left(name, names), line;
        double least = points[0].y, highest = points[0].y;
        for (const Point& point : points) {
            least = std::min(least, point.y), highest = std::max(highest, point.y);
            if (sweep) line += kColumns[std::clamp(int(point.y / most * 8 - 1e-9), 0, 7)];
            else
                out += fmt::format("    {}{}{} {} {}\n", head, names == 0 ? "" : " ", report::left(point.x, labels),
                                   report::bar(style, point.y, most, unsigned(std::clamp(int(style.width) - int(names + labels) - 20, 10, 40))), shown(point.y, unit));
        }
        if (sweep) out += fmt::format("    {}{}{}  {} … {}\n", head, names == 0 ? "" : " ", line, shown(least, unit), shown(highest, unit));
    }
    return out;
}

/// "load_cold  1 request → 1 line → 4 sectors → …": the levels of one case, in a line.
std::string journey(const ExperimentResult& result, const Plot& plot, const Style& style) {
    const Experiment& e = *result.experiment;
    std::string out = "  " + report::paint(style, Color::kBold, plot.title.en) + '\n';
    for (const GpuResult& gpu : result.gpus)
        for (const Row& row : gpu.data.cases) {
            if (!Expression::matches(row, plot.where)) continue;
            std::string way;
            for (const std::string& step : plot.steps) {
                const auto column = std::find_if(e.columns.begin(), e.columns.end(), [&](const Column& c) { return c.name == step; });
                if (const double* value = number_in(row, step))
                    way += fmt::format("{}{} {}", way.empty() ? "" : style.unicode ? " → " : " -> ", shown(*value, column->unit), column->label.en);
            }
            if (way.empty()) continue;
            const std::string label = (result.gpus.size() > 1 ? gpu.gpu + " " : "") + name_of(row, e.rows);
            out += "    " + report::paint(style, Color::kBold, label) + "\n      " + report::wrap(way, style.width - 6, 6) + '\n';
        }
    return out;
}

/// A line for each claim: the GPUs that agree on a verdict stand behind it together, with their numbers.
std::string claims(const ExperimentResult& result, const Style& style) {
    struct Look {
        Verdict verdict;
        Color color;
        std::string_view mark, plain;
    };
    constexpr Look kLooks[] = {{Verdict::kConfirmed, Color::kGreen, "✓ confirmed", "confirmed"},
                               {Verdict::kRefuted, Color::kRed, "✗ refuted  ", "refuted  "},
                               {Verdict::kUndecided, Color::kYellow, "? undecided", "undecided"}};
    std::string out;
    for (size_t c = 0; c < result.experiment->claims.size(); ++c)
        for (const Look& look : kLooks) {
            std::string numbers;
            for (const GpuResult& gpu : result.gpus) {
                const ClaimResult& claim = gpu.claims[c];
                if (claim.verdict != look.verdict) continue;
                const std::string number = look.verdict == Verdict::kUndecided ? claim.reason : shown(claim.subject);
                numbers += (numbers.empty() ? "" : ", ") + gpu.gpu + (number.empty() ? "" : " " + number);
            }
            if (numbers.empty()) continue;
            const std::string says = fmt::format("{} ({})", result.experiment->claims[c].says.en, numbers);
            out += fmt::format("  {} {}\n", report::paint(style, look.color, style.unicode ? look.mark : look.plain), report::wrap(says, style.width - 14, 14));
            if (look.verdict == Verdict::kRefuted) out += report::paint(style, Color::kDim, std::string(14, ' ') + result.experiment->claims[c].text) + '\n';
        }
    return out;
}

}  // namespace

std::string shown(double value, const std::string& unit) {
    if (unit == "ns") return report::time(value);
    if (unit == "us") return report::time(value * 1e3);
    if (unit == "B") return report::bytes(value);
    if (unit == "%") return report::percent(value / 100);
    if (unit == "GB/s") return report::bytes(value * 1e9) + "/s";
    if (value == std::floor(value) && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
    return fmt::format("{:.4g}", value);
}

std::string shown(const std::vector<double>& subject) {
    if (subject.empty()) return {};
    const auto [least, most] = std::minmax_element(subject.begin(), subject.end());
    return *least == *most ? shown(*least, "") : shown(*least, "") + " … " + shown(*most, "");
}

std::string name_of(const Row& row, const std::vector<std::string>& fields) {
    std::string name;
    for (const std::string& field : fields) {
        const auto cell = row.find(field);
        if (cell == row.end()) continue;
        if (!name.empty()) name += ' ';
        name += std::holds_alternative<double>(cell->second) ? field + "=" + text_of(cell->second) : text_of(cell->second);
    }
    return name;
}

std::string terminal(const ExperimentResult& result, const Style& style) {
    const Experiment& e = *result.experiment;
    std::string out = report::paint(style, Color::kBold, fmt::format("{}  {}", e.name, e.title.en)) + '\n';
    out += "  " + report::wrap(e.question.en, style.width - 2, 2) + "\n\n";
    for (const GpuResult& gpu : result.gpus)
        for (const base::Diagnostic& error : gpu.errors) out += fmt::format("  {}: {}\n", gpu.gpu, base::to_string(error));
    out += table(result, style) + '\n';
    for (const Plot& plot : e.plots) {
        std::string drawn;
        if (plot.kind == Plot::Kind::kJourney) drawn = journey(result, plot, style);
        else if (plot.kind != Plot::Kind::kWarps) drawn = plot_of(result, plot, style);
        if (!drawn.empty()) out += drawn + '\n';
    }
    return out + claims(result, style);
}

std::string totals(const std::vector<ExperimentResult>& results, const Style& style) {
    size_t counts[4] = {};
    double seconds = 0;
    for (const ExperimentResult& result : results)
        for (const GpuResult& gpu : result.gpus) {
            seconds += gpu.seconds;
            for (const ClaimResult& claim : gpu.claims) ++counts[size_t(claim.verdict)];
        }
    std::string out = fmt::format("{} claims confirmed", counts[size_t(Verdict::kConfirmed)]);
    if (counts[size_t(Verdict::kRefuted)] != 0) out += report::paint(style, Color::kRed, fmt::format(", {} refuted", counts[size_t(Verdict::kRefuted)]));
    if (counts[size_t(Verdict::kUndecided)] != 0) out += report::paint(style, Color::kYellow, fmt::format(", {} undecided", counts[size_t(Verdict::kUndecided)]));
    return out + fmt::format(" ({} experiment{}, {:.1f} s)\n", results.size(), results.size() == 1 ? "" : "s", seconds);
}

}  // namespace lanescope::lab
