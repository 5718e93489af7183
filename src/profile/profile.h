// The waist of the hourglass: what a program did to memory, launch by launch and line by line. Both backends produce it,
// analysis and reports only read it. JSON schema `lanescope-profile/1`, documented in docs/profile-schema.json.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

namespace lanescope::profile {

/// What Access::space and Access::operation may be.
constexpr std::array<std::string_view, 7> kSpaces = {"global", "local", "shared", "constant", "texture", "surface", "param"};
constexpr std::array<std::string_view, 6> kOperations = {"load", "store", "reduction", "atomic", "async_copy", "prefetch"};

/// Metric name (see catalogue.h) → value. Counts are integers and stay exact up to 2^53; times are nanoseconds.
using Metrics = std::map<std::string, double, std::less<>>;

struct Frame {
    std::string file;
    uint32_t line = 0;
    std::string function;                 ///< may be empty
    friend bool operator==(const Frame&, const Frame&) = default;
    friend auto operator<=>(const Frame&, const Frame&) = default;
};

/// Warp addresses kept as evidence: one executed request.
struct ExampleWarp {
    uint64_t block = 0;
    uint32_t warp = 0;
    uint32_t active = 0;
    std::vector<uint64_t> addresses;      ///< 32, meaningless for inactive lanes
};

/// One access (a memory instruction of the machine code) of a line, summed over its executions.
struct Access {
    std::string space;                    ///< one of kSpaces
    std::string operation;                ///< one of kOperations
    uint32_t bytes = 0;                   ///< per lane
    uint32_t instruction = 0;             ///< machine order within the kernel, to tell accesses of a line apart
    std::string pattern;                  ///< class of analysis; empty: not classified
    Metrics metrics;                      ///< COUNTERs of catalogue.def; one that is not here is 0 (or in Launch::absent)
    std::optional<ExampleWarp> example;
};

struct Line {
    std::string file;                     ///< innermost location; empty: `[no source]`
    uint32_t line = 0;
    std::string function;
    std::vector<Frame> inlined_from;      ///< outwards
    Metrics metrics;
    std::vector<Access> accesses;
};

/// A change to the program that was tried by replaying the launch with it.
struct WhatIf {
    std::string change;                   ///< "structure_of_arrays", …: `lanescope explain` knows them
    std::vector<Frame> where;             ///< the line that gains most, innermost first
    std::vector<uint32_t> instructions;   ///< Access::instruction of what changes
    Metrics parameters;                   ///< record_bytes, row_bytes, …
    Metrics before, after;                ///< of the whole launch: time_ns, sectors, l2_sectors, dram_bytes, wavefronts, …
};

/// How much of what a unit can do a launch used, in percent.
struct Unit {
    std::string name;                     ///< one of kUnits
    double of_peak = 0;                   ///< ncu's throughput: of the theoretical rate, launch overhead included
    double busy = 0;                      ///< of the kernel's own time, in which the unit could take nothing else
};
constexpr std::array<std::string_view, 12> kUnits = {"dram", "l2", "l2_atomics", "l1", "shared", "constant", "issue", "link", "block_launch",
                                                    "fp32", "fp64", "special"};

struct Launch {
    uint64_t index = 0;
    std::string kernel;                   ///< demangled with parameters: "add_offset(const float*, int)"
    std::string symbol;
    uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
    uint32_t stream = 0;
    std::optional<double> start_ns;       ///< on the predicted (or measured) device timeline, as Transfer::start_ns
    Metrics metrics;
    std::vector<Unit> units;              ///< empty: not known
    std::string bound, second_bound;      ///< one of kUnits, "latency", "launch" or "migration"; empty: not known
    std::vector<Line> lines;
    std::vector<std::string> notes;       ///< what is known to differ from hardware here, and why
    std::map<std::string, std::string> absent;  ///< metric or counter → why there is no number
    std::vector<WhatIf> what_if;          ///< empty: nothing was tried
};

struct Transfer {
    std::string kind;                     ///< host_to_device, device_to_host, device_to_device, host_to_host, peer, memset, prefetch_to_device,
                                          ///< migration_to_device (also …_to_host), zero_copy_read, zero_copy_write
    std::string memory;                   ///< pageable, pinned, write_combined, mapped, managed, device, array
    uint64_t bytes = 0;
    uint32_t stream = 0;
    double start_ns = 0, duration_ns = 0; ///< on the predicted (or measured) device timeline; duration 0: not known
    std::optional<uint64_t> launch{};     ///< index of the kernel whose accesses caused it and in whose time it lies
};

struct Fault {
    std::string kind;                     ///< out_of_bounds, misaligned, race, …
    std::string message;
    bool warning = false;
    uint64_t launch = 0;
    std::vector<Frame> where;             ///< innermost first
    Metrics numbers;                      ///< address, thread and block coordinates, distance, …
    std::vector<Frame> other;             ///< of races: where the other thread was
    /// Whether the kernel could not go on.
    bool ended_kernel() const { return !warning && kind != "race" && kind != "uninitialized"; }
};

struct Profile {
    std::string backend;                  ///< emulated, hardware
    std::string gpu_name;                 ///< "h200"
    std::string gpu_json = "{}";          ///< the description's numbers as a JSON object, for readers
    std::vector<std::string> argv;
    std::map<std::string, std::string> settings;  ///< l1, caches, …
    std::vector<Launch> launches;
    std::vector<Transfer> transfers;
    std::vector<Fault> faults;
    std::map<std::string, std::vector<std::string>> sources;  ///< file → its lines as they were when profiled (may lack files)
};

/// One launch and one source line a text line, so that profiles can be read and compared by eye. Invalid UTF-8 becomes U+FFFD.
std::string to_json(const Profile& profile);
/// Refuses anything that is not a lanescope-profile/1, naming the JSON path of what is wrong ("launches[3].grid[0]: …"). Unknown
/// members are passed over, so that later additions do no harm. `file` is for messages.
base::Result<Profile> from_json(std::string_view json, const std::string& file);

// The pieces, for the session journal (one JSON object a line, written as things happen so that nothing is lost).
std::string to_json(const Launch& launch);
std::string to_json(const Transfer& transfer);
std::string to_json(const Fault& fault);
base::Result<Launch> launch_from_json(std::string_view json, const std::string& file);
base::Result<Transfer> transfer_from_json(std::string_view json, const std::string& file);
base::Result<Fault> fault_from_json(std::string_view json, const std::string& file);

/// Adds what another process of the same run did, after what is there: launches are numbered on.
void append(Profile& profile, Profile&& later);
/// Adds the metrics, lines and accesses that another pass over the same launches counted. What is there stays. Fails, leaving
/// `profile` as it was, where the launches differ in number, kernel or shape.
base::Status merge(Profile& profile, const Profile& pass);

/// Reads the source files that the profile's lines name, where they are here and no larger than 4 MiB, into `sources`.
void add_sources(Profile& profile);

}  // namespace lanescope::profile
