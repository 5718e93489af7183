#include "hardware/inject/turn.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "hardware/inject/session.h"

namespace lanescope::inject {

namespace {

constexpr auto kLongestWait = std::chrono::seconds(2);
constexpr auto kPause = std::chrono::microseconds(200);

}  // namespace

GpuLock gpu_lock;

void GpuLock::acquire(const std::string& path) {
    if (path.empty() || file_ >= 0) return;
    file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file_ < 0) return;
    for (auto begin = std::chrono::steady_clock::now(); ::flock(file_, LOCK_EX | LOCK_NB) != 0;) {
        if (std::chrono::steady_clock::now() - begin > kLongestWait) return;
        std::this_thread::sleep_for(kPause);
    }
}

void GpuLock::release() {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
}

void wait_for_turn() {
    if (request.turn.empty()) return;
    while (::access(request.turn.c_str(), R_OK) != 0) std::this_thread::sleep_for(kPause);
    read_request(request.turn, request);
}

}  // namespace lanescope::inject
