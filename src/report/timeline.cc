#include "report/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace lanescope::report {
namespace {

using analysis::Timeline;
using analysis::TimelineItem;

constexpr size_t kStreamsShown = 8, kKinds = 4;
constexpr Color kColors[kKinds] = {Color::kGreen, Color::kCyan, Color::kYellow, Color::kDim};

std::string_view mark(const Style& style, size_t kind) {
    static constexpr std::string_view kUnicode[kKinds] = {"█", "▶", "◀", "▒"}, kAscii[kKinds] = {"#", ">", "<", "="};
    return style.unicode ? kUnicode[kind] : kAscii[kind];
}

/// One stream as `width` columns, each showing what takes most of its time; what is shorter than a column still shows where nothing else runs.
std::string row(const Style& style, const Timeline& timeline, uint32_t stream, unsigned width) {
    std::vector<std::array<double, kKinds>> share(width, std::array<double, kKinds>{});
    const double column = timeline.end_ns / width;
    for (const TimelineItem& item : timeline.items) {
        if (item.stream != stream) continue;
        const auto first = std::min<size_t>(width - 1, size_t(item.start_ns / column)), last = std::min<size_t>(width - 1, size_t(item.end_ns / column));
        for (size_t i = first; i <= last; ++i)
            share[i][size_t(item.kind)] += std::max(1e-9, std::min(item.end_ns, double(i + 1) * column) - std::max(item.start_ns, double(i) * column));
    }
    std::string out;
    for (const auto& kinds : share) {
        const auto most = std::max_element(kinds.begin(), kinds.end());
        const auto kind = size_t(most - kinds.begin());
        out += *most > 0 ? paint(style, kColors[kind], mark(style, kind)) : paint(style, Color::kDim, style.unicode ? "·" : ".");
    }
    return out;
}

}  // namespace

std::string timeline_text(const Style& style, const Timeline& timeline) {
    if (timeline.items.empty() || (timeline.streams.size() < 2 && timeline.both_ns == 0 && timeline.several_kernels_ns == 0)) return {};
    std::string out = paint(style, Color::kDim, "timeline") + fmt::format("  {} on the device: kernels {}, copies {}", time(timeline.end_ns), time(timeline.kernels_ns), time(timeline.copies_ns));
    if (timeline.both_ns > 0) out += fmt::format(", {} of them at once", time(timeline.both_ns));
    if (timeline.several_kernels_ns > 0) out += fmt::format(", several kernels at once for {}", time(timeline.several_kernels_ns));
    out += "\n";
    const unsigned width = std::clamp(style.width, 40u, 120u) - 14;
    for (size_t i = 0; i < timeline.streams.size() && (style.verbose || i < kStreamsShown); ++i)
        out += fmt::format("  stream {} {}\n", right(fmt::format("{}", timeline.streams[i]), 3), row(style, timeline, timeline.streams[i], width));
    if (!style.verbose && timeline.streams.size() > kStreamsShown)
        out += fmt::format("  and {} more streams (--verbose shows all)\n", timeline.streams.size() - kStreamsShown);
    std::string legend;
    for (size_t kind = 0; kind < kKinds; ++kind) {
        static constexpr std::string_view kNames[kKinds] = {"kernel", "to the device", "to the host", "memset or copy inside the device"};
        const bool used = std::any_of(timeline.items.begin(), timeline.items.end(), [&](const TimelineItem& item) { return size_t(item.kind) == kind; });
        if (used) legend += fmt::format("{}{} {}", legend.empty() ? "" : "   ", mark(style, kind), kNames[kind]);
    }
    return out + "  " + paint(style, Color::kDim, fit(style, legend, style.width - 2)) + "\n";
}

}  // namespace lanescope::report
