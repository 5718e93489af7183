#include "hardware/injection.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

namespace lanescope::hardware {

namespace fs = std::filesystem;

base::Result<std::string> injection_library() {
    constexpr const char* kName = "liblanescope_inject.so";
    std::error_code ignored;
    if (const char* path = std::getenv("LANESCOPE_INJECT"); path && *path) {
        if (fs::exists(path, ignored)) return std::string(path);
        return base::error(std::string("LANESCOPE_INJECT names ") + path + ", which isn't there");
    }
    fs::path here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
    for (auto& folder : {here, here.parent_path() / "lib", here.parent_path() / "lib/lanescope"})
        if (fs::exists(folder / kName, ignored)) return (folder / kName).string();
    return base::error(std::string(kName) + " is not beside lanescope nor in its ../lib: it is built where CUPTI's headers are installed");
}

/// A pipe or socket is copied through to the first run and into a file; files are opened anew; a terminal is the first run's alone.
struct Input::State {
    enum class Kind : uint8_t { kFile, kStream, kTerminal, kOther } kind = Kind::kOther;
    fs::path record;
    off_t offset = 0;
    int run = -1;
    int feed = -1;
    std::thread copier;
    std::atomic<bool> stop = false;

    void copy() {
        sigset_t pipe_signal;
        sigemptyset(&pipe_signal);
        sigaddset(&pipe_signal, SIGPIPE);
        pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);  // a program that doesn't read to the end is fine
        int file = ::open(record.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        char bytes[65536];
        for (bool reader = true; !stop;) {
            pollfd ready{STDIN_FILENO, POLLIN, 0};
            if (::poll(&ready, 1, 20) <= 0) continue;
            ssize_t got = ::read(STDIN_FILENO, bytes, sizeof bytes);
            if (got <= 0) break;
            for (ssize_t done = 0; done < got;) {
                ssize_t wrote = ::write(file, bytes + done, size_t(got - done));
                if (wrote <= 0) break;
                done += wrote;
            }
            for (ssize_t done = 0; reader && done < got && !stop;) {
                pollfd room{feed, POLLOUT, 0};
                if (::poll(&room, 1, 20) <= 0) continue;
                ssize_t wrote = ::write(feed, bytes + done, size_t(got - done));
                if (wrote > 0) done += wrote;
                else if (errno != EAGAIN) reader = false;
            }
        }
        ::close(file);
        ::close(feed);
    }
};

Input::Input(fs::path folder) : state_(new State) {
    state_->record = folder / "input";
    struct stat status {};
    if (::fstat(STDIN_FILENO, &status) != 0) return;
    if (S_ISREG(status.st_mode)) {
        state_->kind = State::Kind::kFile;
        state_->offset = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
    } else if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) {
        state_->kind = State::Kind::kStream;
    } else if (::isatty(STDIN_FILENO)) {
        state_->kind = State::Kind::kTerminal;
    }
}

Input::~Input() {
    opened();
    stop_recording();
    delete state_;
}

bool Input::lost() const { return state_->kind == State::Kind::kTerminal; }

int Input::open_run(bool first) {
    State& s = *state_;
    auto open = [](const char* path) { return ::open(path, O_RDONLY | O_CLOEXEC); };
    switch (s.kind) {
        case State::Kind::kFile:
            s.run = open("/proc/self/fd/0");
            if (s.run >= 0) ::lseek(s.run, s.offset, SEEK_SET);
            break;
        case State::Kind::kStream:
            if (first) {
                int ends[2];
                if (::pipe2(ends, O_CLOEXEC) != 0) break;
                s.run = ends[0];
                s.feed = ends[1];
                ::fcntl(s.feed, F_SETFL, O_NONBLOCK);
                s.copier = std::thread([&s] { s.copy(); });
            } else {
                s.run = open(s.record.c_str());
            }
            break;
        case State::Kind::kTerminal:
        case State::Kind::kOther:
            if (first) return STDIN_FILENO;
            break;
    }
    if (s.run < 0) s.run = open("/dev/null");
    return s.run;
}

void Input::opened() {
    if (state_->run >= 0) ::close(state_->run);
    state_->run = -1;
}

void Input::stop_recording() {
    state_->stop = true;
    if (state_->copier.joinable()) state_->copier.join();
}

namespace {

/// The words and a null at the end, as exec wants them.
std::vector<char*> pointers(const std::vector<std::string>& words) {
    std::vector<char*> out;
    for (auto& word : words) out.push_back(const_cast<char*>(word.c_str()));
    out.push_back(nullptr);
    return out;
}

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& added) {
    std::vector<std::string> out;
    for (auto& [name, value] : added) out.push_back(name + "=" + value);
    for (char** entry = environ; *entry; ++entry) {
        std::string_view name(*entry, std::strcspn(*entry, "="));
        bool replaced = std::any_of(added.begin(), added.end(), [&](auto& pair) { return pair.first == name; });
        if (!replaced) out.emplace_back(*entry);
    }
    return out;
}

[[noreturn]] void become(const Command& command, char* const* argv, char* const* environment, int failure) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (command.quiet) {
        ::setpgid(0, 0);
        int null = ::open("/dev/null", O_WRONLY);
        ::dup2(null, STDOUT_FILENO);
        ::dup2(null, STDERR_FILENO);
    }
    if (command.input != STDIN_FILENO) ::dup2(command.input, STDIN_FILENO);
    ::execvpe(argv[0], argv, environment);
    int why = errno;
    [[maybe_unused]] ssize_t told = ::write(failure, &why, sizeof why);
    ::_exit(127);
}

}  // namespace

base::Result<Process> Process::start(const Command& command) {
    if (command.argv.empty()) return base::error("no program to run");
    auto argv = pointers(command.argv);
    auto words = environment_with(command.environment);
    auto environment = pointers(words);
    int failure[2];
    if (::pipe2(failure, O_CLOEXEC) != 0) return base::error(std::string("cannot make a pipe: ") + std::strerror(errno));
    Process process(::fork(), command.quiet);
    if (process.child_ == 0) become(command, argv.data(), environment.data(), failure[1]);
    int why = process.child_ < 0 ? errno : 0;
    ::close(failure[1]);
    bool refused = process.child_ < 0 || ::read(failure[0], &why, sizeof why) == sizeof why;
    ::close(failure[0]);
    if (refused) return base::error("cannot run " + command.argv[0] + ": " + std::strerror(why));
    return process;
}

Process::Process(Process&& other) noexcept : child_(std::exchange(other.child_, -1)), quiet_(other.quiet_), started_(other.started_) {}

Process::~Process() {
    if (child_ <= 0) return;
    signal(SIGKILL);
    ::waitpid(child_, nullptr, 0);
}

void Process::signal(int number) const {
    ::kill(child_, number);
    if (quiet_) ::kill(-child_, number);  // its children, if it had the time to become the leader of a group
}

Ended Process::wait(double time_limit, const std::function<bool()>& cancelled) {
    using Clock = std::chrono::steady_clock;
    auto begin = Clock::now();
    auto seconds_since = [](Clock::time_point when) { return std::chrono::duration<double>(Clock::now() - when).count(); };
    Ended ended;
    for (int status = 0;;) {
        if (::waitpid(child_, &status, WNOHANG) == child_) {
            if (quiet_) ::kill(-child_, SIGKILL);  // what a repeated run leaves behind would disturb the next one
            child_ = -1;
            ended.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
            ended.exit_status = ended.signal ? 128 + ended.signal : WEXITSTATUS(status);
            break;
        }
        if (!ended.timed_out && !ended.cancelled) {
            ended.timed_out = time_limit > 0 && seconds_since(begin) > time_limit;
            ended.cancelled = !ended.timed_out && cancelled && cancelled();
            // The visible run may tidy up, as it would on Ctrl-C in a shell.
            if (ended.timed_out || ended.cancelled) signal(quiet_ || ended.timed_out ? SIGKILL : SIGINT);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ended.seconds = seconds_since(started_);
    return ended;
}

}  // namespace lanescope::hardware
