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
/// Requests come out of order of time: what was asked for when is kept of each line, as far as it has room. What it has forgotten ended whatever
/// was sent before.
class ReadWindow {
public:
    explicit ReadWindow(std::pmr::memory_resource* memory = std::pmr::get_default_resource()) : lines_(memory), flights_(memory) {}
    /// `reads` become one at most. `spread`: by so many cycles two may arrive in another order than they were sent.
    void reset(uint32_t reads, uint32_t groups, uint32_t spread) {
        reads_ = reads;
        spread_ = spread;
        groups_ = groups;
        lines_.assign(kEntries, {});
        flights_.assign(size_t(kEntries) * groups, {});
    }
    /// These sectors of the line will be asked for soon: changes nothing.
    void prefetch(uint64_t line, uint32_t sectors, uint32_t group) const {
        __builtin_prefetch(&lines_[index(line)]);
        __builtin_prefetch(&flight(line, sectors, group));
    }
    /// When the data arrives that an identical request of the group brings already; nothing: this one goes to L2 itself, see `sent`.
    std::optional<uint64_t> join(uint64_t line, uint32_t sectors, uint32_t group, uint64_t now) {
        Line& asked = lines_[index(line)];
        if (asked.line != line) asked = Line{.line = line};
        asked.note(sectors, now);
        Flight& first = flight(line, sectors, group);
        if (first.line != line || first.sectors != sectors || first.reads >= reads_) return {};
        const auto [from, to] = std::minmax(first.sent, now);
        if (to - from >= first.window || first.sent < asked.ended || asked.others(sectors, from - std::min<uint64_t>(from, spread_), to + spread_)) return {};
        ++first.reads;
        return first.ready;
    }
    /// A request of its own was sent: others can join it for `window` cycles.
    void sent(uint64_t line, uint32_t sectors, uint32_t group, uint64_t now, uint32_t window, uint64_t ready) {
        flight(line, sectors, group) = {line, std::max(now, lines_[index(line)].ended), ready, window, uint16_t(sectors), 1};
    }

private:
    static constexpr uint32_t kEntries = 8192;
    /// Requests for the same sectors with none for others between them.
    struct Run {
        uint64_t first = 0, last : 60 = 0, sectors : 4 = 0;
    };
    struct Line {
        uint64_t line = ~0ull;
        uint64_t ended = 0;               ///< the last of what was forgotten
        std::array<Run, 3> runs = {};

        /// Whether others than these sectors were asked for in between.
        bool others(uint32_t sectors, uint64_t from, uint64_t to) const {
            return std::any_of(runs.begin(), runs.end(), [&](const Run& run) { return run.sectors != sectors && run.first < to && run.last > from; });
        }
        void note(uint32_t sectors, uint64_t now) {
            for (Run& run : runs) {
                if (run.sectors != sectors || others(sectors, std::min<uint64_t>(run.last, now), std::max(run.first, now))) continue;
                run.first = std::min(run.first, now);
                run.last = std::max<uint64_t>(run.last, now);
                return;
            }
            Run& oldest = *std::min_element(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.last < b.last; });
            ended = std::max<uint64_t>(ended, oldest.last);
            oldest = {now, now, sectors};
        }
    };
    struct Flight {
        uint64_t line = ~0ull, sent = 0, ready = 0;
        uint32_t window = 0;
        uint16_t sectors = 0, reads = 0;
    };
    static uint32_t index(uint64_t line) { return uint32_t((line * 0x9E3779B97F4A7C15ull) >> 51); }
    size_t place(uint64_t line, uint32_t sectors, uint32_t group) const { return size_t(index(line ^ uint64_t(sectors) << 40)) * groups_ + group; }
    Flight& flight(uint64_t line, uint32_t sectors, uint32_t group) { return flights_[place(line, sectors, group)]; }
    const Flight& flight(uint64_t line, uint32_t sectors, uint32_t group) const { return flights_[place(line, sectors, group)]; }
    uint32_t reads_ = 0, groups_ = 0, spread_ = 0;
    std::pmr::vector<Line> lines_;
    std::pmr::vector<Flight> flights_;         ///< by line, its sectors, and group
};

}  // namespace lanescope::memory
