// Predicted device time: streams as ordered queues that share the GPU's engines.
#pragma once

#include <cstdint>
#include <map>

namespace lanescope::emulator {

using Stream = uint32_t;
constexpr Stream kDefaultStream = 0;

enum class Engine : uint8_t { kKernels, kToDevice, kToHost };

/// All times in ns since the program's first use of the GPU. The host's own time is not simulated: a call takes none, waiting takes until
/// what is waited for has ended.
class Timeline {
public:
    struct Span {
        double start = 0, end = 0;
    };

    Stream create(bool blocking);
    void destroy(Stream stream);
    bool exists(Stream stream) const { return stream == kDefaultStream || streams_.contains(stream); }

    /// Appends work to a stream: it starts when the host has asked for it, what the stream held before has ended and the engine is free.
    /// The default stream waits for all blocking streams, and they wait for it.
    Span enqueue(Stream stream, Engine engine, double duration);
    /// When everything that `stream` holds (default stream: all blocking streams) has ended.
    double end_of(Stream stream) const;
    /// Later work of `stream` starts no earlier than `time`.
    void wait(Stream stream, double time);
    /// The host waits until `time`.
    void host_waits(double time) { host_ = host_ > time ? host_ : time; }
    void host_waits_for_all();
    double host() const { return host_; }

private:
    struct State {
        double end = 0;
        bool blocking = true;
    };
    State& state(Stream stream) { return stream == kDefaultStream ? default_ : streams_[stream]; }

    double host_ = 0;
    double engine_end_[3] = {0, 0, 0};
    State default_;
    std::map<Stream, State> streams_;
    Stream next_ = 1;
};

}  // namespace lanescope::emulator
