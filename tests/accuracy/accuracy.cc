// Compares what the emulator says of a recorded program with the counters of real hardware, launch by launch.
//
// A program that does each launch several times in a row stands for a profiler that replays: the last time is compared.
// Beside LIMITS.csv stands time-limits.csv, see times.h.
//
// usage: accuracy LANESCOPE PROGRAM.cu ARGUMENTS RECORDED.csv LIMITS.csv SUITE OUT.json [run options…]
// Prints a table of errors for each metric and exits 1 when a limit is broken. Metrics without a limit are printed only.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>

#include "base/file.h"
#include "profile/profile.h"
#include "table.h"
#include "times.h"

namespace {

using lanescope::accuracy::number;
using lanescope::accuracy::read_table;
using lanescope::accuracy::Row;

/// A quantity to compare: a metric of both sides, or 100 × one over another ("hits / sectors"), which is compared in points.
struct Quantity {
    std::string name, over;
    std::string label() const { return over.empty() ? name : name + " / " + over; }
};

/// Hits and reads counted in different passes of a profiler can give more than 100 %.
double of(const Quantity& quantity, const auto& get) {
    const double value = get(quantity.name);
    return quantity.over.empty() ? value : std::min(100 * value / get(quantity.over), 100.0);
}

/// Whether each count of a launch is the sum of its lines'.
bool sums_close(const lanescope::profile::Profile& profile) {
    bool all = true;
    for (const auto& launch : profile.launches) {
        std::map<std::string, double> sums;
        for (const auto& line : launch.lines)
            for (const auto& [name, value] : line.metrics) sums[name] += value;
        for (const auto& [name, sum] : sums) {
            const auto total = launch.metrics.find(name);
            if (total == launch.metrics.end() || std::abs(total->second - sum) <= 1e-9 * sum) continue;
            fmt::print("FAILED {}: {} is {}, its lines' sum is {}\n", launch.kernel, name, total->second, sum);
            all = false;
        }
    }
    return all;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 8) return 2;
    const std::string lanescope = argv[1], program = argv[2], arguments = argv[3], recorded = argv[4], limits = argv[5], suite = argv[6], out = argv[7];
    std::string command = lanescope + " run --gpu h200 --no-what-if --no-race-check --uninitialized off --json " + out;
    for (int i = 8; i < argc; ++i) command += std::string(" ") + argv[i];
    command += " " + program + " " + arguments + " >/dev/null 2>" + out + ".log";
    if (std::system(command.c_str()) != 0) {
        fmt::print("{}: failed, see {}.log\n", command, out);
        return 2;
    }
    const auto text = lanescope::base::read_file(out, size_t(1) << 32);
    if (!text) return 2;
    const auto profile = lanescope::profile::from_json(*text, out);
    if (!profile) {
        fmt::print("{}\n", lanescope::base::to_string(profile.errors()));
        return 2;
    }
    const std::vector<Row> rows = read_table(recorded);
    const size_t passes = rows.empty() ? 0 : profile->launches.size() / rows.size();
    if (passes == 0 || rows.size() * passes != profile->launches.size()) {
        fmt::print("{}: {} launches recorded, {} emulated\n", recorded, rows.size(), profile->launches.size());
        return 2;
    }
    bool broken = !sums_close(*profile);
    for (const Row& limit : read_table(limits)) {
        if (limit.at("suite") != suite) continue;
        const std::string& wanted = limit.at("metric");
        const size_t slash = wanted.find(" / ");
        const Quantity quantity = slash == std::string::npos ? Quantity{wanted, ""} : Quantity{wanted.substr(0, slash), wanted.substr(slash + 3)};
        const double from = number(limit, "from");
        double sum = 0, worst = 0;
        size_t compared = 0, equal = 0, skipped = 0;
        std::string lines;
        for (size_t i = 0; i < rows.size(); ++i) {
            const auto& metrics = profile->launches[(i + 1) * passes - 1].metrics;
            const double theirs = of(quantity, [&](const std::string& name) { return number(rows[i], name); });
            const double ours = of(quantity, [&](const std::string& name) { return metrics.contains(name) ? metrics.find(name)->second : 0.0; });
            if (std::isnan(theirs) || std::isnan(ours)) {
                ++skipped;
                continue;
            }
            const double size = quantity.over.empty() ? theirs : number(rows[i], quantity.over);
            if (!(size >= from)) continue;
            const double error = !quantity.over.empty() ? std::abs(ours - theirs)
                                 : theirs != 0          ? 100 * std::abs(ours - theirs) / theirs
                                                        : (ours != 0 ? 100 : 0);
            ++compared;
            equal += ours == theirs;
            sum += error;
            worst = std::max(worst, error);
            if (error >= 0.005) {
                const auto label = rows[i].contains("parameters") ? rows[i].at("parameters") : rows[i].at("Kernel Name").substr(0, rows[i].at("Kernel Name").find('('));
                lines += fmt::format("    {:3} {:<44.44} ours {:>14.6g}  hardware {:>14.6g}  error {:6.2f}\n", i, label, ours, theirs, error);
            }
        }
        const double mean = compared ? sum / double(compared) : 0;
        const double allowed = number(limit, "mean"), most = number(limit, "largest");
        const bool bad = mean > allowed || worst > most || compared == 0;
        broken |= bad;
        fmt::print("{} {} {}: {} launches, {} equal, mean error {:.2f}, largest {:.2f}{}\n{}", bad ? "FAILED" : "ok", suite, quantity.label(), compared, equal,
                   mean, worst, skipped ? fmt::format(", {} without a number", skipped) : "", lines);
    }
    broken |= !lanescope::accuracy::judge_times(*profile, rows, limits.substr(0, limits.rfind('/') + 1) + "time-limits.csv", suite);
    return broken ? 1 : 0;
}
