#include "emulator/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <utility>

#include "base/file.h"

namespace lanescope::emulator {
namespace {

namespace fs = std::filesystem;

/// JSON on one line: its strings hold no raw line breaks, so all others are layout.
std::string one_line(std::string json) {
    std::replace(json.begin(), json.end(), '\n', ' ');
    return json;
}

struct ProcessRecord {
    uint64_t start = 0;
    std::string file;
    profile::Profile profile;
};

base::Result<ProcessRecord> read_process(const fs::path& path) {
    base::Result<std::string> text = base::read_file(path);
    if (!text) return text.errors();
    ProcessRecord process;
    process.file = path.string();
    text->resize(text->rfind('\n') == text->npos ? 0 : text->rfind('\n') + 1);
    std::unordered_map<uint64_t, size_t> launches;  // offset of a line → index of its launch
    uint64_t offset = 0, next = 0;
    uint32_t number = 0;
    for (const std::string& line : base::split_lines(*text)) {
        ++number;
        offset = std::exchange(next, next + line.size() + 1);
        auto at = [&](base::Diagnostics errors) {
            for (base::Diagnostic& each : errors) each.place = {process.file, number, 0};
            return errors;
        };
        if (line.size() < 2) return at({base::error("not a line of a session journal")});
        std::string_view json = std::string_view(line).substr(2);
        if (number == 1) {
            size_t space = json.find(' ');
            auto parsed = std::from_chars(json.data(), json.data() + std::min(space, json.size()), process.start);
            if (line[0] != 'H' || space == json.npos || parsed.ec != std::errc()) return at({base::error("not a session journal")});
            base::Result<profile::Profile> header = profile::from_json(json.substr(space + 1), process.file);
            if (!header) return at(header.errors());
            process.profile = *std::move(header);
        } else if (line[0] == 'L') {
            base::Result<profile::Launch> launch = profile::launch_from_json(json, process.file);
            if (!launch) return at(launch.errors());
            launches.emplace(offset, process.profile.launches.size());
            process.profile.launches.push_back(*std::move(launch));
        } else if (line[0] == 'R') {
            uint64_t index = 0, like = 0;
            double start = 0;
            std::istringstream words{std::string(json)};
            words >> index >> start >> like;
            const auto found = launches.find(like);
            if (!words || found == launches.end()) return at({base::error("not a repeated launch")});
            process.profile.launches.push_back(process.profile.launches[found->second]);
            process.profile.launches.back().index = index;
            process.profile.launches.back().start_ns = start;
        } else if (line[0] == 'T') {
            base::Result<profile::Transfer> transfer = profile::transfer_from_json(json, process.file);
            if (!transfer) return at(transfer.errors());
            process.profile.transfers.push_back(*std::move(transfer));
        } else if (line[0] == 'F') {
            base::Result<profile::Fault> fault = profile::fault_from_json(json, process.file);
            if (!fault) return at(fault.errors());
            process.profile.faults.push_back(*std::move(fault));
        } else {
            return at({base::error(fmt::format("unknown kind of line '{}'", base::printable(line.substr(0, 1))))});
        }
    }
    return process;
}

}  // namespace

Journal::~Journal() {
    if (file_ >= 0 && pid_ == ::getpid()) ::close(file_);
}

bool Journal::start_file() {
    if (file_ >= 0) ::close(file_);
    pid_ = ::getpid();
    std::string path = (fs::path(folder_) / fmt::format("{}.journal", pid_)).string();
    file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file_ < 0) {
        error_ = fmt::format("cannot write {}: {}", path, std::strerror(errno));
        return false;
    }
    launches_.clear();
    offset_ = uint64_t(std::max<off_t>(::lseek(file_, 0, SEEK_END), 0));
    if (offset_ > 0) return true;  // the process replaced itself (exec): same pid, same journal
    auto now = std::chrono::system_clock::now().time_since_epoch();
    write('H', fmt::format("{} {}", std::chrono::duration_cast<std::chrono::nanoseconds>(now).count(), profile::to_json(header_)));
    return !failed_;
}

void Journal::append(const profile::Launch& launch) {
    constexpr size_t kRemembered = 256;
    if (pid_ != ::getpid()) launches_.clear();
    profile::Launch alike = launch;
    alike.index = 0;
    alike.start_ns.reset();
    std::string key = profile::to_json(alike);
    if (const auto found = launches_.find(key); found != launches_.end() && launch.start_ns) {
        write('R', fmt::format("{} {} {}", launch.index, *launch.start_ns, found->second));
        return;
    }
    write('L', profile::to_json(launch));
    if (launches_.size() == kRemembered) launches_.clear();
    launches_.emplace(std::move(key), latest_);
}

void Journal::write(char kind, std::string text) {
    if (folder_.empty() || failed_) return;
    if (pid_ != ::getpid() && !start_file()) {
        failed_ = true;
        return;
    }
    std::string line = fmt::format("{} {}\n", kind, one_line(std::move(text)));
    latest_ = std::exchange(offset_, offset_ + line.size());
    for (std::string_view rest = line; !rest.empty();) {
        ssize_t written = ::write(file_, rest.data(), rest.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            error_ = fmt::format("cannot write the session journal: {}", std::strerror(errno));
            failed_ = true;
            return;
        }
        rest.remove_prefix(size_t(written));
    }
}

std::string Journal::take_error() { return std::exchange(error_, {}); }

base::Result<profile::Profile> read_session(const std::string& folder) {
    std::error_code failed;
    std::vector<ProcessRecord> processes;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
        if (entry->path().extension() != ".journal") continue;
        base::Result<ProcessRecord> process = read_process(entry->path());
        if (!process) return process.errors();
        if (!process->profile.backend.empty()) processes.push_back(*std::move(process));
    }
    if (failed) return base::error(failed.message(), {folder, 0, 0});
    std::sort(processes.begin(), processes.end(), [](const ProcessRecord& a, const ProcessRecord& b) { return std::tie(a.start, a.file) < std::tie(b.start, b.file); });

    profile::Profile whole;
    whole.backend = "emulated";
    for (size_t i = 0; i < processes.size(); ++i) {
        if (i == 0) {
            whole = std::move(processes[i].profile);
        } else {
            profile::append(whole, std::move(processes[i].profile));
        }
    }
    profile::add_sources(whole);
    return whole;
}

}  // namespace lanescope::emulator
