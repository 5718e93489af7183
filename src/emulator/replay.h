// Replays a launch with changes: the process is copied before the launch, and the copy runs it again.
//
// The copy is a forked child that shares the process's memory copy-on-write and waits. It never returns into the program, writes to no
// file and ends with _exit, so that nothing of the program happens twice. It uses the calling thread only.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "analysis/candidate.h"

namespace lanescope::emulator {

/// Numbers of a whole launch. Trivially copyable.
struct Outcome {
    uint32_t index = 0;               ///< of the change
    bool finished = false;            ///< the kernel came to its end
    double time_ns = 0, sectors = 0, l2_sectors = 0, dram_bytes = 0, wavefronts = 0, link_bytes = 0, constant_words = 0;
};
profile::Metrics to_metrics(const Outcome& outcome);

class Replay {
public:
    using Work = std::function<Outcome(const analysis::Candidate&)>;

    /// Copies this process; in the copy, `work` runs a launch as it would have run now. `detach` runs there first, before this returns, and
    /// takes what fork leaves shared. nullptr: the process can't be copied.
    static std::unique_ptr<Replay> prepare(Work work, const std::function<bool()>& detach = {});
    /// Ends the copy, if it was not used.
    ~Replay();
    Replay(const Replay&) = delete;
    Replay& operator=(const Replay&) = delete;

    /// Runs the changes, each from the state of prepare(), `at_once` of them side by side; `in_place` (one change only): in the copy itself,
    /// which needs less memory than a copy of the copy. Those that are not done after `seconds` are missing from the result. Once only.
    std::vector<Outcome> run(const std::vector<analysis::Candidate>& changes, unsigned at_once, bool in_place, double seconds);

private:
    Replay(pid_t child, int to, int from) : child_(child), to_(to), from_(from) {}
    pid_t child_;
    int to_, from_;
};

}  // namespace lanescope::emulator
