// When a server has time: what comes from the future leaves the time before it to others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace lanescope::memory {

/// Requests reach the model's L2 when they are issued, with the time at which they will be there: where an SM's load/store unit is
/// behind, that is a thousand cycles later. Time is kept in slots of which requests take up parts, so that those that come sooner find the
/// time before. Times are SM cycles, not negative.
class Timetable {
public:
    static constexpr double kSlotCycles = 16;
    explicit Timetable(size_t slots = 256) : slots_(slots) {}   ///< a power of two, to begin with

    /// Takes up the server for `cycles`, at `now` or as soon after it as it is free. Returns how long until then.
    double take(double now, double cycles) {
        uint64_t slot = free_slot(slot_of(now));
        const double wait = wait_for(slot, now);
        for (;; slot = free_slot(slot + 1)) {
            Slot& into = at(slot);
            const double part = std::min(cycles, kSlotCycles - into.used);
            into.used += part;
            cycles -= part;
            if (into.used > kSlotCycles - kTiny) into.next = slot + 1;
            last_ = std::max(last_, slot);
            if (cycles < kTiny) return wait;
        }
    }
    /// No request will come that is due before `now`.
    void pass(double now) {
        const auto until = uint64_t(std::max(0.0, now) / kSlotCycles);
        for (; first_ < until && first_ <= last_; ++first_) slots_[first_ & (slots_.size() - 1)] = {};
        first_ = std::max(first_, until);
    }

private:
    static constexpr double kTiny = 1e-9;
    struct Slot {
        double used = 0;
        uint64_t next = 0;                ///< of a slot that is full: none before this one is free
    };
    uint64_t slot_of(double now) const { return std::max(first_, uint64_t(std::max(0.0, now) / kSlotCycles)); }
    double wait_for(uint64_t slot, double now) {
        const double begin = double(slot) * kSlotCycles;
        return begin <= now ? 0 : begin + at(slot).used - now;
    }
    Slot& at(uint64_t slot) {
        if (slot - first_ >= slots_.size()) grow(slot);
        return slots_[slot & (slots_.size() - 1)];
    }
    uint64_t free_slot(uint64_t slot) {
        uint64_t free = slot;
        while (const uint64_t next = at(free).next) free = next;
        while (slot != free) slot = std::exchange(at(slot).next, free);
        return free;
    }
    void grow(uint64_t slot) {
        std::vector<Slot> more(slots_.size());
        while (slot - first_ >= more.size()) more.resize(2 * more.size());
        for (uint64_t i = first_; i < first_ + slots_.size(); ++i) more[i & (more.size() - 1)] = slots_[i & (slots_.size() - 1)];
        slots_ = std::move(more);
    }
    std::vector<Slot> slots_;             ///< a ring
    uint64_t first_ = 0, last_ = 0;       ///< slot that is not over; last that was used
};

}  // namespace lanescope::memory
