// The command line: what may be written, and which function it leads to.
#include <CLI/CLI.hpp>

#include <unistd.h>

#include "base/diagnostic.h"
#include "cli/commands.h"
#include "cli/compile.h"

namespace {

using namespace lanescope;

void add_display_options(CLI::App& command, cli::Outputs& outputs) {
    command.add_flag("-v,--verbose", outputs.verbose, "Every launch, line and note");
    command.add_option("--color", outputs.color, "When to use colour (default: on a terminal, unless NO_COLOR is set)")
        ->check(CLI::IsMember({"auto", "always", "never"}))->option_text("auto|always|never");
    command.add_option("--width", outputs.width, "Columns of the report (default: COLUMNS, else the terminal's, else 80)")->check(CLI::Range(60u, 1000u))->option_text("N");
}

void add_output_options(CLI::App& command, cli::Outputs& outputs) {
    add_display_options(command, outputs);
    command.add_flag("-q,--quiet", outputs.quiet, "No report on the terminal");
    command.add_option("--json", outputs.json, "Write the profile (docs/profile-schema.json); '-' is standard output")->option_text("FILE");
    command.add_option("--html", outputs.html, "Write one self-contained page")->option_text("FILE");
    command.add_option("--csv", outputs.csv, "Write the launches' metrics as a table")->option_text("FILE");
    command.add_option("--csv-layout", outputs.csv_layout, "Whose table that is (default: ncu)")->check(CLI::IsMember({"ncu", "nvprof"}))->option_text("ncu|nvprof");
    command.add_option("--sarif", outputs.sarif, "Write findings for code scanning (SARIF 2.1.0)")->option_text("FILE");
}

struct RunWords {
    std::string l1 = "default", uninitialized = "warn", nvcc_flags;
    bool warm = false, cold = false;
};

void add_run_options(CLI::App& command, cli::RunOptions& options, RunWords& words) {
    command.add_option("--gpu", options.settings.gpu, "The GPU to emulate: a name of `lanescope gpus`, or a description's path (default: h200)")->option_text("NAME");
    command.add_option("--backend", options.backend, "Emulate, read this machine's hardware counters, or both side by side (default: hardware where its counters can be read and no --gpu is named)")
        ->check(CLI::IsMember({"emulated", "hardware", "both"}))->option_text("emulated|hardware|both");
    command.add_option("--l1", words.l1, "Cache global loads in L1 or not, as -Xptxas -dlcm=ca|cg does (default: the GPU's)")
        ->check(CLI::IsMember({"on", "off", "default"}))->option_text("on|off");
    auto* cold = command.add_flag("--cold", words.cold, "Empty the caches before each kernel, as Nsight Compute does (default)");
    command.add_flag("--warm", words.warm, "Keep what earlier kernels and copies left in the caches")->excludes(cold);
    command.add_flag("--counts-only", options.settings.counts_only, "Requests, sectors and wavefronts only: faster, without caches and time");
    command.add_option("--what-if", options.settings.what_if_s, "Try changes by replaying launches, for so many seconds each at most (default: 10; 0: no advice)")->check(CLI::NonNegativeNumber)->option_text("SECONDS");
    command.add_flag_function("--no-what-if", [&](int64_t) { options.settings.what_if_s = 0; }, "Try no changes: faster, without advice");
    command.add_option("--kernel-timeout", options.settings.kernel_timeout_s, "End a kernel that runs longer than this")->check(CLI::NonNegativeNumber)->option_text("SECONDS");
    command.add_option("--error-exitcode", options.error_exit_code, "Exit status when a kernel faulted or has a race (default: the program's own)")->check(CLI::Range(1, 255))->option_text("N");
    command.add_flag("!--no-race-check", options.settings.race_check, "Do not look for races on shared and global memory: faster");
    command.add_option("--uninitialized", words.uninitialized, "Reads of device memory that nothing has written: warnings (default), errors, or not looked for")
        ->check(CLI::IsMember({"warn", "error", "off"}))->option_text("warn|error|off");
    command.add_flag("--leaks", options.settings.report_leaks, "List device memory that was never freed");
    command.add_option("--nvcc-flags", words.nvcc_flags, "Further flags for compiling a .cu file; NVCC_APPEND_FLAGS is respected too")->option_text("'FLAGS'");
}

/// Which launches are profiled. A kernel of a PTX file has one.
void add_selection_options(CLI::App& command, cli::RunOptions& options) {
    command.add_option("--kernel", options.settings.launches.kernel, "Profile only launches of kernels whose name has a match; the others just run")->option_text("REGEX");
    command.add_option("--launch-skip", options.settings.launches.skip, "Not the first N of these launches")->option_text("N");
    command.add_option("--launch-count", options.settings.launches.count, "No more than N launches")->option_text("N");
}

void add_measure_options(CLI::App& command, cli::MeasureOptions& options) {
    command.add_option("--only", options.only, "Hardware: nothing but what these metrics need, or 'none': fewer runs")->delimiter(',')->allow_extra_args(false)->option_text("NAME[,NAME...]")->group("Hardware");
    command.add_option("--metrics", options.metrics, "Hardware: further metrics of CUPTI")->delimiter(',')->allow_extra_args(false)->option_text("NAME[,NAME...]")->group("Hardware");
    command.add_flag("!--no-lines", options.lines, "Hardware: totals of kernels only")->group("Hardware");
    command.add_option("--run-timeout", options.run_timeout_s, "Hardware: end a repeated run of the program that takes longer (default: 30 times the first)")
        ->check(CLI::NonNegativeNumber)->option_text("SECONDS")->group("Hardware");
}

void add_ptx_options(CLI::App& command, cli::PtxOptions& options) {
    command.add_option("FILE", options.file, "PTX: of Triton, Numba, nvcc -ptx")->required();
    command.add_option("--kernel", options.kernel, "Its name, mangled or not (default: the only one)")->option_text("NAME");
    command.add_option("--grid", options.grid, "Blocks (default: 1)")->option_text("X,Y,Z")->delimiter('\0');
    command.add_option("--block", options.block, "Threads of a block (default: 32)")->option_text("X,Y,Z")->delimiter('\0');
    command.add_option("--shared", options.shared_bytes, "Dynamic shared memory")->option_text("BYTES");
    command.add_option("--arg", options.arguments, "An argument, in order: buffer:BYTES[:zero|i32|f32|f64|random], i32:5, u64:7, f32:1.5, b32:0xff, ...")->option_text("ARG")->allow_extra_args(false);
}

/// CLI11's help, with PROGRAM where a command takes one.
class Help final : public CLI::Formatter {
public:
    explicit Help(std::string usage = {}) : usage_(std::move(usage)) { column_width(34); }
    /// Without CLI11's mark of a flag that turns something off.
    std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
        std::string name = Formatter::make_option_name(option, is_positional);
        if (const size_t mark = name.find("{false}"); mark != std::string::npos) name.erase(mark, 7);
        return name;
    }
    std::string make_usage(const CLI::App* command, std::string name) const override {
        return usage_.empty() ? Formatter::make_usage(command, name) : "Usage: " + usage_ + "\n";
    }

private:
    std::string usage_;
};

int run(cli::RunOptions& options, const RunWords& words, const cli::Outputs& outputs) {
    using L1 = emulator::Settings::L1;
    options.settings.l1 = words.l1 == "on" ? L1::kOn : words.l1 == "off" ? L1::kOff : L1::kDefault;
    options.settings.cold = !words.warm;
    using Undefined = emulator::Settings::Undefined;
    options.settings.undefined = words.uninitialized == "error" ? Undefined::kError : words.uninitialized == "off" ? Undefined::kOff : Undefined::kWarn;
    options.nvcc_flags = cli::words(words.nvcc_flags);
    return cli::run_program(options, outputs);
}

/// How a wrong command line is refused: as every other failure of ours.
std::string usage_error(const CLI::App*, const CLI::Error& error) {
    return std::string("lanescope: error: ") + base::printable(error.what()) + "\n`lanescope COMMAND --help` tells what it takes.\n";
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("lanescope shows for every line of a CUDA program what it does to memory, on a machine without a GPU.", "lanescope");
    app.require_subcommand(1);
    app.set_version_flag("--version", "lanescope 0.1.0");
    app.formatter(std::make_shared<Help>());
    app.footer("Examples:\n"
               "  lanescope run program.cu                    compile, run on an emulated H200, report\n"
               "  lanescope run --gpu rtx4060 ./program 1000  a program built with -cudart shared\n"
               "  lanescope explain gld_efficiency            what a name means\n"
               "`lanescope COMMAND --help` tells more.");
    cli::Outputs outputs;
    int status = 0;

    cli::RunOptions options;
    RunWords words;
    CLI::App& run_command = *app.add_subcommand("run", "Run a CUDA program on an emulated GPU and report what its lines do to memory");
    run_command.formatter(std::make_shared<Help>("lanescope run [OPTIONS] PROGRAM [ARG ...]"));
    run_command.prefix_command();
    run_command.footer("PROGRAM is a .cu file (compiled for you, kept for next time) or a binary built with\n"
                       "  nvcc -cudart shared -lineinfo -gencode arch=compute_75,code=compute_75\n"
                       "Its output and exit status are the program's own; the report goes to standard error.\n"
                       "Exit status 125: lanescope itself failed.\n\n"
                       "Examples:\n"
                       "  lanescope run transpose.cu\n"
                       "  lanescope run kernel.ptx --kernel add --grid 4096 --block 256 --arg buffer:4M --arg buffer:4M --arg i32:1048576\n"
                       "  lanescope run --gpu k80 --l1 on transpose.cu 4096\n"
                       "  lanescope run --json p.json --html p.html --warm ./solver input.txt\n"
                       "  NVCC_APPEND_FLAGS='-cudart shared -lineinfo -gencode arch=compute_75,code=compute_75' make\n");
    add_run_options(run_command, options, words);
    add_selection_options(run_command, options);
    add_measure_options(run_command, options.measure);
    add_output_options(run_command, outputs);
    run_command.callback([&] {
        options.command = run_command.remaining();
        if (!options.command.empty() && options.command.front() == "--") options.command.erase(options.command.begin());
        if (options.command.empty()) throw CLI::RequiredError("PROGRAM");
        if (options.command.front().starts_with("-")) throw CLI::ExtrasError({options.command.front()});
        if (options.command.front().ends_with(".ptx")) {
            // FILE.ptx and what follows are options of ours: lanescope run [OPTIONS] FILE.ptx --kernel NAME ... [OPTIONS]
            CLI::App kernel("Run one kernel of a PTX file", "lanescope run FILE.ptx");
            kernel.formatter(std::make_shared<Help>());
            cli::PtxOptions ptx;
            add_ptx_options(kernel, ptx);
            add_run_options(kernel, options, words);
            add_output_options(kernel, outputs);
            std::vector<std::string> rest(options.command.rbegin(), options.command.rend());  // CLI11 takes them from the back
            kernel.failure_message(usage_error);
            try {
                kernel.parse(rest);
            } catch (const CLI::ParseError& error) {
                status = kernel.exit(error) == 0 ? 0 : cli::kOwnFailure;
                return;
            }
            options.command = cli::ptx_command(ptx);
            options.backend = "emulated";
        }
        if (options.backend.empty() && run_command.count("--gpu") > 0) options.backend = "emulated";
        status = run(options, words, outputs);
    });

    cli::PtxOptions ptx;
    CLI::App& kernel_command = *app.add_subcommand("run-kernel", "")->group("");  // what `run FILE.ptx` starts
    add_ptx_options(kernel_command, ptx);
    kernel_command.callback([&] { status = cli::run_ptx_here(ptx); });

    std::string profile;
    CLI::App& show_command = *app.add_subcommand("show", "Report a profile that was written with --json");
    show_command.add_option("PROFILE", profile, "The profile; '-' is standard input")->required();
    add_output_options(show_command, outputs);
    show_command.footer("Example:\n  lanescope show p.json --html p.html");
    show_command.callback([&] { status = cli::show(profile, outputs); });

    cli::RecordOptions recording;
    CLI::App& record_command = *app.add_subcommand("record", "Write reference files of the accuracy suite from this machine's GPU");
    record_command.formatter(std::make_shared<Help>("lanescope record [OPTIONS] OUT.csv PROGRAM [ARG ...]"));
    record_command.add_option("--metrics", recording.metrics, "The columns, one name a line (default: all that the catalogue has)")->option_text("FILE");
    record_command.add_option("--lines", recording.lines, "Write one row a memory instruction, too")->option_text("FILE");
    record_command.add_option("--json", outputs.json, "Write the profile, too")->option_text("FILE");
    record_command.add_flag("--warm", words.warm, "Keep what earlier kernels left in the caches");
    record_command.add_flag("-q,--quiet", outputs.quiet, "Say nothing");
    record_command.prefix_command();
    record_command.footer("Example:\n  lanescope record patterns.csv --lines patterns-lines.csv ./patterns 1048576");
    record_command.callback([&] {
        options.command = record_command.remaining();
        if (options.command.size() < 2) throw CLI::RequiredError("OUT.csv and PROGRAM");
        recording.csv = options.command.front();
        options.command.erase(options.command.begin());
        options.settings.cold = !words.warm;
        status = cli::record(recording, options, outputs);
    });

    cli::LabOptions lab;
    CLI::App& lab_command = *app.add_subcommand("lab", "Run the laboratory's experiments: tables, plots, and claims confirmed or refuted");
    lab_command.add_option("EXPERIMENT", lab.experiments, "Number, name or folder of an experiment (default: all)");
    lab_command.add_flag("--list", lab.list, "List the experiments");
    lab_command.add_option("--gpu", lab.gpus, "The GPUs to emulate, side by side (default: the experiment's own)")->delimiter(',')->allow_extra_args(false)->option_text("NAME[,NAME...]");
    lab_command.add_option("--backend", lab.backend, "Emulate, or measure on this machine's GPU (default: emulated)")
        ->check(CLI::IsMember({"emulated", "hardware"}))->option_text("emulated|hardware");
    bool quick = false;
    auto* full = lab_command.add_flag("--full", lab.full, "The sizes of a real measurement; on an emulated GPU as large as takes minutes");
    lab_command.add_flag("--quick", quick, "Small sizes, for emulation and CI (default)")->excludes(full);
    lab_command.add_option("-j,--jobs", lab.jobs, "Emulated experiments that run at once (default: as many as there are cores)")->check(CLI::Range(1u, 256u))->option_text("N");
    lab_command.add_flag("-q,--quiet", outputs.quiet, "Nothing on the terminal");
    lab_command.add_option("--json", outputs.json, "Write all cases and claims; '-' is standard output")->option_text("FILE");
    lab_command.add_option("--html", outputs.html, "Write one self-contained page with plots and explanations")->option_text("FILE");
    add_display_options(lab_command, outputs);
    lab_command.footer("Examples:\n  lanescope lab --list\n  lanescope lab alignment --gpu k80,rtx4060,h200\n  lanescope lab --html lab.html\n"
                       "Exit status 1: a claim is refuted or could not be decided (emulated), or a program failed.");
    lab_command.callback([&] { status = cli::run_lab(lab, outputs); });

    std::string gpu;
    CLI::App& gpus_command = *app.add_subcommand("gpus", "List the GPUs that can be emulated, or show one with the source of each number");
    gpus_command.add_option("NAME", gpu, "One of them, or the path of a description");
    add_display_options(gpus_command, outputs);
    gpus_command.callback([&] { status = gpu.empty() ? cli::list_gpus(outputs) : cli::show_gpu(gpu, outputs); });

    std::string name;
    CLI::App& explain_command = *app.add_subcommand("explain", "What a metric or pattern means, its formula, and its names in nvprof and Nsight Compute");
    explain_command.add_option("NAME", name, "A metric of Nsight Compute or nvprof, or a pattern such as 'strided'")->required();
    add_display_options(explain_command, outputs);
    explain_command.footer("Examples:\n  lanescope explain gld_efficiency\n  lanescope explain 'bank conflict'");
    explain_command.callback([&] { status = cli::explain(name, outputs); });

    cli::CheckOptions checks;
    CLI::App& check_command = *app.add_subcommand("check", "Compare a profile with limits: exit status 1 when one is broken");
    check_command.add_option("PROFILE", checks.profile, "A profile that was written with --json")->required();
    check_command.add_option("--max", checks.max, "The metric may be no more than this, in any launch")->option_text("METRIC=VALUE")->allow_extra_args(false);
    check_command.add_option("--min", checks.min, "The metric may be no less than this")->option_text("METRIC=VALUE")->allow_extra_args(false);
    check_command.add_option("--kernel", checks.kernel, "Only kernels whose name this regular expression finds")->option_text("REGEX");
    check_command.add_option("--line", checks.line, "Only this source line")->option_text("FILE:LINE");
    check_command.add_option("--limits", checks.limits, "A file of limits (default: lanescope.toml, if no limit is given here)")->option_text("FILE");
    check_command.add_option("--baseline", checks.baseline, "Sectors, wavefronts and memory bytes of each kernel may not grow over this profile's")->option_text("OLD.json");
    check_command.add_option("--tolerance", checks.tolerance, "By how much they may (default: 2)")->check(CLI::NonNegativeNumber)->option_text("PERCENT");
    add_display_options(check_command, outputs);
    check_command.footer("Metrics are those of `lanescope explain`, under any of their names.\n\n"
                         "Examples:\n"
                         "  lanescope check p.json --max 'sectors_per_request=4.1' --kernel transpose\n"
                         "  lanescope check p.json --max bank_conflicts=0 --min gld_efficiency=80\n"
                         "  lanescope check p.json --baseline main.json");
    check_command.callback([&] { status = cli::check(checks, outputs); });

    std::string before, after;
    CLI::App& diff_command = *app.add_subcommand("diff", "What changed between two profiles, by kernel and line");
    diff_command.add_option("OLD", before, "A profile")->required();
    diff_command.add_option("NEW", after, "Another: after a change, on another GPU, or measured instead of predicted")->required();
    diff_command.add_option("--html", outputs.html, "Write one self-contained page: NEW, or of a prediction and a measurement the predicted one, with both values beside each other")->option_text("FILE");
    diff_command.add_flag("-q,--quiet", outputs.quiet, "Nothing on the terminal");
    add_display_options(diff_command, outputs);
    diff_command.footer("Examples:\n  lanescope diff before.json after.json\n  lanescope diff --html page.html predicted.json measured.json");
    diff_command.callback([&] { status = cli::diff(before, after, outputs); });

    app.failure_message(usage_error);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : cli::kOwnFailure;
    }
    return status;
}
