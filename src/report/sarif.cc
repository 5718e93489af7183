#include "report/sarif.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "analysis/pattern.h"
#include "report/text.h"

namespace lanescope::report {
namespace {

using Json = nlohmann::ordered_json;

std::string identifier(std::string_view name) {
    std::string out;
    for (const char c : name) out += c == ' ' || c == ',' ? '-' : c;
    return out;
}

/// Tells a finding again when its line has moved: by what it is, where (file and kernel), and the text of the line; `count` tells equal ones apart.
class Fingerprints {
public:
    Json of(const std::string& rule, const std::string& file, const std::string& kernel, const std::string& text) {
        uint64_t hash = 0xcbf29ce484222325;   // FNV-1a
        for (const std::string* part : {&rule, &file, &kernel, &text})
            for (size_t i = 0; i <= part->size(); ++i) hash = (hash ^ (i < part->size() ? static_cast<unsigned char>((*part)[i]) : 0xffu)) * 0x100000001b3;
        const std::string key = fmt::format("{:016x}", hash);
        return {{"primaryLocationLineHash", fmt::format("{}:{}", key, ++seen_[key])}};
    }

private:
    std::map<std::string, unsigned> seen_;
};

/// A path as an URI reference: relative to `root` where it lies below it, everything unusual escaped.
Json location(const std::string& file, uint32_t line, const std::string& root) {
    std::string path = file;
    bool relative = file.empty() || file[0] != '/';
    if (!root.empty() && file.starts_with(root + "/")) {
        path = file.substr(root.size() + 1);
        relative = true;
    }
    std::string uri = relative ? "" : "file://";
    for (const char c : path) {
        const bool plain = std::isalnum(static_cast<unsigned char>(c)) || std::string_view("/-._~+@").find(c) != std::string_view::npos;
        uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    Json artifact = {{"uri", uri}};
    if (relative) artifact["uriBaseId"] = "%SRCROOT%";
    return {{"physicalLocation", {{"artifactLocation", artifact}, {"region", {{"startLine", std::max(1u, line)}}}}}};
}

}  // namespace

std::string sarif(const analysis::Summary& summary, const std::string& root) {
    Json results = Json::array();
    std::map<std::string, Json> rules;
    Fingerprints fingerprints;
    const auto print_of = [&](const std::string& rule, const std::string& file, const std::string& kernel, const std::string& text) {
        return fingerprints.of(rule, file.starts_with(root + "/") ? file.substr(root.size() + 1) : file, kernel, text);
    };
    for (const analysis::KernelSummary& kernel : summary.kernels)
        for (const analysis::SourceRow& line : kernel.lines) {
            if (line.file.empty()) continue;
            for (const analysis::AccessRow& row : line.accesses) {
                if (row.grade != analysis::Grade::kBad) continue;
                const analysis::PatternText& text = analysis::text_of(analysis::kind_of(row.pattern));
                const std::string id = "memory/" + identifier(text.name);
                rules[id] = {{"id", id}, {"shortDescription", {{"text", std::string(text.meaning)}}},
                             {"fullDescription", {{"text", std::string(text.cost)}}}, {"help", {{"text", std::string(text.remedy)}}}};
                const std::string message =
                    fmt::format("{}: {} {} takes {:.3g} {} a request where {:.3g} would do{}", analysis::short_name(kernel.kernel), row.space, row.operation,
                                row.per_request(), row.unit, row.ideal_per_request(), row.pattern.empty() ? "" : " (" + row.pattern + ")");
                // Where changes were tried, only what one of them mends is worth a warning.
                const bool mends = kernel.tried == 0 || !line.advice.empty();
                results.push_back({{"ruleId", id}, {"level", mends ? "warning" : "note"}, {"message", {{"text", message}}}, {"locations", {location(line.file, line.line, root)}},
                                   {"partialFingerprints", print_of(id, line.file, analysis::short_name(kernel.kernel), line.text)}});
            }
            for (const size_t number : line.advice) {
                const analysis::Advice& advice = kernel.advice[number];
                if (advice.file != line.file || advice.line != line.line) continue;
                const std::string id = "advice/" + identifier(advice.text->key);
                rules[id] = {{"id", id}, {"shortDescription", {{"text", std::string(advice.text->name)}}}, {"fullDescription", {{"text", std::string(advice.text->how)}}},
                             {"help", {{"text", "Tried by replaying the launch with this change; the gain is predicted by the model."}}}};
                const std::string message = fmt::format("{}: {}: {}. The kernel would take {} instead of {}{}", analysis::short_name(kernel.kernel), advice.text->name, advice.how,
                                                        time(advice.after_ns), time(advice.before_ns), advice.effect.empty() ? "" : "; " + advice.effect);
                results.push_back({{"ruleId", id}, {"level", "warning"}, {"message", {{"text", message}}}, {"locations", {location(line.file, line.line, root)}},
                                   {"partialFingerprints", print_of(id, line.file, analysis::short_name(kernel.kernel), line.text)}});
            }
        }
    for (const profile::Fault& fault : summary.profile->faults) {
        const std::string id = "fault/" + identifier(fault.kind);
        rules[id] = {{"id", id}, {"shortDescription", {{"text", "A kernel did something that is not allowed: " + fault.kind}}}};
        Json result = {{"ruleId", id}, {"level", fault.warning ? "warning" : "error"}, {"message", {{"text", fault.message}}}};
        Json places = Json::array();
        for (const profile::Frame& frame : fault.where)
            if (!frame.file.empty() && places.empty()) {
                places.push_back(location(frame.file, frame.line, root));
                result["partialFingerprints"] = print_of(id, frame.file, frame.function, analysis::source_text(*summary.profile, frame.file, frame.line));
            }
        if (!places.empty()) result["locations"] = places;
        for (const profile::Frame& frame : fault.other)
            if (!frame.file.empty()) {
                result["relatedLocations"] = {location(frame.file, frame.line, root)};
                result["relatedLocations"][0]["message"] = {{"text", "the other thread"}};
                break;
            }
        results.push_back(result);
    }
    Json listed = Json::array();
    for (auto& [id, rule] : rules) listed.push_back(rule);
    const Json root_uri = {{"%SRCROOT%", {{"description", {{"text", "The root of the repository"}}}}}};
    const Json log = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                      {"version", "2.1.0"},
                      {"runs", {{{"tool", {{"driver", {{"name", "lanescope"}, {"semanticVersion", "0.1.0"}, {"rules", listed}}}}},
                                 {"originalUriBaseIds", root_uri},
                                 {"columnKind", "utf16CodeUnits"},
                                 {"results", results}}}}};
    return log.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace lanescope::report
