#include "memory/shapes.h"

#include <bit>

namespace lanescope::memory {
namespace {

constexpr uint32_t kLanes = 32;

/// Bit i (1 … 31): lane i does not lie `step` bytes after lane i - 1.
uint32_t breaks(const uint64_t* addresses, uint64_t step) {
    uint32_t mask = 0;
    for (uint32_t lane = 1; lane < kLanes; ++lane) mask |= uint32_t(addresses[lane] - addresses[lane - 1] != step) << lane;
    return mask;
}

/// Breaks exactly before each group of 2, 4, 8 or 16 lanes.
bool periodic(uint32_t mask) { return mask == 0x55555554 || mask == 0x11111110 || mask == 0x01010100 || mask == 0x00010000; }

}  // namespace

void Shapes::add(const uint64_t* addresses, uint32_t active, uint32_t bytes) {
    partial += active != ~0u;
    const uint32_t first = uint32_t(std::countr_zero(active)), others = active & (active - 1);
    if (others == 0) {
        ++single;
        return;
    }
    const uint32_t second = uint32_t(std::countr_zero(others));
    const uint64_t base = addresses[first];
    const int64_t distance = int64_t(addresses[second] - base), gap = second - first;
    const int64_t stride = gap == 1 ? distance : distance / gap;
    uint64_t wrong = 0;  // some lane is not where `stride` puts it
    if (active == ~0u) {
        for (uint32_t lane = 0; lane < kLanes; ++lane) wrong |= (addresses[lane] - base) ^ (uint64_t(stride) * lane);
    } else {
        for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
            const uint32_t lane = uint32_t(std::countr_zero(rest));
            wrong |= (addresses[lane] - base) ^ (uint64_t(stride) * (lane - first));
        }
    }
    if (wrong == 0) {
        if (stride == 0) ++uniform;
        else if (stride == int64_t(bytes)) ++contiguous;
        else if (stride == -int64_t(bytes)) ++reversed;
        else {
            ++strided;
            const uint64_t apart = uint64_t(stride < 0 ? -stride : stride), place = base % apart;
            stride_bytes += apart;
            if (strided == 1) place_ = place;
            walking += place != place_;
        }
    } else if (active == ~0u && periodic(breaks(addresses, bytes))) {
        ++rows;
    } else if (active == ~0u && periodic(breaks(addresses, 0))) {
        ++groups;
    } else {
        ++irregular;
    }
}

}  // namespace lanescope::memory
