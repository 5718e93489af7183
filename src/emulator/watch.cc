#include "emulator/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/demangle.h"
#include "emulator/accounting.h"
#include "exec/step.h"

namespace lanescope::emulator {
namespace {

std::vector<profile::Frame> frames_of(const hazard::Grid* grid, uint32_t place) {
    if (grid == nullptr || place >= grid->kernel->code().plans.size()) return {};
    const ptx::Module& module = grid->kernel->program().module();
    const exec::MemoryPlan& plan = grid->kernel->code().plans[place];
    return frames(module, module.functions[plan.function].body[plan.instruction].location);
}

std::string name(const exec::Dim3& d) { return fmt::format("({}, {}, {})", d.x, d.y, d.z); }

std::string where_in(exec::Space space, uint64_t address, const exec::DeviceMemory& memory) {
    if (space == exec::Space::kShared) return fmt::format("shared memory at {:#x}", address & 0xffffff);
    if (space == exec::Space::kLocal) return fmt::format("local memory at {:#x}", address);
    const exec::Allocation* allocation = memory.find(address);
    if (allocation == nullptr) return fmt::format("global memory at {:#x}", address);
    return fmt::format("byte {} of {} ({} bytes) at {:#x}", address - allocation->begin,
                       allocation->name.starts_with("variable") ? allocation->name : fmt::format("allocation {} ({})", allocation->id, allocation->name),
                       allocation->bytes, address);
}

std::string does(const hazard::Party& party) { return party.atomic ? "atomically updates" : party.write ? "writes" : "reads"; }

void put(profile::Metrics& numbers, const std::string& prefix, const hazard::Party& party) {
    if (party.grid == nullptr) return;
    for (const auto& [what, d] : {std::pair{"block", party.block}, {"thread", party.thread}}) {
        numbers[prefix + what + "_x"] = d.x;
        numbers[prefix + what + "_y"] = d.y;
        numbers[prefix + what + "_z"] = d.z;
    }
}

}  // namespace

exec::Monitor* Watch::begin(const exec::Kernel& kernel, exec::Dim3 grid, exec::Dim3 block, Stream stream, uint64_t number, uint64_t index,
                            const exec::DeviceMemory& memory, bool lockstep) {
    if (!on_) return nullptr;
    std::set<uint64_t> concurrent;
    for (const Work& work : open_)
        if (work.bytes == 0 && !timeline_.before(work.stream, work.number, stream)) concurrent.insert(work.number);
    detector_.begin({&kernel, grid, block, number, index, stream}, memory, lockstep, concurrent);
    launch_ = {stream, number};
    index_ = index;
    return &detector_;
}

std::vector<profile::Fault> Watch::end(const exec::DeviceMemory& memory, std::string& note) {
    if (!on_) return {};
    for (const Work& work : open_)
        if (work.bytes != 0 && !timeline_.before(work.stream, work.number, launch_.stream)) detector_.host_touches(work.address, work.bytes, work.write, {launch_.number});
    remember(launch_);
    if (!detector_.complete()) note = "races were looked for in a part of the memory that the kernel touched only: it touched too much to keep track of";
    return rows(memory);
}

std::vector<profile::Fault> Watch::touched(uint64_t address, uint64_t bytes, bool write, bool dense, Stream stream, const exec::DeviceMemory& memory) {
    if (!on_ || bytes == 0) return {};
    if (write) detector_.defined(address, bytes);
    if (!dense) return {};
    std::set<uint64_t> concurrent;
    const uint64_t number = timeline_.latest();
    for (const Work& work : open_)
        if (work.bytes == 0 && !timeline_.before(work.stream, work.number, stream)) concurrent.insert(work.number);
    if (!concurrent.empty()) detector_.host_touches(address, bytes, write, concurrent);
    remember({stream, number, address, bytes, write});
    return rows(memory);
}

void Watch::remember(Work work) {
    std::erase_if(open_, [&](const Work& each) { return timeline_.before_host(each.stream, each.number); });
    if (open_.size() == kWorkKept) open_.pop_front();
    open_.push_back(work);
}

void Watch::forget() {
    detector_.forget();
    open_.clear();
}

std::vector<profile::Fault> Watch::rows(const exec::DeviceMemory& memory) {
    // People look for lines: races of the same two lines are one, the worst of them stands for all.
    std::map<std::tuple<std::vector<profile::Frame>, std::vector<profile::Frame>, exec::Space, bool>, std::pair<hazard::Race, uint64_t>> by_lines;
    for (const hazard::Race& race : detector_.take_races()) {
        std::vector<profile::Frame> first = frames_of(race.first.grid, race.first.place), second = frames_of(race.second.grid, race.second.place);
        if (second < first) std::swap(first, second);
        const auto [at, added] = by_lines.try_emplace({first, second, race.space, race.first.grid == race.second.grid}, race, 0);
        if (!added && at->second.first.same_value && !race.same_value) at->second.first = race;
        at->second.second += race.count;
    }
    std::vector<profile::Fault> out;
    for (const auto& [lines, found] : by_lines) {
        const auto& [race, count] = found;
        const hazard::Party &first = race.first, &second = race.second;
        profile::Fault row;
        row.kind = "race";
        row.warning = race.same_value;
        row.launch = second.grid != nullptr ? second.grid->index : first.grid->index;
        row.where = frames_of(second.grid, second.place);
        row.other = frames_of(first.grid, first.place);
        const bool apart = first.grid != second.grid;
        const auto who = [&](const hazard::Party& party) {
            if (party.grid == nullptr) return std::string(party.write ? "a copy or memset of the host" : "a copy to the host");
            std::string text = fmt::format("thread {} of block {}", name(party.thread), name(party.block));
            if (apart) text += fmt::format(" of {} (stream {})", base::demangle(party.grid->kernel->function().name), party.grid->stream);
            return text;
        };
        row.message = fmt::format("race on {}: {} {} what {} {}, and nothing orders them", where_in(race.space, race.address, memory), who(second), does(second),
                                  who(first), does(first));
        if (race.same_value) row.message += first.write ? "; both write the same value" : "; the write changes nothing";
        if (!row.where.empty() && row.where.front().file.empty()) row.where.clear();
        row.numbers = {{"address", double(race.address)}, {"bytes", double(second.bytes)}, {"count", double(count)}, {"same_value", double(race.same_value)}};
        put(row.numbers, "", second);
        put(row.numbers, "other_", first);
        out.push_back(std::move(row));
    }
    std::map<std::vector<profile::Frame>, bool> seen;
    for (const hazard::Undefined& read : detector_.take_undefined()) {
        profile::Fault row;
        row.kind = "uninitialized";
        row.warning = undefined_ != Settings::Undefined::kError;
        row.launch = read.grid->index;
        row.where = frames_of(read.grid, read.place);
        if (!seen.emplace(row.where, true).second) continue;
        row.message = fmt::format("thread {} of block {} reads {} bytes that nothing has written: {}", name(read.thread), name(read.block), read.bytes,
                                  where_in(read.space, read.address, memory));
        row.numbers = {{"address", double(read.address)}, {"bytes", double(read.bytes)}};
        put(row.numbers, "", {.grid = read.grid, .block = read.block, .thread = read.thread});
        out.push_back(std::move(row));
    }
    return out;
}

}  // namespace lanescope::emulator
