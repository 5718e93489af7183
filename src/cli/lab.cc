// lanescope lab: every run of an experiment is a `lanescope run` of its own, so that its numbers are the ones a user gets.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>
#include <semaphore>
#include <thread>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/process.h"
#include "gpu/description.h"
#include "hardware/hardware.h"
#include "lab/render.h"
#include "profile/catalogue.h"

namespace lanescope::cli {
namespace {

namespace fs = std::filesystem;

/// `lanescope run` as another process. It writes its profile into a folder of its own; what it says to standard error stays there.
base::Result<lab::RunOutcome> run_one(const lab::RunRequest& request) {
    const auto folder = TemporaryFolder::make();
    if (!folder) return folder.errors();
    const fs::path json = folder->path() / "profile.json";
    Command command;
    command.argv = {"/proc/self/exe", "run", "--quiet", "--backend", request.backend, "--json", json.string()};
    if (request.backend == "emulated") {
        command.argv.insert(command.argv.end(), {"--no-what-if", "--gpu", request.gpu});
        // Looking for races and undefined reads takes as long as all the rest: only where an experiment speaks of them.
        if (std::none_of(request.names.begin(), request.names.end(), [](const std::string& name) { return name.starts_with("fault."); }))
            command.argv.insert(command.argv.end(), {"--no-race-check", "--uninitialized", "off"});
    } else {
        // A counter alone is had without counts by line; whatever is derived from them, or is a sum over accesses or lines, is not.
        std::string only = "none";
        bool lines = false;
        for (const std::string& name : request.names) {
            const profile::Metric* metric = profile::find_metric(name);
            if (metric) only += fmt::format(",{}", metric->name);
            const auto counters = hardware::counters_of({name});
            lines |= metric ? counters != std::vector{std::string(metric->name)} : name.find('.') != std::string::npos && !name.starts_with("gpu.");
        }
        command.argv.insert(command.argv.end(), {"--only", only});
        if (!lines) command.argv.push_back("--no-lines");
    }
    if (!request.l1.empty()) command.argv.insert(command.argv.end(), {"--l1", request.l1});
    if (request.warm) command.argv.push_back("--warm");
    command.argv.push_back(request.program.string());
    command.argv.insert(command.argv.end(), request.arguments.begin(), request.arguments.end());
    const auto captured = capture(command);
    if (!captured) return captured.errors();
    const auto text = base::read_file(json);
    if (!text) return base::error(fmt::format("no profile of {} (status {})", request.program.filename().string(), captured->status));
    auto profile = profile::from_json(*text, json.string());
    if (!profile) return profile.errors();
    return lab::RunOutcome{std::move(*profile), captured->output, captured->status};
}

/// "\r[12/51] 05-alignment k80" on a terminal.
class Progress {
public:
    explicit Progress(size_t runs) : runs_(runs), shown_(::isatty(STDERR_FILENO) == 1) {}
    ~Progress() { clear(); }
    void step(const lab::Experiment& experiment, const std::string& gpu) {
        const std::lock_guard lock(mutex_);
        ++done_;
        if (shown_) put(STDERR_FILENO, fmt::format("\r\x1b[K[{}/{}] {} {}", done_, runs_, experiment.name, gpu));
    }
    void clear() {
        const std::lock_guard lock(mutex_);
        if (shown_ && done_ > 0) put(STDERR_FILENO, "\r\x1b[K");
    }

private:
    std::mutex mutex_;
    size_t done_ = 0, runs_;
    bool shown_;
};

base::Result<std::vector<lab::Experiment>> chosen(const fs::path& folder, const std::vector<std::string>& words) {
    const std::vector<std::string> known = lab::names(folder);
    base::Diagnostics errors;
    std::vector<lab::Experiment> experiments;
    for (const std::string& word : words.empty() ? known : words) {
        const std::string name = lab::complete(known, word);
        if (name.empty()) {
            errors.push_back(base::error(fmt::format("no experiment '{}'; known: {}", word, fmt::join(known, ", "))));
            continue;
        }
        auto experiment = lab::load(folder / name);
        if (experiment) experiments.push_back(std::move(*experiment));
        else errors.insert(errors.end(), experiment.errors().begin(), experiment.errors().end());
    }
    if (!errors.empty()) return errors;
    return experiments;
}

}  // namespace

int run_lab(const LabOptions& options, const Outputs& outputs) {
    const fs::path folder = lab::find_folder(own_folder() / "lanescope");
    if (folder.empty()) return complain({base::error("the folder of experiments is not beside lanescope; set LANESCOPE_LAB to it")}), kOwnFailure;
    const auto experiments = chosen(folder, options.experiments);
    if (!experiments) return complain(experiments.errors()), kOwnFailure;
    const report::Style style = style_for(STDOUT_FILENO, outputs);
    if (options.list) {
        for (const lab::Experiment& experiment : *experiments)
            put(STDOUT_FILENO, fmt::format("{}  {}\n", report::left(experiment.name, 22), report::fit(style, experiment.title.en, style.width - 24)));
        return 0;
    }
    lab::Options how;
    how.gpus = options.gpus;
    how.backend = options.backend;
    how.full = options.full;
    if (how.backend == "hardware" && how.gpus.empty()) how.gpus = {"h200"};
    for (const std::string& gpu : how.gpus)
        if (const auto known = gpu::load(gpu); !known) return complain(known.errors()), kOwnFailure;

    size_t runs = 0;
    for (const lab::Experiment& experiment : *experiments) runs += experiment.runs.size() * (how.gpus.empty() ? experiment.gpus : how.gpus).size();
    Progress progress(runs);
    how.progress = [&](const lab::Experiment& experiment, const std::string& gpu, const lab::Run&) { progress.step(experiment, gpu); };

    // One program at a time on real hardware; emulated ones beside each other.
    const unsigned jobs = how.backend == "hardware" ? 1 : std::max(1u, options.jobs != 0 ? options.jobs : std::thread::hardware_concurrency());
    std::counting_semaphore<> slots(jobs);
    std::vector<std::future<lab::ExperimentResult>> pending;
    for (const lab::Experiment& experiment : *experiments)
        pending.push_back(std::async(std::launch::async, [&experiment, &how, &slots] {
            slots.acquire();
            lab::ExperimentResult result = lab::run(experiment, how, run_one);
            slots.release();
            return result;
        }));
    std::vector<lab::ExperimentResult> results;
    for (auto& each : pending) {
        results.push_back(each.get());
        progress.clear();
        if (!outputs.quiet) put(STDOUT_FILENO, lab::terminal(results.back(), style) + '\n');
    }
    if (!outputs.quiet) put(STDOUT_FILENO, lab::totals(results, style));
    for (const auto& [file, render] : {std::pair{outputs.json, &lab::to_json}, {outputs.html, &lab::html}}) {
        if (file.empty()) continue;
        const std::string text = render(results);
        if (file == "-") put(STDOUT_FILENO, text);
        else if (const base::Status written = base::write_file(file, text); !written.ok()) return complain(written.errors()), kOwnFailure;
    }
    // On real hardware a refuted claim is a finding about that GPU, not a failure.
    bool failed = false;
    for (const lab::ExperimentResult& result : results)
        for (const lab::GpuResult& gpu : result.gpus) {
            failed |= !gpu.correct || !gpu.errors.empty();
            for (const lab::ClaimResult& claim : gpu.claims)
                failed |= how.backend == "emulated" && (claim.verdict == lab::Verdict::kRefuted || claim.verdict == lab::Verdict::kUndecided);
        }
    return failed ? 1 : 0;
}

}  // namespace lanescope::cli
