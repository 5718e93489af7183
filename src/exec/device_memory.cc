#include "exec/device_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

namespace lanescope::exec {
namespace {

constexpr uint64_t kPage = kHostPageBytes;
constexpr uint64_t kHugePage = 2 << 20;
constexpr uint64_t kShadowBase = 0x2800'0000'0000;    // where the bytes of the device arena are, for the emulator
constexpr uint64_t kHostBase = 0x3000'0000'0000;      // pinned memory: host and device address at once
constexpr uint64_t kManagedBase = 0x3800'0000'0000;   // managed memory, as the program sees it
constexpr uint64_t kManagedShadowBase = 0x3c00'0000'0000;  // the same bytes for the emulator
constexpr uint64_t kHostBytes = uint64_t(1) << 38;    // 256 GiB of addresses each, used as needed

constexpr uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

/// Allocations take whole units; a page where the host may change protections.
constexpr uint64_t unit(Region region) {
    return region == Region::kDevice || region == Region::kHeap ? DeviceMemory::kAlignment : kPage;
}

/// Reserves addresses at `base`, or wherever there is room when another mapping stands there (sanitizers claim odd places).
/// `file`: what is mapped, shared; -1: private memory.
uint64_t reserve(uint64_t base, uint64_t bytes, int protection, int file = -1) {
    const int flags = (file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED) | MAP_NORESERVE;
    void* p = mmap(reinterpret_cast<void*>(base), bytes, protection, flags, file, 0);
    return p == MAP_FAILED ? 0 : reinterpret_cast<uint64_t>(p);
}

/// A file in memory of `bytes`; -1: not to be had here (a limit on file sizes would end the process: it is asked first).
int memory_file(uint64_t bytes) {
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < bytes)) return -1;
    const int file = memfd_create("lanescope managed memory", MFD_CLOEXEC);
    if (file >= 0 && ftruncate(file, off_t(bytes)) == 0) return file;
    if (file >= 0) close(file);
    return -1;
}

}  // namespace

base::Result<std::unique_ptr<DeviceMemory>> DeviceMemory::create(uint64_t capacity) {
    std::unique_ptr<DeviceMemory> memory(new DeviceMemory);
    memory->capacity_ = capacity;
    // Twice the capacity: fragmentation costs addresses, not memory.
    memory->device_bytes_ = round_up(std::max<uint64_t>(2 * capacity, 1 << 30), kHugePage);
    const uint64_t device = reserve(kDeviceBase, memory->device_bytes_, PROT_NONE);
    const uint64_t shadow = reserve(kShadowBase, memory->device_bytes_, PROT_READ | PROT_WRITE);
    const uint64_t host = reserve(kHostBase, kHostBytes, PROT_READ | PROT_WRITE);
    const int file = memory_file(kHostBytes);
    const uint64_t managed = reserve(kManagedBase, kHostBytes, PROT_READ | PROT_WRITE, file);
    const uint64_t managed_shadow = file < 0 ? managed : reserve(kManagedShadowBase, kHostBytes, PROT_READ | PROT_WRITE, file);
    if (file >= 0) close(file);
    if (device == 0 || shadow == 0 || host == 0 || managed == 0 || managed_shadow == 0)
        return base::error(fmt::format("cannot reserve addresses for {} bytes of device memory: {} (is there a limit on virtual memory, "
                                       "ulimit -v?)", capacity, std::strerror(errno)));
    memory->device_base_ = device;
    madvise(reinterpret_cast<void*>(shadow), memory->device_bytes_, MADV_HUGEPAGE);
    memory->device_ = {device, memory->device_bytes_, int64_t(shadow - device), {{device, memory->device_bytes_}}};
    memory->host_ = {host, kHostBytes, 0, {{host, kHostBytes}}};
    const uint64_t first = round_up(managed, kHugePage);
    memory->managed_ = {first, kHostBytes - (first - managed), int64_t(managed_shadow - managed), {{first, kHostBytes - (first - managed)}}};
    return memory;
}

DeviceMemory::~DeviceMemory() {
    for (const Arena* arena : {&device_, &host_, &managed_}) {
        if (arena->bytes == 0) continue;
        munmap(reinterpret_cast<void*>(arena->begin), arena->bytes);
        if (arena->host_delta != 0) munmap(reinterpret_cast<void*>(arena->begin + uint64_t(arena->host_delta)), arena->bytes);
    }
}

const Allocation* DeviceMemory::allocate(uint64_t bytes, Region region, std::string name, uint64_t alignment) {
    if (region == Region::kRegistered || bytes == 0 || bytes > kHostBytes + device_bytes_) return nullptr;
    alignment = std::max(alignment, region == Region::kDevice && bytes >= kHugePage ? kHugePage : unit(region));
    if (!std::has_single_bit(alignment)) return nullptr;
    const uint64_t size = round_up(bytes, unit(region));
    const bool on_device = region != Region::kHost;
    if (on_device && size > capacity_ - used_) return nullptr;
    Arena& from = arena(region);
    for (auto it = from.free.begin(); it != from.free.end(); ++it) {
        const uint64_t begin = round_up(it->first, alignment), end = it->first + it->second;
        if (begin + size > end) continue;
        const uint64_t hole = it->first;
        from.free.erase(it);
        if (begin > hole) from.free[hole] = begin - hole;
        if (begin + size < end) from.free[begin + size] = end - begin - size;
        if (on_device) used_ += size;
        return &live_.emplace(begin, Allocation{begin, bytes, region, false, from.host_delta, next_id_++, std::move(name)}).first->second;
    }
    return nullptr;
}

const Allocation* DeviceMemory::adopt(void* host, uint64_t bytes, std::string name) {
    const auto begin = reinterpret_cast<uint64_t>(host);
    if (bytes == 0 || begin + bytes < begin) return nullptr;
    const auto next = live_.lower_bound(begin);
    if (next != live_.end() && next->first < begin + bytes) return nullptr;
    if (next != live_.begin() && std::prev(next)->second.end() > begin) return nullptr;
    return &live_.emplace(begin, Allocation{begin, bytes, Region::kRegistered, false, 0, next_id_++, std::move(name)}).first->second;
}

bool DeviceMemory::release(uint64_t address) {
    const auto it = live_.find(address);
    if (it == live_.end()) return false;
    Allocation& old = it->second;
    if (old.region != Region::kRegistered) {
        forget(old.region, old.begin + uint64_t(old.host_delta), old.bytes);
        // Whole pages are zero now; what shares a page with a neighbour is cleared by hand.
        const uint64_t host = old.begin + uint64_t(old.host_delta);
        const uint64_t first = std::min(round_up(host, kPage), host + old.bytes), last = std::max(first, (host + old.bytes) / kPage * kPage);
        std::memset(reinterpret_cast<void*>(host), 0, first - host);
        std::memset(reinterpret_cast<void*>(last), 0, host + old.bytes - last);
        Arena& to = arena(old.region);
        const uint64_t size = round_up(old.bytes, unit(old.region));
        if (old.region != Region::kHost) used_ -= size;
        uint64_t begin = old.begin, bytes = size;
        auto next = to.free.lower_bound(begin);
        if (next != to.free.end() && next->first == begin + bytes) {
            bytes += next->second;
            next = to.free.erase(next);
        }
        if (next != to.free.begin() && std::prev(next)->first + std::prev(next)->second == begin) {
            --next;
            next->second += bytes;
        } else {
            to.free[begin] = bytes;
        }
    }
    if (freed_.size() < kFreedKept) {
        freed_.push_back(std::move(old));
    } else {
        freed_[freed_next_] = std::move(old);
        freed_next_ = (freed_next_ + 1) % kFreedKept;
    }
    live_.erase(it);
    ++generation_;
    return true;
}

/// The whole pages of a range are zero from now on and cost nothing.
void DeviceMemory::forget(Region region, uint64_t host, uint64_t bytes) {
    const uint64_t first = round_up(host, kPage), last = (host + bytes) / kPage * kPage;
    if (first >= last) return;
    const bool shared = region == Region::kManaged && managed_.host_delta != 0;
    madvise(reinterpret_cast<void*>(first), last - first, shared ? MADV_REMOVE : MADV_DONTNEED);
}

std::vector<const Allocation*> DeviceMemory::managed() const {
    std::vector<const Allocation*> all;
    for (auto it = live_.lower_bound(managed_.begin); it != live_.end() && it->first - managed_.begin < managed_.bytes; ++it)
        if (it->second.region == Region::kManaged) all.push_back(&it->second);
    return all;
}

bool DeviceMemory::host_touched(uint64_t begin, std::span<uint8_t> pages) const {
    if (managed_.host_delta == 0) return false;
    const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    constexpr uint64_t kPresent = uint64_t(1) << 63;   // an entry of 8 bytes a page: the page is mapped for the program
    uint64_t entries[1024];
    size_t done = 0;
    while (done < pages.size()) {
        const size_t part = std::min(pages.size() - done, std::size(entries));
        if (pread(file, entries, part * 8, off_t((begin / kPage + done) * 8)) != ssize_t(part * 8)) break;
        for (size_t i = 0; i < part; ++i) pages[done + i] = (entries[i] & kPresent) != 0;
        done += part;
    }
    close(file);
    return done == pages.size();
}

void DeviceMemory::hide_from_host(uint64_t begin, uint64_t bytes) {
    // Of a shared mapping this drops the program's page table entries only: the bytes stay, the next access maps them again.
    if (managed_.host_delta != 0) madvise(reinterpret_cast<void*>(begin / kPage * kPage), bytes + begin % kPage, MADV_DONTNEED);
}

bool DeviceMemory::detach() {
    if (managed_.host_delta == 0) return true;
    std::vector<unsigned char> resident;
    for (const Allocation* each : managed()) {
        const uint64_t first = (each->begin + uint64_t(each->host_delta)) / kPage * kPage;
        const uint64_t bytes = round_up(each->end() + uint64_t(each->host_delta), kPage) - first;
        auto* const from = reinterpret_cast<std::byte*>(first);
        void* const own = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        resident.assign(bytes / kPage, 0);
        if (own == MAP_FAILED || mincore(from, bytes, resident.data()) != 0) return false;
        for (uint64_t page = 0; page < resident.size(); ++page)   // a page that is not there is zero
            if (resident[page] & 1) std::memcpy(static_cast<std::byte*>(own) + page * kPage, from + page * kPage, kPage);
        if (mremap(own, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, from) == MAP_FAILED) return false;
    }
    return true;
}

void DeviceMemory::set_read_only(uint64_t address, bool read_only) {
    const auto it = live_.find(address);
    if (it == live_.end()) return;
    it->second.read_only = read_only;
    ++generation_;
}

const Allocation* DeviceMemory::find(uint64_t address) const {
    auto it = live_.upper_bound(address);
    if (it == live_.begin()) return nullptr;
    --it;
    return it->second.contains(address) ? &it->second : nullptr;
}

Nearest DeviceMemory::nearest(uint64_t address) const {
    if (const Allocation* inside = find(address)) return {*inside};
    for (size_t i = 0; i < freed_.size(); ++i) {  // newest first
        const Allocation& old = freed_[(freed_next_ + freed_.size() - 1 - i) % freed_.size()];
        if (old.contains(address)) return {old, 0, false, true};
    }
    Nearest best;
    best.distance = UINT64_MAX;
    auto it = live_.upper_bound(address);
    if (it != live_.end()) best = {it->second, it->first - address, false, false};
    if (it != live_.begin()) {
        const Allocation& before = std::prev(it)->second;
        if (const uint64_t distance = address - before.end() + 1; distance <= best.distance) best = {before, distance, true, false};
    }
    return best;
}

std::byte* DeviceMemory::host(uint64_t address, uint64_t bytes) const {
    const Allocation* allocation = find(address);
    if (allocation == nullptr || bytes > allocation->end() - address) return nullptr;
    return reinterpret_cast<std::byte*>(address + uint64_t(allocation->host_delta));
}

bool DeviceMemory::fill(uint64_t address, uint32_t value, uint32_t width, uint64_t count) {
    if (count == 0) return true;
    std::byte* to = count <= UINT64_MAX / width ? host(address, count * width) : nullptr;
    if (to == nullptr) return false;
    const uint64_t bytes = count * width;
    const bool same_bytes = width == 1 || (width == 2 ? (value & 0xff) * 0x101 == (value & 0xffff) : (value & 0xff) * 0x01010101 == value);
    if (same_bytes && (value & 0xff) == 0 && bytes >= kHugePage && find(address)->region != Region::kRegistered) {
        const auto host_address = reinterpret_cast<uint64_t>(to);
        const uint64_t first = round_up(host_address, kPage), last = (host_address + bytes) / kPage * kPage;
        std::memset(to, 0, first - host_address);
        forget(find(address)->region, first, last - first);
        std::memset(reinterpret_cast<void*>(last), 0, host_address + bytes - last);
    } else if (same_bytes) {
        std::memset(to, int(value & 0xff), bytes);
    } else if (width == 2) {
        std::fill_n(reinterpret_cast<uint16_t*>(to), count, uint16_t(value));
    } else {
        std::fill_n(reinterpret_cast<uint32_t*>(to), count, value);
    }
    return true;
}

std::vector<const Allocation*> DeviceMemory::allocations() const {
    std::vector<const Allocation*> all;
    for (const auto& [begin, allocation] : live_) all.push_back(&allocation);
    return all;
}

}  // namespace lanescope::exec
