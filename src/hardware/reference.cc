// Reference files of the accuracy suite, written from a measured profile.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "hardware/hardware.h"
#include "profile/catalogue.h"

namespace lanescope::hardware {

namespace {

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + '"';
}

/// "# NVIDIA H200, driver 580.159.04 (CUDA 13.0), CUPTI 13.0.1, 2026-11-30. ./patterns 1048576, caches flushed before each kernel."
std::string provenance(const profile::Profile& profile, const char* what) {
    auto setting = [&](const char* name) {
        auto found = profile.settings.find(name);
        return found == profile.settings.end() ? std::string("unknown") : found->second;
    };
    auto gpu = nlohmann::json::parse(profile.gpu_json, nullptr, false);
    std::string product = gpu.is_object() ? gpu.value("product", profile.gpu_name) : profile.gpu_name;
    return fmt::format("# {}, driver {}, CUPTI {} by lanescope, {}. {}, {}{}.\n", product, setting("driver"), setting("cupti"), setting("date"),
                       base::printable(fmt::format("{}", fmt::join(profile.argv, " "))),
                       setting("caches") == "warm" ? "caches kept" : "caches flushed before each kernel", what);
}

}  // namespace

std::string reference_csv(const profile::Profile& profile, const std::vector<std::string>& metrics) {
    std::string out = provenance(profile, "") + "launch,Kernel Name,Grid Size,Block Size";
    for (auto& metric : metrics) out += "," + metric;
    out += '\n';
    for (auto& launch : profile.launches) {
        out += fmt::format("{},{},\"({}, {}, {})\",\"({}, {}, {})\"", launch.index, quoted(launch.kernel), launch.grid[0], launch.grid[1],
                           launch.grid[2], launch.block[0], launch.block[1], launch.block[2]);
        for (auto& metric : metrics) {
            auto found = launch.metrics.find(metric);
            out += ',' + (found == launch.metrics.end() ? "" : profile::number(found->second));
        }
        out += '\n';
    }
    return out;
}

std::string reference_lines_csv(const profile::Profile& profile) {
    std::string out = provenance(profile, ": one row a memory instruction of the machine code") +
        "launch,function,file,line,space,op,bits,instructions,thread_instructions,l1_tag_requests_global,l2_theoretical_sectors_global,"
        "l2_theoretical_sectors_global_ideal\n";
    for (auto& launch : profile.launches)
        for (auto& line : launch.lines)
            for (auto& access : line.accesses) {
                auto count = [&](const char* name) {
                    auto found = access.metrics.find(name);
                    return found == access.metrics.end() ? 0.0 : found->second;
                };
                bool global = access.space == "global";
                out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", launch.index, quoted(launch.kernel), line.file, line.line, access.space,
                                   access.operation, access.bytes * 8, count("instructions"), count("threads"), global ? count("tags") : 0.0,
                                   global ? count("sectors") : 0.0, global ? count("ideal_sectors") : 0.0);
            }
    return out;
}

}  // namespace lanescope::hardware
