// What the injected library wrote while the program ran (the file `events` of a session; docs/hardware.md).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostic.h"

namespace lanescope::hardware {

/// A launch as the driver was asked for it. `index` counts the launches that ran; a graph is one.
struct LaunchEvent {
    uint64_t index = 0;
    uint32_t correlation = 0, context = 0;
    bool graph = false;
    uint32_t grid[3] = {}, block[3] = {};
    uint32_t dynamic_shared = 0;
    uint32_t stretch = 0;        ///< how often the program had called cudaProfilerStop or cudaProfilerStart; between the two nothing is collected
    std::string symbol;
};

/// A kernel as the device ran it. `stream` and `context` are CUPTI's numbers, times its nanoseconds.
struct KernelEvent {
    uint32_t correlation = 0;
    uint64_t start = 0, end = 0;
    uint32_t device = 0, context = 0, stream = 0;
    uint32_t grid[3] = {}, block[3] = {};
    uint32_t registers = 0, static_shared = 0, dynamic_shared = 0, local_bytes = 0, shared_config = 0;
    uint64_t graph_node = 0;
    std::string symbol;
};

/// Kinds as CUPTI numbers them (CUpti_ActivityMemcpyKind, CUpti_ActivityMemoryKind); a memset has only `destination`.
struct CopyEvent {
    bool memset = false;
    uint32_t correlation = 0;
    uint64_t start = 0, end = 0;
    uint32_t stream = 0;
    uint64_t bytes = 0;
    uint32_t kind = 0, source = 0, destination = 0;
    bool collected = true;       ///< not between cudaProfilerStop and cudaProfilerStart
};

struct MigrationEvent {
    uint64_t start = 0, end = 0, bytes = 0;
    bool to_device = false;
};

/// Counts of one machine instruction in one launch, in the order of Events::columns.
struct SassEvent {
    uint64_t launch = 0;
    uint32_t cubin = 0, function = 0, pc = 0;
    std::vector<uint64_t> values;
};

/// A launch while counters were collected: how many ranges of the image to skip (our flush), then whether one is its own.
struct RangeEvent {
    uint64_t launch = 0, segment = 0, skipped = 0;
    bool own = false;
};

struct SegmentEvent {
    uint64_t index = 0, pass = 0, nesting = 0;
    bool complete = false;
    uint64_t dropped = 0, ranges = 0;
};

struct FailedCall {
    std::string call;
    int code = 0;
    std::string text;
};

struct Events {
    bool loaded = false;         ///< the library was injected at all
    bool subscribed = false;     ///< CUPTI answered
    bool ended = false;          ///< the program left in an orderly way
    uint32_t cupti_version = 0;
    std::vector<LaunchEvent> launches;
    std::vector<KernelEvent> kernels;
    std::vector<CopyEvent> copies;
    std::vector<MigrationEvent> migrations;
    std::vector<std::string> columns, missing;
    std::vector<SassEvent> sass;
    std::map<std::pair<uint32_t, uint32_t>, std::string> functions;  ///< (cubin, function) → mangled name
    std::map<uint32_t, std::string> cubins;                          ///< cubin → file in the session's folder
    std::vector<RangeEvent> ranges;
    std::vector<SegmentEvent> segments;
    std::vector<FailedCall> failed;
    std::vector<std::string> notes;
    std::string flush;           ///< how caches were flushed: "driver" or "reads"; empty: they weren't
    uint64_t dropped = 0;
    /// Seconds of the steady clock at which each part was done: where a run's time went.
    std::vector<std::pair<std::string, double>> times;
};

/// A line that is cut off at the end is what a crash leaves, and is dropped; any other line that can't be read is an error.
base::Result<Events> parse_events(std::string_view text, const std::string& file);

}  // namespace lanescope::hardware
