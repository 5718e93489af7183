#include "ptx/line_table.h"

#include <algorithm>
#include <charconv>

#include "ptx/lexer.h"

namespace lanescope::ptx {

DebugStrings::DebugStrings(std::string_view text) {
    constexpr std::string_view kName = ".debug_str";
    for (size_t at = text.find(kName); at != std::string_view::npos; at = text.find(kName, at + 1)) {
        const size_t word = text.substr(0, at).find_last_not_of(" \t");
        if (word == std::string_view::npos || !text.substr(0, word + 1).ends_with(".section")) continue;
        Lexer lexer(text.substr(at, std::min(text.find('}', at), text.size()) - at));
        if (!lexer.token().is(kName)) continue;
        labels_.emplace(lexer.token().text, bytes_.size());
        lexer.advance();
        if (!lexer.token().is('{')) continue;
        // `label:` and `.b8 1,2,3` lines up to the closing brace.
        std::string_view word_seen;
        for (lexer.advance(); lexer.token().kind != Token::Kind::kEnd; lexer.advance()) {
            const Token& token = lexer.token();
            if (token.kind == Token::Kind::kNumber) {
                unsigned value = 0;
                std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
                bytes_ += char(value);
            } else if (token.is(':') && !word_seen.empty()) {
                labels_.emplace(word_seen, bytes_.size());
            }
            word_seen = token.kind == Token::Kind::kWord ? token.text : std::string_view();
        }
        bytes_ += '\0';  // a string ends with its section at the latest
    }
}

std::string DebugStrings::at(std::string_view label, uint64_t offset) const {
    const auto it = labels_.find(label);
    if (it == labels_.end() || offset > bytes_.size() || it->second + offset >= bytes_.size()) return {};
    return bytes_.c_str() + it->second + offset;
}

void LineTable::begin_function() {
    latest_.clear();
    records_.clear();
    current_ = kNone;
}

void LineTable::append(Location location) {
    current_ = uint32_t(records_.size());
    latest_[{location.file, location.line, location.column}] = current_;
    records_.push_back({std::move(location), kNone});
}

void LineTable::add(Position position, std::string function) {
    append({position.file, position.line, position.column, std::move(function), kNone});
}

void LineTable::add_inlined(Position position, std::string function, Position inlined_at) {
    auto outer = latest_.find(inlined_at);
    if (outer == latest_.end()) {
        append({inlined_at.file, inlined_at.line, inlined_at.column, {}, kNone});
        outer = latest_.find(inlined_at);
    }
    append({position.file, position.line, position.column, std::move(function), outer->second});
}

uint32_t LineTable::current(std::vector<Location>& locations) {
    if (current_ == kNone) return kNone;
    std::vector<uint32_t> chain;  // innermost first, those not entered yet
    for (uint32_t i = current_; i != kNone && records_[i].index == kNone; i = records_[i].location.inlined_at) chain.push_back(i);
    for (size_t i = chain.size(); i-- > 0;) {
        Record& record = records_[chain[i]];
        record.index = uint32_t(locations.size());
        locations.push_back(record.location);
        uint32_t& outer = locations.back().inlined_at;
        if (outer != kNone) outer = records_[outer].index;
    }
    return records_[current_].index;
}

}  // namespace lanescope::ptx
