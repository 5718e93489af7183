#include "analysis/timeline.h"

#include <algorithm>
#include <set>

#include "analysis/summary.h"

namespace lanescope::analysis {
namespace {

using Kind = TimelineItem::Kind;

Kind kind_of(const std::string& transfer) {
    if (transfer.ends_with("to_device") && transfer != "device_to_device") return Kind::kToDevice;
    return transfer.ends_with("to_host") ? Kind::kToHost : Kind::kOnDevice;
}

/// Sweeps over starts and ends and adds up the time for which each kind of work runs.
void measure(Timeline& timeline) {
    struct Edge {
        double time;
        int kernels, copies;
    };
    std::vector<Edge> edges;
    for (const TimelineItem& item : timeline.items) {
        const bool kernel = item.kind == Kind::kKernel, copy = item.kind == Kind::kToDevice || item.kind == Kind::kToHost;
        edges.push_back({item.start_ns, kernel, copy});
        edges.push_back({item.end_ns, -int(kernel), -int(copy)});
    }
    std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.time < b.time; });
    int kernels = 0, copies = 0;
    double last = 0;
    for (const Edge& edge : edges) {
        const double passed = edge.time - last;
        if (kernels > 0) timeline.kernels_ns += passed;
        if (kernels > 1) timeline.several_kernels_ns += passed;
        if (copies > 0) timeline.copies_ns += passed;
        if (kernels > 0 && copies > 0) timeline.both_ns += passed;
        kernels += edge.kernels;
        copies += edge.copies;
        last = edge.time;
    }
    timeline.end_ns = last;
}

}  // namespace

Timeline timeline_of(const profile::Profile& profile) {
    Timeline timeline;
    for (const profile::Launch& launch : profile.launches) {
        const auto duration = launch.metrics.find("gpu__time_duration.sum");
        if (!launch.start_ns || duration == launch.metrics.end()) return {};
        timeline.items.push_back({Kind::kKernel, short_name(launch.kernel), launch.stream, 0, *launch.start_ns, *launch.start_ns + duration->second});
    }
    for (const profile::Transfer& transfer : profile.transfers) {
        if (transfer.launch || transfer.duration_ns <= 0) continue;
        std::string name = transfer.kind + ", " + transfer.memory;
        std::replace(name.begin(), name.end(), '_', ' ');
        timeline.items.push_back({kind_of(transfer.kind), std::move(name), transfer.stream, transfer.bytes, transfer.start_ns, transfer.start_ns + transfer.duration_ns});
    }
    std::stable_sort(timeline.items.begin(), timeline.items.end(), [](const TimelineItem& a, const TimelineItem& b) { return a.start_ns < b.start_ns; });
    std::set<uint32_t> streams;
    for (const TimelineItem& item : timeline.items) streams.insert(item.stream);
    timeline.streams.assign(streams.begin(), streams.end());
    measure(timeline);
    return timeline;
}

}  // namespace lanescope::analysis
