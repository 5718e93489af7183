#include "emulator/timeline.h"

namespace lanescope::emulator {
namespace {

constexpr double kWhole = 1 + 1e-9;   // shares are quotients

}  // namespace

Stream Timeline::create(bool blocking) {
    streams_[next_].blocking = blocking;
    return next_++;
}

void Timeline::destroy(Stream stream) {
    const auto found = streams_.find(stream);
    if (found == streams_.end()) return;
    State& rest = found->second.blocking ? destroyed_ : destroyed_free_;
    rest.end = std::max(rest.end, found->second.end);
    join(rest.knows, found->second.knows);
    streams_.erase(found);
}

double Timeline::end_of(Stream stream) const {
    if (stream != kDefaultStream) {
        const auto found = streams_.find(stream);
        return found == streams_.end() ? 0 : found->second.blocking ? std::max(found->second.end, default_.end) : found->second.end;
    }
    double end = std::max(default_.end, destroyed_.end);
    for (const auto& [id, other] : streams_)
        if (other.blocking) end = std::max(end, other.end);
    return end;
}

bool Timeline::fits(double start, double duration, double share) const {
    // The load rises only where a kernel starts, so these moments decide.
    const auto load_at = [&](double time) {
        double sum = share;
        uint32_t grids = 1;
        for (const Running& other : running_)
            if (other.span.start <= time && time < other.span.end) sum += other.share, ++grids;
        return sum <= kWhole && grids <= max_grids_;
    };
    if (!load_at(start)) return false;
    return std::all_of(running_.begin(), running_.end(),
                       [&](const Running& other) { return other.span.start <= start || other.span.start >= start + duration || load_at(other.span.start); });
}

double Timeline::room_for(double ready, double duration, double share) const {
    ready = std::max(ready, kernels_from_);
    std::vector<double> moments{ready};
    for (const Running& other : running_)
        if (other.span.end > ready) moments.push_back(other.span.end);
    std::sort(moments.begin(), moments.end());
    return *std::find_if(moments.begin(), moments.end() - 1, [&](double moment) { return fits(moment, duration, share); });
}

void Timeline::forget_old() {
    std::erase_if(running_, [&](const Running& each) { return each.span.end <= host_; });
    if (running_.size() <= kRunningKept) return;
    std::sort(running_.begin(), running_.end(), [](const Running& a, const Running& b) { return a.span.end < b.span.end; });
    const size_t gone = running_.size() / 2;
    kernels_from_ = std::max(kernels_from_, running_[gone - 1].span.end);
    running_.erase(running_.begin(), running_.begin() + std::ptrdiff_t(gone));
}

Timeline::Span Timeline::enqueue(Stream stream, Engine engine, double duration, double share) {
    const double ready = std::max(host_, end_of(stream));
    Span span;
    if (engine == Engine::kKernels) {
        forget_old();
        span.start = room_for(ready, duration, share);
        span.end = span.start + duration;
        running_.push_back({span, share});
    } else {
        span.start = std::max(ready, copy_end_[size_t(engine)]);
        span.end = copy_end_[size_t(engine)] = span.start + duration;
    }
    state(stream).end = span.end;
    order(stream);
    return span;
}

Timeline::Span Timeline::now(Engine engine, double duration) {
    const double start = std::max(host_, copy_end_[size_t(engine)]);
    host_ = copy_end_[size_t(engine)] = start + duration;
    return {start, host_};
}

void Timeline::join(Clocks& into, const Clocks& other) {
    for (const auto& [stream, number] : other) {
        uint64_t& known = into[stream];
        known = std::max(known, number);
    }
}

uint64_t Timeline::order(Stream stream) {
    State& here = state(stream);
    join(here.knows, host_knows_);
    if (stream == kDefaultStream) {
        join(here.knows, destroyed_.knows);
        for (const auto& [id, other] : streams_)
            if (other.blocking) join(here.knows, other.knows);
    } else if (here.blocking) {
        join(here.knows, default_.knows);
    }
    return here.knows[stream] = ++numbers_;
}

bool Timeline::before(Stream stream, uint64_t number, Stream later) const {
    if (later == kDefaultStream) return known(default_.knows, stream) >= number;
    const auto found = streams_.find(later);
    return found == streams_.end() || known(found->second.knows, stream) >= number;
}

Timeline::Moment Timeline::moment(Stream stream) const {
    Moment moment{std::max(end_of(stream), host_), host_knows_};
    if (stream == kDefaultStream) {
        join(moment.before, default_.knows);
        join(moment.before, destroyed_.knows);
        for (const auto& [id, other] : streams_)
            if (other.blocking) join(moment.before, other.knows);
    } else if (const auto found = streams_.find(stream); found != streams_.end()) {
        join(moment.before, found->second.knows);
        if (found->second.blocking) join(moment.before, default_.knows);
    }
    return moment;
}

void Timeline::wait(Stream stream, const Moment& moment) {
    State& here = state(stream);
    here.end = std::max(here.end, moment.time);
    join(here.knows, moment.before);
}

void Timeline::host_waits(const Moment& moment) {
    host_ = std::max(host_, moment.time);
    join(host_knows_, moment.before);
}

void Timeline::host_waits_for_all() {
    for (const State* each : {&default_, &destroyed_, &destroyed_free_}) host_waits({each->end, each->knows});
    for (const auto& [id, other] : streams_) host_waits({other.end, other.knows});
}

}  // namespace lanescope::emulator
