// The one table of what a GPU description holds: a row gives the file's section and key, where the value is kept, its unit and its limits.
#pragma once

#include <span>
#include <variant>

#include "gpu/description.h"

namespace lanescope::gpu {

/// How a value is written in the file, and the unit it is kept in.
enum class Unit : uint8_t {
    kNone,        ///< a plain number
    kBytes,       ///< "128 B", "48 KiB", "60 MiB", "24 GiB"; kept in bytes
    kFrequency,   ///< "1980 MHz", "1.98 GHz"; kept in MHz
    kBits,        ///< "384 bit"
    kTime,        ///< "345 ns", "2 us"; kept in ns
    kRate,        ///< "55 GB/s" (10^9); kept in bytes per second
    kText,
    kFlag,        ///< true or false
    kCapability,  ///< "9.0"; kept as 90
    kCoalescing,  ///< "kepler", "maxwell", "sectors"
};

using Member = std::variant<uint32_t Description::*, uint64_t Description::*, double Description::*, bool Description::*,
                            std::string Description::*, std::vector<uint64_t> Description::*, Coalescing Description::*>;

struct Key {
    std::string_view section, name;
    Member member;
    Unit unit = Unit::kNone;
    double min = 0, max = 0;      ///< in the kept unit, both allowed
    bool may_be_unknown = false;  ///< "unknown" is allowed and keeps the member's default
};

std::span<const Key> keys();

/// The words of the file, in the order of the enumerations.
inline constexpr std::string_view kConfidenceNames[] = {"datasheet", "whitepaper", "measured", "inferred", "assumed"};
inline constexpr std::string_view kTransferNames[] = {
    "host_to_device.pageable", "host_to_device.pinned",   "host_to_device.write_combined", "device_to_host.pageable",
    "device_to_host.pinned",   "device_to_device.device", "memset.device",                 "prefetch_to_device.managed",
    "prefetch_to_host.managed", "migration_to_device.managed", "migration_to_host.managed"};
inline constexpr std::string_view kCoalescingNames[] = {"kepler", "maxwell", "sectors"};

}  // namespace lanescope::gpu
