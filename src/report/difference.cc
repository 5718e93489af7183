#include "report/difference.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/summary.h"
#include "base/diagnostic.h"
#include "profile/catalogue.h"

namespace lanescope::report {
namespace {

using analysis::Change;
using base::printable;

std::string change_line(const Style& style, const Change& change, bool prediction, unsigned indent) {
    const profile::Metric& metric = *profile::find_metric(change.metric);
    const auto text = [&](double value, bool known) { return known ? profile::human(metric, value) : std::string("not known"); };
    std::string verdict;
    Color color = Color::kDim;
    if (!change.known_before || !change.known_after) {
    } else if (!change.differs()) {
        verdict = "same";
    } else {
        if (metric.kind == profile::Kind::kPercent) verdict = fmt::format("{:+.3g} points", change.after - change.before);
        else if (change.before == 0 || change.after == 0) verdict = change.before == 0 ? "new" : "gone";
        else if (change.ratio() >= 2) verdict = fmt::format("{:.3g}{} as much", change.ratio(), style.unicode ? "×" : "x");
        else if (change.ratio() <= 0.5) verdict = fmt::format("1/{:.3g}", 1 / change.ratio());
        else verdict = fmt::format("{:+.1f} %", 100 * (change.ratio() - 1));
        const bool better = (change.after < change.before) == less_is_better(change.metric);
        color = prediction ? Color::kYellow : better ? Color::kGreen : Color::kRed;
        if (!prediction) verdict += better ? ", better" : ", worse";
    }
    return std::string(indent, ' ') + left(title_of(change.metric), 22) + right(text(change.before, change.known_before), 12) + (style.unicode ? " → " : " > ") +
           left(text(change.after, change.known_after), 12) + " " + paint(style, color, verdict) + "\n";
}

}  // namespace

bool less_is_better(const std::string& metric) { return metric.find("efficiency") == std::string::npos && metric.find("hit_rate") == std::string::npos; }

std::string title_of(const std::string& metric) {
    static constexpr std::pair<std::string_view, std::string_view> kTitles[] = {
        {"gpu__time_duration.sum", "time"},
        {"memory_l2_theoretical_sectors_global", "sectors"},
        {"memory_l2_theoretical_sectors_global_ideal", "ideal sectors"},
        {"sectors_per_request", "sectors a request"},
        {"gld_efficiency", "load efficiency"},
        {"gst_efficiency", "store efficiency"},
        {"memory_l1_wavefronts_shared", "shared passes"},
        {"bank_conflicts", "bank conflicts"},
        {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "local load sectors"},
        {"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "local store sectors"},
        {"l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct", "L1 hit rate"},
        {"lts__t_sectors_srcunit_tex_op_read.sum", "L2 sectors read"},
        {"lts__t_sectors_srcunit_tex_op_write.sum", "L2 sectors written"},
        {"lts__t_sector_op_read_hit_rate.pct", "L2 read hit rate"},
        {"dram__bytes_read.sum", "DRAM read"},
        {"dram__bytes_write.sum", "DRAM written"},
        {"dram_bytes", "DRAM bytes"}};
    for (const auto& [name, text] : kTitles)
        if (name == metric) return std::string(text);
    return metric;
}

std::string difference(const analysis::Comparison& comparison, const Style& style) {
    const std::string_view arrow = style.unicode ? " → " : " > ";
    std::string out = paint(style, Color::kBold, "lanescope diff") + "  " + printable(comparison.before) + std::string(arrow) + printable(comparison.after) + "\n";
    if (comparison.prediction) out += paint(style, Color::kDim, "One side is emulated and the other measured: differences are the model's errors.") + "\n";
    size_t same = 0;
    for (const analysis::KernelChange& kernel : comparison.kernels) {
        if (!kernel.differs && !style.verbose) {
            ++same;
            continue;
        }
        out += "\n" + paint(style, Color::kBold, fit(style, printable(kernel.kernel), style.width));
        if (kernel.launches_before == 0) out += "  new";
        else if (kernel.launches_after == 0) out += "  gone";
        else if (kernel.launches_before != kernel.launches_after) out += fmt::format("  {}{}{} launches", kernel.launches_before, arrow, kernel.launches_after);
        out += "\n";
        for (const Change& change : kernel.metrics)
            if (style.verbose || change.differs()) out += change_line(style, change, comparison.prediction, 2);
        constexpr size_t kLinesShown = 8;
        size_t shown = 0, left_out = 0;
        for (const analysis::LineChange& line : kernel.lines) {
            const bool differs = std::any_of(line.changes.begin(), line.changes.end(), [](const Change& each) { return each.differs(); });
            if (!style.verbose && !differs) continue;
            if (!style.verbose && shown == kLinesShown) {
                ++left_out;
                continue;
            }
            ++shown;
            std::string place = line.file.empty() ? "[no source]" : fmt::format("{}:{}", line.file, line.line_after != 0 ? line.line_after : line.line_before);
            const bool both = line.file.empty() || (line.line_before != 0 && line.line_after != 0);
            if (!both && comparison.prediction) place += (line.line_before != 0) == comparison.after_is_measured ? " (predicted only)" : " (measured only)";
            else if (!both) place += line.line_before == 0 ? " (new)" : " (gone)";
            else if (line.line_before != line.line_after) place += fmt::format(" (was {})", line.line_before);
            out += "  " + paint(style, Color::kCyan, printable(place));
            const unsigned used = 4 + columns(printable(place));
            out += "  " + fit(style, printable(line.text), style.width > used ? style.width - used : 0) + "\n";
            for (const Change& change : line.changes)
                if (style.verbose || change.differs()) out += change_line(style, change, comparison.prediction, 4);
        }
        if (left_out != 0) out += fmt::format("  and {} more lines (--verbose shows all)\n", left_out);
    }
    if (same != 0) out += fmt::format("\n{} kernel{} the same in all counts\n", same, same == 1 ? " is" : "s are");
    return out;
}

std::string broken_limits(const std::vector<analysis::Broken>& broken, const Style& style) {
    std::string out;
    for (const analysis::Broken& each : broken) {
        const std::string place = each.file.empty() ? "" : fmt::format("{}:{}: ", printable(each.file), each.line);
        out += paint(style, Color::kCyan, place) + paint(style, Color::kRed, "limit broken: ") + printable(each.message) + "\n";
        if (!each.text.empty()) out += "  " + fit(style, printable(each.text), style.width - 2) + "\n";
        out += paint(style, Color::kDim, fmt::format("  in {}, launch {}", printable(analysis::short_name(each.kernel)), each.launch));
        if (each.limit != nullptr && !each.limit->where.empty()) out += paint(style, Color::kDim, fmt::format(", limit of {}", printable(each.limit->where)));
        out += "\n";
    }
    return out;
}

}  // namespace lanescope::report
