#include "cli/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

extern char** environ;

namespace lanescope::cli {
namespace {

constexpr std::array<int, 4> kForwarded = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

std::atomic<pid_t> child_of_handler{0};
static_assert(std::atomic<pid_t>::is_always_lock_free, "used in a signal handler");

/// What the terminal sends (si_code SI_KERNEL) has reached the child too: it is in our process group. Only what was sent to us alone is
/// handed on.
void forward(int signal, siginfo_t* info, void*) {
    const pid_t child = child_of_handler.load();
    if (child > 0 && info != nullptr && info->si_code != SI_KERNEL) ::kill(child, signal);
}

/// Holds the handlers while a child runs. Signals that were ignored stay ignored (nohup).
class Forwarding {
public:
    Forwarding() {
        struct sigaction action {};
        action.sa_sigaction = forward;
        action.sa_flags = SA_SIGINFO | SA_RESTART;
        sigemptyset(&action.sa_mask);
        // Nothing is delivered before the child is known: it would be lost.
        sigset_t blocked;
        sigemptyset(&blocked);
        for (const int signal : kForwarded) sigaddset(&blocked, signal);
        sigprocmask(SIG_BLOCK, &blocked, &mask_before_);
        for (size_t i = 0; i < kForwarded.size(); ++i) {
            sigaction(kForwarded[i], nullptr, &before_[i]);
            if (before_[i].sa_handler != SIG_IGN) sigaction(kForwarded[i], &action, nullptr);
        }
    }
    void begin(pid_t child) {
        child_of_handler = child;
        sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
    }
    const sigset_t& mask_before() const { return mask_before_; }
    ~Forwarding() {
        sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
        child_of_handler = 0;
        for (size_t i = 0; i < kForwarded.size(); ++i) sigaction(kForwarded[i], &before_[i], nullptr);
    }
    Forwarding(const Forwarding&) = delete;
    Forwarding& operator=(const Forwarding&) = delete;

private:
    std::array<struct sigaction, 4> before_{};
    sigset_t mask_before_{};
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& text : texts) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

/// `mask`: signals that the child blocks; null: those that we block.
base::Result<pid_t> spawn(const std::vector<std::string>& argv, const std::map<std::string, std::string>& added, posix_spawn_file_actions_t* actions,
                          const sigset_t* mask = nullptr) {
    std::vector<std::string> arguments = argv, variables;
    for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
        const std::string_view text(*each);
        if (!added.contains(std::string(text.substr(0, text.find('='))))) variables.emplace_back(text);
    }
    for (const auto& [name, value] : added) variables.push_back(name + "=" + value);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    if (mask != nullptr) {
        ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        ::posix_spawnattr_setsigmask(&attributes, mask);
    }
    pid_t child = 0;
    const int error = ::posix_spawnp(&child, argv[0].c_str(), actions, &attributes, pointers(arguments).data(), pointers(variables).data());
    ::posix_spawnattr_destroy(&attributes);
    if (error != 0) return base::error(fmt::format("cannot start '{}': {}", argv[0], std::strerror(error)));
    return child;
}

base::Result<int> wait_for(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return base::error(fmt::format("cannot wait for the program: {}", std::strerror(errno)));
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

base::Result<int> run(const Command& command) {
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    if (command.output_to_stderr) ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    Forwarding forwarding;  // the child starts with default handlers: exec resets those that are caught
    const auto child = spawn(command.argv, command.environment, &actions, &forwarding.mask_before());
    ::posix_spawn_file_actions_destroy(&actions);
    if (!child.ok()) return child.errors();
    forwarding.begin(*child);
    return wait_for(*child);
}

base::Result<Captured> capture(const Command& command) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return base::error(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    const auto child = spawn(command.argv, command.environment, &actions);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    Captured captured;
    char buffer[4096];
    for (ssize_t count; child.ok() && ((count = ::read(ends[0], buffer, sizeof buffer)) > 0 || (count < 0 && errno == EINTR));)
        if (count > 0) captured.output.append(buffer, static_cast<size_t>(count));
    ::close(ends[0]);
    if (!child.ok()) return child.errors();
    const auto status = wait_for(*child);
    if (!status.ok()) return status.errors();
    captured.status = *status;
    return captured;
}

base::Result<std::string> output_of(const std::vector<std::string>& argv) {
    auto captured = capture({argv, {}});
    if (!captured.ok()) return captured.errors();
    if (captured->status != 0) return base::error(fmt::format("'{}' ended with status {}", argv[0], captured->status));
    return std::move(captured->output);
}

std::optional<std::filesystem::path> find_on_path(const std::string& name) {
    std::string path = environment("PATH");
    for (size_t start = 0; start <= path.size();) {
        const size_t end = std::min(path.find(':', start), path.size());
        const std::filesystem::path candidate = std::filesystem::path(path.substr(start, end - start)) / name;
        std::error_code error;
        if (end > start && ::access(candidate.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(candidate, error)) return candidate;
        start = end + 1;
    }
    return std::nullopt;
}

std::filesystem::path own_folder() {
    std::error_code error;
    return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

base::Result<TemporaryFolder> TemporaryFolder::make() {
    std::error_code error;
    std::filesystem::path parent = std::filesystem::temp_directory_path(error);
    if (error) parent = "/tmp";
    std::string pattern = (parent / "lanescope-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) return base::error(fmt::format("cannot make a folder: {}", std::strerror(errno)), {pattern, 0, 0});
    return TemporaryFolder(pattern);
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace lanescope::cli
