// Runs an unmodified CUDA program on the GPU of this machine and fills the same profile that the emulator does, from hardware
// counters. The program runs several times: once for times and transfers, once for counts by source line, and once for each
// pass of the counters.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "profile/profile.h"
#include "profile/selection.h"

namespace lanescope::hardware {

struct Device {
    std::string product;                   ///< "NVIDIA H200"
    std::string chip;                      ///< "GH100"; empty: not known
    uint32_t compute_capability = 0;       ///< 10 × major + minor
    uint32_t sms = 0, max_warps_per_sm = 0, max_blocks_per_sm = 0, registers_per_sm = 0, reserved_shared_per_block = 0;
    uint64_t shared_per_sm = 0, l2_bytes = 0, memory_bytes = 0;
    uint32_t sm_khz = 0, memory_khz = 0, bus_bits = 0;
};

/// What a probe sees of the machine; judge() makes a verdict of it. Apart, so that every verdict can be tested anywhere.
struct Surroundings {
    bool driver = false;                   ///< libcuda is there
    uint32_t driver_version = 0;           ///< CUDA version it supports: 13000 for 13.0
    std::string driver_release;            ///< "580.159.04"; empty: not known
    int init_error = 0;                    ///< CUresult of cuInit
    std::vector<Device> devices;
    bool admin_only = false;               ///< the driver keeps counters for administrators
    bool privileged = false;               ///< we are one
    std::string cupti_problem;             ///< why CUPTI can't be used; empty: it can
    uint32_t cupti_version = 0;
    std::string injection_problem;         ///< why the injected library can't be used; empty: it can
};

struct Availability {
    bool times = false;                    ///< programs run on a GPU here, and their times and transfers can be had
    bool counters = false;                 ///< and hardware counters, too
    Device device;
    std::string driver;                    ///< "580.159.04 (CUDA 13.0)"
    std::string problem, remedy;           ///< both empty where everything is to be had
    std::string still;                     ///< what can be had all the same
};

/// "580.159.04" of what /proc/driver/nvidia/version says; empty where it says something else.
std::string release_of(std::string_view version);
Surroundings look_around();
Availability judge(const Surroundings& seen);
inline Availability probe() { return judge(look_around()); }

struct Progress {
    uint32_t run = 0, runs = 0;            ///< from 1; `runs` is an estimate until the first run has ended
    std::string doing;                     ///< "times and transfers", "counts by line", "counters, pass 3 of 9"
};

struct Request {
    std::vector<std::string> argv;
    std::optional<std::vector<std::string>> metrics;  ///< that counters are read for; nothing: what the catalogue has and this chip counts
    std::vector<std::string> extra_metrics;
    bool lines = true;                     ///< counts by source line
    bool warm = false;                     ///< leave caches as the program's own kernels leave them
    profile::LaunchFilter launches;
    double time_limit = 0;                 ///< seconds a repeated run may take; 0: 30 times the first run, a minute at least
    std::optional<Availability> available; ///< what a probe has found already; else run() probes while the program runs first
    std::function<void(const Progress&)> progress;
    std::function<bool()> cancelled;       ///< asked often; a true ends the collection, what was collected stays
};

struct Outcome {
    profile::Profile profile;
    int exit_status = 0;                   ///< of the program: 128 + signal when one ended it
    std::vector<std::string> warnings;     ///< what could not be had, and why
};

/// Output and input of the program are those of its first run; those of the others are discarded. Fails when the program
/// can't be started or nothing at all could be collected.
base::Result<Outcome> run(const Request& request);

/// How many runs a request takes on this machine at most, and why: "1 run for times, 1 for lines, 9 passes of counters".
struct Runs {
    uint32_t times = 1, lines = 1, counters = 0;
    std::vector<std::string> metrics;                    ///< counted
    std::vector<std::string> unsupported;                ///< asked for but not counted by this chip
};
base::Result<Runs> plan(const Request& request, const Availability& available);

/// Of `metrics` those that a counter must be read for; the others come with the launch, the counts by line, or a formula.
std::vector<std::string> counters_of(const std::vector<std::string>& metrics);
/// Every metric that some launch has, in the catalogue's order, then the others.
std::vector<std::string> metrics_in(const profile::Profile& profile);

/// The accuracy suite's reference format: a comment with device, driver and date, then one row a launch, one column a metric; numbers
/// as counted, times in ns.
std::string reference_csv(const profile::Profile& profile, const std::vector<std::string>& metrics);
/// One row a memory instruction of the machine code, with its source line.
std::string reference_lines_csv(const profile::Profile& profile);

}  // namespace lanescope::hardware
