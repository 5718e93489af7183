#include "lab/laboratory.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/summary.h"
#include "gpu/description.h"
#include "profile/catalogue.h"

namespace lanescope::lab {
namespace {

/// "copy" of "void copy<float>(const float*, float*)".
std::string base_name(const std::string& kernel) {
    std::string name = analysis::short_name(kernel);
    return name.substr(0, name.find('<'));
}

Cell cell_of(const std::string& text) {
    double number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem == std::errc() && end == text.data() + text.size()) return number;
    return text;
}

/// "kernel name=value … correct": its fields; nothing if the line isn't one.
std::optional<Row> case_of(const std::string& line) {
    std::istringstream words(line);
    std::string word;
    if (!(words >> word) || word.find('=') != std::string::npos) return std::nullopt;
    Row row{{"case", word}};
    size_t fields = 0;
    while (words >> word) {
        const size_t equals = word.find('=');
        if (word == "correct" || word == "WRONG") row["correct"] = word == "correct" ? 1.0 : 0.0;
        else if (equals == 0 || equals == std::string::npos) return std::nullopt;
        else row[word.substr(0, equals)] = cell_of(word.substr(equals + 1));
        ++fields;
    }
    return fields == 0 ? std::nullopt : std::optional(std::move(row));
}

void add_metrics(Row& row, profile::Metrics metrics) {
    profile::derive(metrics);
    for (const profile::Metric& metric : profile::catalogue()) {
        const auto found = metrics.find(metric.name);
        if (found == metrics.end()) continue;
        row.insert_or_assign(std::string(metric.name), found->second);
        if (!metric.nvprof.empty()) row.insert_or_assign(std::string(metric.nvprof), found->second);
    }
    for (const auto& [name, value] : metrics) row.emplace(name, value);
}

/// Sums of the accesses' own counters as "global_load.transaction_bytes", and a picture for each kind of global access.
void add_accesses(Row& row, const profile::Launch& launch, std::vector<Picture>& pictures) {
    for (const profile::Line& line : launch.lines)
        for (const profile::Access& access : line.accesses) {
            const std::string prefix = access.space + "_" + access.operation + ".";
            for (const auto& [name, value] : access.metrics) {
                Cell& cell = row.emplace(prefix + name, 0.0).first->second;
                cell = std::get<double>(cell) + value;
            }
            if (access.space != "global" || !access.example) continue;
            const std::string label = fmt::format("{} {} B", access.operation, access.bytes);
            if (std::none_of(pictures.begin(), pictures.end(), [&](const Picture& picture) { return picture.label == label; }))
                pictures.push_back({label, access.bytes, *access.example});
        }
}

Row line_row(const profile::Profile& profile, const profile::Launch& launch, const profile::Line& line, const std::string& run) {
    const profile::Frame shown = analysis::shown_frame(line);
    Row row{{"run", run}, {"kernel", base_name(launch.kernel)}, {"file", std::filesystem::path(shown.file).filename().string()},
            {"line", double(shown.line)}, {"text", analysis::source_text(profile, shown.file, shown.line)}, {"launch", double(launch.index)}};
    add_metrics(row, line.metrics);
    return row;
}

void add_others(Data& data, const profile::Profile& profile, const std::string& run) {
    for (const profile::Launch& launch : profile.launches)
        for (const profile::Line& line : launch.lines) data.lines.push_back(line_row(profile, launch, line, run));
    for (const profile::Transfer& transfer : profile.transfers)
        data.transfers.push_back({{"run", run}, {"kind", transfer.kind}, {"memory", transfer.memory}, {"bytes", double(transfer.bytes)},
                                  {"ns", transfer.duration_ns}});
    for (const profile::Fault& fault : profile.faults) {
        Row row{{"run", run}, {"kind", fault.kind}, {"launch", double(fault.launch)}};
        for (const auto& [name, value] : fault.numbers) row.emplace(name, value);
        if (!fault.where.empty()) {
            const profile::Frame& where = fault.where.front();
            row["file"] = std::filesystem::path(where.file).filename().string();
            row["line"] = double(where.line);
            row["text"] = analysis::source_text(profile, where.file, where.line);
        }
        data.faults.push_back(std::move(row));
    }
}

Row gpu_row(const std::string& name) {
    Row row{{"name", name}};
    const base::Result<gpu::Description> description = gpu::load(name);
    if (!description) return row;
    const nlohmann::json numbers = nlohmann::json::parse(gpu::to_json(*description));
    for (const auto& [key, value] : numbers.items())
        if (value.is_number()) row[key] = value.get<double>();
    return row;
}

ClaimResult judge(const Claim& claim, const Data& data, const std::string& gpu, const Options& options) {
    ClaimResult result;
    const bool here = claim.gpus.empty() || std::find(claim.gpus.begin(), claim.gpus.end(), gpu) != claim.gpus.end();
    if (!here || (!claim.backend.empty() && claim.backend != options.backend) || (!claim.mode.empty() && (claim.mode == "full") != options.full))
        return result;
    Expression::Outcome outcome = claim.that.decide(data);
    result.subject = std::move(outcome.subject);
    result.reason = std::move(outcome.reason);
    result.verdict = !outcome.holds ? Verdict::kUndecided : *outcome.holds ? Verdict::kConfirmed : Verdict::kRefuted;
    return result;
}

}  // namespace

std::vector<Row> cases_of(const RunOutcome& outcome, const std::string& run, std::vector<std::vector<Picture>>& pictures) {
    std::map<std::string, std::vector<const profile::Launch*>> launches;  // by kernel, in order
    for (const profile::Launch& launch : outcome.profile.launches) launches[base_name(launch.kernel)].push_back(&launch);
    std::map<std::string, size_t> used;
    std::vector<Row> cases;
    std::istringstream lines(outcome.output);
    for (std::string line; std::getline(lines, line);) {
        std::optional<Row> row = case_of(line);
        if (!row) continue;
        if (!run.empty()) row->emplace("run", run);
        std::vector<Picture>& own = pictures.emplace_back();
        const std::string& kernel = std::get<std::string>(row->at("case"));
        if (const auto found = launches.find(kernel); found != launches.end()) {
            const auto count = row->find("launches");
            const double several = count != row->end() && std::holds_alternative<double>(count->second) ? std::get<double>(count->second) : 1;
            size_t& next = used[kernel];
            next += size_t(std::clamp(several, 1.0, 1e6));
            if (next <= found->second.size()) {
                const profile::Launch& launch = *found->second[next - 1];
                Row printed = *row;
                add_metrics(*row, launch.metrics);
                add_accesses(*row, launch, own);
                row->insert(printed.begin(), printed.end());
            }
        }
        cases.push_back(std::move(*row));
    }
    return cases;
}

namespace {

const std::vector<std::string>& arguments_of(const Run& run, const Options& options) {
    if (!options.full) return run.quick;
    return options.backend == "emulated" ? run.full_emulated : run.full;
}

}  // namespace

ExperimentResult run(const Experiment& experiment, const Options& options, const Runner& runner) {
    ExperimentResult result{&experiment, options.backend, options.full, {}};
    const std::vector<std::string> names = names_in(experiment);
    for (const std::string& gpu : options.gpus.empty() ? experiment.gpus : options.gpus) {
        GpuResult& here = result.gpus.emplace_back();
        here.gpu = gpu;
        here.data.gpu = gpu_row(gpu);
        const auto begin = std::chrono::steady_clock::now();
        for (const Run& run : experiment.runs) {
            if (options.progress) options.progress(experiment, gpu, run);
            base::Result<RunOutcome> outcome = runner({experiment.program, arguments_of(run, options), gpu, options.backend, run.l1, run.warm, names});
            if (!outcome) {
                here.errors.insert(here.errors.end(), outcome.errors().begin(), outcome.errors().end());
                continue;
            }
            if (outcome->exit_status != 0) {
                here.correct = false;
                here.errors.push_back(base::error(fmt::format("{} exits with status {}{}", experiment.program.filename().string(), outcome->exit_status,
                                                              run.name.empty() ? "" : " in run " + run.name)));
            }
            std::vector<Row> cases = cases_of(*outcome, run.name, here.pictures);
            for (Row& row : cases) {
                for (const Column& column : experiment.columns)
                    if (const auto value = column.value.of(row)) row.insert_or_assign(column.name, *value);
                here.data.cases.push_back(std::move(row));
            }
            add_others(here.data, outcome->profile, run.name);
            outcome->output.clear();
            here.runs.push_back(std::move(*outcome));
        }
        here.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        for (const Claim& claim : experiment.claims) here.claims.push_back(judge(claim, here.data, gpu, options));
    }
    return result;
}

}  // namespace lanescope::lab
