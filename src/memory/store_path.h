// The way of an SM's stores to L2: they queue by scheduler, wait a moment for others to the same line, and leave line by line.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/l2_policy.h"
#include "memory/coalescer.h"
#include "memory/parameters.h"

namespace lanescope::memory {

/// First in, first out, without an allocation for each element.
template <class T>
class Queue {
public:
    bool empty() const { return first_ == items_.size(); }
    size_t size() const { return items_.size() - first_; }
    T& front() { return items_[first_]; }
    const T& front() const { return items_[first_]; }
    auto begin() { return items_.begin() + std::ptrdiff_t(first_); }
    auto end() { return items_.end(); }
    void push(const T& item) { items_.push_back(item); }
    void pop() {
        if (++first_ == items_.size()) {
            clear();
        } else if (first_ >= 1024 && 2 * first_ >= items_.size()) {
            items_.erase(items_.begin(), begin());
            first_ = 0;
        }
    }
    void clear() {
        items_.clear();
        first_ = 0;
    }

private:
    std::vector<T> items_;
    size_t first_ = 0;
};

/// Stores of a scheduler's warps keep their order; the schedulers' stores take turns. A line enters a buffer of a few lines and stays for
/// some cycles at least: stores to it that come meanwhile join it, and sectors not yet whole are sent once. Lines leave in order, each when
/// the one before has passed; only so many are under way that L2 has not taken. Until there is room, stores wait outside. Evidence:
/// docs/memory-model.md.
///
/// Warps do not come in order of time: what happens is decided kSlackCycles later, when all that is earlier is known. Times are SM cycles.
class StorePath {
public:
    /// Warps of an SM are that much out of order at most (the executor's slack).
    static constexpr double kSlackCycles = 24;

    /// Of 32 bytes, for a line of a store: half of one is the head, another half the mask of its bytes, unless its sectors are whole.
    static constexpr double packets(uint32_t sectors, bool masked) { return sectors + (masked ? 1 : 0.5); }

    struct Packet {
        uint64_t line;
        ByteMask bytes;                   ///< that L2 does not have yet
        ByteMask all;                     ///< with those that `flush` has handed over already
        uint32_t sent;                    ///< sectors; those that came again when they were whole count again
        uint32_t site;                    ///< who stored last
        double entered;
        base::L2Priority priority = base::L2Priority::kUnchanged;
    };
    struct Unchanged {
        base::L2Priority operator()(uint64_t) const { return base::L2Priority::kUnchanged; }
    };

    void configure(const Parameters& parameters, uint32_t schedulers) {
        hold_ = parameters.l1_store_window_cycles;
        capacity_ = std::max<size_t>(1, size_t(parameters.l1_store_window_lines));
        packet_cycles_ = parameters.store_packet_cycles;
        queues_.resize(std::max(1u, schedulers));
        taken_.resize(std::max<size_t>(1, size_t(parameters.l1_stores_under_way)));
    }
    void reset(double now) {
        for (auto& queue : queues_) queue.clear();
        buffer_.clear();
        waiting_.fill({});
        added_ = 0;
        outside_ = 0;
        outside_cycles_ = buffer_cycles_ = 0;
        way_free_ = entrance_free_ = last_taken_ = now;
        std::fill(taken_.begin(), taken_.end(), now);
        inside_store_ = full_ = false;
    }

    bool empty() const { return outside_ == 0 && buffer_.empty(); }
    /// The line that leaves next, as far as one is in the buffer.
    const uint64_t* first() const { return buffer_.empty() ? nullptr : &buffer_.front().line; }
    /// When all that was stored so far will have left, L2 willing.
    double free_at() const { return way_free_ + outside_cycles_ + buffer_cycles_; }
    /// When L2 will have taken it, as far as that is known.
    double taken_at() const { return std::max(free_at(), last_taken_); }
    /// Something else keeps the way until then.
    void block(double until) { way_free_ = std::max(way_free_, until); }

    /// A store that a warp of `scheduler` issues now and the load/store unit, busy with others, is done with when it is `ready`. Its lines
    /// pass the entrance together, of four neighbouring lines one a cycle. `priority`: of a line.
    template <class PriorityOf = Unchanged>
    void add(uint32_t scheduler, double now, double ready, const LinePart* parts, uint32_t lines, uint32_t site, PriorityOf&& priority = {}) {
        if (empty()) way_free_ = std::max(way_free_, ready);
        uint32_t of_four[4] = {}, cycles = 0;
        for (uint32_t i = 0; i < lines; ++i) cycles = std::max(cycles, ++of_four[parts[i].line % 4]);
        for (uint32_t i = 0; i < lines; ++i) {
            Waiting& waiting = waiting_[hash(parts[i].line)];
            const bool joins = ++added_ - waiting.added <= capacity_ && waiting.lines != 0;
            const double expected = joins ? 0 : cycles_of(parts[i].bytes, count(parts[i].bytes.sectors()));
            ++waiting.lines;
            waiting.added = added_;
            queues_[scheduler % queues_.size()].push({parts[i].line, parts[i].bytes, parts[i].bytes, site, i + 1 == lines, priority(parts[i].line), now, ready, double(cycles), expected});
            outside_cycles_ += expected;
        }
        outside_ += lines;
    }

    /// When `advance` has something to do next.
    double next() const { return std::min(next_entry(), next_exit()) + kSlackCycles; }

    /// Time passes. `sent(site, sectors)`: how many sectors a line of a store adds. `leave(packet, now)` hands bytes to L2, as late as they
    /// are decided about so that L2 sees all requests in the same order of time, and returns how long until they are taken.
    template <class Sent, class Leave>
    void advance(double until, Sent&& sent, Leave&& leave) {
        for (;;) {
            const double entry = next_entry(), exit = next_exit();
            if (std::min(entry, exit) + kSlackCycles > until) return;
            if (entry <= exit) enter(entry, sent);
            else depart(exit, leave);
        }
    }

    /// A read or an atomic follows what was stored to its line: hands over what L2 does not have of it, which keeps its time on the way.
    template <class Leave>
    void flush(uint64_t line, double now, Leave&& leave) {
        if (waiting_[hash(line)].lines == 0) return;
        const auto hand = [&](auto& part) {
            if (part.line != line || part.bytes == ByteMask{}) return;
            leave(Packet{line, part.bytes, part.all, 0, part.site, now, part.priority}, now);
            part.bytes = {};
        };
        for (Packet& packet : buffer_) hand(packet);
        for (auto& queue : queues_)
            for (Outside& part : queue) hand(part);
    }

private:
    /// A line of a store that has not passed the entrance.
    struct Outside {
        uint64_t line;
        ByteMask bytes, all;              ///< as in Packet
        uint32_t site;
        bool last;                        ///< of its store
        base::L2Priority priority;
        double arrived, ready;
        double cycles;                    ///< of the entrance, for the store
        double expected;                  ///< of the way, if it joins what came shortly before
    };
    static constexpr double kNever = std::numeric_limits<double>::infinity();

    static uint32_t hash(uint64_t line) { return uint32_t((line * 0x9E3779B97F4A7C15ull) >> 52); }
    static uint32_t count(uint32_t sectors) { return uint32_t(std::popcount(sectors)); }
    double cycles_of(const ByteMask& all, uint32_t sent) const { return packet_cycles_ * packets(sent, all.whole_sectors() != all.sectors()); }

    double next_exit() const { return buffer_.empty() ? kNever : std::max(buffer_.front().entered + hold_, way_free_); }
    double next_entry() const {
        if (outside_ == 0 || full_) return kNever;
        double first = kNever;
        for (const auto& queue : queues_)
            if (!queue.empty()) first = std::min(first, queue.front().arrived);
        return std::max(first, entrance_free_);
    }

    /// The next line at the entrance joins what waits for it, takes a place, or finds none.
    template <class Sent>
    void enter(double now, Sent&& sent) {
        if (!inside_store_) {
            do turn_ = (turn_ + 1) % queues_.size();
            while (queues_[turn_].empty() || queues_[turn_].front().arrived > now);
        }
        inside_store_ = true;
        auto& queue = queues_[turn_];
        const Outside part = queue.front();
        const double ready = std::max(now, part.ready);
        const auto packet = std::find_if(buffer_.begin(), buffer_.end(), [&](const Packet& each) {
            return each.line == part.line && ready <= std::max(each.entered + hold_, way_free_ + buffer_cycles_);
        });
        if (packet == buffer_.end()) {
            if (buffer_.size() >= capacity_) {
                full_ = true;
                return;
            }
            const uint32_t sectors = count(part.all.sectors());
            buffer_.push({part.line, part.bytes, part.all, sectors, part.site, ready, part.priority});
            buffer_cycles_ += cycles_of(part.all, sectors);
            sent(part.site, sectors);
        } else {
            const uint32_t more = count(part.all.sectors() & ~(packet->all.sectors() & ~packet->all.whole_sectors()));
            buffer_cycles_ -= cycles_of(packet->all, packet->sent);
            packet->bytes.add(part.bytes);
            packet->all.add(part.all);
            packet->sent += more;
            packet->site = part.site;
            if (part.priority != base::L2Priority::kUnchanged) packet->priority = part.priority;
            buffer_cycles_ += cycles_of(packet->all, packet->sent);
            --waiting_[hash(part.line)].lines;
            sent(part.site, more);
        }
        inside_store_ = !part.last;
        if (part.last) entrance_free_ = now + part.cycles;
        outside_cycles_ -= part.expected;
        --outside_;
        queue.pop();
    }

    template <class Leave>
    void depart(double now, Leave&& leave) {
        const Packet packet = buffer_.front();
        const double cycles = cycles_of(packet.all, packet.sent);
        buffer_.pop();
        buffer_cycles_ -= cycles;
        --waiting_[hash(packet.line)].lines;
        taken_[oldest_] = now + std::max(cycles, packet.bytes == ByteMask{} ? 0 : leave(packet, now + kSlackCycles));
        last_taken_ = std::max(last_taken_, taken_[oldest_]);
        oldest_ = (oldest_ + 1) % taken_.size();
        way_free_ = std::max(now + cycles, taken_[oldest_]);
        if (full_) entrance_free_ = std::max(entrance_free_, now);
        full_ = false;
    }

    double hold_ = 0, packet_cycles_ = 0;
    size_t capacity_ = 1;
    std::vector<Queue<Outside>> queues_;  ///< by scheduler: lines of stores that have not passed the entrance
    Queue<Packet> buffer_;
    struct Waiting {
        uint32_t lines = 0;               ///< outside and in the buffer
        uint32_t added = 0;               ///< when the last came, in lines
    };
    std::array<Waiting, 4096> waiting_{}; ///< by hash of the line
    uint32_t added_ = 0;
    uint64_t outside_ = 0;
    double outside_cycles_ = 0, buffer_cycles_ = 0;   ///< that these will take on the way
    double way_free_ = 0, entrance_free_ = 0;
    std::vector<double> taken_;           ///< when L2 takes the lines that left last
    size_t oldest_ = 0;                   ///< of them
    double last_taken_ = 0;               ///< the latest of all
    size_t turn_ = 0;                     ///< the queue whose store passes, or passed last
    bool inside_store_ = false;           ///< the store whose turn it is has lines left outside
    bool full_ = false;                   ///< it waits for a place in the buffer
};

}  // namespace lanescope::memory
