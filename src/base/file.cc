#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace lanescope::base {
namespace {

Diagnostic system_error(const std::filesystem::path& path, std::string_view doing) {
    return error(std::string(doing) + ": " + std::strerror(errno), {path.string(), 0, 0});
}

/// Owns a file descriptor.
class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return fd_; }
    bool close() {
        const int fd = fd_;
        fd_ = -1;
        return fd < 0 || ::close(fd) == 0;
    }

private:
    int fd_;
};

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, size_t limit) {
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) return system_error(path, "cannot open");
    struct stat about {};
    if (::fstat(file.get(), &about) != 0) return system_error(path, "cannot read");
    if (S_ISDIR(about.st_mode)) return error("is a directory", {path.string(), 0, 0});
    std::string bytes;
    bytes.reserve(static_cast<size_t>(about.st_size));
    char buffer[1 << 16];
    for (;;) {
        const ssize_t count = ::read(file.get(), buffer, sizeof buffer);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return system_error(path, "cannot read");
        if (count == 0) return bytes;
        if (bytes.size() + static_cast<size_t>(count) > limit)
            return error("larger than " + std::to_string(limit) + " bytes", {path.string(), 0, 0});
        bytes.append(buffer, static_cast<size_t>(count));
    }
}

Status write_file(const std::filesystem::path& path, std::string_view bytes) {
    std::error_code ignored;
    // A terminal, a pipe or /dev/null is written in place: there is nothing to replace.
    const bool in_place = std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored);
    const std::filesystem::path target = in_place ? path : std::filesystem::path(path.string() + ".part" + std::to_string(::getpid()));
    Descriptor file(::open(target.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (file.get() < 0) return system_error(path, "cannot write");
    const auto fail = [&] {
        Diagnostic diagnostic = system_error(path, "cannot write");
        if (!in_place) ::unlink(target.c_str());
        return diagnostic;
    };
    while (!bytes.empty()) {
        const ssize_t count = ::write(file.get(), bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fail();
        bytes.remove_prefix(static_cast<size_t>(count));
    }
    if (!file.close()) return fail();
    if (!in_place && ::rename(target.c_str(), path.c_str()) != 0) return fail();
    return {};
}

std::vector<std::string> split_lines(std::string_view text) {
    std::vector<std::string> lines;
    size_t begin = 0;
    for (size_t end; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
        size_t length = end - begin;
        if (length && text[end - 1] == '\r') --length;
        lines.emplace_back(text.substr(begin, length));
    }
    if (begin < text.size()) lines.emplace_back(text.substr(begin));
    return lines;
}

}  // namespace lanescope::base
