// The three kinds of collection. CUPTI allows one kind a process, so each run of the program uses exactly one of them.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <memory>

namespace lanescope::inject {

struct LaunchInfo {
    uint64_t index = 0;        ///< counts the launches that really ran, graphs as one each
    CUstream stream = nullptr;
    CUcontext context = nullptr;
    bool selected = false;
    bool graph = false;
};

class Collector {
public:
    virtual ~Collector() = default;
    /// Once, when the driver is being initialised.
    virtual void begin() {}
    virtual void context_created(CUcontext) {}
    virtual void context_destroyed(CUcontext) {}
    /// Around a launch, on the launching thread; `ran` is false when the launch was refused.
    virtual void launch_starting(const LaunchInfo&) {}
    virtual void launch_finished(const LaunchInfo&, bool /*ran*/) {}
    /// The program switches collection off or on again.
    virtual void collect(bool /*on*/) {}
    virtual void synchronized() {}
    virtual void module_loaded(const CUpti_ModuleResourceData&) {}
    /// Once, at exit of the process or when its last context goes.
    virtual void end() {}
    /// Launches must not overlap: each is bracketed by calls that belong to it.
    virtual bool serialises() const { return true; }
};

std::unique_ptr<Collector> make_activity_collector();
std::unique_ptr<Collector> make_sass_collector();
std::unique_ptr<Collector> make_range_collector();

/// Our own work in the driver: while one of these lives on a thread, callbacks from that thread are ignored, and stream
/// captures of the program are left alone.
class OwnWork {
public:
    OwnWork();
    ~OwnWork();
    static bool here();

private:
    int mode_;
};

enum class Flushed : uint8_t {
    kNot,       ///< it couldn't be done
    kByDriver,  ///< L2 was written back and invalidated
    kByKernel,  ///< a kernel of ours read a buffer of four times the L2 on the stream: a launch, and a range, of its own
};
/// Makes L2 hold none of the program's data, as ncu does before every kernel.
Flushed flush_caches(CUstream stream);
/// Whether flush_caches() will answer kByKernel in `context`; until that is known the L2 is flushed once to see.
bool flush_is_a_launch(CUcontext context);
/// The context of the last flush is going: the next one needs a kernel and a buffer of its own.
void forget_flush();

}  // namespace lanescope::inject
