#include "timing/transfer.h"

#include <algorithm>
#include <cmath>

namespace lanescope::timing {
namespace {

// Shortest copies of an H200 (recorded curve), taken for GPUs without one.
constexpr double kPinnedOverheadNs = 4000, kPageableOverheadNs = 8000, kDeviceOverheadNs = 3000;
// Shortest prefetches of managed memory of an H200: the driver changes page tables on both sides.
constexpr double kMovedToDeviceOverheadNs = 44000, kMovedToHostOverheadNs = 35000;
// Shares of the theoretical peak that an H200 reaches at 1 GiB.
constexpr double kCopyShare = 0.88, kMemsetShare = 0.94;

double interpolate(const gpu::Curve& curve, double bytes) {
    const auto above = std::find_if(curve.begin(), curve.end(), [&](const gpu::CurvePoint& point) { return point.bytes >= bytes; });
    if (above == curve.begin()) return curve.front().ns;
    const auto right = above == curve.end() ? curve.end() - 1 : above;
    const auto left = right - 1;
    const double rate = (right->ns - left->ns) / (right->bytes - left->bytes);
    return std::max(left->ns + (bytes - left->bytes) * rate, 0.0);
}

}  // namespace

TransferTime transfer_time(const gpu::Description& gpu, std::string_view kind, std::string_view memory, uint64_t bytes) {
    if (bytes == 0) return {};
    const double size = double(bytes), peak = gpu.peak_bytes_per_second();
    if (memory == "mapped") memory = "pinned";
    const auto curve_of = [&](std::string_view name) { return gpu.transfers.find(std::string(name) + '.' + std::string(memory)); };
    if (const auto curve = curve_of(kind); curve != gpu.transfers.end()) return {interpolate(curve->second, size), true};
    if (kind.starts_with("migration_"))   // faults make the driver do what it does for a prefetch
        if (const auto curve = curve_of(kind.ends_with("host") ? "prefetch_to_host" : "prefetch_to_device"); curve != gpu.transfers.end())
            return {interpolate(curve->second, size), false};
    if (kind == "memset") return {kDeviceOverheadNs + size / (kMemsetShare * peak) * 1e9, false};
    if (kind == "device_to_device") return {kDeviceOverheadNs + 2 * size / (kCopyShare * peak) * 1e9, false};
    if (kind.starts_with("migration_") || kind.starts_with("prefetch_"))
        return {(kind.ends_with("host") ? kMovedToHostOverheadNs : kMovedToDeviceOverheadNs) + size / gpu.link_bytes_per_second * 1e9, false};
    if (memory == "pageable") {
        const double rate = kind == "device_to_host" ? gpu.pageable_d2h_bytes_per_second : gpu.pageable_h2d_bytes_per_second;
        return {kPageableOverheadNs + size / rate * 1e9, false};
    }
    return {kPinnedOverheadNs + size / gpu.link_bytes_per_second * 1e9, false};
}

}  // namespace lanescope::timing
