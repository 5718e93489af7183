// DRAM as one server of a given bandwidth: reads go at once, write-backs wait until it is free of reads, too many wait, or their share of
// the bus has come together. What an access takes depends on the one before (row, direction), and how long it is under way varies.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <vector>

#include "memory/parameters.h"

namespace lanescope::memory {

class Dram {
public:
    struct Properties {
        double bytes_per_cycle = 1;       ///< sustained, in one direction and from open rows
        uint32_t atom = 64;               ///< bytes that one access moves at least
        uint64_t most_pending = 0;        ///< lines that may wait to be written
        double write_share = 0;           ///< bytes written for each byte read while writes wait
        uint32_t row_lines = 16;          ///< lines of one row
        double row_bytes = 0;             ///< what opening a row for a read costs, as bytes not moved
        double turnaround_share = 0;      ///< a write after a read takes so much longer
        double spread_cycles = 0;         ///< of a read's latency beyond its shortest, mean
        double turn_cycles = 0;           ///< the same more while writes wait: banks and bus turn to these and back
    };
    explicit Dram(const Properties& properties) : p_(properties), rows_(kRows, ~0ull) {}

    struct Write {
        uint32_t site = 0;
        uint32_t bytes = 0;
    };

    /// Takes up the bus for `bytes` of `line`; returns how much longer than the shortest read this one takes.
    template <class Written>
    double read(uint64_t now, uint64_t line, uint32_t bytes, Written&& written) {
        advance(now, written);
        const double wait = std::max(0.0, busy_until_ - double(now));
        take(cost(line, bytes));
        wrote_ = false;
        if (!pending_.empty()) owed_ += std::max(bytes, p_.atom) * p_.write_share;
        if (owed_ >= kBurstBytes)
            for (; owed_ > 0 && !pending_.empty(); next(written)) owed_ -= std::max(pending_.front().bytes, p_.atom);
        random_ = random_ * 6364136223846793005ull + 1442695040888963407ull;
        return wait + (p_.spread_cycles + (pending_.empty() ? 0 : p_.turn_cycles)) * kExponential[random_ >> 58];
    }
    /// Queues a write-back; `written(Write)` is called for each write as it is done.
    template <class Written>
    void write(uint64_t now, Write write, Written&& written) {
        advance(now, written);
        pending_.push_back(write);
        while (pending_.size() > p_.most_pending) next(written);
    }
    /// Time passes: writes go out while no read wants the bus.
    template <class Written>
    void advance(uint64_t now, Written&& written) {
        const double passed = double(now) - kOutOfOrderCycles;
        while (busy_until_ < passed && !pending_.empty()) next(written);
        busy_until_ = std::max(busy_until_, passed);
    }
    /// For how long an access of an open row takes up the bus.
    double cycles(uint32_t bytes) const { return std::max(bytes, p_.atom) / p_.bytes_per_cycle; }
    /// How long the bus is still taken up.
    double backlog(uint64_t now) const { return std::max(0.0, busy_until_ - double(now)); }
    /// Whether no further write may wait.
    bool full() const { return pending_.size() >= p_.most_pending; }
    void forget_writes() { pending_.clear(); }
    /// Cycles taken up so far, of all.
    double busy_cycles() const { return busy_; }

private:
    static constexpr double kBurstBytes = 2048;       ///< written in one go between reads; assumed
    static constexpr uint32_t kRows = 2048;           ///< open at a time, over all banks; assumed
    /// Mean of each 64th of an exponential distribution of mean 1.
    static inline const std::array<double, 64> kExponential = [] {
        std::array<double, 64> out{};
        const auto below = [](double share) { return share >= 1 ? 1 : 1 - (1 - share) * (1 - std::log(1 - share)); };
        for (int i = 0; i < 64; ++i) out[size_t(i)] = 64 * (below((i + 1) / 64.0) - below(i / 64.0));
        return out;
    }();

    double cost(uint64_t line, uint32_t bytes) {
        const uint64_t row = line / p_.row_lines;
        uint64_t& open = rows_[(row * 0x9E3779B97F4A7C15ull) >> 53];
        const double more = open == row ? 0 : p_.row_bytes;
        open = row;
        return (std::max(bytes, p_.atom) + more) / p_.bytes_per_cycle;
    }
    void take(double cycles) {
        busy_until_ += cycles;
        busy_ += cycles;
    }
    template <class Written>
    void next(Written&& written) {
        const Write write = pending_.front();
        pending_.pop_front();
        written(write);
        // Writes have waited and go out row by row.
        take(cycles(write.bytes) * (wrote_ ? 1 : 1 + p_.turnaround_share));
        wrote_ = true;
    }
    Properties p_;
    double busy_until_ = 0, busy_ = 0;
    double owed_ = 0;                     ///< bytes of writes whose turn has come
    bool wrote_ = false;                  ///< the access before was a write
    uint64_t random_ = 0;
    std::vector<uint64_t> rows_;
    std::deque<Write> pending_;
};

}  // namespace lanescope::memory
