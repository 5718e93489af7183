// Reference files of the accuracy suite, written from a measured profile.
#include <fmt/format.h>

#include "hardware/hardware.h"
#include "profile/catalogue.h"

namespace lanescope::hardware {

namespace {

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + '"';
}

}  // namespace

std::string reference_csv(const profile::Profile& profile, const std::vector<std::string>& metrics) {
    std::string out = "launch,Kernel Name,Grid Size,Block Size";
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
    std::string out =
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
