// Two accesses that nothing orders, of which one writes.
#pragma once

#include <cstdint>

#include "exec/access.h"
#include "exec/monitor.h"
#include "exec/program.h"

namespace lanescope::hazard {

/// A running or past grid, as far as a report needs it.
struct Grid {
    const exec::Kernel* kernel = nullptr;
    exec::Dim3 grid, block;
    uint64_t launch = 0;                  ///< the caller's number of it, never given twice
    uint64_t index = 0;                   ///< for the caller's reports
    uint32_t stream = 0;
};

/// One of the two.
struct Party {
    const Grid* grid = nullptr;           ///< nullptr: a copy or memset by the host
    uint32_t place = 0;                   ///< index into Code::plans of the grid's kernel; kPlaces: not known
    bool write = false, atomic = false;
    exec::Dim3 block{0, 0, 0}, thread{0, 0, 0};
    uint32_t bytes = 0;                   ///< a lane; 0: not known
};

struct Race {
    Party first, second;                  ///< in the order in which they ran here
    exec::Space space = exec::Space::kGlobal;
    uint64_t address = 0;                 ///< the first byte that both touched: a device address, or an offset in shared memory
    bool same_value = false;              ///< the write left there what was there: whoever is first, the outcome is the same
    uint64_t count = 1;                   ///< how often the two instructions met like this; counting ends at kCounted
    static constexpr uint64_t kCounted = 1000;
};

/// A read of memory that nothing has written.
struct Undefined {
    const Grid* grid = nullptr;
    uint32_t place = 0;
    exec::Space space = exec::Space::kGlobal;
    exec::Dim3 block{0, 0, 0}, thread{0, 0, 0};
    uint64_t address = 0;
    uint32_t bytes = 0;
};

}  // namespace lanescope::hazard
