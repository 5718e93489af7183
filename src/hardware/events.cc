#include "hardware/events.h"

#include <charconv>
#include <iterator>
#include <map>
#include <stdexcept>

namespace lanescope::hardware {

namespace {

/// The words of one line. Throws out_of_range where a word is missing or no number, which parse_events turns into an error.
class Words {
public:
    explicit Words(std::string_view line) {
        for (size_t at = 0; at <= line.size();) {
            size_t end = std::min(line.find('\t', at), line.size());
            words_.push_back(line.substr(at, end - at));
            at = end + 1;
        }
    }
    std::string_view text() { return next_ < words_.size() ? words_[next_++] : throw std::out_of_range("a word is missing"); }
    template <class Number>
    void number(Number& value) {
        std::string_view word = text();
        auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (error != std::errc() || end != word.data() + word.size()) throw std::out_of_range("'" + std::string(word) + "' is no number");
    }
    template <class... Numbers>
    void numbers(Numbers&... values) {
        (number(values), ...);
    }
    bool flag() {
        unsigned value = 0;
        number(value);
        return value != 0;
    }

private:
    std::vector<std::string_view> words_;
    size_t next_ = 0;
};

/// Where cudaProfilerStart and cudaProfilerStop stand among the correlation numbers of the program's calls.
using Switches = std::map<uint32_t, bool>;

bool collected(const Switches& switches, uint32_t correlation) {
    auto after = switches.upper_bound(correlation);
    return after == switches.begin() || std::prev(after)->second;
}

void read_line(Events& events, Switches& switches, std::string_view line) {
    Words words(line);
    std::string_view kind = words.text();
    if (kind == "launch") {
        LaunchEvent e;
        words.numbers(e.index, e.correlation, e.context);
        e.graph = words.text() == "graph";
        words.numbers(e.grid[0], e.grid[1], e.grid[2], e.block[0], e.block[1], e.block[2], e.dynamic_shared);
        e.symbol = words.text();
        e.stretch = uint32_t(switches.size());
        events.launches.push_back(std::move(e));
    } else if (kind == "kernel") {
        KernelEvent e;
        words.numbers(e.correlation, e.start, e.end, e.device, e.context, e.stream, e.grid[0], e.grid[1], e.grid[2], e.block[0], e.block[1],
                      e.block[2], e.registers, e.static_shared, e.dynamic_shared, e.local_bytes, e.shared_config, e.graph_node);
        e.symbol = words.text();
        events.kernels.push_back(std::move(e));
    } else if (kind == "memcpy") {
        CopyEvent e;
        unsigned flags = 0;
        words.numbers(e.correlation, e.start, e.end, e.stream, e.bytes, e.kind, e.source, e.destination, flags);
        events.copies.push_back(e);
    } else if (kind == "memset") {
        CopyEvent e{.memset = true};
        words.numbers(e.correlation, e.start, e.end, e.stream, e.bytes, e.destination);
        events.copies.push_back(e);
    } else if (kind == "migration") {
        MigrationEvent e;
        unsigned counter = 0;
        words.numbers(e.start, e.end, counter, e.bytes);
        e.to_device = counter == 1;  // CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD
        events.migrations.push_back(e);
    } else if (kind == "columns" || kind == "sass") {
        SassEvent e;
        if (kind == "sass") words.numbers(e.launch, e.cubin, e.function, e.pc);
        std::string_view list = words.text();
        for (size_t at = 0; at < list.size();) {
            size_t end = std::min(list.find(' ', at), list.size());
            if (kind == "columns") events.columns.emplace_back(list.substr(at, end - at));
            else Words(list.substr(at, end - at)).number(e.values.emplace_back());
            at = end + 1;
        }
        if (kind == "sass" && e.values.size() != events.columns.size()) throw std::out_of_range("not one value a column");
        if (kind == "sass") events.sass.push_back(std::move(e));
    } else if (kind == "function") {
        std::pair<uint32_t, uint32_t> key;
        words.numbers(key.first, key.second);
        events.functions[key] = words.text();
    } else if (kind == "cubin") {
        uint32_t crc = 0;
        words.number(crc);
        events.cubins[crc] = words.text();
    } else if (kind == "range") {
        RangeEvent e;
        words.numbers(e.launch, e.segment);
        words.number(e.skipped);
        e.own = words.flag();
        events.ranges.push_back(e);
    } else if (kind == "segment") {
        SegmentEvent e;
        words.numbers(e.index, e.pass, e.nesting);
        e.complete = words.flag();
        words.numbers(e.dropped, e.ranges);
        events.segments.push_back(e);
    } else if (kind == "error") {
        FailedCall e;
        e.call = words.text();
        words.number(e.code);
        e.text = words.text();
        events.failed.push_back(std::move(e));
    } else if (kind == "missing") {
        events.missing.emplace_back(words.text());
    } else if (kind == "note") {
        events.notes.emplace_back(words.text());
    } else if (kind == "dropped") {
        uint64_t count = 0;
        words.number(count);
        events.dropped += count;
    } else if (kind == "loaded") {
        events.loaded = true;
    } else if (kind == "subscribed") {
        events.subscribed = true;
        words.number(events.cupti_version);
    } else if (kind == "collect") {
        bool on = words.flag();
        uint32_t correlation = 0;
        words.number(correlation);
        switches[correlation] = on;
    } else if (kind == "flush") {
        events.flush = words.text();
    } else if (kind == "end") {
        events.ended = true;
    } else if (kind == "time") {
        std::string part(words.text());
        double seconds = 0;
        words.number(seconds);
        events.times.emplace_back(std::move(part), seconds);
    } else if (kind != "context") {
        throw std::out_of_range("unknown event '" + std::string(kind) + "'");
    }
}

}  // namespace

base::Result<Events> parse_events(std::string_view text, const std::string& file) {
    Events events;
    Switches switches;
    uint32_t number = 0;
    for (size_t at = 0; at < text.size();) {
        size_t end = text.find('\n', at);
        if (end == std::string_view::npos) break;
        ++number;
        std::string_view line = text.substr(at, end - at);
        at = end + 1;
        try {
            read_line(events, switches, line);
        } catch (const std::out_of_range& problem) {
            return base::error(std::string("unreadable session: ") + problem.what(), {file, number}, std::string(line));
        }
    }
    for (auto& copy : events.copies) copy.collected = collected(switches, copy.correlation);
    return events;
}

}  // namespace lanescope::hardware
