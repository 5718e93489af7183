// DRAM as one server of a given bandwidth: reads go at once, write-backs wait until it is free of reads, too many wait, or their share of
// the bus has come together. What an access takes depends on the one before (row, direction), and how long it is under way varies.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "memory/coalescer.h"
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
        double row_read_bytes = 0;        ///< a row that is opened for a read takes as long as this, however little of it is read
        double row_write_bytes = 0;       ///< the same for a write
        double turnaround_bytes = 0;      ///< a write after a read takes so much longer
        double spread_cycles = 0;         ///< of a read's latency beyond its shortest, mean
        double turn_cycles = 0;           ///< the same more while writes wait: banks and bus turn to these and back
    };
    explicit Dram(const Properties& properties)
        : p_(properties), atom_sectors_(std::clamp(p_.atom / kSectorBytes, 1u, kSectorsPerLine)), read_rows_(1u << kRowBits), written_rows_(1u << kRowBits) {}

    struct Write {
        uint64_t line = 0;
        uint32_t site = 0;
        uint32_t sectors = 0;             ///< one bit each
    };

    /// Takes up the bus for `sectors` of `line`; returns how much longer than the shortest read this one takes.
    template <class Written>
    double read(uint64_t now, uint64_t line, uint32_t sectors, Written&& written) {
        advance(now, written);
        const double wait = std::max(0.0, busy_until_ - double(now));
        take(visit(read_rows_, line, sectors, p_.row_read_bytes));
        wrote_ = false;
        if (!pending_.empty()) owed_ += moved(sectors) * p_.write_share;
        if (owed_ >= kBurstBytes)
            for (; owed_ > 0 && !pending_.empty(); next(written)) owed_ -= moved(pending_.front().sectors);
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
    /// For how long an access of open rows takes up the bus.
    double cycles(uint32_t sectors) const { return moved(sectors) / p_.bytes_per_cycle; }
    /// How long the bus is still taken up.
    double backlog(uint64_t now) const { return std::max(0.0, busy_until_ - double(now)); }
    /// Whether no further write may wait.
    bool full() const { return pending_.size() >= p_.most_pending; }
    void forget_writes() { pending_.clear(); }
    /// Cycles taken up so far, of all.
    double busy_cycles() const { return busy_; }

private:
    static constexpr double kBurstBytes = 2048;       ///< written in one go between reads; assumed
    static constexpr int kRowBits = 11;               ///< rows whose accesses meet, of reads and of writes; assumed
    struct Row {
        uint64_t number = ~0ull;
        double unused = 0;                ///< bytes that could move in the time that opening it took and have not
    };
    /// Mean of each 64th of an exponential distribution of mean 1.
    static inline const std::array<double, 64> kExponential = [] {
        std::array<double, 64> out{};
        const auto below = [](double share) { return share >= 1 ? 1 : 1 - (1 - share) * (1 - std::log(1 - share)); };
        for (int i = 0; i < 64; ++i) out[size_t(i)] = 64 * (below((i + 1) / 64.0) - below(i / 64.0));
        return out;
    }();

    /// Bytes that go over the bus: every atom of the line that has some of these sectors.
    uint32_t moved(uint32_t sectors) const {
        uint32_t bytes = 0;
        for (; sectors != 0; sectors >>= atom_sectors_)
            if (sectors & ((1u << atom_sectors_) - 1)) bytes += atom_sectors_ * kSectorBytes;
        return bytes;
    }
    /// Bytes whose time an access takes: what opening its row takes, as long as that is not used up, else what it moves.
    double visit(std::vector<Row>& rows, uint64_t line, uint32_t sectors, double least) {
        const uint64_t number = line / p_.row_lines;
        Row& row = rows[(number * 0x9E3779B97F4A7C15ull) >> (64 - kRowBits)];
        double taken = 0;
        if (row.number != number) {
            row = {number, least};
            taken = least;
        }
        row.unused -= moved(sectors);
        if (row.unused < 0) taken -= std::exchange(row.unused, 0);
        return taken;
    }
    void take(double bytes) {
        busy_until_ += bytes / p_.bytes_per_cycle;
        busy_ += bytes / p_.bytes_per_cycle;
    }
    template <class Written>
    void next(Written&& written) {
        const Write write = pending_.front();
        pending_.pop_front();
        written(write);
        take(visit(written_rows_, write.line, write.sectors, p_.row_write_bytes) + (wrote_ ? 0 : p_.turnaround_bytes));
        wrote_ = true;
    }
    Properties p_;
    uint32_t atom_sectors_;
    double busy_until_ = 0, busy_ = 0;
    double owed_ = 0;                     ///< bytes of writes whose turn has come
    bool wrote_ = false;                  ///< the access before was a write
    uint64_t random_ = 0;
    std::vector<Row> read_rows_, written_rows_;
    std::deque<Write> pending_;
};

}  // namespace lanescope::memory
