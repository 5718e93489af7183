#include "timing/kernel_time.h"

#include <algorithm>

namespace lanescope::timing {
namespace {

constexpr double kBinds = 60;             ///< percent: where ncu's guidance begins to call a unit the bottleneck
constexpr double kEqual = 1;              ///< points of busy time that decide nothing

double parameter(const gpu::Description& gpu, std::string_view name, double otherwise) {
    const auto found = gpu.model.find(name);
    return found == gpu.model.end() ? otherwise : found->second;
}

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

}  // namespace

LaunchCosts launch_costs(const gpu::Description& gpu) {
    return {.overhead = gpu.launch_overhead_ns,
            .parameters = parameter(gpu, "parameters_ns", 0),
            .block_turnaround = parameter(gpu, "block_turnaround_ns", 83),
            .warp_launch = parameter(gpu, "warp_launch_ns", 1.7)};
}

double kernel_ns(const gpu::Description& gpu, uint64_t cycles, bool parameters) {
    const LaunchCosts costs = launch_costs(gpu);
    return costs.overhead + (parameters ? costs.parameters : 0) + double(cycles) / gpu.clock_mhz * 1000;
}

void add_kernel_time(const gpu::Description& gpu, const KernelWork& work, profile::Launch& launch) {
    const double ns = kernel_ns(gpu, work.cycles, work.parameters) + work.migration_ns, cycles = double(work.cycles), elapsed = ns * gpu.clock_mhz / 1000;
    const double sms = gpu.sms, peak = gpu.peak_bytes_per_second();
    const double most_sectors = ns * gpu.l2_clock_mhz / 1000 * gpu.l2_slices * parameter(gpu, "l2_peak_sectors", gpu.l2_bytes_per_clock_per_slice / 32.);
    const double launching = gpu.blocks_launched_per_clock > 0 ? double(work.blocks) / gpu.blocks_launched_per_clock : 0;
    const double issue = double(work.issued) / gpu.schedulers_per_sm + work.sequences;

    launch.units = {
        {"dram", percent(work.dram_bytes * 1e9, ns * peak), percent(work.memory.dram, cycles)},
        {"l2", percent(double(work.memory.l2_sectors), most_sectors), percent(work.memory.l2, cycles)},
        {"l2_atomics", percent(work.memory.l2_atomics, elapsed), percent(work.memory.l2_atomics, cycles)},
        {"l1", percent(work.memory.l1, sms * elapsed), percent(work.memory.l1, sms * cycles)},
        {"shared", percent(work.memory.shared, sms * elapsed), percent(work.memory.shared, sms * cycles)},
        {"constant", percent(work.memory.constant, sms * elapsed), percent(work.memory.constant, sms * cycles)},
        {"issue", percent(issue, sms * elapsed), percent(issue, sms * cycles)},
        {"link", percent(work.memory.link, elapsed), percent(work.memory.link, cycles)},
        {"block_launch", percent(launching, elapsed), percent(launching, cycles)},
        {"fp32", percent(work.fp32, sms * elapsed), percent(work.fp32, sms * cycles)},
        {"fp64", percent(work.fp64, sms * elapsed), percent(work.fp64, sms * cycles)},
        {"special", percent(work.special, sms * elapsed), percent(work.special, sms * cycles)},
    };
    name_bounds(launch, work.migration_ns > ns / 2 ? "migration" : 2 * cycles < elapsed ? "launch" : "latency");

    profile::Metrics& m = launch.metrics;
    m["gpu__time_duration.sum"] = ns;
    m["sm__cycles_elapsed.max"] = elapsed;
    m["sm__cycles_active.avg"] = double(work.active_cycles) / sms;
    m["sm__warps_active.avg.pct_of_peak_sustained_active"] = percent(double(work.warp_cycles), double(work.active_cycles) * gpu.max_warps_per_sm);
    m["dram__throughput.avg.pct_of_peak_sustained_elapsed"] = launch.units[0].of_peak;
    m["lts__t_sectors.avg.pct_of_peak_sustained_elapsed"] = launch.units[1].of_peak;
    m["l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"] = launch.units[3].of_peak;
    m["sm__inst_executed.avg.pct_of_peak_sustained_elapsed"] = launch.units[6].of_peak;
    m["lanescope__theoretical_bandwidth"] = peak;
    if (gpu.gpus_on_board > 1) m["lanescope__theoretical_bandwidth_of_board"] = peak * gpu.gpus_on_board;
}

void name_bounds(profile::Launch& launch, const char* idle) {
    std::vector<profile::Unit> order = launch.units;
    // Shared memory's passes are part of L1's: the one that has most of them gives the name.
    const auto find = [&](std::string_view name) {
        return std::find_if(order.begin(), order.end(), [&](const profile::Unit& unit) { return unit.name == name; });
    };
    if (const auto l1 = find("l1"), shared = find("shared"); l1 != order.end() && shared != order.end())
        order.erase(2 * shared->of_peak > l1->of_peak ? l1 : shared);
    std::stable_sort(order.begin(), order.end(), [](const profile::Unit& a, const profile::Unit& b) {
        if (std::max(a.of_peak, b.of_peak) >= kBinds) return a.of_peak > b.of_peak;
        return a.busy > b.busy;
    });
    // Equally busy: the one nearer to its peak.
    if (!order.empty() && order[0].of_peak < kBinds) {
        const auto others = std::find_if(order.begin(), order.end(), [&](const profile::Unit& unit) { return unit.busy < order[0].busy - kEqual; });
        const auto first = std::max_element(order.begin(), others, [](const profile::Unit& a, const profile::Unit& b) { return a.of_peak < b.of_peak; });
        std::rotate(order.begin(), first, first + 1);
    }
    const auto binds = [](const profile::Unit& unit) { return unit.of_peak >= kBinds || unit.busy >= kBinds; };
    size_t next = 0;
    launch.bound = idle;
    if (!order.empty() && binds(order[0])) launch.bound = order[next++].name;
    launch.second_bound = next < order.size() && order[next].busy > 0 ? order[next].name : "";
}

}  // namespace lanescope::timing
