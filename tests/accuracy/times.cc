#include "times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lanescope::accuracy {
namespace {

constexpr double kHigh = 60;              ///< percent of peak above which ncu's highest throughput is the bound

struct Throughput {
    const char* metric;
    std::vector<std::string_view> bounds;  ///< names that agree with it
};
const Throughput kThroughputs[] = {
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", {"dram"}},
    {"lts__t_sectors.avg.pct_of_peak_sustained_elapsed", {"l2"}},
    {"l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed", {"l1", "shared"}},
};

std::vector<double> ranks(const std::vector<double>& values) {
    std::vector<size_t> order(values.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
    std::vector<double> out(values.size());
    for (size_t first = 0; first < order.size();) {
        size_t end = first + 1;
        while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
        for (size_t i = first; i < end; ++i) out[order[i]] = double(first + end - 1) / 2;
        first = end;
    }
    return out;
}

/// The recorded unit with the highest throughput; nullptr: none above kHigh.
const Throughput* highest(const Row& row) {
    const Throughput* best = nullptr;
    double most = kHigh;
    for (const Throughput& each : kThroughputs)
        if (const double share = number(row, each.metric); share > most) {
            most = share;
            best = &each;
        }
    return best;
}

}  // namespace

double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
    const std::vector<double> x = ranks(a), y = ranks(b);
    const double mean = double(a.size() - 1) / 2;
    double xy = 0, xx = 0, yy = 0;
    for (size_t i = 0; i < a.size(); ++i) {
        xy += (x[i] - mean) * (y[i] - mean);
        xx += (x[i] - mean) * (x[i] - mean);
        yy += (y[i] - mean) * (y[i] - mean);
    }
    return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

bool judge_times(const profile::Profile& profile, const std::vector<Row>& recorded, const std::string& limits, const std::string& suite) {
    const std::vector<Row> all = read_table(limits);
    const auto limit = std::find_if(all.begin(), all.end(), [&](const Row& row) { return row.at("suite") == suite; });
    if (limit == all.end()) return true;
    std::vector<double> ours, theirs, errors;
    size_t judged = 0, other = 0;
    std::string lines;
    for (size_t i = 0; i < recorded.size(); ++i) {
        const profile::Launch& launch = profile.launches[i];
        const auto time = launch.metrics.find("gpu__time_duration.sum");
        ours.push_back(time == launch.metrics.end() ? std::nan("") : time->second);
        theirs.push_back(number(recorded[i], "gpu__time_duration.sum"));
        errors.push_back(100 * std::abs(ours.back() / theirs.back() - 1));
        const Throughput* expected = highest(recorded[i]);
        // ncu has no throughput of block launches: where they are the bound (copies by blocks of 64 threads, at 98 % of their rate), the next one counts.
        const std::string& bound = launch.bound == "block_launch" ? launch.second_bound : launch.bound;
        const bool agrees = expected == nullptr || std::find(expected->bounds.begin(), expected->bounds.end(), bound) != expected->bounds.end();
        judged += expected != nullptr;
        other += !agrees;
        const auto unit = std::find_if(launch.units.begin(), launch.units.end(), [&](const profile::Unit& each) { return each.name == launch.bound; });
        lines += fmt::format("    {:3} {:<40.40} ours {:>11.0f} ns  hardware {:>11.0f} ns  error {:6.1f}  bound {} ({:.0f} % of peak), then {}{}\n", i,
                             launch.kernel.substr(0, launch.kernel.find('(')), ours.back(), theirs.back(), errors.back(), launch.bound,
                             unit == launch.units.end() ? 0 : unit->of_peak, launch.second_bound, agrees ? "" : fmt::format("; hardware: {}", expected->bounds[0]));
    }
    std::sort(errors.begin(), errors.end());
    const double median = errors[errors.size() / 2], correlation = rank_correlation(ours, theirs);
    const bool good = median <= number(*limit, "median") && correlation >= number(*limit, "correlation") && double(other) <= number(*limit, "other_bounds");
    fmt::print("{} {} kernel time: {} launches, median error {:.2f}, rank correlation {:.4f}, bound as ncu's highest throughput in {} of {}\n{}",
               good ? "ok" : "FAILED", suite, errors.size(), median, correlation, judged - other, judged, lines);
    return good;
}

}  // namespace lanescope::accuracy
