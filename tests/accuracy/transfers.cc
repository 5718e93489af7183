// Compares the transfers that an emulated program times with device events with what the same program measured on real hardware.
//
// usage: accuracy_transfers LANESCOPE PROGRAM.cu "ARGUMENTS" RECORDED.csv LIMITS.csv OUT.csv
// Prints every transfer's times and exits 1 when a limit is broken or a recorded transfer that has a limit was not made.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "table.h"

int main(int argc, char** argv) {
    using lanescope::accuracy::number, lanescope::accuracy::read_table, lanescope::accuracy::Row;
    if (argc != 7) return 2;
    const std::string lanescope = argv[1], program = argv[2], arguments = argv[3], out = argv[6];
    const std::string command = lanescope + " run --gpu h200 --no-what-if --no-race-check --uninitialized off " + program + " " + arguments + " >" + out + " 2>" + out + ".log";
    if (std::system(command.c_str()) != 0) {
        fmt::print("{}: failed, see {}.log\n", command, out);
        return 2;
    }
    const std::vector<Row> emulated = read_table(out), limits = read_table(argv[5]);
    const auto find = [](const std::vector<Row>& rows, const Row& wanted, bool same_size) -> const Row* {
        for (const Row& row : rows)
            if (row.at("kind") == wanted.at("kind") && row.at("memory") == wanted.at("memory") && (!same_size || row.at("bytes") == wanted.at("bytes"))) return &row;
        return nullptr;
    };
    bool broken = false;
    int judged = 0;
    for (const Row& row : read_table(argv[4])) {
        const Row* limit = find(limits, row, false);
        if (!limit || number(row, "bytes") < number(*limit, "from")) continue;
        const Row* made = find(emulated, row, true);
        const double theirs = number(row, "event_ns_median"), ours = made ? number(*made, "event_ns_median") : std::nan("");
        const double error = 100 * (ours / theirs - 1);
        const bool good = std::abs(error) <= number(*limit, "error");    // no number is not good
        fmt::print("{:<6} {:<16} {:<14} {:>10} B  ours {:>11.0f} ns  hardware {:>11.0f} ns  error {:6.1f} %\n", good ? "ok" : "FAILED", row.at("kind"), row.at("memory"),
                   row.at("bytes"), ours, theirs, error);
        broken |= !good;
        ++judged;
    }
    return broken || judged == 0 ? 1 : 0;
}
