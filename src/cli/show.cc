// lanescope show, gpus and explain: what is known, for people.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "analysis/candidate.h"
#include "analysis/pattern.h"
#include "cli/commands.h"
#include "gpu/description.h"
#include "gpu/keys.h"
#include "profile/catalogue.h"
#include "report/terminal.h"

namespace lanescope::cli {

using report::Color;
using report::Style;

int show(const std::string& file, const Outputs& outputs) {
    const auto profile = read_profile(file);
    if (!profile.ok()) {
        complain(profile.errors());
        return kOwnFailure;
    }
    const analysis::Summary summary = analysis::summarize(*profile, outputs.verbose);
    const bool to_stdout = outputs.json == "-" || outputs.html == "-" || outputs.csv == "-" || outputs.sarif == "-";
    if (!outputs.quiet && !to_stdout) put(STDOUT_FILENO, report::terminal(summary, style_for(STDOUT_FILENO, outputs)));
    if (const base::Status written = write_files(summary, outputs); !written.ok()) {
        complain(written.errors());
        return kOwnFailure;
    }
    return 0;
}

int list_gpus(const Outputs& outputs) {
    const Style style = style_for(STDOUT_FILENO, outputs);
    std::string out = paint(style, Color::kDim, "name        product                       sm   SMs      L2  memory               peak\n");
    std::vector<gpu::Description> all;
    for (const std::string& name : gpu::known_names()) {
        auto description = gpu::load(name);
        if (!description.ok()) {
            complain(description.errors());
            return kOwnFailure;
        }
        all.push_back(std::move(*description));
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.compute_capability < b.compute_capability; });
    for (const gpu::Description& gpu : all)
        out += fmt::format("{} {} {:3} {:5} {:>5.4g} MiB {:>5.3g} GiB {} {:>10}\n", report::left(gpu.name, 11), report::left(report::fit(style, gpu.product, 28), 28), gpu.compute_capability,
                           gpu.sms, double(gpu.l2_bytes) / (1 << 20), double(gpu.memory_bytes) / (1 << 30), report::left(gpu.memory_type, 8),
                           report::bytes(gpu.peak_bytes_per_second()) + "/s");
    put(STDOUT_FILENO, out);
    return 0;
}

int show_gpu(const std::string& name, const Outputs& outputs) {
    const auto gpu = gpu::load(name);
    if (!gpu.ok()) {
        complain(gpu.errors());
        return kOwnFailure;
    }
    const Style style = style_for(STDOUT_FILENO, outputs);
    const double peak = gpu->peak_bytes_per_second();
    std::string out = paint(style, Color::kBold, gpu->product) + fmt::format(", {}, peak {}/s of device memory", gpu->architecture, report::bytes(peak));
    if (gpu->gpus_on_board > 1) out += fmt::format(" a GPU, {:.5g} GB/s for the board's {}", gpu->gpus_on_board * peak / 1e9, gpu->gpus_on_board);
    out += '\n';
    std::string section;
    for (const gpu::Row& row : gpu::rows(*gpu)) {
        if (row.section != section) {
            section = row.section;
            out += "\n" + paint(style, Color::kCyan, section) + "\n";
        }
        const std::string_view confidence = gpu::kConfidenceNames[static_cast<size_t>(row.confidence)];
        const bool weak = row.confidence >= gpu::Confidence::kInferred;
        out += "  " + report::left(row.key, 34) + report::left(base::printable(row.value), 24) + paint(style, weak ? Color::kYellow : Color::kGreen, report::left(confidence, 11));
        // The source beside its number where there is room, else below it.
        const unsigned used = 2 + 34 + 24 + 11;
        const std::string source = base::printable(row.source);
        const unsigned indent = style.width >= used + 40 ? used : 4;
        out += (indent == used ? "" : "\n    ") + paint(style, Color::kDim, report::wrap(source, style.width - indent, indent)) + "\n";
    }
    put(STDOUT_FILENO, out);
    return 0;
}

namespace {

std::string metric_text(const Style& style, const profile::Metric& metric) {
    std::string out = paint(style, Color::kBold, metric.name) + "\n  " + report::wrap(metric.meaning, style.width - 2, 2) + "\n";
    if (!metric.unit.empty()) out += fmt::format("  unit     {}\n", metric.unit);
    const bool is_ncu = metric.name.find("__") != std::string_view::npos || metric.name.starts_with("memory_");
    if (!is_ncu || metric.name.starts_with("lanescope__")) out += "  ncu      has none of this meaning\n";
    else out += fmt::format("  ncu      {}\n", metric.name);
    out += fmt::format("  nvprof   {}\n", metric.nvprof.empty() ? "has none" : metric.nvprof);
    out += "  formula  " + (metric.formula.empty() ? std::string("counted or measured by itself") : report::wrap(metric.formula, style.width - 11, 11)) + "\n";
    return out;
}

std::string pattern_text(const Style& style, const analysis::PatternText& text) {
    std::string out = paint(style, Color::kBold, text.name) + "\n  " + report::wrap(text.meaning, style.width - 2, 2) + "\n";
    if (!text.cost.empty()) out += "  cost    " + report::wrap(text.cost, style.width - 10, 10) + "\n";
    out += "  remedy  " + (text.remedy.empty() ? std::string("none needed") : report::wrap(text.remedy, style.width - 10, 10)) + "\n";
    return out;
}

}  // namespace

int explain(const std::string& name, const Outputs& outputs) {
    const Style style = style_for(STDOUT_FILENO, outputs);
    std::string out;
    for (const profile::Metric& metric : profile::catalogue())
        if (metric.name == name || metric.nvprof == name) out += (out.empty() ? "" : "\n") + metric_text(style, metric);
    if (const profile::Counter* counter = profile::find_counter(name))
        out += paint(style, Color::kBold, counter->name) + "\n  " + report::wrap(counter->meaning, style.width - 2, 2) + fmt::format("\n  unit     {}\n  counted for each access; metrics are sums of such\n", counter->unit);
    std::string spaced = name;
    std::replace(spaced.begin(), spaced.end(), '-', ' ');
    for (const analysis::PatternText& text : analysis::pattern_texts())
        if (text.name == name || text.name == spaced) out += pattern_text(style, text);
    for (const analysis::ChangeText& text : analysis::change_texts())
        if (text.key == name || text.name == name || text.name == spaced)
            out += paint(style, Color::kBold, text.name) + "\n  " + report::wrap(fmt::format("a change that is tried by replaying the launch: {}", text.how), style.width - 2, 2) + "\n";
    if (out.empty())   // as a report prints it, with its numbers: "strided 4096 B"
        if (const analysis::PatternText& text = analysis::text_of(analysis::kind_of(name)); text.kind != analysis::PatternKind::kUnknown && name.find_first_of("0123456789") != std::string::npos)
            out = pattern_text(style, text);
    if (out.empty()) {
        std::string message = fmt::format("'{}' is no metric, pattern or change", name);
        const auto similar = profile::similar_names(name);
        if (!similar.empty()) message += fmt::format("; did you mean {}?", fmt::join(similar, ", "));
        complain({base::error(message)});
        return kOwnFailure;
    }
    put(STDOUT_FILENO, out);
    return 0;
}

}  // namespace lanescope::cli
