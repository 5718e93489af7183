// The window in which reads of several SMs on their way to L2 are merged.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <vector>

#include "memory/coalescer.h"

namespace lanescope::memory {

/// Where reads arrive at L2. Those of one group of SMs (a graphics processing cluster) for the same sectors of a line become one while the first
/// waits for the data. A request for other sectors of the line, of any group, ends that.
/// Requests come out of order of time: an end counts for all that was sent before it, also if it comes after those that wanted to join.
class ReadWindow {
public:
    explicit ReadWindow(std::pmr::memory_resource* memory = std::pmr::get_default_resource()) : lines_(memory), flights_(memory) {}
    void reset(uint32_t reads, uint32_t groups) {
        reads_ = reads;
        groups_ = groups;
        lines_.assign(kEntries, {});
        flights_.assign(size_t(kEntries) * groups, {});
    }
    /// The line will be asked for soon: changes nothing.
    void prefetch(uint64_t line, uint32_t group) const {
        __builtin_prefetch(&lines_[index(line)]);
        __builtin_prefetch(&flights_[size_t(index(line)) * groups_ + group]);
    }
    /// When the data arrives that an identical request of the group brings already; nothing: this one goes to L2 itself, see `sent`.
    std::optional<uint64_t> join(uint64_t line, uint32_t sectors, uint32_t group, uint64_t now) {
        Line& last = lines_[index(line)];
        if (last.line != line || last.sectors != sectors) {
            last = {line, last.line == line ? std::max(last.ended, now) : 0, sectors};
            return {};
        }
        Flight& flight = flights_[size_t(index(line)) * groups_ + group];
        const uint64_t apart = now < flight.sent ? flight.sent - now : now - flight.sent;
        if (flight.line != line || flight.sent < last.ended || apart >= flight.window || flight.reads >= reads_) return {};
        ++flight.reads;
        return flight.ready;
    }
    /// A request of its own was sent: others can join it for `window` cycles.
    void sent(uint64_t line, uint32_t group, uint64_t now, uint32_t window, uint64_t ready) {
        const uint32_t at = index(line);
        flights_[size_t(at) * groups_ + group] = {line, std::max(now, lines_[at].ended), ready, window, 1};
    }

private:
    static constexpr uint32_t kEntries = 8192;
    struct Line {
        uint64_t line = ~0ull;
        uint64_t ended = 0;               ///< when others than `sectors` were asked for
        uint32_t sectors = 0;             ///< of the last request
    };
    struct Flight {
        uint64_t line = ~0ull, sent = 0, ready = 0;
        uint32_t window = 0, reads = 0;
    };
    static uint32_t index(uint64_t line) { return uint32_t((line * 0x9E3779B97F4A7C15ull) >> 51); }
    uint32_t reads_ = 0, groups_ = 0;
    std::pmr::vector<Line> lines_;
    std::pmr::vector<Flight> flights_;         ///< by line and group
};

}  // namespace lanescope::memory
