// The commands. Each returns the exit status: 0, the program's own, 1 where a check or comparison says so, 125 for our own failures.
#pragma once

#include <string>
#include <vector>

#include "cli/output.h"
#include "emulator/settings.h"

namespace lanescope::cli {

constexpr int kOwnFailure = 125;

struct RunOptions {
    emulator::Settings settings;
    std::string backend = "emulated";
    std::vector<std::string> nvcc_flags;
    int error_exit_code = 0;              ///< 0: a faulting kernel does not change the exit status
    std::vector<std::string> command;     ///< PROGRAM and its arguments
};
int run_program(const RunOptions& options, const Outputs& outputs);

int show(const std::string& file, const Outputs& outputs);
int list_gpus(const Outputs& outputs);
int show_gpu(const std::string& name, const Outputs& outputs);
int explain(const std::string& name, const Outputs& outputs);

struct LabOptions {
    std::vector<std::string> experiments; ///< empty: all of them
    std::vector<std::string> gpus;        ///< empty: those that an experiment names
    std::string backend = "emulated";
    bool list = false, full = false;
    unsigned jobs = 1;                    ///< experiments that run at once
};
int run_lab(const LabOptions& options, const Outputs& outputs);

}  // namespace lanescope::cli
