// lanescope run: compiles where needed, starts the program on the emulated runtime, and reports what it did.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "analysis/compare.h"
#include "analysis/pattern.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/compile.h"
#include "cli/process.h"
#include "cudart/redirectable.h"
#include "emulator/journal.h"
#include "gpu/description.h"
#include "hardware/hardware.h"
#include "report/difference.h"
#include "report/terminal.h"

namespace lanescope::cli {
namespace {

namespace fs = std::filesystem;

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
    std::vector<std::string> out = {std::string(kThisProgram), "run-kernel", options.file, "--grid=" + options.grid, "--block=" + options.block,
                                    fmt::format("--shared={}", options.shared_bytes)};
    if (!options.kernel.empty()) out.push_back("--kernel=" + options.kernel);   // an empty value would take the next word
    for (const std::string& argument : options.arguments) out.push_back("--arg=" + argument);
    return out;
}

namespace {

/// The program on the emulated runtime. `quiet`: its output is discarded, as another run of it has shown it.
base::Result<Ran> emulate(const RunOptions& options, bool quiet) {
    const auto gpu = gpu::load(options.settings.gpu);
    if (!gpu.ok()) return gpu.errors();
    if (const auto selector = profile::LaunchSelector::make(options.settings.launches); !selector.ok()) return selector.errors();
    const bool is_ptx = options.command.front() == kThisProgram;
    const auto runtime = is_ptx ? base::Result<fs::path>(fs::path()) : runtime_folder();
    if (!runtime.ok()) return runtime.errors();
    const auto program = program_of(options, gpu->compute_capability);
    if (!program.ok()) return program.errors();
    const auto session = TemporaryFolder::make();
    if (!session.ok()) return session.errors();

    Command command;
    command.argv = options.command;
    command.argv[0] = program->string();
    emulator::Settings settings = options.settings;
    settings.session = session->path().string();
    if (settings.ptxas.empty()) settings.ptxas = find_ptxas();
    command.environment = emulator::to_environment(settings);
    if (!is_ptx) command.environment["LD_LIBRARY_PATH"] = joined_path(*runtime, environment("LD_LIBRARY_PATH"));
    // Only where it is of use: a program with a sanitizer wants no library before the sanitizer's own.
    if (!is_ptx && cudart::needs_nvrtc(*program)) command.environment["LD_PRELOAD"] = joined_path(*runtime / "liblanescope_nvrtc.so", environment("LD_PRELOAD"));
    Ran ran;
    if (quiet) {
        const auto captured = capture(command);
        if (!captured.ok()) return captured.errors();
        ran.status = captured->status;
    } else {
        const auto status = run(command);
        if (!status.ok()) return status.errors();
        ran.status = *status;
    }
    if (is_ptx && ran.status == kOwnFailure) return base::Diagnostics{};  // it has said why
    auto profile = emulator::read_session(session->path().string());
    if (!profile.ok()) return profile.errors();
    ran.profile = *std::move(profile);
    ran.profile.argv = is_ptx ? std::vector<std::string>{options.command.at(2)} : options.command;
    if (ran.profile.gpu_name.empty()) {  // no process of it asked for a GPU
        ran.profile.gpu_name = gpu->name;
        ran.profile.settings = emulator::describe(settings);
    }
    if (ran.profile.launches.empty() && !options.settings.launches.takes_all())
        put(STDERR_FILENO, "lanescope: no kernel launch matches what was asked for\n");
    return ran;
}

/// Report and files; the exit status.
int present(Ran& ran, const RunOptions& options, const Outputs& outputs) {
    analysis::classify(ran.profile);
    const analysis::Summary summary = analysis::summarize(ran.profile, outputs.verbose);
    if (!outputs.quiet) put(STDERR_FILENO, report::terminal(summary, style_for(STDERR_FILENO, outputs)));
    if (ran.status > 128 && ran.status < 128 + 64 && !outputs.quiet)
        put(STDERR_FILENO, fmt::format("lanescope: the program was ended by signal {} ({}); what ran until then is above\n", ran.status - 128, ::strsignal(ran.status - 128)));
    if (const base::Status written = write_files(summary, outputs); !written.ok()) {
        complain(written.errors());
        return kOwnFailure;
    }
    const bool faulted = std::any_of(ran.profile.faults.begin(), ran.profile.faults.end(), [](const profile::Fault& fault) { return !fault.warning; });
    return faulted && options.error_exit_code != 0 ? options.error_exit_code : ran.status;
}

/// "p.json" → "p.predicted.json"
std::string predicted_name(const std::string& file) {
    const fs::path path(file);
    return (path.parent_path() / (path.stem().string() + ".predicted" + path.extension().string())).string();
}

/// Measures, emulates the same GPU, and shows one beside the other.
int run_both(const RunOptions& options, const Outputs& outputs) {
    const auto fail = [](const base::Diagnostics& errors) {
        complain(errors);
        return kOwnFailure;
    };
    auto measured = measure(options, outputs);
    if (!measured.ok()) return fail(measured.errors());
    RunOptions emulated = options;
    const auto known = gpu::known_names();
    if (std::find(known.begin(), known.end(), measured->profile.gpu_name) == known.end())
        return fail({base::error("there is no description of this GPU (" + measured->profile.gpu_name + ") to predict with; see `lanescope gpus`")});
    emulated.settings.gpu = measured->profile.gpu_name;
    auto predicted = emulate(emulated, true);
    if (!predicted.ok()) return fail(predicted.errors());
    analysis::classify(predicted->profile);
    Outputs files = outputs;
    files.quiet = true;
    files.html.clear();
    const int status = present(*measured, options, files);
    if (status == kOwnFailure) return status;
    const analysis::Comparison comparison = analysis::compare(predicted->profile, measured->profile);
    // The page shows the emulated side: it knows lanes, classes and what changes gain.
    const Outputs page{.html = outputs.html};
    if (const base::Status written = write_files(analysis::summarize(predicted->profile, outputs.verbose), page, &comparison); !written.ok()) return fail(written.errors());
    if (!outputs.json.empty() && outputs.json != "-")
        if (const base::Status written = base::write_file(predicted_name(outputs.json), profile::to_json(predicted->profile)); !written.ok()) return fail(written.errors());
    if (!outputs.quiet)
        put(STDERR_FILENO, report::difference(comparison, style_for(STDERR_FILENO, outputs)));
    return status;
}

}  // namespace

int run_program(const RunOptions& options, const Outputs& outputs) {
    RunOptions chosen = options;
    if (chosen.backend.empty()) {
        const hardware::Availability here = hardware::probe();
        chosen.backend = here.counters ? "hardware" : "emulated";
        if (here.times && !here.counters && !outputs.quiet)  // a GPU that can't be measured is worth a word, a machine without one isn't
            put(STDERR_FILENO, fmt::format("lanescope: emulating {}: {}\n", chosen.settings.gpu, here.problem));
    }
    if (chosen.backend == "both") return run_both(chosen, outputs);
    auto ran = chosen.backend == "hardware" ? measure(chosen, outputs) : emulate(chosen, false);
    if (ran.ok()) return present(*ran, chosen, outputs);
    complain(ran.errors());
    return kOwnFailure;
}

}  // namespace lanescope::cli
