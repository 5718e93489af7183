// The one thing that CUDA has no call for: writing L2 back and emptying it, asked of the driver's resource manager.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace lanescope::inject {

/// A client of the kernel driver, by the interface that NVIDIA's open kernel modules publish (nvos.h, ctrl0000gpu.h, ctrl2080fb.h). What
/// it asks for needs no privilege.
class ResourceManager {
public:
    ResourceManager() = default;
    ~ResourceManager();
    ResourceManager(const ResourceManager&) = delete;
    ResourceManager& operator=(const ResourceManager&) = delete;

    /// False where the driver isn't there or doesn't understand us.
    bool open(CUdevice device);
    /// Writes the GPU's L2 back to its memory and invalidates it. The GPU should be idle. Takes some 0.4 ms on an H200.
    bool flush_l2() const;

private:
    bool allocate(uint32_t parent, uint32_t& object, uint32_t type, void* parameters, uint32_t size) const;
    bool control(uint32_t object, uint32_t command, void* parameters, uint32_t size) const;

    int file_ = -1;
    uint32_t client_ = 0, device_ = 0x1a5e0080, subdevice_ = 0x1a5e2080;  ///< handles; the last two are names of our own choice
};

}  // namespace lanescope::inject
