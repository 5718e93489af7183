// Runs experiments: program × arguments × settings × GPUs through whatever runs a program, then evaluates the claims.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lab/experiment.h"
#include "profile/profile.h"

namespace lanescope::lab {

struct RunRequest {
    std::filesystem::path program;        ///< a .cu file
    std::vector<std::string> arguments;
    std::string gpu, backend;             ///< backend: "emulated" or "hardware"
    std::string l1;                       ///< "on", "off", "": default
    bool warm = false;
    std::vector<std::string> names;       ///< what the experiment speaks of, metrics among them: all others may be left out
};
struct RunOutcome {
    profile::Profile profile;
    std::string output;                   ///< the program's standard output
    int exit_status = 0;
};
/// Runs a program to its end. An error means that there is no profile; a program that fails has one and an exit status.
using Runner = std::function<base::Result<RunOutcome>(const RunRequest&)>;

/// Lanes and addresses of one warp of a case, to be drawn.
struct Picture {
    std::string label;                    ///< "load 4 B"
    uint32_t bytes = 0;
    profile::ExampleWarp warp;
};

enum class Verdict : uint8_t { kConfirmed, kRefuted, kUndecided, kNotHere };

struct ClaimResult {
    Verdict verdict = Verdict::kNotHere;
    std::vector<double> subject;          ///< the numbers compared
    std::string reason;                   ///< kUndecided
};

struct GpuResult {
    std::string gpu;
    Data data;
    std::vector<std::vector<Picture>> pictures;  ///< one for each case of `data`
    std::vector<ClaimResult> claims;      ///< one for each claim of the experiment
    std::vector<RunOutcome> runs;         ///< without their output
    double seconds = 0;
    base::Diagnostics errors;             ///< runs that failed: their cases are missing
    bool correct = true;                  ///< every program checked its results and was content
};

struct ExperimentResult {
    const Experiment* experiment = nullptr;
    std::string backend;
    bool full = false;
    std::vector<GpuResult> gpus;
};

struct Options {
    std::vector<std::string> gpus;        ///< empty: the experiment's own
    std::string backend = "emulated";
    bool full = false;
    std::function<void(const Experiment&, const std::string& gpu, const Run&)> progress;  ///< before each run; may be empty
};

ExperimentResult run(const Experiment& experiment, const Options& options, const Runner& runner);

/// The cases of one run: the lines that the program printed, each with the metrics of the launch it speaks of (the next one of the kernel
/// that its first word names; the last of `launches`). `pictures` receives one list for each case.
std::vector<Row> cases_of(const RunOutcome& outcome, const std::string& run, std::vector<std::vector<Picture>>& pictures);

}  // namespace lanescope::lab
