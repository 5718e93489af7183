#include "hazard/order.h"

#include <algorithm>
#include <bit>

namespace lanescope::hazard {
namespace {

constexpr uint32_t kLastClock = (1u << kClockBits) - 65536;  // what one block may still use is left
constexpr uint64_t kArrivalsKept = 1 << 19;                  // beyond, everybody is taken to know everything: nothing is reported by mistake
constexpr size_t kArrivalsVisited = 65536;                   // of a question; beyond, the answer is yes

}  // namespace

void Order::begin(uint32_t warps_per_block, bool lockstep) {
    warps_ = warps_per_block;
    lockstep_ = lockstep;
    meetings_.clear();
    meeting_places_.clear();
    clusters_.clear();
    told_ = 0;
}

void Order::forget() {
    for (BlockState& b : places_) {
        b.start = b.base = b.top = 1;
        for (WarpState& w : b.warps) w = {};
    }
    begin(warps_, lockstep_);
    top_ = 1;
}

bool Order::start(const exec::Actor& actor) {
    if (place_of(actor) >= places_.size()) places_.resize(place_of(actor) + 1);
    BlockState& b = at(actor);
    b.block = actor.block;
    uint32_t first = b.top + 1;
    if (actor.cluster != UINT64_MAX) {
        // Blocks of a cluster note in each other's memory: their clocks must be above all that these places have seen.
        std::vector<uint32_t>& members = clusters_[actor.cluster];
        first = members.empty() ? top_ + 1 : places_[members.front()].start;
        members.push_back(place_of(actor));
    }
    b.start = b.base = b.top = first;
    top_ = std::max(top_, first);
    b.fenced = b.informed = false;
    b.warps.resize(warps_);
    for (WarpState& w : b.warps) {
        w.clock = first;
        w.lanes_met = 0;
        w.known.clear();
        w.fenced[0] = w.fenced[1] = nullptr;
        w.lanes.reset();
    }
    return first < kLastClock;
}

uint32_t Order::place_of_rank(const exec::Actor& actor, uint32_t rank) const {
    const auto found = clusters_.find(actor.cluster);
    return found != clusters_.end() && rank < found->second.size() ? found->second[rank] : place_of(actor);
}

void Order::step(const exec::Actor& actor) {
    BlockState& b = at(actor);
    WarpState& w = b.warps[actor.warp];
    w.lanes_met = ++w.clock;
    b.top = std::max(b.top, w.clock);
}

void Order::meet_lanes(const exec::Actor& actor, uint32_t lanes) {
    BlockState& b = at(actor);
    WarpState& w = b.warps[actor.warp];
    if ((actor.live & ~lanes) == 0) {
        w.lanes_met = ++w.clock;
    } else {
        if (!w.lanes) w.lanes = std::make_unique<std::array<std::array<uint32_t, exec::kWarpLanes>, exec::kWarpLanes>>();
        auto& rows = *w.lanes;
        std::array<uint32_t, exec::kWarpLanes> joined{};
        for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
            const auto lane = unsigned(std::countr_zero(rest));
            for (unsigned i = 0; i < exec::kWarpLanes; ++i) joined[i] = std::max(joined[i], rows[lane][i]);
            joined[lane] = w.clock;
        }
        for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) rows[unsigned(std::countr_zero(rest))] = joined;
        ++w.clock;
    }
    b.top = std::max(b.top, w.clock);
}

void Order::meet_block(const exec::Actor& actor) {
    BlockState& b = at(actor);
    const uint32_t now = b.top + 1;
    b.base = b.top = now;
    top_ = std::max(top_, now);
    for (WarpState& w : b.warps) w.clock = now;
    if (b.informed) {
        Knowledge all;
        for (const WarpState& w : b.warps)
            for (const Known& known : w.known) add(all, known);
        for (WarpState& w : b.warps) w.known = all;
    }
    if (!b.fenced) return;
    // What one thread has fenced, another of the block may tell after the barrier.
    const bool one = std::all_of(b.warps.begin(), b.warps.end(), [](const WarpState& w) { return w.fenced[0] == w.fenced[1]; });
    for (unsigned scope = 0; scope < (one ? 1 : 2); ++scope) {
        auto all = std::make_shared<Position>();
        all->clocks.resize(warps_);
        bool any = false, equal = true;
        for (const WarpState& w : b.warps) {
            equal &= w.fenced[scope] == b.warps[0].fenced[scope];
            if (!w.fenced[scope]) continue;
            any = true;
            all->base = std::max(all->base, w.fenced[scope]->base);
            for (uint32_t i = 0; i < warps_; ++i) all->clocks[i] = std::max(all->clocks[i], w.fenced[scope]->clocks[i]);
        }
        if (any && !equal)
            for (WarpState& w : b.warps) w.fenced[scope] = all;
    }
    for (WarpState& w : b.warps)
        if (one) w.fenced[1] = w.fenced[0];
}

std::shared_ptr<const Position> Order::position(const BlockState& b, uint32_t warp, const Position* earlier) const {
    auto now = std::make_shared<Position>();
    if (earlier != nullptr) *now = *earlier;
    now->clocks.resize(warps_);
    now->base = b.base;
    now->clocks[warp] = b.warps[warp].clock;
    return now;
}

void Order::fence(const exec::Actor& actor, bool block_scope) {
    BlockState& b = at(actor);
    WarpState& w = b.warps[actor.warp];
    const bool one = !block_scope && w.fenced[0] == w.fenced[1];
    if (!block_scope) w.fenced[0] = position(b, actor.warp, w.fenced[0].get());
    w.fenced[1] = one ? w.fenced[0] : position(b, actor.warp, w.fenced[1].get());
    ++w.clock;
    b.top = std::max(b.top, w.clock);
    b.fenced = true;
}

Order::Place* Order::find(uint64_t meeting, uint32_t* index, bool make) {
    auto found = meetings_.find(meeting);
    if (found == meetings_.end()) {
        if (!make) return nullptr;
        found = meetings_.emplace(meeting, uint32_t(meeting_places_.size())).first;
        meeting_places_.emplace_back();
    }
    *index = found->second;
    return &meeting_places_[found->second];
}

void Order::tell(const exec::Actor& actor, uint64_t meeting, std::shared_ptr<const Position> position, bool block_scope) {
    if (told_ >= kArrivalsKept) return;
    uint32_t index = 0;
    Place& place = *find(meeting, &index, true);
    std::vector<uint32_t>& mine = place.by_block[actor.block];
    const Knowledge& known = at(actor).warps[actor.warp].known;
    if (!mine.empty()) {
        const Arrival& last = place.arrivals[mine.back()];
        if (last.position == position && last.known.size() == known.size() && last.block_scope == block_scope) return;  // nothing new
    }
    mine.push_back(uint32_t(place.arrivals.size()));
    place.arrivals.push_back({actor.block, block_scope, std::move(position), known});
    ++told_;
}

void Order::arrive(const exec::Actor& actor, uint64_t meeting) {
    BlockState& b = at(actor);
    WarpState& w = b.warps[actor.warp];
    tell(actor, meeting, position(b, actor.warp, nullptr), false);
    ++w.clock;
    b.top = std::max(b.top, w.clock);
}

void Order::leave(const exec::Actor& actor, uint64_t meeting) {
    learn(actor, meeting);
    BlockState& b = at(actor);
    WarpState& w = b.warps[actor.warp];
    w.lanes_met = ++w.clock;
    b.top = std::max(b.top, w.clock);
}

bool Order::publish(const exec::Actor& actor, uint64_t location, exec::Ordering ordering) {
    BlockState& b = at(actor);
    WarpState& w = b.warps[actor.warp];
    if (ordering.release) {
        tell(actor, location, position(b, actor.warp, w.fenced[0].get()), ordering.block_scope);
        ++w.clock;
        b.top = std::max(b.top, w.clock);
        return true;
    }
    if (w.fenced[0] && !ordering.block_scope) tell(actor, location, w.fenced[0], false);
    if (w.fenced[1] && (w.fenced[1] != w.fenced[0] || ordering.block_scope)) tell(actor, location, w.fenced[1], true);
    return w.fenced[1] != nullptr;
}

void Order::learn(const exec::Actor& actor, uint64_t location) {
    if (meetings_.empty()) return;
    uint32_t index = 0;
    const Place* place = find(location, &index, false);
    if (place == nullptr) return;
    BlockState& b = at(actor);
    add(b.warps[actor.warp].known, {index, uint32_t(place->arrivals.size())});
    b.informed = true;
}

void Order::add(Knowledge& to, Known known) {
    for (Known& each : to)
        if (each.place == known.place) {
            each.arrivals = std::max(each.arrivals, known.arrivals);
            return;
        }
    to.push_back(known);
}

bool Order::known(const Knowledge& knowledge, const Access& access, uint64_t block) {
    if (knowledge.empty()) return false;
    std::unordered_map<uint32_t, uint32_t> seen;  // place → arrivals looked at
    std::vector<Known> open = knowledge;
    size_t visited = 0;
    for (size_t next = 0; next < open.size(); ++next) {
        const Known here = open[next];
        uint32_t& done = seen[here.place];
        if (done >= here.arrivals) continue;
        const Place& place = meeting_places_[here.place];
        if (const auto found = place.by_block.find(access.block); found != place.by_block.end())
            for (auto at = std::lower_bound(found->second.begin(), found->second.end(), here.arrivals); at != found->second.begin();) {
                const Arrival& arrival = place.arrivals[*--at];  // the latest knows most
                if (arrival.block_scope && access.block != block) continue;
                if (arrival.position->base > access.clock || arrival.position->clocks[access.warp] >= access.clock) return true;
            }
        // What those knew who arrived here.
        for (uint32_t i = done; i < here.arrivals; ++i) {
            if (++visited > kArrivalsVisited) return true;
            for (const Known& further : place.arrivals[i].known)
                if (const auto at = seen.find(further.place); at == seen.end() || at->second < further.arrivals) open.push_back(further);
        }
        seen[here.place] = here.arrivals;
    }
    return false;
}

bool Order::before(const Access& access, const exec::Actor& now, unsigned lane) {
    const BlockState& b = at(now);
    const WarpState& w = b.warps[now.warp];
    if (access.block == now.block) {
        if (access.clock < b.base) return true;
        if (access.warp == now.warp) {
            if (access.clock < w.lanes_met) return true;
            if (w.lanes) {
                const auto& row = (*w.lanes)[lane];
                if (access.lanes_unknown ? *std::max_element(row.begin(), row.end()) >= access.clock : row[access.lane] >= access.clock) return true;
            }
        }
    }
    return told_ >= kArrivalsKept || known(w.known, access, now.block);
}

}  // namespace lanescope::hazard
