// Where the injected library is, and one run of the program with it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "hardware/events.h"

namespace lanescope::hardware {

/// liblanescope_inject.so: LANESCOPE_INJECT, else beside the running executable or in its ../lib.
base::Result<std::string> injection_library();

/// The program's standard input, handed to its first run as it is and to the others as it was then.
class Input {
public:
    explicit Input(std::filesystem::path folder);
    ~Input();
    Input(const Input&) = delete;
    Input& operator=(const Input&) = delete;

    /// A descriptor for the next run; closed by close_run(), which also stops recording.
    int open_run(bool first);
    void close_run();
    /// True when later runs can't see what the first one saw (a terminal).
    bool lost() const;

private:
    struct State;
    State* state_;
};

struct Command {
    std::vector<std::string> argv;
    std::vector<std::pair<std::string, std::string>> environment;   ///< added to ours
    int input = 0;
    bool quiet = false;                     ///< output discarded, in a process group of its own
    double time_limit = 0;                  ///< seconds; 0: none
    std::function<bool()> cancelled;
};

struct Ended {
    int exit_status = 0;                    ///< 128 + signal
    int signal = 0;
    bool timed_out = false, cancelled = false;
    double seconds = 0;
};

/// Starts the program and waits for it. An error means that it couldn't be started.
base::Result<Ended> execute(const Command& command);

}  // namespace lanescope::hardware
