// `.loc` directives while a module is parsed: from positions and `inlined_at` to chains of Locations.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/module.h"

namespace lanescope::ptx {

/// The NUL-terminated strings of the `.debug_str` section in a module's text, by their labels.
class DebugStrings {
public:
    explicit DebugStrings(std::string_view text);
    /// The string at `label` + `offset`; empty if there is none.
    std::string at(std::string_view label, uint64_t offset) const;
    /// Each label with its string.
    const std::unordered_map<std::string_view, uint64_t>& labels() const { return labels_; }

private:
    std::string bytes_;
    std::unordered_map<std::string_view, uint64_t> labels_;
};

class LineTable {
public:
    struct Position {
        uint32_t file = 0, line = 0, column = 0;
        friend bool operator==(const Position&, const Position&) = default;
    };

    /// Chains reach back to the function's first `.loc`, not further.
    void begin_function();
    void add(Position position, std::string function);
    /// `inlined_at` means the nearest earlier `.loc` with that position.
    void add_inlined(Position position, std::string function, Position inlined_at);
    /// The index in `locations` of the latest `.loc` of this function, entered there on first use of that `.loc`; kNone before any.
    uint32_t current(std::vector<Location>& locations);

private:
    struct Record {
        Location location;       ///< inlined_at: index into records_
        uint32_t index = kNone;  ///< into the module's locations, once entered
    };
    struct Hash {
        size_t operator()(const Position& p) const {
            return (size_t(p.file) * 0x9E3779B97F4A7C15U + p.line) * 0x9E3779B97F4A7C15U + p.column;
        }
    };

    void append(Location location);

    std::vector<Record> records_;
    std::unordered_map<Position, uint32_t, Hash> latest_;  ///< of this function, by position
    uint32_t current_ = kNone;
};

}  // namespace lanescope::ptx
