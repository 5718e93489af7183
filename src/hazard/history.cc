#include "hazard/history.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace lanescope::hazard {
namespace {

constexpr uint64_t kCellBytes = Region::kSectors * sizeof(Record);

void* map(uint64_t bytes) {
    void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return nullptr;
    ::madvise(at, bytes, MADV_WIPEONFORK);  // a copy of the process remembers nothing, and keeps no pages that this one changes
    return at;
}

}  // namespace

History::~History() {
    for (const auto& [number, region] : regions_)
        if (region->records != nullptr) ::munmap(region->records, kCellBytes);
    if (lists_ != nullptr) ::munmap(lists_, kListBytes);
}

Region& History::find(uint64_t number) {
    std::unique_ptr<Region>& region = regions_[number];
    if (!region) region = std::make_unique<Region>();
    return *region;
}

Record* History::make(Region& region) {
    if (record_bytes_ + kCellBytes > kRecordBytes) {
        // A region that this launch has not touched gives its memory.
        for (auto& [number, other] : regions_)
            if (other->records != nullptr && other->generation != region.generation) {
                region.records = other->records;
                other->records = nullptr;
                ::madvise(region.records, kCellBytes, MADV_DONTNEED);
                return region.records;
            }
    } else if (void* at = map(kCellBytes)) {
        record_bytes_ += kCellBytes;
        return region.records = static_cast<Record*>(at);
    }
    region.refused = true;
    complete_ = false;
    return nullptr;
}

void History::begin(bool fresh) {
    if (!complete_)
        for (auto& [number, region] : regions_) region->refused = false;
    complete_ = true;
    if (!fresh) return;
    lists_used_ = 0;
}

void History::forget() {
    for (auto& [number, region] : regions_)
        if (region->records != nullptr) ::madvise(region->records, kCellBytes, MADV_DONTNEED);
    lists_used_ = 0;
}

bool History::grow(Record& cell) {
    const uint32_t had = cell.list != 0 ? uint32_t(cell.place) : 0, wanted = had == 0 ? kUnit : std::min(had * 2 + kUnit, kLongest);
    if (lists_ == nullptr) lists_ = static_cast<Record*>(map(kListBytes));
    if (lists_ == nullptr || had == kLongest || (uint64_t(lists_used_) * kUnit + wanted) * sizeof(Record) > kListBytes) {
        complete_ = complete_ && had == kLongest;
        return false;
    }
    Record head;
    head.mask = lists_used_;
    head.warp = had == 0 ? 1 : cell.warp;
    head.generation = cell.generation;
    head.place = wanted;
    head.list = 1;
    lists_used_ += wanted / kUnit;
    if (had == 0) list(head)[0] = cell;
    else std::copy_n(list(cell), cell.warp, list(head));
    cell = head;
    return true;
}

void History::undefine(uint64_t address, uint64_t bytes) { set(address, bytes, false); }
void History::define(uint64_t address, uint64_t bytes) {
    if (!regions_.empty()) set(address, bytes, true);
}

void History::spread(Region& region) {
    if (region.defined == Region::Defined::kSome) return;
    if (!region.undefined) region.undefined = std::make_unique<uint8_t[]>(Region::kSectors);
    std::memset(region.undefined.get(), region.defined == Region::Defined::kNone ? 0xff : 0, Region::kSectors);
    region.defined = Region::Defined::kSome;
}

void History::set(uint64_t address, uint64_t bytes, bool defined) {
    const Region::Defined whole = defined ? Region::Defined::kAll : Region::Defined::kNone;
    for (const uint64_t end = address + bytes; address < end;) {
        const uint64_t stop = std::min(end, (address / Region::kBytes + 1) * Region::kBytes);
        Region& at = region(address);
        if (stop - address == Region::kBytes) {
            at.defined = whole;
            at.undefined.reset();
        } else if (at.defined != whole) {
            spread(at);
            // Words that are defined in part count as defined; an allocation's last word is its own.
            uint64_t word = address % Region::kBytes / 4;
            const uint64_t last = word + (address % 4 + (stop - address) + 3) / 4;
            for (; word < last; ++word) {
                if (word % 8 == 0 && last - word >= 8) {
                    const uint64_t sectors = (last - word) / 8;
                    std::memset(at.undefined.get() + word / 8, defined ? 0 : 0xff, sectors);
                    word += sectors * 8 - 1;
                } else if (defined) {
                    at.undefined[word / 8] = uint8_t(at.undefined[word / 8] & ~(1u << word % 8));
                } else {
                    at.undefined[word / 8] = uint8_t(at.undefined[word / 8] | 1u << word % 8);
                }
            }
        }
        address = stop;
    }
}

}  // namespace lanescope::hazard
