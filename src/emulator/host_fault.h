// A host that touches device memory dies of it, as on hardware; but the session is told why.
#pragma once

#include "emulator/journal.h"
#include "exec/device_memory.h"

namespace lanescope::emulator {

/// From now on a host access to the device's arena writes a fault "host_access" to `journal` before the process goes on to its signal's
/// former action. One context at a time; nullptr ends it. Does nothing where the program has a handler of its own.
void watch_host_accesses(const exec::DeviceMemory* memory, Journal* journal);

}  // namespace lanescope::emulator
