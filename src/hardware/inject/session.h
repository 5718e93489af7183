// What the driver asked of this process (the file `request`) and what the process answers (the file `events`), both plain
// text in the folder that LANESCOPE_SESSION names. docs/hardware.md describes the two formats.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace lanescope::inject {

/// Launches [begin, end] that share one counter image; pass and nesting are what the pass before this one left behind.
struct Segment {
    uint64_t index = 0, begin = 0, end = 0;
    uint64_t pass = 0, nesting = 1;
};

struct Request {
    std::string mode;                  ///< activity, sass or range
    std::string cupti;                 ///< path of libcupti
    std::string config;                ///< file: configuration image (range)
    std::string images;                ///< folder of the counter images (range)
    std::vector<std::string> metrics;
    bool kernel_replay = false;
    bool flush = false;
    bool open_late = false;            ///< not before the first wanted launch: what runs before it isn't collected
    bool user_ranges = false;          ///< ranges around the selected launches, not around every launch
    std::vector<Segment> segments;
    std::vector<std::pair<uint64_t, uint64_t>> selected;  ///< inclusive; sorted

    bool is_selected(uint64_t launch) const;
};

Request read_request(const std::string& path);

/// Appends lines of tab-separated words. Safe from several threads; what was flushed survives a crash of the process.
class Events {
public:
    /// False when another process of the program already answers this request.
    bool open(const std::string& path);
    template <class... Words>
    void line(const Words&... words) {
        std::string text;
        ((text += word(words), text += '\t'), ...);
        text.back() = '\n';
        append(text);
    }
    void flush();

private:
    static std::string word(const char* text) { return text ? text : ""; }
    static std::string word(const std::string& text) { return text; }
    template <class Number>
    static std::string word(Number number) {
        return std::to_string(number);
    }
    void append(const std::string& text);

    std::mutex mutex_;
    std::string buffer_;
    int file_ = -1;
};

extern Request request;
extern Events events;

/// Says when this part of a run was done.
void timing(const char* part);

/// Reports a failed CUPTI or driver call as an event. True when it succeeded.
bool succeeded(const char* call, int result);

/// Bytes of a file; empty when it can't be read.
std::string slurp(const std::string& path);
/// Writes beside, then renames: a process that dies on the way leaves the file of the pass before.
bool replace(const std::string& path, const void* bytes, size_t size);

}  // namespace lanescope::inject
