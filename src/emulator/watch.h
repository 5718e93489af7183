// Races and undefined reads of a program: what runs beside what, and what is found as rows of the profile.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "emulator/settings.h"
#include "emulator/timeline.h"
#include "exec/device_memory.h"
#include "exec/grid.h"
#include "hazard/detector.h"
#include "profile/profile.h"

namespace lanescope::emulator {

class Watch {
public:
    Watch(const Settings& settings, const Timeline& timeline)
        : detector_(settings.race_check, settings.undefined != Settings::Undefined::kOff), timeline_(timeline), undefined_(settings.undefined),
          on_(settings.race_check || settings.undefined != Settings::Undefined::kOff) {}

    /// A launch is about to run. `number`: Timeline::order's; `index`: in the profile. nullptr: nothing is watched.
    exec::Monitor* begin(const exec::Kernel& kernel, exec::Dim3 grid, exec::Dim3 block, Stream stream, uint64_t number, uint64_t index,
                         const exec::DeviceMemory& memory, bool lockstep);
    /// It has run: what was found. `note`: what could not be watched; empty: nothing.
    std::vector<profile::Fault> end(const exec::DeviceMemory& memory, std::string& note);

    /// The host reads or writes device memory with the stream's latest work. `dense`: every byte of the range, else some.
    std::vector<profile::Fault> touched(uint64_t address, uint64_t bytes, bool write, bool dense, Stream stream, const exec::DeviceMemory& memory);
    void undefined(const exec::Allocation& allocation) { detector_.allocated(allocation.begin, allocation.bytes); }
    void released(const exec::Allocation& allocation) { detector_.defined(allocation.begin, allocation.bytes); }
    /// Kernels are unloaded.
    void forget();

private:
    struct Work {
        Stream stream = 0;
        uint64_t number = 0;
        uint64_t address = 0, bytes = 0;  ///< 0: a launch
        bool write = false;
    };
    static constexpr size_t kWorkKept = 256;  ///< what is older counts as over
    void remember(Work work);
    std::vector<profile::Fault> rows(const exec::DeviceMemory& memory);

    hazard::Detector detector_;
    const Timeline& timeline_;
    Settings::Undefined undefined_;
    bool on_;
    std::deque<Work> open_;               ///< that the host has not waited for
    Work launch_;
    uint64_t index_ = 0;
};

}  // namespace lanescope::emulator
