#include "hardware/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/demangle.h"
#include "hardware/metrics.h"
#include "hardware/sass.h"
#include "profile/catalogue.h"

namespace lanescope::hardware {

namespace {

std::map<uint32_t, std::vector<const KernelEvent*>> by_correlation(const Events& events) {
    std::map<uint32_t, std::vector<const KernelEvent*>> out;
    for (auto& kernel : events.kernels) out[kernel.correlation].push_back(&kernel);
    for (auto& [correlation, kernels] : out)
        std::sort(kernels.begin(), kernels.end(), [](auto* a, auto* b) { return a->start < b->start; });
    return out;
}

/// CUPTI numbers streams its own way; ours count from 0, the default stream, in the order of creation.
std::map<uint32_t, uint32_t> stream_numbers(const Events& events) {
    std::set<uint32_t> seen;
    for (auto& kernel : events.kernels) seen.insert(kernel.stream);
    for (auto& copy : events.copies) seen.insert(copy.stream);
    constexpr uint32_t kDefault = 7;  // of the first context
    std::map<uint32_t, uint32_t> out;
    uint32_t next = 1;
    for (uint32_t stream : seen) out[stream] = stream == kDefault ? 0 : next++;
    return out;
}

const char* memory_name(uint32_t kind) {
    switch (kind) {
        case 1: return "pageable";
        case 2: return "pinned";
        case 3: case 6: return "device";
        case 4: return "array";
        case 5: case 7: return "managed";
        default: return "unknown";
    }
}

profile::Transfer transfer(const CopyEvent& copy, uint64_t origin, const std::map<uint32_t, uint32_t>& streams) {
    profile::Transfer out;
    // CUpti_ActivityMemcpyKind: arrays are device memory at the other end of the same direction.
    switch (copy.memset ? 0 : copy.kind) {
        case 1: case 3: out.kind = "host_to_device"; break;
        case 2: case 4: out.kind = "device_to_host"; break;
        case 5: case 6: case 7: case 8: out.kind = "device_to_device"; break;
        case 9: out.kind = "host_to_host"; break;
        case 10: out.kind = "peer"; break;
        default: out.kind = copy.memset ? "memset" : "unknown";
    }
    bool from_host = out.kind == "host_to_device" || out.kind == "host_to_host";
    out.memory = memory_name(copy.memset || !from_host ? copy.destination : copy.source);
    out.bytes = copy.bytes;
    auto stream = streams.find(copy.stream);
    out.stream = stream == streams.end() ? 0 : stream->second;
    out.start_ns = double(copy.start - origin);
    out.duration_ns = double(copy.end - copy.start);
    return out;
}

uint64_t origin_of(const Events& events) {
    uint64_t origin = UINT64_MAX;
    for (auto& kernel : events.kernels) origin = std::min(origin, kernel.start);
    for (auto& copy : events.copies) origin = std::min(origin, copy.start);
    for (auto& migration : events.migrations) origin = std::min(origin, migration.start);
    return origin == UINT64_MAX ? 0 : origin;
}

profile::Launch* find_launch(profile::Profile& profile, uint64_t index) {
    auto found = std::lower_bound(profile.launches.begin(), profile.launches.end(), index,
                                  [](const profile::Launch& launch, uint64_t wanted) { return launch.index < wanted; });
    return found == profile.launches.end() || found->index != index ? nullptr : &*found;
}

/// The launch of the profile that `index` was in a later run; nothing where that run launched something else there.
profile::Launch* same_launch(profile::Profile& profile, const Events& later, uint64_t index) {
    profile::Launch* launch = find_launch(profile, index);
    if (!launch || index >= later.launches.size()) return nullptr;
    const LaunchEvent& event = later.launches[index];
    bool same = event.symbol == launch->symbol;
    for (int i = 0; i < 3; ++i)
        same = same && std::max(1u, event.grid[i]) == launch->grid[i] && std::max(1u, event.block[i]) == launch->block[i];
    return same ? launch : nullptr;
}

uint32_t round_up(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

Selection select(const std::vector<LaunchEvent>& launches, const Request& request) {
    Selection out;
    auto selector = profile::LaunchSelector::make(request.launches);
    if (!selector) return out;
    for (auto& launch : launches) {
        if (!selector->takes(launch.symbol)) continue;
        if (!out.empty() && out.back().second + 1 == launch.index) out.back().second = launch.index;
        else out.emplace_back(launch.index, launch.index);
    }
    return out;
}

bool contains(const Selection& selection, uint64_t launch) {
    auto after = std::upper_bound(selection.begin(), selection.end(), launch, [](uint64_t l, auto& range) { return l < range.first; });
    return after != selection.begin() && launch <= after[-1].second;
}

std::vector<SegmentPlan> segments(const std::vector<LaunchEvent>& launches, const Selection& selection, uint64_t most) {
    constexpr uint64_t kLongestGap = 32;  // collecting an unwanted launch is cheaper than closing and opening an image, up to about here
    std::vector<SegmentPlan> out;
    uint32_t context = 0, stretch = 0;
    for (auto& launch : launches) {
        if (!contains(selection, launch.index)) continue;
        bool fresh = out.empty() || launch.context != context || launch.stretch != stretch || launch.index - out.back().begin >= most ||
                     launch.index - out.back().end > kLongestGap;
        if (fresh) out.push_back({launch.index, launch.index});
        out.back().end = launch.index;
        context = launch.context;
        stretch = launch.stretch;
    }
    return out;
}

std::string difference(const std::vector<LaunchEvent>& first, const std::vector<LaunchEvent>& later) {
    auto text = [](const LaunchEvent& l) {
        return fmt::format("{} <<<({},{},{}), ({},{},{})>>>", l.graph ? "a graph" : base::demangle(l.symbol), l.grid[0], l.grid[1], l.grid[2], l.block[0],
                           l.block[1], l.block[2]);
    };
    for (size_t i = 0; i < std::min(first.size(), later.size()); ++i)
        if (text(first[i]) != text(later[i])) return fmt::format("launch {} was {}, then {}", i, text(first[i]), text(later[i]));
    if (first.size() == later.size()) return {};
    return fmt::format("there were {} launches, then {}", first.size(), later.size());
}

std::string kernel_name(const LaunchEvent& launch, const std::vector<const KernelEvent*>& kernels) {
    if (!launch.graph) return base::demangle(launch.symbol);
    std::string list;
    for (auto* kernel : kernels) list += (list.empty() ? "" : ", ") + base::demangle(kernel->symbol);
    return fmt::format("graph of {} kernel{}{}{}", kernels.size(), kernels.size() == 1 ? "" : "s", list.empty() ? "" : ": ", list);
}

void add_times(profile::Profile& profile, const Events& events, const Selection& selection, const Device& device) {
    auto kernels = by_correlation(events);
    auto streams = stream_numbers(events);
    uint64_t origin = origin_of(events);
    for (auto& event : events.launches) {
        if (!contains(selection, event.index)) continue;
        auto& ran = kernels[event.correlation];
        profile::Launch launch;
        launch.index = event.index;
        launch.kernel = kernel_name(event, ran);
        launch.symbol = event.symbol;
        for (int i = 0; i < 3; ++i) {
            launch.grid[i] = std::max(1u, event.grid[i]);
            launch.block[i] = std::max(1u, event.block[i]);
        }
        if (!event.graph) {
            launch.metrics["launch__grid_size"] = double(launch.grid[0]) * launch.grid[1] * launch.grid[2];
            launch.metrics["launch__block_size"] = double(launch.block[0]) * launch.block[1] * launch.block[2];
        }
        if (ran.empty()) {
            launch.absent["lanescope__time_in_program.sum"] = "the program left before the GPU's record of this launch was complete";
        } else {
            uint64_t last = 0;
            for (auto* kernel : ran) last = std::max(last, kernel->end);
            launch.stream = streams[ran.front()->stream];
            launch.metrics["lanescope__time_in_program.sum"] = double(last - ran.front()->start);
            if (!event.graph) add_occupancy(launch, *ran.front(), device);
        }
        profile.launches.push_back(std::move(launch));
    }
    for (auto& copy : events.copies)
        if (copy.collected) profile.transfers.push_back(transfer(copy, origin, streams));
    for (auto& migration : events.migrations) {
        profile::Transfer moved;
        moved.kind = migration.to_device ? "migration_to_device" : "migration_to_host";
        moved.memory = "managed";
        moved.bytes = migration.bytes;
        moved.start_ns = double(migration.start - origin);
        moved.duration_ns = double(migration.end - migration.start);
        profile.transfers.push_back(moved);
    }
    std::stable_sort(profile.transfers.begin(), profile.transfers.end(), [](auto& a, auto& b) { return a.start_ns < b.start_ns; });
}

void add_lines(profile::Profile& profile, const Events& events, const std::map<uint32_t, Cubin>& cubins, unsigned architecture) {
    // Each counter of the profile may be the sum of several columns.
    std::map<std::string_view, std::vector<size_t>> columns;
    for (auto& metric : sass_metrics())
        for (auto& names : metric.alternatives) {
            if (!columns[metric.counter].empty()) break;
            for (auto& name : names)
                for (size_t i = 0; i < events.columns.size(); ++i)
                    if (events.columns[i] == name) columns[metric.counter].push_back(i);
        }
    auto value = [&](const SassEvent& event, std::string_view counter) {
        double sum = 0;
        for (size_t column : columns[counter]) sum += double(event.values[column]);
        return sum;
    };

    using Place = std::vector<profile::Frame>;
    std::map<uint64_t, std::map<Place, profile::Line>> launches;
    for (auto& event : events.sass) {
        auto symbol = events.functions.find({event.cubin, event.function});
        auto cubin = cubins.find(event.cubin);
        const Cubin::Function* function =
            symbol != events.functions.end() && cubin != cubins.end() ? cubin->second.find(symbol->second) : nullptr;
        Place place = function ? cubin->second.frames(*function, event.pc) : Place{};
        profile::Line& line = launches[event.launch][place];
        if (!place.empty()) {
            line.file = place[0].file;
            line.line = place[0].line;
            line.function = place[0].function;
            line.inlined_from.assign(place.begin() + 1, place.end());
        }
        auto add = [&](profile::Metrics& metrics, std::string name, double amount) {
            if (amount != 0) metrics[std::move(name)] += amount;
        };
        add(line.metrics, "smsp__inst_executed.sum", value(event, "instructions"));
        add(line.metrics, "smsp__thread_inst_executed.sum", value(event, "threads"));
        add(line.metrics, "memory_l2_theoretical_sectors_global", value(event, "sectors"));
        add(line.metrics, "memory_l2_theoretical_sectors_global_ideal", value(event, "ideal_sectors"));
        add(line.metrics, "memory_l1_tag_requests_global", value(event, "tags"));
        add(line.metrics, "memory_l1_wavefronts_shared", value(event, "wavefronts"));
        add(line.metrics, "memory_l1_wavefronts_shared_ideal", value(event, "ideal_wavefronts"));

        auto instruction = function ? decode(function->code, event.pc, architecture) : std::nullopt;
        if (!instruction) continue;
        profile::Access access;
        access.space = instruction->space;
        access.operation = instruction->operation;
        access.bytes = instruction->bytes;
        access.instruction = event.pc / 16;
        if (access.space == "generic")  // what the addresses turned out to be
            access.space = value(event, "sectors") > 0 ? "global" : value(event, "wavefronts") > 0 ? "shared" : "local";
        auto& counts = access.metrics;
        counts["instructions"] = value(event, "instructions");
        counts["threads"] = value(event, "threads");
        bool texture = access.space == "texture" || access.space == "surface";  // several requests an instruction, not counted by line
        if (!texture) counts["requests"] = value(event, "instructions");
        if (access.space == "global")
            for (auto counter : {"sectors", "ideal_sectors", "tags"}) counts[counter] = value(event, counter);
        if (access.space == "shared")
            for (auto counter : {"wavefronts", "ideal_wavefronts"}) counts[counter] = value(event, counter);
        // An instruction that is predicated off in all lanes is executed, but asks for nothing.
        if ((access.space == "global" && counts["sectors"] == 0) || (access.space == "shared" && counts["wavefronts"] == 0)) counts["requests"] = 0;
        if (access.space == "local") counts["sectors"] = value(event, "local_sectors");
        line.accesses.push_back(std::move(access));
    }
    constexpr const char* kSummed[] = {"memory_l2_theoretical_sectors_global", "memory_l2_theoretical_sectors_global_ideal",
                                       "memory_l1_tag_requests_global", "memory_l1_wavefronts_shared", "memory_l1_wavefronts_shared_ideal",
                                       "smsp__inst_executed.sum", "smsp__thread_inst_executed.sum"};
    for (auto& [index, places] : launches) {
        profile::Launch* launch = same_launch(profile, events, index);
        if (!launch) continue;
        for (auto& name : kSummed) launch->metrics[name] = 0;
        for (auto& [place, line] : places) {
            for (auto& name : kSummed)
                if (auto found = line.metrics.find(name); found != line.metrics.end()) launch->metrics[name] += found->second;
            launch->lines.push_back(std::move(line));
        }
    }
}

std::set<std::string> executed(const Events& events, const Selection& selection, const std::map<uint32_t, Cubin>& cubins, unsigned architecture) {
    std::set<std::string> out{"instructions"};
    std::set<uint64_t> counted;
    for (auto& event : events.sass) {
        counted.insert(event.launch);
        auto symbol = events.functions.find({event.cubin, event.function});
        auto cubin = cubins.find(event.cubin);
        if (symbol == events.functions.end() || cubin == cubins.end()) return {};
        const Cubin::Function* function = cubin->second.find(symbol->second);
        if (!function || event.pc + 16 > function->code.size()) return {};
        // Textures and surfaces have more instructions than those that decode() knows: whatever lies among them counts as one.
        auto opcode = (uint8_t(function->code[event.pc]) | uint8_t(function->code[event.pc + 1]) << 8) & 0x1ff;
        if (opcode >= 0x160 && opcode <= 0x170) out.insert("texture");
        if (opcode >= 0x190 && opcode <= 0x19f) out.insert("surface");
        auto instruction = decode(function->code, event.pc, architecture);
        if (!instruction) continue;
        out.emplace(instruction->space);
        out.emplace(instruction->operation);
        if (instruction->space == "generic") out.insert({"global", "shared", "local"});
        if (instruction->operation == "async_copy") out.insert("shared");
    }
    for (auto& [begin, end] : selection)
        for (uint64_t launch = begin; launch <= end; ++launch)
            if (!counted.contains(launch)) return {};
    return out;
}

std::string add_counters(profile::Profile& profile, const Events& events, uint64_t segment, const std::vector<std::string>& metrics,
                         const std::vector<std::vector<double>>& values) {
    size_t expected = 0;
    for (auto& event : events.ranges)
        if (event.segment == segment) expected += event.skipped + size_t(event.own);
    if (expected != values.size())
        return fmt::format("{} ranges were counted where {} were expected, so they can't be told apart", values.size(), expected);
    size_t range = 0;
    for (auto& event : events.ranges) {
        if (event.segment != segment) continue;
        range += event.skipped;
        if (!event.own) continue;
        const auto& row = values[range++];
        profile::Launch* launch = same_launch(profile, events, event.launch);
        if (!launch) continue;
        for (size_t i = 0; i < metrics.size(); ++i) {
            if (row[i] == row[i]) launch->metrics[metrics[i]] = row[i];
            else launch->absent[metrics[i]] = "the hardware gave no value";
        }
    }
    return {};
}

void complete(profile::Launch& launch) {
    constexpr std::string_view kByLine[] = {"instructions", "threads", "requests", "tags", "sectors", "ideal_sectors", "wavefronts", "ideal_wavefronts"};
    for (auto& counter : profile::counters())
        if (std::find(std::begin(kByLine), std::end(kByLine), counter.name) == std::end(kByLine))
            launch.absent.emplace(counter.name, "hardware does not count it by line");
    profile::roll_up(launch);
}

void add_occupancy(profile::Launch& launch, const KernelEvent& kernel, const Device& device) {
    // Registers are given to warps in units of 256, and each of an SM's four parts holds its own; shared memory in units of 128.
    constexpr uint32_t kParts = 4, kRegisterUnit = 256, kSharedUnit = 128;
    auto& metrics = launch.metrics;
    metrics["launch__registers_per_thread"] = kernel.registers;
    metrics["launch__shared_mem_config_size"] = kernel.shared_config;
    uint32_t threads = launch.block[0] * launch.block[1] * launch.block[2];
    uint32_t warps = (threads + 31) / 32;
    uint32_t shared = round_up(kernel.static_shared + kernel.dynamic_shared + device.reserved_shared_per_block, kSharedUnit);
    uint32_t warp_registers = round_up(kernel.registers * 32, kRegisterUnit);
    if (!warps || !device.sms || !device.max_warps_per_sm || !warp_registers) return;
    uint32_t by_registers = device.registers_per_sm / kParts / warp_registers * kParts / round_up(warps, kParts);
    uint32_t by_warps = device.max_warps_per_sm / warps;
    uint32_t by_shared = shared && kernel.shared_config ? kernel.shared_config / shared : device.max_blocks_per_sm;
    metrics["launch__occupancy_limit_blocks"] = device.max_blocks_per_sm;
    metrics["launch__occupancy_limit_registers"] = by_registers;
    metrics["launch__occupancy_limit_shared_mem"] = by_shared;
    metrics["launch__occupancy_limit_warps"] = by_warps;
    uint32_t blocks = std::min({device.max_blocks_per_sm, by_registers, by_shared, by_warps});
    double grid = double(launch.grid[0]) * launch.grid[1] * launch.grid[2];
    if (blocks) metrics["launch__waves_per_multiprocessor"] = grid / (double(device.sms) * blocks);
}

}  // namespace lanescope::hardware
