// What a user can choose about an emulated run. `lanescope run` writes it to the environment of the program that it starts; the
// emulator inside that program reads it there.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/diagnostic.h"
#include "profile/selection.h"

namespace lanescope::emulator {

struct Settings {
    enum class L1 : uint8_t { kDefault, kOn, kOff };

    std::string gpu = "h200";         ///< LANESCOPE_GPU: a known name, or a path ending in .toml
    L1 l1 = L1::kDefault;             ///< LANESCOPE_L1=on|off: as -Xptxas -dlcm=ca|cg
    bool cold = true;                 ///< LANESCOPE_CACHES=cold|warm: caches are empty at each launch, or carried over
    bool counts_only = false;         ///< LANESCOPE_COUNTS_ONLY=1: requests and sectors, no caches, no time
    double kernel_timeout_s = 0;      ///< LANESCOPE_KERNEL_TIMEOUT, host seconds; 0: none
    double what_if_s = 10;            ///< LANESCOPE_WHAT_IF, seconds of a core that the replays of one launch may take; 0: no advice is tried
    bool report_leaks = false;        ///< LANESCOPE_LEAKS=1
    bool race_check = true;           ///< LANESCOPE_RACE_CHECK=on|off
    enum class Undefined : uint8_t { kWarn, kError, kOff };
    Undefined undefined = Undefined::kWarn;  ///< LANESCOPE_UNINITIALIZED=warn|error|off: reads of device memory that was never written
    profile::LaunchFilter launches;   ///< LANESCOPE_KERNEL, LANESCOPE_LAUNCH_SKIP, LANESCOPE_LAUNCH_COUNT: what is profiled; the rest only runs
    std::string session;              ///< LANESCOPE_SESSION: folder of the session's journal; empty: nobody listens
    std::string ptxas;                ///< LANESCOPE_PTXAS: path of NVIDIA's assembler; empty: found on PATH; "none": not used

    friend bool operator==(const Settings&, const Settings&) = default;
};

using Lookup = std::function<const char*(const char* name)>;  ///< nullptr: not set

/// Reads the variables above with `lookup` (std::getenv of a process). A value that is none of those listed is an error naming the variable.
base::Result<Settings> settings_from_environment(const Lookup& lookup);

/// The variables that make settings_from_environment give `settings`; every variable above is present.
std::map<std::string, std::string> to_environment(const Settings& settings);

/// What a report shows of the settings: "l1" → "on", "caches" → "cold", …
std::map<std::string, std::string> describe(const Settings& settings);

}  // namespace lanescope::emulator
