#include "report/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/diagnostic.h"
#include "report/timeline.h"

namespace lanescope::report {
namespace {

using analysis::AccessRow;
using analysis::Grade;
using analysis::KernelSummary;
using analysis::SourceRow;
using analysis::Summary;
using base::printable;

constexpr size_t kKernelsShown = 6, kLinesShown = 8;

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// "4096", "32×128", "32×32×4".
std::string dims(const Style& style, const uint32_t (&dim)[3]) {
    const std::string_view by = style.unicode ? "×" : "x";
    std::string out = fmt::format("{}", dim[0]);
    if (dim[1] != 1 || dim[2] != 1) out += fmt::format("{}{}", by, dim[1]);
    if (dim[2] != 1) out += fmt::format("{}{}", by, dim[2]);
    return out;
}

Color color_of(Grade grade) { return grade == Grade::kBad ? Color::kRed : grade == Grade::kFair ? Color::kYellow : Color::kGreen; }

std::string mark(const Style& style, Grade grade) {
    const std::string_view text = style.unicode ? (grade == Grade::kBad ? "✗" : grade == Grade::kFair ? "~" : "✓")
                                                : (grade == Grade::kBad ? "!" : grade == Grade::kFair ? "~" : " ");
    return paint(style, color_of(grade), text);
}

/// The columns of a kernel's table. What a narrow terminal has no room for is left out, the least telling first.
struct Table {
    const Style& style;
    bool bars, l2;
    unsigned what;

    explicit Table(const Style& s) : style(s), bars(s.width >= 116), l2(s.width >= 90) {
        const unsigned fixed = 4 + 8 + 12 + 6 + 7 + 7 + 8 + (l2 ? 7 : 0) + (bars ? 22 : 0);
        what = std::clamp(style.width > fixed ? style.width - fixed : 0u, 15u, 60u);
    }
    std::string head() const {
        std::string out = std::string(4, ' ') + left("", what) + right("requests", 8) + right("per request", 12) + right("ideal", 6) + right("used", 7) + right("L1 hit", 7);
        if (l2) out += right("L2 hit", 7);
        out += right("DRAM", 8);
        if (bars) out += "  needed and moved";
        return paint(style, Color::kDim, out) + "\n";
    }
};

std::string optional_percent(const Style& style, const std::optional<double>& share) {
    return share ? percent(*share) : style.unicode ? "·" : "-";
}

std::string access_name(const AccessRow& row) {
    std::string operation = row.operation == "async_copy" ? "cp.async" : row.operation;
    std::string out = row.space == "global" || row.pattern.starts_with(row.space) ? operation : fmt::format("{} {}", row.space, operation);
    if (row.bytes != 0) out += fmt::format(" {} B", row.bytes);
    return out;
}

/// "32 sect", "4.99 sect", "2 pass".
std::string rate(double value, std::string_view unit) {
    const std::string_view name = unit == "sectors" ? "sect" : unit == "wavefronts" ? "pass" : unit == "transactions" ? "trans" : "word";
    return fmt::format("{:.3g} {}", value, name);
}

std::string access_line(const Table& table, const AccessRow& row, double most_bytes) {
    const Style& style = table.style;
    std::string name = access_name(row);
    if (!row.pattern.empty()) name += ", " + printable(row.pattern);
    if (row.rereads.times() >= analysis::kReread) name += fmt::format(", re-read {:.2g}{}", row.rereads.times(), style.unicode ? "×" : "x");
    std::string out = "  " + mark(style, row.grade) + " " + left(fit(style, name, table.what), table.what) + right(count(row.requests), 8);
    out += paint(style, row.grade == Grade::kGood ? Color::kPlain : color_of(row.grade), right(rate(row.per_request(), row.unit), 12));
    out += paint(style, Color::kDim, right(row.ideal > 0 ? fmt::format("{:.3g}", row.ideal_per_request()) : "", 6));
    out += right(optional_percent(style, row.useful), 7) + right(optional_percent(style, row.l1_hit), 7);
    if (table.l2) out += right(optional_percent(style, row.l2_hit), 7);
    out += right(row.dram_bytes ? bytes(*row.dram_bytes) : style.unicode ? "·" : "-", 8);
    if (table.bars) {
        const double unit = row.unit == "wavefronts" ? 128 : row.unit == "words" ? 4 : 32;
        const std::string all = bar(style, row.moved * unit, most_bytes, 20);
        const unsigned needed = row.moved > 0 ? static_cast<unsigned>(std::lround(columns(all) * std::min(1.0, row.ideal / row.moved))) : 0;
        // The needed part first, in green; the rest of the same bar in red.
        const std::string_view block = style.unicode ? "█" : "#";
        const size_t cut = std::min(all.size(), needed * block.size());
        out += "  " + paint(style, Color::kGreen, all.substr(0, cut)) + paint(style, row.grade == Grade::kBad ? Color::kRed : Color::kYellow, all.substr(cut));
    }
    return out + "\n";
}

/// "example: block 0, warp 0, 32 lanes from 0x7f0000000000, 128 B apart", for --verbose.
std::string example_line(const Style& style, const AccessRow& row) {
    if (row.example == nullptr || row.example->active == 0) return {};
    const uint32_t active = row.example->active;
    const auto first = unsigned(std::countr_zero(active)), lanes = unsigned(std::popcount(active));
    const std::vector<uint64_t>& at = row.example->addresses;
    std::string out = fmt::format("example: block {}, warp {}, {} lane{} at {:#x}", row.example->block, row.example->warp, lanes, lanes == 1 ? "" : "s", at[first]);
    constexpr unsigned kShown = 4;
    unsigned shown = 1;
    for (uint32_t rest = active & (active - 1); rest != 0 && shown < kShown; rest &= rest - 1, ++shown) out += fmt::format(" {:+}", int64_t(at[size_t(std::countr_zero(rest))] - at[first]));
    if (lanes > kShown) out += style.unicode ? " …" : " ...";
    return "    " + paint(style, Color::kDim, fit(style, out, style.width - 4)) + "\n";
}

std::string source_line(const Table& table, const SourceRow& row) {
    const Style& style = table.style;
    if (row.file.empty()) return "  " + paint(style, Color::kDim, "[no source]") + "\n";
    const std::string place = fmt::format("{}:{}", printable(file_name(row.file)), row.line);
    std::string out = "  " + paint(style, Color::kCyan, place);
    if (!row.text.empty()) {
        const unsigned used = 2 + columns(place) + 2;
        out += "  " + paint(style, Color::kBold, fit(style, printable(row.text), style.width > used ? style.width - used : 0));
    }
    out += "\n";
    if (!row.inlined_from.empty()) {
        std::string chain;
        for (const profile::Frame& frame : row.inlined_from) chain += fmt::format("{} {}:{}", chain.empty() ? "inlined into" : ",", file_name(frame.file), frame.line);
        out += "    " + paint(style, Color::kDim, fit(style, printable(chain), style.width - 4)) + "\n";
    }
    return out;
}

/// One bar: how much of what the kernel moves at L1 it needs.
std::string needed_bar(const Style& style, const KernelSummary& kernel) {
    double moved = 0, ideal = 0;
    for (const SourceRow& line : kernel.lines)
        for (const AccessRow& row : line.accesses)
            if (row.unit == "sectors" || row.unit == "transactions") moved += row.moved, ideal += std::min(row.ideal, row.moved);
    if (moved == 0 || ideal == moved) return {};
    const unsigned length = std::min(32u, style.width / 3);
    const std::string needed = bar(style, ideal, moved, length);
    std::string rest;
    for (unsigned i = columns(needed); i < length; ++i) rest += style.unicode ? "░" : "-";
    return "  " + paint(style, Color::kGreen, needed) + paint(style, color_of(kernel.grade), rest) +
           fmt::format("  {} sectors moved, {} needed\n", count(moved), count(ideal));
}

std::string kernel_head(const Style& style, const KernelSummary& kernel, const Summary& summary) {
    const profile::Launch& first = *kernel.launches.front();
    std::string facts;
    if (kernel.time_ns > 0) {
        facts = time(kernel.time_ns);
        if (summary.total_ns > 0 && summary.kernels.size() > 1) facts += fmt::format(", {:.0f} %", 100 * kernel.time_ns / summary.total_ns);
    }
    std::string shape = fmt::format("{} {} {}", dims(style, first.grid), style.unicode ? "×" : "x", dims(style, first.block));
    if (kernel.launches.size() > 1) shape = fmt::format("{} launches of {}", kernel.launches.size(), shape);
    shape += " threads";
    const std::string tail = facts.empty() ? shape : fmt::format("{}  {}", shape, facts);
    const unsigned room = style.width > columns(tail) + 4 ? style.width - columns(tail) - 4 : 10;
    const std::string name = fit(style, printable(columns(kernel.kernel) > room ? analysis::short_name(kernel.kernel) : kernel.kernel), room);
    return mark(style, kernel.grade) + " " + paint(style, Color::kBold, left(name, room)) + "  " + paint(style, Color::kDim, tail) + "\n";
}

/// "  → 1.70× faster (8.77 µs → 5.16 µs): tile in shared memory", what to do, and what else changes.
std::string advice_text(const Style& style, const analysis::Advice& advice) {
    const std::string_view arrow = style.unicode ? "→" : "->";
    std::string gain = advice.gain() >= 1 + analysis::kLeastTimeGain
                           ? fmt::format("{:.2f}{} as fast ({} {} {})", advice.gain(), style.unicode ? "×" : "x", time(advice.before_ns), arrow, time(advice.after_ns))
                           : std::string("less traffic");
    std::string out = "  " + paint(style, Color::kBold, fmt::format("{} {}: {}", arrow, gain, advice.text->name)) + "\n";
    std::string where = advice.file.empty() ? "" : fmt::format("{}:{}: ", file_name(advice.file), advice.line);
    std::string effect = advice.effect;
    if (!style.unicode)
        for (size_t at = effect.find("→"); at != std::string::npos; at = effect.find("→")) effect.replace(at, std::string_view("→").size(), "->");
    out += "    " + wrap(printable(where + advice.how) + (effect.empty() ? "" : "; " + effect), style.width - 4, 4) + "\n";
    return out;
}

std::string kernel_text(const Style& style, const KernelSummary& kernel, const Summary& summary) {
    std::string out = kernel_head(style, kernel, summary);
    out += "  " + paint(style, color_of(kernel.grade), wrap(printable(kernel.verdict), style.width - 2, 2)) + "\n";
    if (!kernel.bound.empty()) out += "  " + wrap(printable(kernel.bound), style.width - 2, 2) + "\n";
    if (!kernel.bandwidth.empty()) out += "  " + paint(style, Color::kDim, wrap(printable(kernel.bandwidth), style.width - 2, 2)) + "\n";
    constexpr size_t kAdviceShown = 3;
    for (size_t i = 0; i < kernel.advice.size() && (style.verbose || i < kAdviceShown); ++i) out += advice_text(style, kernel.advice[i]);
    out += needed_bar(style, kernel);
    const Table table(style);
    if (!kernel.lines.empty()) out += table.head();
    double most = 0;
    for (const SourceRow& line : kernel.lines)
        for (const AccessRow& row : line.accesses) most = std::max(most, row.moved * (row.unit == "wavefronts" ? 128 : row.unit == "words" ? 4 : 32));
    size_t shown = 0;
    double covered = 0;
    for (const SourceRow& line : kernel.lines) {
        const bool enough = shown >= kLinesShown || (shown > 0 && covered > 0.97 * kernel.cost);
        if (!style.verbose && enough && line.grade != Grade::kBad) continue;
        out += source_line(table, line);
        for (const AccessRow& row : line.accesses) {
            out += access_line(table, row, most);
            if (style.verbose) out += example_line(style, row);
        }
        covered += line.cost;
        ++shown;
    }
    if (shown < kernel.lines.size())
        out += paint(style, Color::kDim, fmt::format("  and {} more {} with {} of the traffic (--verbose shows all)", kernel.lines.size() - shown, kernel.lines.size() - shown == 1 ? "line" : "lines",
                                                     percent(kernel.cost > 0 ? 1 - covered / kernel.cost : 0))) + "\n";
    if (kernel.varies) out += paint(style, Color::kDim, "  its launches differ in their counts (--verbose lists each)") + "\n";
    for (const std::string& note : kernel.notes) out += paint(style, Color::kDim, "  note: " + wrap(printable(note), style.width - 8, 8)) + "\n";
    for (const auto& [metric, reason] : kernel.absent)
        out += paint(style, Color::kDim, "  no " + wrap(printable(metric + ": " + reason), style.width - 5, 5)) + "\n";
    return out;
}

/// One line a kernel, most expensive first.
std::string overview(const Style& style, const Summary& summary) {
    const bool timed = summary.total_ns > 0;
    std::string out;
    size_t shown = 0;
    for (const KernelSummary& kernel : summary.kernels) {
        if (!style.verbose && shown == 16) break;
        const double share = timed ? kernel.time_ns / summary.total_ns : summary.total_cost > 0 ? kernel.cost / summary.total_cost : 0;
        const std::string amount = timed ? time(kernel.time_ns) : bytes(kernel.cost);
        std::string name = analysis::short_name(kernel.kernel);
        if (kernel.launches.size() > 1) name += fmt::format(" {}{}", style.unicode ? "×" : "x", kernel.launches.size());
        const unsigned name_width = std::clamp(style.width / 4, 18u, 40u), bar_width = style.width < 100 ? 6 : 12;
        out += "  " + left(bar(style, share, 1, bar_width), bar_width) + right(amount, 9) + right(fmt::format("{:.0f} %", 100 * share), 6) + "  " + mark(style, kernel.grade) + " " +
               left(fit(style, printable(name), name_width), name_width);
        const unsigned used = 21 + bar_width + name_width + 1;
        out += " " + paint(style, kernel.grade == Grade::kBad ? Color::kRed : Color::kDim,
                           fit(style, printable(style.width < 120 ? kernel.headline : kernel.verdict), style.width > used ? style.width - used : 0));
        out += "\n";
        ++shown;
    }
    if (shown < summary.kernels.size()) out += paint(style, Color::kDim, fmt::format("  and {} more kernels (--verbose shows all)\n", summary.kernels.size() - shown));
    return out;
}

std::string places_text(const Style& style, const profile::Profile& profile, const std::vector<profile::Frame>& frames, std::string_view first) {
    std::string out;
    for (size_t i = 0; i < frames.size(); ++i) {
        const profile::Frame& frame = frames[i];
        if (frame.file.empty()) continue;
        out += "  " + std::string(i == 0 ? first : "inlined into ") + paint(style, Color::kCyan, fmt::format("{}:{}", printable(file_name(frame.file)), frame.line));
        const std::string text = printable(analysis::source_text(profile, frame.file, frame.line));
        if (!text.empty()) out += "  " + fit(style, text, style.width > 30 ? style.width - 30 : 10);
        out += "\n";
    }
    return out;
}

std::string fault_text(const Style& style, const profile::Profile& profile, const profile::Fault& fault) {
    std::string out = paint(style, fault.warning ? Color::kYellow : Color::kRed, fault.warning ? "warning: " : fault.ended_kernel() ? "fault: " : "error: ");
    out += wrap(printable(fault.message), style.width - 9, 2) + "\n";
    out += places_text(style, profile, fault.where, "");
    return fault.other == fault.where ? out : out + places_text(style, profile, fault.other, "and ");
}

std::string transfer_text(const Style& style, const Summary& summary) {
    std::string out;
    for (const analysis::TransferRow& row : summary.transfers) {
        std::string kind = row.kind;
        std::replace(kind.begin(), kind.end(), '_', ' ');
        out += fmt::format("  {} {} {}", left(printable(kind), 18), left(printable(row.memory), 14), right(bytes(static_cast<double>(row.bytes)), 9));
        if (row.count > 1) out += fmt::format(" in {} transfers", row.count);
        if (row.duration_ns > 0) out += fmt::format(", {}, {}/s", time(row.duration_ns), bytes(static_cast<double>(row.bytes) * 1e9 / row.duration_ns));
        out += "\n";
    }
    return out.empty() ? out : paint(style, Color::kDim, "transfers") + "\n" + out;
}

}  // namespace

std::string terminal(const Summary& summary, const Style& style) {
    const profile::Profile& profile = *summary.profile;
    const std::string_view dot = style.unicode ? " · " : ", ";
    std::string title = fmt::format("{} {}", profile.backend, profile.gpu_name);
    for (const auto& [name, value] : profile.settings)
        if (value != "default" && name != "gpu" && !(name == "race_check" && value == "on")) title += fmt::format("{}{} {}", dot, name, value);
    std::string command;
    for (const std::string& arg : profile.argv) command += (command.empty() ? "" : " ") + arg;
    std::string out = paint(style, Color::kBold, "lanescope") + paint(style, Color::kDim, fit(style, printable(std::string(dot) + title + std::string(dot) + command), style.width - 9)) + "\n";

    constexpr size_t kFaultsShown = 20;
    for (size_t i = 0; i < profile.faults.size() && (style.verbose || i < kFaultsShown); ++i) out += fault_text(style, profile, profile.faults[i]);
    if (!style.verbose && profile.faults.size() > kFaultsShown) out += fmt::format("  and {} more faults (--verbose shows all)\n", profile.faults.size() - kFaultsShown);

    if (summary.kernels.empty()) return out + "No kernel was launched.\n" + transfer_text(style, summary);
    if (summary.kernels.size() > 1) {
        out += fmt::format("{} launches of {} kernels", profile.launches.size(), summary.kernels.size());
        out += summary.total_ns > 0 ? fmt::format(", {} of kernel time\n", time(summary.total_ns)) : "\n";
        out += overview(style, summary);
    }
    size_t shown = 0;
    for (const KernelSummary& kernel : summary.kernels) {
        if (!style.verbose && shown == kKernelsShown) break;
        out += "\n" + kernel_text(style, kernel, summary);
        ++shown;
    }
    if (shown < summary.kernels.size())
        out += "\n" + paint(style, Color::kDim, fmt::format("{} cheaper kernels are not shown in detail (--verbose shows all)", summary.kernels.size() - shown)) + "\n";
    if (const std::string transfers = transfer_text(style, summary); !transfers.empty()) out += "\n" + transfers;
    if (const std::string streams = timeline_text(style, analysis::timeline_of(profile)); !streams.empty()) out += "\n" + streams;
    if (profile.backend == "emulated" && summary.total_ns > 0)
        out += "\n" + paint(style, Color::kDim, wrap("Times are predicted: the program's CUDA events show them, clocks of the host show how long the emulation takes.", style.width, 0)) + "\n";
    return out;
}

}  // namespace lanescope::report
