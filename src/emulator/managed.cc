#include "emulator/managed.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <utility>

namespace lanescope::emulator {
namespace {

constexpr uint16_t kAllPages = 0xffff;

uint64_t bytes_of(uint32_t pages) { return uint64_t(std::popcount(pages)) * exec::kHostPageBytes; }

}  // namespace

uint64_t ManagedMemory::Faults::moved() const { return std::accumulate(batches.begin(), batches.end(), uint64_t(0)); }

template <class Body>
void ManagedMemory::each(uint64_t begin, uint64_t bytes, Body&& body) {
    if (bytes == 0) return;
    const uint64_t base = memory_->managed_begin();
    const uint64_t first = (begin - base) / exec::kHostPageBytes, last = (begin - base + bytes - 1) / exec::kHostPageBytes;
    if (blocks_.size() <= last / kPages) blocks_.resize(last / kPages + 1);
    for (uint64_t index = first / kPages; index <= last / kPages; ++index) {
        uint32_t mask = kAllPages;
        if (index == first / kPages) mask &= ~0u << first % kPages;
        if (index == last / kPages) mask &= (2u << last % kPages) - 1;
        body(index, blocks_[index], uint16_t(mask));
    }
}

void ManagedMemory::advise(uint64_t begin, uint64_t bytes, Advice advice) {
    each(begin, bytes, [&](uint64_t index, Block& block, uint16_t) {
        switch (advice) {
            case Advice::kReadMostly: block.read_mostly = true; break;
            case Advice::kNotReadMostly:
                block.read_mostly = false;
                hide(index, block.host & block.device);   // the device's copy is the one that stays
                block.host &= uint16_t(~block.device);
                break;
            case Advice::kPreferHost: block.preferred = Place::kHost; break;
            case Advice::kPreferDevice: block.preferred = Place::kDevice; break;
            case Advice::kNoPreference: block.preferred = Place::kNowhere; break;
            case Advice::kMapForDevice: block.map_for_device = true; break;
            case Advice::kDoNotMapForDevice: block.map_for_device = false; break;
        }
    });
}

void ManagedMemory::hide(uint64_t index, uint16_t pages) {
    for (uint32_t rest = pages; rest != 0;) {
        const uint32_t first = uint32_t(std::countr_zero(rest)), run = uint32_t(std::countr_one(rest >> first));
        memory_->hide_from_host(memory_->managed_begin() + index * kBlockBytes + first * exec::kHostPageBytes, run * exec::kHostPageBytes);
        rest &= ~(((1u << run) - 1) << first);
    }
}

uint64_t ManagedMemory::collect_host_accesses() {
    uint64_t moved = 0;
    std::vector<uint8_t> touched;
    for (const exec::Allocation* allocation : memory_->managed()) {
        const uint64_t begin = allocation->begin / exec::kHostPageBytes * exec::kHostPageBytes;
        touched.assign((allocation->end() - begin + exec::kHostPageBytes - 1) / exec::kHostPageBytes, 0);
        told_ = memory_->host_touched(begin, touched);
        const bool fresh = allocation->id > newest_;
        uint64_t page = 0;
        each(begin, touched.size() * exec::kHostPageBytes, [&](uint64_t, Block& block, uint16_t mask) {
            if (fresh) {
                if (mask == kAllPages) block = {};
                block.host &= uint16_t(~mask);
                block.device &= uint16_t(~mask);
            }
            for (uint32_t rest = mask; rest != 0; rest &= rest - 1, ++page) {
                const auto bit = uint16_t(rest & -rest);
                if (told_ ? touched[page] == 0 || (block.host & bit) : (block.host | block.device) & bit) continue;
                if (block.device & bit) moved += exec::kHostPageBytes;
                block.host |= bit;
                if (!block.read_mostly) block.device &= uint16_t(~bit);
            }
        });
    }
    for (const exec::Allocation* allocation : memory_->managed()) newest_ = std::max(newest_, allocation->id);
    return moved;
}

void ManagedMemory::written_by_device(uint64_t begin, uint64_t bytes) {
    each(begin, bytes, [&](uint64_t index, Block& block, uint16_t pages) {
        hide(index, pages);
        block.device |= pages;
        block.host &= uint16_t(~pages);
    });
}

/// Makes pages of a block reside on the device; returns the bytes that this moves.
uint64_t ManagedMemory::to_device(Block& block, uint16_t pages) {
    const uint64_t moved = bytes_of(block.host & pages & uint32_t(~block.device));
    block.device |= pages;
    if (!block.read_mostly) {
        hide(uint64_t(&block - blocks_.data()), block.host & pages);
        block.host &= uint16_t(~pages);
    }
    return moved;
}

RangeAdvice ManagedMemory::advice_of(uint64_t begin, uint64_t bytes) {
    std::optional<RangeAdvice> all;
    each(begin, bytes, [&](uint64_t, const Block& block, uint16_t) {
        if (!all) all = RangeAdvice{block.read_mostly, block.map_for_device, block.preferred, block.prefetched};
        all->read_mostly &= block.read_mostly;
        all->mapped_for_device &= block.map_for_device;
        if (all->preferred != block.preferred) all->preferred = Place::kNowhere;
        if (all->prefetched != block.prefetched) all->prefetched = Place::kNowhere;
    });
    return all.value_or(RangeAdvice{});
}

uint64_t ManagedMemory::prefetch(uint64_t begin, uint64_t bytes, bool to_host) {
    uint64_t moved = 0;
    each(begin, bytes, [&](uint64_t, Block& block, uint16_t pages) {
        block.prefetched = to_host ? Place::kHost : Place::kDevice;
        if (!to_host) {
            moved += to_device(block, pages);
            return;
        }
        moved += bytes_of(block.device & pages & uint32_t(~block.host));
        block.host |= pages;
        if (!block.read_mostly) block.device &= uint16_t(~pages);
    });
    return moved;
}

uint64_t ManagedMemory::move_all_to_device() {
    uint64_t moved = 0;
    for (Block& block : blocks_)
        if (block.host != 0) moved += to_device(block, block.host);
    return moved;
}

std::vector<AddressRange> ManagedMemory::remote() const {
    std::vector<AddressRange> ranges;
    for (size_t i = 0; i < blocks_.size(); ++i) {
        if (!blocks_[i].remote()) continue;
        const uint64_t begin = memory_->managed_begin() + i * kBlockBytes;
        if (!ranges.empty() && ranges.back().begin + ranges.back().bytes == begin) ranges.back().bytes += kBlockBytes;
        else ranges.push_back({begin, kBlockBytes});
    }
    return ranges;
}

void ManagedMemory::begin_kernel(uint64_t wait_cycles) {
    faults_ = {};
    open_ = false;
    ++batch_;
    batch_bytes_ = 0;
    wait_cycles_ = wait_cycles;
    waiting_.clear();
    region_batch_.assign(blocks_.size() / kBlocksPerRegion + 1, 0);
}

void ManagedMemory::access(const exec::AccessEvent& event, bool store) {
    const uint64_t base = memory_->managed_begin(), end = blocks_.size() * kBlockBytes;
    for (uint32_t rest = event.active; rest != 0; rest &= rest - 1) {
        const uint64_t offset = event.addresses[std::countr_zero(rest)] - base;
        if (offset >= end) continue;
        const Block& block = blocks_[offset / kBlockBytes];
        const uint32_t page = 1u << offset / exec::kHostPageBytes % kPages;
        if ((block.device & page) && !(store && (block.host & page))) continue;
        if (!block.remote()) fault(offset / kBlockBytes, event, store);
    }
}

void ManagedMemory::fault(uint64_t index, const exec::AccessEvent& event, bool store) {
    Block& block = blocks_[index];
    if (block.device == kAllPages && store) {   // a copy that was only read so far: the host's becomes invalid
        hide(index, block.host);
        block.host = 0;
        return;
    }
    if (!page_faults_) {                        // created by its first use, without a fault
        block.device |= uint16_t(~block.host);
        return;
    }
    const size_t slot = size_t(event.sm) * warps_per_sm_ + event.warp_slot;
    if (waiting_.size() <= slot) waiting_.resize(slot + 1);
    Waiting& warp = waiting_[slot];
    if (open_ && warp.batch == batch_ && event.time > warp.since + wait_cycles_) service();
    if (warp.batch != batch_) warp = {batch_, event.time};
    open_ = true;
    ++faults_.blocks;
    batch_bytes_ += to_device(block, kAllPages);
    if (store && block.read_mostly) {
        hide(index, block.host);
        block.host = 0;
    }
    if (std::exchange(region_batch_[index / kBlocksPerRegion], batch_) != batch_) regions_.push_back(index / kBlocksPerRegion);
}

/// Ends a batch: its regions of 2 MiB grow where they are dense, and warps go on.
void ManagedMemory::service() {
    constexpr uint32_t kThresholdPercent = 51;
    for (const uint64_t region : regions_) {
        const uint64_t first = region * kBlocksPerRegion;
        const auto blocks = uint32_t(std::min<uint64_t>(kBlocksPerRegion, blocks_.size() - first));
        uint32_t there = 0, wanted = 0;
        for (uint32_t i = 0; i < blocks; ++i) there |= uint32_t(blocks_[first + i].device == kAllPages) << i;
        for (uint32_t node = 2; node <= kBlocksPerRegion; node *= 2) {
            for (uint32_t at = 0; at < blocks; at += node) {
                const uint32_t size = std::min(node, blocks - at), ones = uint32_t((uint64_t(1) << size) - 1) << at;
                if (uint32_t(std::popcount(there & ones)) * 100 > size * kThresholdPercent) wanted |= ones;
            }
        }
        for (uint32_t rest = wanted & ~there; rest != 0; rest &= rest - 1) {
            Block& block = blocks_[first + uint32_t(std::countr_zero(rest))];
            if (!block.remote()) batch_bytes_ += to_device(block, kAllPages);
        }
    }
    regions_.clear();
    faults_.batches.push_back(batch_bytes_);
    batch_bytes_ = 0;
    ++batch_;
    open_ = false;
}

ManagedMemory::Faults ManagedMemory::end_kernel() {
    if (open_) service();
    return std::move(faults_);
}

}  // namespace lanescope::emulator
