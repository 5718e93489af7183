#include "emulator/timeline.h"

#include <algorithm>

namespace lanescope::emulator {

Stream Timeline::create(bool blocking) {
    streams_[next_].blocking = blocking;
    return next_++;
}

void Timeline::destroy(Stream stream) { streams_.erase(stream); }

double Timeline::end_of(Stream stream) const {
    if (stream != kDefaultStream) {
        auto found = streams_.find(stream);
        return found == streams_.end() ? 0 : found->second.blocking ? std::max(found->second.end, default_.end) : found->second.end;
    }
    double end = default_.end;
    for (const auto& [id, other] : streams_)
        if (other.blocking) end = std::max(end, other.end);
    return end;
}

Timeline::Span Timeline::enqueue(Stream stream, Engine engine, double duration) {
    double start = std::max({host_, end_of(stream), engine_end_[size_t(engine)]});
    Span span{start, start + duration};
    state(stream).end = engine_end_[size_t(engine)] = span.end;
    return span;
}

void Timeline::wait(Stream stream, double time) { state(stream).end = std::max(state(stream).end, time); }

void Timeline::host_waits_for_all() {
    host_waits(default_.end);
    for (const auto& [id, other] : streams_) host_waits(other.end);
}

}  // namespace lanescope::emulator
