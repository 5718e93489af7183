// Two small windows in which memory traffic is merged: stores leaving an SM, and reads of several SMs on their way to L2.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "memory/coalescer.h"

namespace lanescope::memory {

/// Stores of one SM to the same line that follow each other closely leave as one: each sector is sent once.
class StoreWindow {
public:
    void reset(uint32_t lines, uint64_t cycles) {
        lines_ = lines < kMaxLines ? lines : kMaxLines;
        cycles_ = cycles;
        entries_.fill({});
    }
    /// The sectors of `sectors` that this store sends by itself.
    uint32_t add(uint64_t line, uint32_t sectors, uint64_t now) {
        for (uint32_t i = 0; i < lines_; ++i) {
            Entry& entry = entries_[i];
            if (entry.line == line && now <= entry.last + cycles_) {
                const uint32_t sent = sectors & ~entry.sectors;
                entry.sectors |= sectors;
                entry.last = now;
                return sent;
            }
        }
        if (lines_) entries_[next_++ % lines_] = {line, now, sectors};
        return sectors;
    }

private:
    static constexpr uint32_t kMaxLines = 64;
    struct Entry {
        uint64_t line = ~0ull, last = 0;
        uint32_t sectors = 0;
    };
    uint32_t lines_ = 0, next_ = 0;       ///< first in, first out
    uint64_t cycles_ = 0;
    std::array<Entry, kMaxLines> entries_;
};

/// Identical reads of a group of SMs (a graphics processing cluster) that are in flight together reach L2 as one.
class ReadWindow {
public:
    void reset(uint32_t reads) {
        reads_ = reads;
        entries_.assign(kEntries, {});
    }
    struct Merged {
        uint32_t sectors = 0;             ///< those that an earlier request already brings
        uint64_t ready = 0;               ///< when they arrive
    };
    Merged join(uint64_t line, uint32_t sectors, uint64_t now) {
        Entry& entry = entries_[index(line)];
        if (entry.line != line || now >= entry.until) return {};
        Merged out;
        for (uint32_t sector = 0; sector < kSectorsPerLine; ++sector)
            if ((sectors >> sector & 1) != 0 && entry.reads[sector] != 0 && entry.reads[sector] < reads_) {
                ++entry.reads[sector];
                out.sectors |= 1u << sector;
            }
        out.ready = entry.ready;
        return out;
    }
    /// A request of its own was sent for `sectors`: others can join it before `until`.
    void sent(uint64_t line, uint32_t sectors, uint64_t now, uint64_t until, uint64_t ready) {
        Entry& entry = entries_[index(line)];
        if (entry.line != line || now >= entry.until) entry = {line, 0, 0, {}};
        for (uint32_t sector = 0; sector < kSectorsPerLine; ++sector)
            if ((sectors >> sector & 1) != 0) entry.reads[sector] = 1;
        if (until > entry.until) entry.until = until;
        if (ready > entry.ready) entry.ready = ready;
    }

private:
    static constexpr uint32_t kEntries = 8192;
    struct Entry {
        uint64_t line = ~0ull, until = 0, ready = 0;
        std::array<uint8_t, kSectorsPerLine> reads{};
    };
    static uint32_t index(uint64_t line) { return uint32_t((line * 0x9E3779B97F4A7C15ull) >> 51); }
    uint32_t reads_ = 0;
    std::vector<Entry> entries_;
};

}  // namespace lanescope::memory
