// The what-if part of Context: which launches are replayed with which changes.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "analysis/pattern.h"
#include "emulator/accounting.h"
#include "emulator/context.h"
#include "timing/transfer.h"

namespace lanescope::emulator {
namespace {

constexpr size_t kMostChanges = 12;               // of one launch
constexpr unsigned kMostAtOnce = 4;
/// With more device memory than this, one copy of the process at a time holds changed pages.
constexpr uint64_t kSmallMemory = 128 << 20;

Outcome outcome_of(const memory::Model& model, double time_ns) {
    Outcome out;
    out.finished = true;
    out.time_ns = time_ns;
    const auto add = [&](const memory::Counters& c) {
        out.sectors += double(c.sectors);
        out.l2_sectors += double(c.l2_reads + c.l2_writes + c.l2_atomics + c.l2_reductions);
        out.dram_bytes += double(c.dram_read_bytes + c.dram_write_bytes);
        out.wavefronts += double(c.wavefronts);
        out.link_bytes += double(c.link_read_bytes + c.link_write_bytes);
        out.constant_words += double(c.constant_words);
    };
    for (const memory::Counters& each : model.sites()) add(each);
    add(model.unattributed());
    return out;
}

/// Memory that other processes would see change too: the program's own, registered, and shared.
bool shares_memory(const exec::DeviceMemory& memory) {
    const auto allocations = memory.allocations();
    const auto registered = [](const exec::Allocation* each) { return each->region == exec::Region::kRegistered; };
    if (std::none_of(allocations.begin(), allocations.end(), registered)) return false;
    std::ifstream maps("/proc/self/maps");
    uint64_t begin = 0, end = 0;
    char dash = 0;
    std::string access, rest;
    while (maps >> std::hex >> begin >> dash >> end >> access && std::getline(maps, rest))
        if (access.size() == 4 && access[3] == 's')
            for (const exec::Allocation* each : allocations)
                if (registered(each) && each->begin < end && begin < each->end()) return true;
    return false;
}

}  // namespace

bool Context::wants_replay(const LaunchRequest& request) {
    if (settings_.what_if_s <= 0 || settings_.counts_only) return false;
    const exec::Dim3 &grid = request.grid, &block = request.block;
    Tried& tried = tried_[{reinterpret_cast<uint64_t>(request.kernel), grid.x, grid.y, grid.z, block.x, block.y, block.z, request.dynamic_shared_bytes}];
    return std::has_single_bit(++tried.launches) && !shares_memory(*memory_);
}

std::string Context::too_large_to_copy() const {
    // The copy keeps what the kernel overwrites, and the race check has 16 bytes for 32: 1 GiB is to take no more than 2.
    constexpr uint64_t kMostCopied = uint64_t(768) << 20;
    if (memory_->used() <= kMostCopied) return {};
    return fmt::format("no changes were tried: the program has {} MiB of device memory, and its copies might take as much again (up to {} MiB they are made)",
                       memory_->used() >> 20, kMostCopied >> 20);
}

Outcome Context::replay(const LaunchRequest& request, const KernelResources& known, const analysis::Candidate& change, const exec::Sinks& sinks) {
    exec::Sinks silent = sinks;
    silent.print = silent.error = nullptr;
    double copies_ns = 0;
    if (change.kind == analysis::ChangeKind::kDeviceMemory) {
        const exec::Allocation* allocation = memory_->find(change.begin);
        if (allocation == nullptr) return {};
        model_.unmap(allocation->begin, allocation->bytes);
        if (change.width & 1) copies_ns += timing::transfer_time(gpu_, "host_to_device", "pinned", allocation->bytes).ns;
        if (change.width & 2) copies_ns += timing::transfer_time(gpu_, "device_to_host", "pinned", allocation->bytes).ns;
    }
    Relayout relayout(change, model_, gpu_.schedulers_per_sm);
    Accounting accounting(*request.kernel, model_, nullptr, &relayout);
    const Simulated after = simulate(request, known, &accounting, change.more_shared_bytes, silent);
    if (after.result.fault) return {};
    return outcome_of(model_, after.duration_ns + copies_ns);
}

void Context::try_changes(Replay& copy, const LaunchRequest& request, const KernelResources& known, const Accounting& accounting, const Simulated& before, double seconds,
                          profile::Launch& record) {
    const exec::Dim3 &grid = request.grid, &block = request.block;
    Tried& tried = tried_[{reinterpret_cast<uint64_t>(request.kernel), grid.x, grid.y, grid.z, block.x, block.y, block.z, request.dynamic_shared_bytes}];
    if (before.result.thread_instructions < 2 * tried.instructions) return;
    tried.instructions = before.result.thread_instructions;

    profile::Profile classified;                    // patterns belong to readers: the record stays as counted
    classified.launches = {record};
    analysis::classify(classified);
    analysis::Surroundings around;
    around.region = [&](uint64_t address) -> analysis::Surroundings::Region {
        const exec::Allocation* found = memory_->find(address);
        if (found == nullptr) return {};
        return {found->begin, found->bytes, found->region == exec::Region::kHost || found->region == exec::Region::kRegistered};
    };
    around.samples = [&](uint32_t instruction) { return accounting.samples(instruction); };
    around.through_l1 = [&](uint32_t instruction) {
        const exec::CacheOperator cache = request.kernel->sites()[instruction].cache;
        if (cache == exec::CacheOperator::kDefault)
            return settings_.l1 == Settings::L1::kDefault ? gpu_.l1_caches_global_by_default : settings_.l1 == Settings::L1::kOn;
        return cache != exec::CacheOperator::kCg && cache != exec::CacheOperator::kCv && cache != exec::CacheOperator::kVolatile;
    };
    for (const exec::Kernel::SharedArray& array : request.kernel->shared_arrays()) around.shared_arrays.push_back({array.begin, array.bytes});
    if (request.dynamic_shared_bytes != 0) around.shared_arrays.push_back({known.static_shared_bytes, request.dynamic_shared_bytes});
    around.shared_bytes = known.static_shared_bytes + request.dynamic_shared_bytes;
    around.most_shared_bytes = std::max(gpu_.max_shared_per_block, gpu_.max_shared_per_block_optin);
    around.local_bytes = known.local_bytes;
    std::vector<analysis::Candidate> changes = analysis::candidates(classified.launches[0], around);
    if (changes.empty()) return;
    if (changes.size() > kMostChanges) changes.resize(kMostChanges);

    // A copy of the copy holds the pages that the kernel writes once more. Where that would take more than the device memory itself, the
    // copy does one change, in place.
    double stored = 0;
    for (const profile::Line& line : record.lines)
        for (const profile::Access& access : line.accesses)
            if (access.operation != "load" && access.space == "global")
                if (const auto sectors = access.metrics.find("sectors"); sectors != access.metrics.end()) stored += 32 * sectors->second;
    const double used = double(memory_->used());
    const bool in_place = used > double(kSmallMemory) && 2 * std::min(stored, used) > used;
    const unsigned at_once = used > double(kSmallMemory) ? 1 : std::clamp(std::thread::hardware_concurrency(), 1u, kMostAtOnce);
    const size_t affordable = size_t(settings_.what_if_s / std::max(seconds, 1e-3)) * at_once, wanted = changes.size();
    changes.resize(std::min({wanted, affordable, in_place ? size_t(1) : wanted}));
    if (changes.size() < wanted)
        record.notes.push_back(fmt::format("{} of {} changes were not tried: {}", wanted - changes.size(), wanted,
                                           affordable < wanted ? fmt::format("emulating this launch takes {:.1f} s, and replays may take {:g} s (--what-if)", seconds, settings_.what_if_s)
                                                               : std::string("a second copy of what this kernel writes would take too much memory")));
    if (changes.empty()) return;
    const profile::Metrics as_it_is = to_metrics(outcome_of(model_, before.duration_ns));
    for (const Outcome& outcome : copy.run(changes, at_once, in_place, 20 + 20 * seconds * double(changes.size()))) {
        if (!outcome.finished) continue;
        profile::WhatIf tried_change = analysis::describe(changes[outcome.index], record);
        tried_change.before = as_it_is;
        tried_change.after = to_metrics(outcome);
        record.what_if.push_back(std::move(tried_change));
    }
}

}  // namespace lanescope::emulator
