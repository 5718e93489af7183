#include "emulator/replay.h"

#include <poll.h>
#include <csignal>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <type_traits>

namespace lanescope::emulator {
namespace {

static_assert(std::is_trivially_copyable_v<analysis::Candidate> && std::is_trivially_copyable_v<Outcome>);

struct Order {
    uint32_t changes = 0, at_once = 1;
    bool in_place = false;
};

bool read_all(int file, void* to, size_t bytes) {
    for (auto* at = static_cast<char*>(to); bytes != 0;) {
        const ssize_t count = ::read(file, at, bytes);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        at += count;
        bytes -= size_t(count);
    }
    return true;
}

bool write_all(int file, const void* from, size_t bytes) {
    for (auto* at = static_cast<const char*>(from); bytes != 0;) {
        const ssize_t count = ::write(file, at, bytes);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        at += count;
        bytes -= size_t(count);
    }
    return true;
}

/// A copy ends with its parent, and dies of a signal rather than run the program's handlers.
void become_copy(pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM, SIGABRT, SIGFPE, SIGCHLD}) ::signal(signal, SIG_DFL);
}

/// What the copy does.
[[noreturn]] void serve(const Replay::Work& work, int orders, int results) {
    Order order;
    if (!read_all(orders, &order, sizeof order)) ::_exit(0);
    std::vector<analysis::Candidate> changes(order.changes);
    if (!read_all(orders, changes.data(), changes.size() * sizeof(analysis::Candidate))) ::_exit(0);
    const auto one = [&](uint32_t index) {
        Outcome outcome = work(changes[index]);
        outcome.index = index;
        write_all(results, &outcome, sizeof outcome);
    };
    if (order.in_place) {
        one(0);
        ::_exit(0);
    }
    const pid_t self = ::getpid();
    unsigned running = 0;
    for (uint32_t i = 0; i < order.changes; ++i) {
        if (running == order.at_once && ::wait(nullptr) > 0) --running;
        const pid_t child = ::fork();
        if (child == 0) {
            become_copy(self);
            one(i);
            ::_exit(0);
        }
        running += child > 0;
    }
    while (running != 0 && (::wait(nullptr) > 0 || errno == EINTR)) --running;
    ::_exit(0);
}

}  // namespace

profile::Metrics to_metrics(const Outcome& outcome) {
    return {{"time_ns", outcome.time_ns},       {"sectors", outcome.sectors},       {"l2_sectors", outcome.l2_sectors},
            {"dram_bytes", outcome.dram_bytes}, {"wavefronts", outcome.wavefronts}, {"link_bytes", outcome.link_bytes},
            {"constant_words", outcome.constant_words}};
}

std::unique_ptr<Replay> Replay::prepare(Work work, const std::function<bool()>& detach) {
    int orders[2], results[2];
    if (::pipe2(orders, O_CLOEXEC) != 0) return nullptr;
    if (::pipe2(results, O_CLOEXEC) != 0) {
        ::close(orders[0]), ::close(orders[1]);
        return nullptr;
    }
    const pid_t self = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) {
        become_copy(self);
        ::close(orders[1]), ::close(results[0]);
        const char detached = !detach || detach();
        write_all(results[1], &detached, 1);
        serve(work, orders[0], results[1]);
    }
    ::close(orders[0]), ::close(results[1]);
    if (child < 0) {
        ::close(orders[1]), ::close(results[0]);
        return nullptr;
    }
    std::unique_ptr<Replay> replay(new Replay(child, orders[1], results[0]));
    char detached = 0;
    return read_all(results[0], &detached, 1) && detached ? std::move(replay) : nullptr;
}

Replay::~Replay() {
    if (to_ >= 0) ::close(to_);  // it reads the end of its orders and ends
    ::close(from_);
    while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

std::vector<Outcome> Replay::run(const std::vector<analysis::Candidate>& changes, unsigned at_once, bool in_place, double seconds) {
    using Clock = std::chrono::steady_clock;
    const Order order{uint32_t(changes.size()), std::max(1u, at_once), in_place};
    struct sigaction ignore {}, before {};  // the copy may have been killed: a write must not end the program
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, &before);
    const bool sent = write_all(to_, &order, sizeof order) && write_all(to_, changes.data(), changes.size() * sizeof(analysis::Candidate));
    ::sigaction(SIGPIPE, &before, nullptr);
    ::close(to_);
    to_ = -1;
    std::vector<Outcome> outcomes;
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    while (sent && outcomes.size() < changes.size()) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
        pollfd ready{from_, POLLIN, 0};
        const int answer = left > 0 ? ::poll(&ready, 1, int(std::min<long>(left, 1000))) : 0;
        if (left <= 0) break;
        if (answer <= 0) continue;
        Outcome outcome;
        if (!read_all(from_, &outcome, sizeof outcome)) break;
        outcomes.push_back(outcome);
    }
    if (outcomes.size() < changes.size()) ::kill(child_, SIGKILL);
    std::sort(outcomes.begin(), outcomes.end(), [](const Outcome& a, const Outcome& b) { return a.index < b.index; });
    return outcomes;
}

}  // namespace lanescope::emulator
