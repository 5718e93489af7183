// Overlapping runs of the program. While one process measures, the next one already starts; it waits where it would begin to use the GPU.
//
// A process holds the lock while it makes the GPU busy with anything but what it measures (the driver's initialisation, its context), and while
// it measures. Between the two, when it waits for its turn and while CUPTI prepares the counters, the next process gets the lock. The turn is a
// file that the driver of the collection writes when the process before has ended.
#pragma once

#include <string>

namespace lanescope::inject {

/// A lock on a file, given back when the process ends, whatever way it ends.
class GpuLock {
public:
    /// Waits for it; not for ever: a program that sits on it may itself wait for the process that we are. An empty path is no lock.
    void acquire(const std::string& path);
    void release();

private:
    int file_ = -1;
};
extern GpuLock gpu_lock;

/// Waits until the file `request.turn` is there and adds to the request what it says. Nothing to wait for: returns at once.
void wait_for_turn();

}  // namespace lanescope::inject
