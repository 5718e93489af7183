// lanescope run --backend hardware, and lanescope record: the program on this machine's GPU.
#include "hardware/hardware.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/compile.h"
#include "cli/process.h"
#include "profile/catalogue.h"

namespace lanescope::cli {
namespace {

std::atomic<bool> interrupted = false;

/// Ctrl-C ends the collection, not us: what was measured until then is still reported.
class Interruptible {
public:
    Interruptible() {
        struct sigaction action {};
        action.sa_handler = [](int) { interrupted = true; };
        for (size_t i = 0; i < std::size(kSignals); ++i) ::sigaction(kSignals[i], &action, &before_[i]);
    }
    ~Interruptible() {
        for (size_t i = 0; i < std::size(kSignals); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
    }
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;

private:
    static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction before_[std::size(kSignals)];
};

std::string l1_flag(emulator::Settings::L1 l1) {
    using L1 = emulator::Settings::L1;
    return l1 == L1::kOn ? "-Xptxas=-dlcm=ca" : l1 == L1::kOff ? "-Xptxas=-dlcm=cg" : "";
}

}  // namespace

base::Result<Ran> measure(const RunOptions& options, const Outputs& outputs) {
    hardware::Request request;
    request.available = hardware::probe();
    if (!request.available->times)
        return base::error("no hardware counters: " + request.available->problem + (request.available->remedy.empty() ? "" : "; " + request.available->remedy) +
                           ". What can be had: " + request.available->still);
    request.argv = options.command;
    const std::string& name = options.command.front();
    if (name.ends_with(".cu") || name.ends_with(".cuh")) {
        std::vector<std::string> flags = options.nvcc_flags;
        if (const std::string flag = l1_flag(options.settings.l1); !flag.empty()) flags.push_back(flag);
        const auto compiled = compile(name, request.available->device.compute_capability, flags, ::isatty(STDERR_FILENO) == 1, Target::kHardware);
        if (!compiled.ok()) return compiled.errors();
        request.argv[0] = compiled->program.string();
    } else if (::access(name.c_str(), X_OK) == 0 && name.find('/') == std::string::npos) {
        request.argv[0] = "./" + name;
    }
    for (const std::string& metric : options.measure.only)
        if (metric != "none" && metric.find("__") == std::string::npos && !profile::find_metric(metric))
            return base::error("--only: there is no metric '" + metric + "'; `lanescope explain` knows those of the catalogue");
    if (!options.measure.only.empty()) request.metrics = hardware::counters_of(options.measure.only);
    request.extra_metrics = options.measure.metrics;
    request.lines = options.measure.lines;
    request.warm = !options.settings.cold;
    request.launches = options.settings.launches;
    request.time_limit = options.measure.run_timeout_s;
    const bool terminal = ::isatty(STDERR_FILENO) == 1;
    bool said = false;
    request.progress = [&](const hardware::Progress& progress) {
        if (outputs.quiet) return;
        if (!std::exchange(said, true))
            put(STDERR_FILENO, fmt::format("lanescope: {} by hardware counters; the program runs {} times at most, its output is the first run's\n",
                                           request.available->device.product, progress.runs));
        else if (terminal)
            put(STDERR_FILENO, fmt::format("\r\x1b[K[{}/{}] {}", progress.run, progress.runs, progress.doing));
    };
    interrupted = false;
    request.cancelled = [] { return interrupted.load(); };
    const Interruptible guard;
    auto outcome = hardware::run(request);
    if (terminal && said) put(STDERR_FILENO, "\r\x1b[K");
    if (!outcome.ok()) return outcome.errors();
    for (const std::string& warning : outcome->warnings) put(STDERR_FILENO, "lanescope: " + base::printable(warning) + "\n");
    outcome->profile.argv = options.command;
    return Ran{std::move(outcome->profile), outcome->exit_status};
}

int record(const RecordOptions& record, const RunOptions& options, const Outputs& outputs) {
    const auto fail = [](const base::Diagnostics& errors) {
        complain(errors);
        return kOwnFailure;
    };
    RunOptions measured = options;
    measured.measure.lines = true;  // some of the launch's metrics are sums over lines
    std::vector<std::string> wanted;
    if (!record.metrics.empty()) {
        const auto text = base::read_file(record.metrics);
        if (!text.ok()) return fail(text.errors());
        for (const std::string& name : base::split_lines(*text))
            if (!name.empty() && name[0] != '#') wanted.push_back(name);
        measured.measure.only = wanted;
    }
    const auto ran = measure(measured, outputs);
    if (!ran.ok()) return fail(ran.errors());
    if (wanted.empty()) wanted = hardware::metrics_in(ran->profile);
    if (const base::Status written = base::write_file(record.csv, hardware::reference_csv(ran->profile, wanted)); !written.ok()) return fail(written.errors());
    if (!record.lines.empty())
        if (const base::Status written = base::write_file(record.lines, hardware::reference_lines_csv(ran->profile)); !written.ok()) return fail(written.errors());
    if (!outputs.json.empty())
        if (const base::Status written = base::write_file(outputs.json, profile::to_json(ran->profile)); !written.ok()) return fail(written.errors());
    return ran->status;
}

}  // namespace lanescope::cli
