// Predicted device time: streams as ordered queues that share the GPU's copy engines and multiprocessors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace lanescope::emulator {

using Stream = uint32_t;
constexpr Stream kDefaultStream = 0;

enum class Engine : uint8_t { kKernels, kToDevice, kToHost };

/// All times in ns since the program's first use of the GPU. The host's own time is not simulated: a call takes none, waiting takes until
/// what is waited for has ended.
///
/// A copy engine does one transfer at a time. Kernels run beside each other as long as their blocks fit: each takes a share of the GPU's
/// room for blocks, and no more than `max_grids` run at once. Each is as long as it would be alone: that kernels side by side also share
/// bandwidth is not accounted for.
class Timeline {
public:
    struct Span {
        double start = 0, end = 0;
    };
    /// Work is numbered in the order in which it was asked for. What is known to be over before something begins: of each stream, all work
    /// up to a number.
    using Clocks = std::map<Stream, uint64_t>;
    /// The end of what a stream held at some time: what events record.
    struct Moment {
        double time = 0;
        Clocks before;
    };

    explicit Timeline(uint32_t max_grids = 128) : max_grids_(max_grids) {}

    Stream create(bool blocking);
    /// What the stream still holds runs to its end.
    void destroy(Stream stream);
    bool exists(Stream stream) const { return stream == kDefaultStream || streams_.contains(stream); }

    /// Appends work to a stream: it starts when the host has asked for it, what the stream held before has ended and the engine is free.
    /// The default stream waits for all blocking streams, and they wait for it. `share`: of the multiprocessors, for Engine::kKernels.
    Span enqueue(Stream stream, Engine engine, double duration, double share = 1);
    /// A transfer that belongs to no stream and that the host waits for (its accesses to managed memory).
    Span now(Engine engine, double duration);
    /// When everything that `stream` holds (default stream: all blocking streams) has ended.
    double end_of(Stream stream) const;
    Moment moment(Stream stream) const;
    /// Later work of `stream` starts no earlier than that.
    void wait(Stream stream, const Moment& moment);
    void host_waits(const Moment& moment);
    void host_waits_for_all();
    double host() const { return host_; }

    /// Numbers work that is about to be run in `stream`; enqueue() does so, too, for work that has been run.
    uint64_t order(Stream stream);
    uint64_t latest() const { return numbers_; }
    /// Whether that work is over when the latest work of `later` begins, whatever the streams' speed.
    bool before(Stream stream, uint64_t number, Stream later) const;
    bool before_host(Stream stream, uint64_t number) const { return known(host_knows_, stream) >= number; }

private:
    struct State {
        double end = 0;
        bool blocking = true;
        Clocks knows;
    };
    struct Running {
        Span span;
        double share = 1;
    };
    static uint64_t known(const Clocks& clocks, Stream stream) {
        const auto found = clocks.find(stream);
        return found == clocks.end() ? 0 : found->second;
    }
    static void join(Clocks& into, const Clocks& other);
    State& state(Stream stream) { return stream == kDefaultStream ? default_ : streams_[stream]; }
    double room_for(double ready, double duration, double share) const;
    bool fits(double start, double duration, double share) const;
    void forget_old();

    static constexpr size_t kRunningKept = 256;
    uint32_t max_grids_;
    double host_ = 0;
    double copy_end_[3] = {0, 0, 0};              ///< by Engine; kernels unused
    std::vector<Running> running_;                ///< kernels that a later one could still meet
    double kernels_from_ = 0;                     ///< nothing starts before: what ran until then is forgotten
    State default_, destroyed_, destroyed_free_;  ///< the latter: work of streams that are gone, blocking and not
    std::map<Stream, State> streams_;
    Stream next_ = 1;
    Clocks host_knows_;
    uint64_t numbers_ = 0;
};

}  // namespace lanescope::emulator
