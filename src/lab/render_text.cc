#include <algorithm>
#include <cmath>
#include <map>

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
        for (const Column& column : e.columns)
            for (size_t g = first; column.shown && g < last; ++g) {
                cells[0].push_back(g == first || last - first == 1 ? column.label.en : "");
                cells[1].push_back(result.gpus[g].gpu);
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

std::string bars(const ExperimentResult& result, const Plot& plot, const Style& style) {
    const Experiment& e = *result.experiment;
    const auto column = std::find_if(e.columns.begin(), e.columns.end(), [&](const Column& c) { return c.name == plot.y; });
    struct Bar {
        std::string label;
        double value;
    };
    std::vector<Bar> all;
    double most = 0;
    unsigned width = 0;
    for (const GpuResult& gpu : result.gpus)
        for (const Row& row : gpu.data.cases) {
            const double* value = number_in(row, plot.y);
            if (value == nullptr || !row.count(plot.x) || !Expression::matches(row, plot.where)) continue;
            std::string label = text_of(row.at(plot.x));
            if (!plot.series.empty() && row.count(plot.series)) label += " " + text_of(row.at(plot.series));
            if (result.gpus.size() > 1) label = gpu.gpu + " " + label;
            width = std::max(width, report::columns(label));
            most = std::max(most, *value);
            all.push_back({std::move(label), *value});
        }
    if (all.empty() || most <= 0) return {};
    std::string out = "  " + report::paint(style, Color::kBold, plot.title.en) + '\n';
    const unsigned length = std::clamp(int(style.width) - int(width) - 18, 10, 40);
    for (const Bar& bar : all)
        out += fmt::format("    {} {} {}\n", report::left(bar.label, width), report::bar(style, bar.value, most, length), shown(bar.value, column->unit));
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

std::string claims(const ExperimentResult& result, const Style& style) {
    std::string out;
    for (size_t c = 0; c < result.experiment->claims.size(); ++c)
        for (const GpuResult& gpu : result.gpus) {
            const ClaimResult& claim = gpu.claims[c];
            if (claim.verdict == Verdict::kNotHere) continue;
            const bool yes = claim.verdict == Verdict::kConfirmed, no = claim.verdict == Verdict::kRefuted;
            const std::string mark = report::paint(style, yes ? Color::kGreen : no ? Color::kRed : Color::kYellow,
                                                   yes ? (style.unicode ? "✓ confirmed" : "confirmed") : no ? (style.unicode ? "✗ refuted" : "refuted") : "? undecided");
            const std::string number = claim.verdict == Verdict::kUndecided ? claim.reason : shown(claim.subject);
            out += fmt::format("  {} {}: {}", mark, gpu.gpu, result.experiment->claims[c].says.en);
            if (!number.empty()) out += report::paint(style, Color::kDim, fmt::format("  [{}]", number));
            out += '\n';
            if (no) out += report::paint(style, Color::kDim, "      " + result.experiment->claims[c].text) + '\n';
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
        else if (plot.kind != Plot::Kind::kWarps) drawn = bars(result, plot, style);
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
