// Where the pages of managed memory are: what the host and the GPU touch moves them, as NVIDIA's driver does.
//
// GPUs with page faults (Pascal and later): a kernel's access to a page that is not on the device is a fault. Faults are serviced in
// batches; each moves the 64 KiB around a faulting page, and more of its 2 MiB where over half of an aligned power of two of them is there
// already (the driver's density prefetcher, threshold 51 %). Older GPUs: before a kernel starts, everything that the host has touched moves.
// Pages that nobody has touched are created where they are touched first, which moves nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "exec/access.h"
#include "exec/device_memory.h"

namespace lanescope::emulator {

enum class Advice : uint8_t { kReadMostly, kNotReadMostly, kPreferHost, kPreferDevice, kNoPreference, kMapForDevice, kDoNotMapForDevice };

enum class Place : uint8_t { kNowhere, kHost, kDevice };

/// What was said about all pages of a range; pages that differ count as nothing said.
struct RangeAdvice {
    bool read_mostly = false, mapped_for_device = false;
    Place preferred = Place::kNowhere, prefetched = Place::kNowhere;
};

struct AddressRange {
    uint64_t begin = 0, bytes = 0;
};

class ManagedMemory {
public:
    ManagedMemory(exec::DeviceMemory& memory, bool page_faults, uint32_t warps_per_sm) : memory_(&memory), page_faults_(page_faults), warps_per_sm_(warps_per_sm) {}

    bool any() const { return !memory_->managed().empty(); }
    bool page_faults() const { return page_faults_; }
    /// Whether the system tells what the host touches. If not, a page counts as the host's until a kernel uses it, and never again.
    bool sees_host() const { return told_; }

    /// Takes note of new allocations and of what the host has touched since the last call; to be called before everything below. Returns
    /// the bytes that its accesses brought from the device.
    uint64_t collect_host_accesses();
    void advise(uint64_t begin, uint64_t bytes, Advice advice);
    RangeAdvice advice_of(uint64_t begin, uint64_t bytes);
    /// Copies and fills by the device make what they write reside there.
    void written_by_device(uint64_t begin, uint64_t bytes);
    /// Returns the bytes that have to move.
    uint64_t prefetch(uint64_t begin, uint64_t bytes, bool to_host);

    // --- a kernel

    struct Faults {
        uint64_t blocks = 0;                  ///< of 64 KiB whose absence a warp noticed
        std::vector<uint64_t> batches;        ///< bytes that each batch moved over the link; 0: its pages were only created
        uint64_t moved() const;
    };
    /// Without page faults: the bytes that have to move before the kernel.
    uint64_t move_all_to_device();
    /// What kernels reach over the link because advice keeps it on the host.
    std::vector<AddressRange> remote() const;
    /// `wait_cycles`: a warp that goes on that long after its first fault has been given its data.
    void begin_kernel(uint64_t wait_cycles);
    void access(const exec::AccessEvent& event, bool store);
    Faults end_kernel();

private:
    static constexpr uint64_t kBlockBytes = 64 << 10, kPages = kBlockBytes / exec::kHostPageBytes, kBlocksPerRegion = 32;

    /// One bit a page of 4 KiB. A page in neither set does not exist yet; in both: a copy that is only read.
    struct Block {
        uint16_t host = 0, device = 0;
        bool read_mostly = false, map_for_device = false;
        Place preferred = Place::kNowhere, prefetched = Place::kNowhere;
        bool remote() const { return (preferred == Place::kHost && device == 0) || (map_for_device && host != 0 && device == 0); }
    };
    struct Waiting {
        uint64_t batch = 0, since = 0;
    };
    /// `body(index, Block&, which of its pages)` for each block that a range touches.
    template <class Body>
    void each(uint64_t begin, uint64_t bytes, Body&& body);
    uint64_t to_device(Block& block, uint16_t pages);
    void fault(uint64_t index, const exec::AccessEvent& event, bool store);
    void service();
    void hide(uint64_t index, uint16_t pages);

    exec::DeviceMemory* memory_;
    bool page_faults_;
    uint32_t warps_per_sm_;
    uint64_t newest_ = 0;                     ///< id of the latest allocation that is known
    std::vector<Block> blocks_;               ///< from memory_->managed_begin() on, as far as something was allocated
    bool told_ = true;

    // of the running kernel
    Faults faults_;
    std::vector<Waiting> waiting_;            ///< by hardware warp
    std::vector<uint64_t> regions_;           ///< of 2 MiB with faults in the open batch
    std::vector<uint64_t> region_batch_;      ///< by region: the latest batch that it was in
    uint64_t batch_ = 0, batch_bytes_ = 0, wait_cycles_ = 0;
    bool open_ = false;
};

}  // namespace lanescope::emulator
