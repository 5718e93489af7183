#include "hardware/inject/resource_manager.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "hardware/inject/api.h"

namespace lanescope::inject {

namespace {

struct Allocation {
    uint32_t client, parent, object, type;
    uint64_t parameters;
    uint32_t size, status;
};
struct Control {
    uint32_t client, object, command, flags;
    uint64_t parameters;
    uint32_t size, status;
};
constexpr unsigned long kAllocate = _IOWR('F', 0x2b, Allocation), kControl = _IOWR('F', 0x2a, Control);

// Classes of objects.
constexpr uint32_t kClient = 0x41, kDevice = 0x80, kSubdevice = 0x2080;

struct DeviceParameters {
    uint32_t instance, share, target_client, target_device, flags;
    uint64_t size, start, limit;
    uint32_t mode;
};

// Commands, each with its parameters.
constexpr uint32_t kAttachedIds = 0x201, kIdInfo = 0x205, kPciInfo = 0x21b, kFlushGpuCache = 0x2080130e;
constexpr uint32_t kNoId = 0xffffffff;
struct PciInfo {
    uint32_t id, domain;
    uint16_t bus, slot;
};
struct IdInfo {
    uint32_t id, flags, device_instance, subdevice_instance, sli, board, gpu_instance;
    int32_t numa;
};
struct FlushParameters {
    uint64_t addresses[500];
    uint32_t count, alignment;
    uint64_t block_bytes;
    uint32_t flags;  ///< 0–1: aperture, 0 is video memory; 2: write back; 3: invalidate; 4: the whole cache, not addresses
};
static_assert(sizeof(Allocation) == 32 && sizeof(Control) == 32 && sizeof(DeviceParameters) == 56 && sizeof(FlushParameters) == 4024);

}  // namespace

ResourceManager::~ResourceManager() {
    if (file_ >= 0) ::close(file_);  // and all that was allocated through it
}

bool ResourceManager::allocate(uint32_t parent, uint32_t& object, uint32_t type, void* parameters, uint32_t size) const {
    Allocation request{client_, parent, object, type, reinterpret_cast<uint64_t>(parameters), size, 0};
    if (::ioctl(file_, kAllocate, &request) != 0 || request.status != 0) return false;
    object = request.object;
    return true;
}

bool ResourceManager::control(uint32_t object, uint32_t command, void* parameters, uint32_t size) const {
    Control request{client_, object, command, 0, reinterpret_cast<uint64_t>(parameters), size, 0};
    return ::ioctl(file_, kControl, &request) == 0 && request.status == 0;
}

bool ResourceManager::open(CUdevice device) {
    char name[32] = {};
    unsigned domain = 0, bus = 0, slot = 0;
    if (api.cuDeviceGetPCIBusId(name, sizeof name, device) != CUDA_SUCCESS || std::sscanf(name, "%x:%x:%x", &domain, &bus, &slot) != 3) return false;
    file_ = ::open("/dev/nvidiactl", O_RDWR | O_CLOEXEC);
    if (file_ < 0) return false;
    uint32_t client = 0;
    if (!allocate(0, client_, kClient, &client, sizeof client)) return false;
    uint32_t ids[32];
    std::fill(std::begin(ids), std::end(ids), kNoId);
    if (!control(client_, kAttachedIds, ids, sizeof ids)) return false;
    for (uint32_t id : ids) {
        if (id == kNoId) break;
        PciInfo place{id, 0, 0, 0};
        if (!control(client_, kPciInfo, &place, sizeof place) || place.domain != domain || place.bus != bus || place.slot != slot) continue;
        IdInfo info{};
        info.id = id;
        if (!control(client_, kIdInfo, &info, sizeof info)) return false;
        DeviceParameters parameters{};
        parameters.instance = info.device_instance;
        parameters.share = client_;
        return allocate(client_, device_, kDevice, &parameters, sizeof parameters) &&
               allocate(device_, subdevice_, kSubdevice, &info.subdevice_instance, sizeof info.subdevice_instance);
    }
    return false;
}

bool ResourceManager::flush_l2() const {
    FlushParameters parameters{};
    parameters.flags = 1u << 2 | 1u << 3 | 1u << 4;  // both: to invalidate without writing back would lose the program's data
    return control(subdevice_, kFlushGpuCache, &parameters, sizeof parameters);
}

}  // namespace lanescope::inject
