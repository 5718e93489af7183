// Compares theoretical and ideal sectors of every source line with what Nsight Compute's source page recorded, exactly.
//
// usage: lines LANESCOPE PROGRAM.cu ARGUMENTS RECORDED.csv OUT.json
#include <fmt/format.h>

#include <filesystem>
#include <tuple>

#include "base/file.h"
#include "profile/profile.h"
#include "table.h"

namespace {

using namespace lanescope;
using Key = std::tuple<uint64_t, std::string, uint32_t>;   ///< launch, file name, line
struct Sectors {
    double theoretical = 0, ideal = 0;
    friend bool operator==(const Sectors&, const Sectors&) = default;
};

double metric(const profile::Line& line, const char* name) {
    const auto at = line.metrics.find(name);
    return at == line.metrics.end() ? 0 : at->second;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 6) return 2;
    const std::string out = argv[5];
    const std::string command = fmt::format("{} run --gpu h200 --counts-only --json {} {} {} >/dev/null 2>{}.log", argv[1], out, argv[2], argv[3], out);
    if (std::system(command.c_str()) != 0) {
        fmt::print("{}: failed, see {}.log\n", command, out);
        return 2;
    }
    const auto text = base::read_file(out);
    const auto profile = text ? profile::from_json(*text, out) : base::Result<profile::Profile>(text.errors());
    if (!profile) {
        fmt::print("{}\n", base::to_string(profile.errors()));
        return 2;
    }
    std::map<Key, Sectors> recorded, emulated;
    for (const accuracy::Row& row : accuracy::read_table(argv[4])) {
        if (row.at("space") != "Global") continue;
        Sectors& sum = recorded[{std::stoull(row.at("launch")), row.at("file"), uint32_t(std::stoul(row.at("line")))}];
        sum.theoretical += accuracy::number(row, "l2_theoretical_sectors_global");
        sum.ideal += accuracy::number(row, "l2_theoretical_sectors_global_ideal");
    }
    for (const profile::Launch& launch : profile->launches)
        for (const profile::Line& line : launch.lines)
            if (const double sectors = metric(line, "memory_l2_theoretical_sectors_global"); sectors != 0) {
                Sectors& sum = emulated[{launch.index, std::filesystem::path(line.file).filename().string(), line.line}];
                sum.theoretical += sectors;
                sum.ideal += metric(line, "memory_l2_theoretical_sectors_global_ideal");
            }
    size_t equal = 0;
    std::map<Key, Sectors> all = recorded;
    all.insert(emulated.begin(), emulated.end());
    for (const auto& [key, unused] : all) {
        const Sectors theirs = recorded[key], ours = emulated[key];
        if (theirs == ours) {
            ++equal;
            continue;
        }
        fmt::print("launch {} {}:{}: ours {} sectors, {} ideal; hardware {}, {}\n", std::get<0>(key), std::get<1>(key), std::get<2>(key), ours.theoretical,
                   ours.ideal, theirs.theoretical, theirs.ideal);
    }
    fmt::print("{} of {} lines equal in sectors and ideal sectors\n", equal, all.size());
    return equal == all.size() && !all.empty() ? 0 : 1;
}
