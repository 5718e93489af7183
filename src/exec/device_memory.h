// The memory of the emulated GPU: reproducible addresses, bounds of every allocation, and the bytes behind them.
//
// Device allocations live in an arena at the same address in every run. The host cannot read it (reserved without access, so that a host
// dereference faults as on hardware); their bytes are elsewhere in the host's memory, at Allocation::host_delta from the device address.
// Host-visible allocations (pinned, mapped, managed) have one address for both sides. Managed memory is mapped twice, once for the program
// and once for us, so that the pages that the program has touched can be told from those that kernels have. Untouched memory costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"

namespace lanescope::exec {

enum class Region : uint8_t {
    kDevice,      ///< cudaMalloc, module variables
    kHost,        ///< pinned and mapped host memory: the device reaches it over the link
    kManaged,     ///< one address for host and device, resides in device memory when the device used it last
    kHeap,        ///< malloc of a kernel
    kRegistered,  ///< the program's own host memory, registered with adopt()
};

struct Allocation {
    uint64_t begin = 0, bytes = 0;        ///< device address; the bytes asked for, not rounded
    Region region = Region::kDevice;
    bool read_only = false;               ///< kernels may not store (the constant bank)
    int64_t host_delta = 0;               ///< host address - device address
    uint64_t id = 0;                      ///< 1, 2, 3, … in the order of allocation
    std::string name;                     ///< for messages: "cudaMalloc", "variable devData"
    uint64_t end() const { return begin + bytes; }
    bool contains(uint64_t address) const { return address - begin < bytes; }
};

/// The allocation that an address belongs to or lies nearest to.
struct Nearest {
    Allocation allocation;
    uint64_t distance = 0;                ///< bytes between the address and the allocation; 0: inside
    bool after = false;                   ///< the address lies behind the allocation's end
    bool freed = false;                   ///< it was released: use after free
};

/// Unit of what the host touches.
constexpr uint64_t kHostPageBytes = 4096;

class DeviceMemory {
public:
    static constexpr uint64_t kAlignment = 512;  ///< of every allocation, as cudaMalloc's

    /// `capacity`: bytes of device memory of the described GPU.
    static base::Result<std::unique_ptr<DeviceMemory>> create(uint64_t capacity);
    ~DeviceMemory();
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    /// A zero-filled allocation; the lowest free address that fits, so the same calls give the same addresses. nullptr: out of memory.
    /// Device memory of 2 MiB or more begins at a multiple of that, as cudaMalloc's does: which lanes of an atomic go together depends on it
    /// (`scatter_add` and `histogram_global` of tests/accuracy/programs/kernels.cu are equal only so).
    const Allocation* allocate(uint64_t bytes, Region region = Region::kDevice, std::string name = "cudaMalloc", uint64_t alignment = kAlignment);
    /// Makes host memory of the program reachable for kernels under its own address. nullptr: it overlaps what is there.
    const Allocation* adopt(void* host, uint64_t bytes, std::string name = "cudaHostRegister");
    /// Ends an allocation (or adoption). False: no allocation begins at `address`.
    bool release(uint64_t address);
    void set_read_only(uint64_t address, bool read_only);

    /// The live allocation that contains `address`; valid until generation() changes. nullptr: none.
    const Allocation* find(uint64_t address) const;
    Nearest nearest(uint64_t address) const;
    /// Changes whenever an allocation ends or changes: what was cached about allocations is stale then.
    uint64_t generation() const { return generation_; }
    /// Whether `address` lies in the arena that only the device can read (allocated or not).
    bool in_device_arena(uint64_t address) const { return address - device_base_ < device_bytes_; }

    /// Host address of `bytes` bytes at device address `address`; nullptr unless all of them lie in one live allocation.
    std::byte* host(uint64_t address, uint64_t bytes) const;
    /// Fills [address, address + count × width) with `width`-byte (1, 2, 4) values. Zeroing big ranges gives their memory back.
    bool fill(uint64_t address, uint32_t value, uint32_t width, uint64_t count);

    /// Live managed allocations, in address order. All lie behind managed_begin(), a multiple of 2 MiB.
    std::vector<const Allocation*> managed() const;
    uint64_t managed_begin() const { return managed_.begin; }
    /// Which of the managed pages from `begin` on the program has touched since hide_from_host: pages[i] is 1 for those. The system maps
    /// up to 16 neighbours of a page that is read. False: this system does not tell.
    bool host_touched(uint64_t begin, std::span<uint8_t> pages) const;
    /// The program's next access to these managed pages will be seen; the program itself notices nothing.
    void hide_from_host(uint64_t begin, uint64_t bytes);
    /// In a forked copy of the process: what kernels see of managed memory, which both processes share, becomes this one's own, as it is
    /// now. False: no room. The program's view of it stays shared.
    bool detach();

    uint64_t capacity() const { return capacity_; }
    uint64_t used() const { return used_; }          ///< device memory: kDevice and kManaged, rounded to kAlignment
    /// Live allocations in address order, for leak reports.
    std::vector<const Allocation*> allocations() const;

private:
    struct Arena {
        uint64_t begin = 0, bytes = 0;
        int64_t host_delta = 0;
        std::map<uint64_t, uint64_t> free;           ///< begin → bytes
    };
    DeviceMemory() = default;
    Arena& arena(Region region) { return region == Region::kManaged ? managed_ : region == Region::kHost ? host_ : device_; }
    void forget(Region region, uint64_t host, uint64_t bytes);

    static constexpr uint64_t kDeviceBase = 0x2000'0000'0000;  ///< above what sanitizers claim
    static constexpr size_t kFreedKept = 4096;       ///< released allocations remembered for messages
    uint64_t capacity_ = 0, used_ = 0, device_base_ = 0, device_bytes_ = 0, generation_ = 1, next_id_ = 1;
    Arena device_, host_, managed_;
    std::map<uint64_t, Allocation> live_;
    std::vector<Allocation> freed_;                  ///< oldest first, a ring once kFreedKept are there
    size_t freed_next_ = 0;
};

}  // namespace lanescope::exec
