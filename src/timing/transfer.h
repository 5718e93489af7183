// How long a transfer takes on the described GPU: the copy engines and the host link.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gpu/description.h"

namespace lanescope::timing {

struct TransferTime {
    double ns = 0;
    bool measured = false;  ///< from the description's recorded curve; else from its rates and assumed overheads
};

/// Device time of one transfer, alone on the link.
///
/// `kind` is one of profile::Transfer's (host_to_device, device_to_host, device_to_device, peer, memset, prefetch_to_device,
/// prefetch_to_host, migration_to_device, migration_to_host), `memory` the host side's kind (pageable, pinned, write_combined, mapped, managed, device). Where the
/// description records a curve (`[transfers]`), time is interpolated linearly between its points: it starts at the shortest
/// recorded transfer and goes on with the last segment's rate. Elsewhere: an overhead of 4 µs (8 µs pageable; what an H200
/// needs for its shortest copies; 44 µs to the device and 35 µs to the host for managed memory, what its shortest prefetches need) and the description's rates; copies within the device run at 0.88 of peak counting both
/// directions and memsets at 0.94, as measured on an H200 at 1 GiB.
TransferTime transfer_time(const gpu::Description& gpu, std::string_view kind, std::string_view memory, uint64_t bytes);

}  // namespace lanescope::timing
