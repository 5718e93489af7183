#include "hardware/inject/session.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "hardware/inject/api.h"

namespace lanescope::inject {

Request request;
Events events;

bool Request::is_selected(uint64_t launch) const {
    return std::any_of(selected.begin(), selected.end(), [&](auto& range) { return launch >= range.first && launch <= range.second; });
}

Request read_request(const std::string& path) {
    Request out;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string key, value;
        words >> key >> std::ws;
        if (key == "segment") {
            Segment segment;
            words >> segment.index >> segment.begin >> segment.end >> segment.pass >> segment.nesting;
            out.segments.push_back(segment);
            continue;
        }
        if (key == "select") {
            std::pair<uint64_t, uint64_t> range;
            words >> range.first >> range.second;
            out.selected.push_back(range);
            continue;
        }
        std::getline(words, value);
        if (key == "mode") out.mode = value;
        else if (key == "cupti") out.cupti = value;
        else if (key == "config") out.config = value;
        else if (key == "images") out.images = value;
        else if (key == "metric") out.metrics.push_back(value);
        else if (key == "replay") out.kernel_replay = value == "kernel";
        else if (key == "open") out.open_late = value == "late";
        else if (key == "flush") out.flush = value == "1";
        else if (key == "ranges") out.user_ranges = value == "user";
    }
    return out;
}

bool Events::open(const std::string& path) {
    file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    return file_ >= 0;
}

void Events::append(const std::string& text) {
    std::lock_guard lock(mutex_);
    buffer_ += text;
}

void Events::flush() {
    std::lock_guard lock(mutex_);
    for (size_t done = 0; done < buffer_.size();) {
        ssize_t wrote = ::write(file_, buffer_.data() + done, buffer_.size() - done);
        if (wrote <= 0) break;
        done += size_t(wrote);
    }
    buffer_.clear();
}

void timing(const char* part) {
    events.line("time", part, std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

bool succeeded(const char* call, int result) {
    if (result == 0) return true;
    const char* text = nullptr;
    if (api.cuptiGetResultString && std::string_view(call).starts_with("cupti")) api.cuptiGetResultString(CUptiResult(result), &text);
    events.line("error", call, result, text ? text : "");
    events.flush();
    return false;
}

std::string slurp(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream out;
    out << file.rdbuf();
    return out.str();
}

bool replace(const std::string& path, const void* bytes, size_t size) {
    std::string beside = path + ".new";
    std::ofstream file(beside, std::ios::binary);
    file.write(static_cast<const char*>(bytes), std::streamsize(size));
    file.close();
    return file && std::rename(beside.c_str(), path.c_str()) == 0;
}

}  // namespace lanescope::inject
