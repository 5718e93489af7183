#include "hazard/detector.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "exec/step.h"

namespace lanescope::hazard {

void Detector::begin(const Grid& grid, const exec::DeviceMemory& memory, bool lockstep, const std::set<uint64_t>& concurrent) {
    memory_ = &memory;
    any_concurrent_ = false;
    for (const auto& [generation, earlier] : grids_) {
        concurrent_[generation] = concurrent.contains(earlier.launch);
        any_concurrent_ |= concurrent_[generation];
    }
    if (!any_concurrent_) {
        for (const auto& [generation, earlier] : grids_) concurrent_[generation] = false;
        grids_.clear();
    }
    if (++generation_ == kGenerations) {
        forget();
        generation_ = 1;
    }
    history_.begin(!any_concurrent_);
    grid_ = &(grids_[generation_] = grid);
    warps_per_block_ = uint32_t((grid.block.count() + exec::kWarpLanes - 1) / exec::kWarpLanes);
    order_.begin(warps_per_block_, lockstep);
    stretches_ = stretches_by_word_ = 0;
    if (watch_undefined_) local_.clear();
}

void Detector::forget() {
    history_.forget();
    grids_.clear();
    std::fill(concurrent_.begin(), concurrent_.end(), false);
    any_concurrent_ = false;
    found_.clear();
    undefined_.clear();
}

std::vector<Race> Detector::take_races() {
    std::vector<Race> out;
    for (const auto& [key, race] : found_) out.push_back(race);
    found_.clear();
    std::sort(out.begin(), out.end(), [](const Race& a, const Race& b) {
        return std::tie(a.second.place, a.first.place, a.address, a.same_value) < std::tie(b.second.place, b.first.place, b.address, b.same_value);
    });
    return out;
}

std::vector<Undefined> Detector::take_undefined() {
    std::vector<Undefined> out;
    for (const auto& [key, read] : undefined_) out.push_back(read);
    undefined_.clear();
    return out;
}

void Detector::on_start(const exec::Actor& actor) {
    if (!order_.start(actor)) {  // clocks have run out
        order_.forget();
        shared_.clear();
        history_.forget();
        order_.start(actor);
    }
    for (uint32_t warp = 0; watch_undefined_ && warp < warps_per_block_; ++warp)
        if (const auto found = local_.find(uint64_t(order_.place_of(actor)) << 8 | warp); found != local_.end())
            std::fill(found->second.begin(), found->second.end(), 0);
}

void Detector::on_use(const exec::Use& use) {
    if (use.ordering.strong && use.touch != exec::Touch::kWrite && races_)
        for (uint32_t rest = use.active; rest != 0; rest &= rest - 1) order_.learn(*use.actor, location(use, unsigned(std::countr_zero(rest))));
    switch (use.space) {
        case exec::Space::kGlobal: touch_global(use); break;
        case exec::Space::kShared: touch_shared(use); break;
        case exec::Space::kLocal:
            if (watch_undefined_) touch_local(use);
            break;
        default: break;
    }
    if (use.ordering.strong && use.touch != exec::Touch::kRead && races_)
        for (uint32_t rest = use.active; rest != 0; rest &= rest - 1)
            if (!order_.publish(*use.actor, location(use, unsigned(std::countr_zero(rest))), use.ordering)) break;
    if (order_.lockstep()) order_.step(*use.actor);
}

uint64_t Detector::location(const exec::Use& use, unsigned lane) {
    const uint64_t address = use.addresses[lane] & ~uint64_t(7);
    return use.space == exec::Space::kShared ? uint64_t(exec::mbarrier_of(use.actor->block, address)) : address;
}

void Detector::add(uint64_t key, const Race& race) {
    const auto [at, added] = found_.try_emplace(key, race);
    if (added) return;
    const uint64_t count = at->second.count + 1;
    if (at->second.same_value && !race.same_value) at->second = race;
    at->second.count = count;
}

void Detector::add_undefined(const exec::Use& use, unsigned lane, uint64_t address, uint32_t bytes) {
    if (undefined_.contains(use.place)) return;
    const Party who = party(use, lane);
    undefined_[use.place] = {grid_, use.place, use.space, who.block, who.thread, address, bytes};
}

Party Detector::party(const Grid& grid, uint32_t place, bool write, uint64_t block, uint32_t thread) const {
    Party out;
    out.grid = &grid;
    out.place = place;
    out.write = write;
    const exec::Dim3 &g = grid.grid, &b = grid.block;
    out.block = {uint32_t(block % g.x), uint32_t(block / g.x % g.y), uint32_t(block / g.x / g.y)};
    out.thread = {thread % b.x, thread / b.x % b.y, thread / b.x / b.y};
    const auto& plans = grid.kernel->code().plans;
    if (place < plans.size()) {
        out.bytes = plans[place].width;
        out.atomic = plans[place].atomic;
    }
    return out;
}

Party Detector::party(const exec::Use& use, unsigned lane) const {
    Party out = party(*grid_, use.place, use.touch != exec::Touch::kRead, use.actor->block, use.actor->warp * exec::kWarpLanes + lane);
    out.bytes = use.bytes;
    out.atomic = use.touch == exec::Touch::kUpdate;
    return out;
}

bool Detector::same_value(const exec::Use& use, unsigned lane, const std::byte* host) {
    if (use.touch != exec::Touch::kWrite || host == nullptr) return false;
    for (unsigned at = 0; at < use.bytes; ++at) {
        std::byte written{};
        if (!use.value(lane, at, written) || written != host[at]) return false;
    }
    return true;
}

bool Detector::same_value(const exec::Use& use, unsigned lane, unsigned other) {
    if (use.touch != exec::Touch::kWrite || use.addresses[lane] != use.addresses[other]) return false;
    for (unsigned at = 0; at < use.bytes; ++at) {
        std::byte mine{}, theirs{};
        if (!use.value(lane, at, mine) || !use.value(other, at, theirs) || mine != theirs) return false;
    }
    return true;
}

}  // namespace lanescope::hazard
