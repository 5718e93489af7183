// The commands. Each returns the exit status: 0, the program's own, 1 where a check or comparison says so, 125 for our own failures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/output.h"
#include "emulator/settings.h"

namespace lanescope::cli {

constexpr int kOwnFailure = 125;

/// Of the hardware backend.
struct MeasureOptions {
    std::vector<std::string> metrics;     ///< of CUPTI, besides the catalogue's
    std::vector<std::string> only;        ///< the catalogue's or CUPTI's that suffice, or "none"; empty: all of the catalogue
    bool lines = true;
    double run_timeout_s = 0;             ///< of a repeated run; 0: by the first one
};

struct RunOptions {
    emulator::Settings settings;
    std::string backend;                  ///< emulated, hardware or both; empty: hardware where counters are to be had, else emulated
    MeasureOptions measure;
    std::vector<std::string> nvcc_flags;
    int error_exit_code = 0;              ///< 0: a faulting kernel does not change the exit status
    std::vector<std::string> command;     ///< PROGRAM and its arguments
};
int run_program(const RunOptions& options, const Outputs& outputs);

/// What a program did, and how it ended.
struct Ran {
    profile::Profile profile;
    int status = 0;
};
/// The program on this machine's GPU, as often as it takes.
base::Result<Ran> measure(const RunOptions& options, const Outputs& outputs);

/// Reference files of the accuracy suite from this machine's GPU.
struct RecordOptions {
    std::string csv, lines;               ///< files; lines empty: not wanted
    std::string metrics;                  ///< file with one name a line; empty: the catalogue's
};
int record(const RecordOptions& record, const RunOptions& options, const Outputs& outputs);

/// A kernel of a PTX file instead of a program.
struct PtxOptions {
    std::string file, kernel;             ///< kernel empty: the only one
    std::string grid = "1", block = "32";
    uint32_t shared_bytes = 0;            ///< dynamic
    std::vector<std::string> arguments;   ///< as ptx_arguments.h says
};
/// The words that make `lanescope` run it in a process of its own (RunOptions::command).
std::vector<std::string> ptx_command(const PtxOptions& options);
/// What such a process does; settings come from the environment. 1: the kernel could not be run, or faulted.
int run_ptx_here(const PtxOptions& options);

int show(const std::string& file, const Outputs& outputs);
int list_gpus(const Outputs& outputs);
int show_gpu(const std::string& name, const Outputs& outputs);
struct CheckOptions {
    std::string profile, baseline, kernel, line;
    std::string limits;                   ///< a lanescope.toml; empty: the one here, if nothing else says what to check
    std::vector<std::string> max, min;    ///< METRIC=VALUE
    double tolerance = 2;                 ///< percent that counts may grow over the baseline
};
int check(const CheckOptions& options, const Outputs& outputs);
int diff(const std::string& before, const std::string& after, const Outputs& outputs);
int explain(const std::string& name, const Outputs& outputs);

struct LabOptions {
    std::vector<std::string> experiments; ///< empty: all of them
    std::vector<std::string> gpus;        ///< empty: those that an experiment names
    std::string backend = "emulated";
    bool list = false, full = false;
    unsigned jobs = 0;                    ///< emulated experiments that run at once; 0: as many as there are cores
};
int run_lab(const LabOptions& options, const Outputs& outputs);

}  // namespace lanescope::cli
