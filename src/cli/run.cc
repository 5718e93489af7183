// lanescope run: compiles where needed, starts the program on the emulated runtime, and reports what it did.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "analysis/pattern.h"
#include "cli/commands.h"
#include "cli/compile.h"
#include "cli/process.h"
#include "cudart/redirectable.h"
#include "emulator/journal.h"
#include "gpu/description.h"
#include "report/terminal.h"

namespace lanescope::cli {
namespace {

namespace fs = std::filesystem;

/// The folder of our libcudart.so.13: beside lanescope's bin in the build tree, below lib/lanescope when installed.
base::Result<fs::path> runtime_folder() {
    std::error_code error;
    for (const char* candidate : {"../lib/cudart", "../lib/lanescope"}) {
        const fs::path folder = fs::weakly_canonical(own_folder() / candidate, error);
        if (fs::exists(folder / "libcudart.so.13", error)) return folder;
    }
    return base::error("the emulated CUDA runtime (libcudart.so.13) is not beside this program; build the target lanescope_runtimes", {own_folder().string(), 0, 0});
}

/// As a shell finds it, but a file of this name here comes first.
base::Result<fs::path> find_program(const std::string& name) {
    std::error_code error;
    if (fs::is_directory(name, error)) return base::error("is a directory, not a program", {name, 0, 0});
    if (fs::exists(name, error)) {
        if (::access(name.c_str(), X_OK) != 0) return base::error("is not executable", {name, 0, 0});
        return name.find('/') == std::string::npos ? fs::path("./" + name) : fs::path(name);
    }
    if (name.find('/') == std::string::npos)
        if (const auto found = find_on_path(name)) return *found;
    return base::error("no such program", {name, 0, 0});
}

constexpr std::string_view kThisProgram = "lanescope kernel";

bool is_cuda_source(const std::string& name) { return name.ends_with(".cu") || name.ends_with(".cuh"); }

/// A reason of several lines: the first is the error, the others are notes to it.
base::Diagnostics refusal(std::string_view reason, std::string file) {
    base::Diagnostics diagnostics;
    while (!reason.empty()) {
        const size_t end = std::min(reason.find('\n'), reason.size());
        std::string line(reason.substr(0, end));
        reason.remove_prefix(std::min(end + 1, reason.size()));
        if (diagnostics.empty()) diagnostics.push_back(base::error(std::move(line), {std::move(file), 0, 0}));
        else diagnostics.push_back({base::Severity::kNote, {}, std::move(line), {}});
    }
    return diagnostics;
}

base::Result<fs::path> program_of(const RunOptions& options, uint32_t compute_capability) {
    const std::string& name = options.command.front();
    if (name == kThisProgram) return own_folder() / "lanescope";
    if (is_cuda_source(name)) {
        auto compiled = compile(name, compute_capability, options.nvcc_flags, ::isatty(STDERR_FILENO) == 1);
        if (!compiled.ok()) return compiled.errors();
        return compiled->program;
    }
    auto program = find_program(name);
    if (program.ok())
        if (const auto reason = cudart::why_not_redirectable(*program)) return refusal(*reason, program->string());
    return program;
}

std::string joined_path(const fs::path& first, const std::string& others) { return others.empty() ? first.string() : first.string() + ":" + others; }

}  // namespace

std::vector<std::string> ptx_command(const PtxOptions& options) {
    std::vector<std::string> out = {std::string(kThisProgram), "run-kernel", options.file, "--kernel=" + options.kernel, "--grid=" + options.grid, "--block=" + options.block,
                                    fmt::format("--shared={}", options.shared_bytes)};
    for (const std::string& argument : options.arguments) out.push_back("--arg=" + argument);
    return out;
}

int run_program(const RunOptions& options, const Outputs& outputs) {
    const auto fail = [](const base::Diagnostics& errors) {
        complain(errors);
        return kOwnFailure;
    };
    const auto gpu = gpu::load(options.settings.gpu);
    if (!gpu.ok()) return fail(gpu.errors());
    const bool is_ptx = options.command.front() == kThisProgram;
    const auto runtime = is_ptx ? base::Result<fs::path>(fs::path()) : runtime_folder();
    if (!runtime.ok()) return fail(runtime.errors());
    const auto program = program_of(options, gpu->compute_capability);
    if (!program.ok()) return fail(program.errors());
    const auto session = TemporaryFolder::make();
    if (!session.ok()) return fail(session.errors());

    Command command;
    command.argv = options.command;
    command.argv[0] = program->string();
    emulator::Settings settings = options.settings;
    settings.session = session->path().string();
    command.environment = emulator::to_environment(settings);
    if (!is_ptx) command.environment["LD_LIBRARY_PATH"] = joined_path(*runtime, environment("LD_LIBRARY_PATH"));
    const auto status = run(command);
    if (!status.ok()) return fail(status.errors());

    auto profile = emulator::read_session(session->path().string());
    if (!profile.ok()) return fail(profile.errors());
    profile->argv = is_ptx ? std::vector<std::string>{options.command.at(2)} : options.command;
    if (profile->backend.empty()) {  // no process of it asked for a GPU
        profile->backend = "emulated";
        profile->gpu_name = gpu->name;
        profile->settings = emulator::describe(settings);
    }
    analysis::classify(*profile);
    const analysis::Summary summary = analysis::summarize(*profile, outputs.verbose);
    if (!outputs.quiet) put(STDERR_FILENO, report::terminal(summary, style_for(STDERR_FILENO, outputs)));
    if (*status > 128 && *status < 128 + 64 && !outputs.quiet)
        put(STDERR_FILENO, fmt::format("lanescope: the program was ended by signal {} ({}); what ran until then is above\n", *status - 128, ::strsignal(*status - 128)));
    if (const base::Status written = write_files(summary, outputs); !written.ok()) return fail(written.errors());
    const bool faulted = std::any_of(profile->faults.begin(), profile->faults.end(), [](const profile::Fault& fault) { return !fault.warning; });
    return faulted && options.error_exit_code != 0 ? options.error_exit_code : *status;
}

}  // namespace lanescope::cli
