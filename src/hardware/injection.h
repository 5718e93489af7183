// Where the injected library is, and one run of the program with it.
#pragma once

#include <chrono>
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

    /// A descriptor for the next run; ours is closed by opened().
    int open_run(bool first);
    void opened();
    /// The first run has ended.
    void stop_recording();
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
};

struct Ended {
    int exit_status = 0;                    ///< 128 + signal
    int signal = 0;
    bool timed_out = false, cancelled = false;
    double seconds = 0;                     ///< since it was started
};

/// A running program. What is still running when this object goes is killed.
class Process {
public:
    /// An error means that it couldn't be started.
    static base::Result<Process> start(const Command& command);
    Process(Process&& other) noexcept;
    Process& operator=(Process&&) = delete;
    ~Process();

    /// Waits for its end; kills it after `time_limit` seconds from now (0: never) or when `cancelled` says so.
    Ended wait(double time_limit, const std::function<bool()>& cancelled);

private:
    Process(int child, bool quiet) : child_(child), quiet_(quiet) {}
    void signal(int number) const;

    int child_;
    bool quiet_;
    std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace lanescope::hardware
