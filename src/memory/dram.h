// DRAM as one server of a given bandwidth: reads go at once, write-backs wait until it is free of reads or too many wait.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

namespace lanescope::memory {

class Dram {
public:
    /// `bytes_per_cycle`: sustained. `atom`: bytes that one access moves at least. `most_pending`: lines that may wait to be written.
    Dram(double bytes_per_cycle, uint32_t atom, uint64_t most_pending) : rate_(bytes_per_cycle), atom_(atom), most_pending_(most_pending) {}

    struct Write {
        uint32_t site = 0;
        uint32_t bytes = 0;               ///< what the counters see
        uint32_t moved = 0;               ///< what occupies the bus
    };

    /// Takes up the bus for `bytes`; returns how long the read waits for its turn.
    template <class Written>
    double read(uint64_t now, uint32_t bytes, Written&& written) {
        advance(now, written);
        const double wait = busy_until_ - double(now);
        busy_until_ += std::max(bytes, atom_) / rate_;
        return wait;
    }
    /// Queues a write-back; `written(Write)` is called for each write as it is done.
    template <class Written>
    void write(uint64_t now, Write write, Written&& written) {
        advance(now, written);
        write.moved = std::max(write.moved, atom_);
        pending_.push_back(write);
        while (pending_.size() > most_pending_) busy_until_ += next(written) / rate_;
    }
    /// Time passes: writes go out while no read wants the bus.
    template <class Written>
    void advance(uint64_t now, Written&& written) {
        while (busy_until_ < double(now) && !pending_.empty()) busy_until_ += next(written) / rate_;
        busy_until_ = std::max(busy_until_, double(now));
    }
    /// How long a write waits that comes now: not at all for as long as there is room.
    double full(uint64_t now) const { return pending_.size() < most_pending_ ? 0 : std::max(0.0, busy_until_ - double(now)); }
    void forget_writes() { pending_.clear(); }

private:
    template <class Written>
    double next(Written&& written) {
        const Write write = pending_.front();
        pending_.pop_front();
        written(write);
        return write.moved;
    }
    double rate_;
    uint32_t atom_;
    uint64_t most_pending_;
    double busy_until_ = 0;
    std::deque<Write> pending_;
};

}  // namespace lanescope::memory
