#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

#include "base/file.h"
#include "lab/render.h"

namespace lanescope::lab {

extern const std::string_view kPage;  // page.html

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kVerdicts[] = {"confirmed", "refuted", "undecided", "not here"};
constexpr std::string_view kPlots[] = {"line", "bars", "journey", "warps"};

Json both(const Text& text) { return {{"en", text.en}, {"zh", text.zh}}; }

Json cell(const Cell& value) { return std::visit([](const auto& v) { return Json(v); }, value); }

/// The fields of `row` named in `only`, or all of them.
Json row(const Row& row, const std::set<std::string>* only) {
    Json out = Json::object();
    for (const auto& [name, value] : row)
        if (only == nullptr || only->count(name)) out[name] = cell(value);
    return out;
}

Json pictures(const std::vector<Picture>& all) {
    Json out = Json::array();
    for (const Picture& picture : all)
        out.push_back({{"label", picture.label}, {"bytes", picture.bytes}, {"active", picture.warp.active}, {"addresses", picture.warp.addresses}});
    return out;
}

/// Lines of the program with what they asked of global memory, on the first GPU that knows them.
Json source(const ExperimentResult& result) {
    Json out = Json::object();
    const auto text = base::read_file(result.experiment->program, 1 << 20);
    out["text"] = text ? *text : "";
    Json counts = Json::object();
    for (const GpuResult& gpu : result.gpus) {
        for (const Row& line : gpu.data.lines) {
            if (std::get<std::string>(line.at("file")) != result.experiment->program.filename()) continue;
            const auto get = [&](const char* name) {
                const auto found = line.find(name);
                return found == line.end() ? 0.0 : std::get<double>(found->second);
            };
            const double sectors = get("memory_l2_theoretical_sectors_global"), ideal = get("memory_l2_theoretical_sectors_global_ideal");
            const double passes = get("memory_l1_wavefronts_shared"), passes_ideal = get("memory_l1_wavefronts_shared_ideal");
            if (sectors == 0 && passes == 0) continue;
            Json& entry = counts[std::to_string(int(std::get<double>(line.at("line"))))];
            if (entry.is_null()) entry = {{"sectors", 0.0}, {"ideal", 0.0}, {"passes", 0.0}, {"passes_ideal", 0.0}};
            entry["sectors"] = entry["sectors"].get<double>() + sectors;
            entry["ideal"] = entry["ideal"].get<double>() + ideal;
            entry["passes"] = entry["passes"].get<double>() + passes;
            entry["passes_ideal"] = entry["passes_ideal"].get<double>() + passes_ideal;
        }
        if (!counts.empty()) break;
    }
    out["lines"] = std::move(counts);
    return out;
}

Json gpu_result(const Experiment& e, const GpuResult& gpu, bool page) {
    std::set<std::string> wanted(e.rows.begin(), e.rows.end());
    for (const Column& column : e.columns) wanted.insert(column.name);
    for (const Plot& plot : e.plots) wanted.insert({plot.x, plot.series});
    Json cases = Json::array();
    for (size_t i = 0; i < gpu.data.cases.size(); ++i) {
        Json one = row(gpu.data.cases[i], page ? &wanted : nullptr);
        if (page && i < gpu.pictures.size() && !gpu.pictures[i].empty()) one["pictures"] = pictures(gpu.pictures[i]);
        cases.push_back(std::move(one));
    }
    Json claims = Json::array();
    for (const ClaimResult& claim : gpu.claims) {
        Json one = {{"verdict", kVerdicts[size_t(claim.verdict)]}, {"numbers", claim.subject}};
        if (!claim.reason.empty()) one["reason"] = claim.reason;
        claims.push_back(std::move(one));
    }
    Json errors = Json::array();
    for (const base::Diagnostic& error : gpu.errors) errors.push_back(base::to_string(error));
    Json out = {{"gpu", gpu.gpu}, {"seconds", gpu.seconds}, {"correct", gpu.correct}, {"errors", errors}, {"cases", cases}, {"claims", claims}};
    if (!page)
        for (const auto& [name, rows] : {std::pair{"faults", &gpu.data.faults}, {"transfers", &gpu.data.transfers}}) {
            out[name] = Json::array();
            for (const Row& each : *rows) out[name].push_back(row(each, nullptr));
        }
    return out;
}

Json experiment(const ExperimentResult& result, bool page) {
    const Experiment& e = *result.experiment;
    Json out = {{"name", e.name}, {"title", both(e.title)}, {"question", both(e.question)}, {"rows", e.rows}};
    for (const Column& column : e.columns)
        out["columns"].push_back({{"name", column.name}, {"label", both(column.label)}, {"unit", column.unit}, {"shown", column.shown}});
    for (const Claim& claim : e.claims) out["claims"].push_back({{"says", both(claim.says)}, {"that", claim.text}, {"gpus", claim.gpus}});
    if (page) {
        out["explanation"] = e.explanation;
        out["source"] = source(result);
        out["plots"] = Json::array();
        for (const Plot& plot : e.plots) {
            Json cases = Json::array();  // for each GPU, which cases are drawn
            for (const GpuResult& gpu : result.gpus) {
                Json indices = Json::array();
                for (size_t i = 0; i < gpu.data.cases.size(); ++i)
                    if (Expression::matches(gpu.data.cases[i], plot.where)) indices.push_back(i);
                cases.push_back(std::move(indices));
            }
            out["plots"].push_back({{"kind", kPlots[size_t(plot.kind)]}, {"title", both(plot.title)}, {"x", plot.x}, {"y", plot.y}, {"series", plot.series},
                                    {"steps", plot.steps}, {"log_x", plot.log_x}, {"cases", cases}});
        }
    }
    out["gpus"] = Json::array();
    for (const GpuResult& gpu : result.gpus) out["gpus"].push_back(gpu_result(e, gpu, page));
    return out;
}

Json all(const std::vector<ExperimentResult>& results, bool page) {
    Json out = {{"schema", "lanescope-lab/1"}, {"backend", results.empty() ? "" : results[0].backend}, {"mode", !results.empty() && results[0].full ? "full" : "quick"}};
    out["experiments"] = Json::array();
    for (const ExperimentResult& result : results) out["experiments"].push_back(experiment(result, page));
    return out;
}

}  // namespace

std::string to_json(const std::vector<ExperimentResult>& results) { return all(results, false).dump(1, ' ', true, Json::error_handler_t::replace) + '\n'; }

std::string html(const std::vector<ExperimentResult>& results) {
    constexpr std::string_view kMark = "@DATA@";
    const size_t at = kPage.find(kMark);
    std::string page(kPage.substr(0, at));
    // Nothing in the data may end the script element or begin a comment.
    for (const char c : all(results, true).dump(-1, ' ', true, Json::error_handler_t::replace))
        page += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : c == '&' ? "\\u0026" : std::string(1, c);
    page += kPage.substr(at + kMark.size());
    return page;
}

}  // namespace lanescope::lab
