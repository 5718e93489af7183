// A small profile to analyse and render: two kernels, one good and one bad.
#pragma once

#include "profile/catalogue.h"
#include "profile/profile.h"

namespace lanescope::analysis {

inline profile::Access make_access(const char* space, const char* operation, profile::Metrics metrics, uint64_t stride = 4) {
    profile::Access access;
    access.space = space;
    access.operation = operation;
    access.bytes = 4;
    access.metrics = std::move(metrics);
    access.example = profile::ExampleWarp{0, 1, 0xffffffffu, {}};
    for (uint64_t lane = 0; lane < 32; ++lane) access.example->addresses.push_back((access.space == "global" ? 0x7f0000000000u : 0u) + stride * lane);
    return access;
}

inline profile::Line make_line(uint32_t number, std::vector<profile::Access> accesses, const char* file = "/src/copy.cu") {
    profile::Line line;
    line.file = file;
    line.line = number;
    line.accesses = std::move(accesses);
    return line;
}

/// 100 requests of a contiguous load and store; or a strided store of 32 sectors where 4 would do.
inline profile::Launch make_launch(bool bad, uint64_t index, double time) {
    profile::Launch launch;
    launch.index = index;
    launch.kernel = bad ? "void transpose<(int)0>(const float*, float*)" : "copy(const float*, float*)";
    launch.symbol = bad ? "_Z9transposeILi0EEvPKfPf" : "_Z4copyPKfPf";
    launch.grid[0] = 25;
    launch.block[0] = 128;
    if (bad) launch.grid[1] = 2;
    const profile::Metrics whole = {{"instructions", 100}, {"requests", 100}, {"sectors", 400}, {"ideal_sectors", 400}, {"unique_bytes", 12800}, {"requested_bytes", 12800}};
    const profile::Metrics wide = {{"instructions", 100}, {"requests", 100}, {"sectors", 3200}, {"ideal_sectors", 400}, {"unique_bytes", 12800}, {"requested_bytes", 12800}};
    launch.lines = {make_line(bad ? 7 : 3, {make_access("global", "load", whole), make_access("global", "store", bad ? wide : whole, bad ? 4096 : 4)})};
    launch.metrics["gpu__time_duration.sum"] = time;
    profile::roll_up(launch);
    return launch;
}

inline profile::Profile make_profile() {
    profile::Profile profile;
    profile.backend = "emulated";
    profile.gpu_name = "h200";
    profile.argv = {"./copy"};
    profile.settings = {{"caches", "cold"}};
    profile.launches = {make_launch(false, 0, 1000), make_launch(true, 1, 8000), make_launch(false, 2, 1000)};
    profile.transfers = {{"host_to_device", "pageable", 4096, 0, 0, 1000}, {"host_to_device", "pageable", 4096, 0, 1000, 1000}};
    profile.sources["/src/copy.cu"] = {"// copy", "__global__ void copy(...) {", "    out[i] = in[i];", "}", "template <int Pad>", "__global__ void transpose(...) {",
                                       "    out[x * n + y] = in[y * n + x];", "}"};
    return profile;
}

}  // namespace lanescope::analysis
