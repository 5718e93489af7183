// A TOML text with errors that carry place, line and caret. Brings in all of toml++: include it in .cc files only.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#define TOML_EXCEPTIONS 0
#define TOML_ASSERT(expression) static_cast<void>(0)  // toml++ 3.3 asserts on "[ =" where its next branch reports the error
#include <toml++/toml.h>

#include "base/diagnostic.h"

namespace lanescope::base {

class TomlFile {
public:
    /// Both arguments must outlive the object.
    TomlFile(std::string_view text, const std::string& file) : text_(text), file_(file) {}

    /// The root table; nothing, with the error noted, if the text isn't TOML.
    std::optional<toml::table> parse() {
        if (const size_t at = unsafe(); at != std::string_view::npos) {
            note(uint32_t(std::count(text_.begin(), text_.begin() + long(at), '\n')) + 1, at - (text_.rfind('\n', at) + 1) + 1,
                 "only ASCII is allowed outside texts and comments, and no line continuation within");
            return std::nullopt;
        }
        toml::parse_result parsed = toml::parse(text_);
        if (parsed) return std::move(parsed).table();
        fail(parsed.error().source(), std::string(parsed.error().description()));
        return std::nullopt;
    }

    void fail(const toml::source_region& where, std::string message) {
        // toml++ counts columns in code points, diagnostics in bytes.
        const std::string_view line = line_of(where.begin.line);
        size_t bytes = 0;
        uint32_t points = 1;
        for (; bytes < line.size() && points < where.begin.column; ++points)
            do ++bytes;
            while (bytes < line.size() && (static_cast<unsigned char>(line[bytes]) & 0xC0) == 0x80);
        note(where.begin.line, bytes + 1 + (where.begin.column - std::min(points, where.begin.column)), std::move(message));
    }

    bool ok() const { return errors_.empty(); }
    /// In the order of the file.
    Diagnostics errors() const {
        Diagnostics sorted = errors_;
        std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.place.line < b.place.line; });
        return sorted;
    }

private:
    /// toml++ 3.3 has undefined behaviour where it asks whether some characters (U+0100 and U+3001 among them) are white space. It asks
    /// that outside strings and comments, after a backslash that ends a line, and as long as it takes a number to go on, which a quote does
    /// not end. The first such place, or npos.
    size_t unsafe() const {
        std::string_view quote;  // the open string's delimiter
        bool comment = false, number = false, bare = false;
        for (size_t i = 0; i < text_.size(); ++i) {
            const char c = text_[i];
            if (c == '\n') comment = false;
            if (comment) continue;
            if (quote.empty()) {
                if (std::string_view(" \t\r\n,]}").find(c) != std::string_view::npos) number = false;
                else if (!bare && std::string_view("+-.0123456789").find(c) != std::string_view::npos) number = true;
                bare = c == '_' || c == '-' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
                if (c == '#') comment = true;
                else if (c == '"' || c == '\'') quote = text_.substr(i, text_.substr(i, 3) == std::string(3, c) ? 3 : 1);
                else if (static_cast<unsigned char>(c) >= 0x80 && !(i < 3 && text_.starts_with("\xEF\xBB\xBF"))) return i;
                if (!quote.empty()) i += quote.size() - 1;
            } else if (number && static_cast<unsigned char>(c) >= 0x80) {
                return i;
            } else if (c == '\\' && quote[0] == '"') {
                ++i;
                if (i < text_.size() && static_cast<unsigned char>(text_[i]) <= ' ') return i - 1;
            } else if (text_.substr(i, quote.size()) == quote) {
                i += quote.size() - 1;
                quote = {};
            } else if (c == '\n' && quote.size() == 1) {
                quote = {};  // an unterminated string: toml++ reports it
            }
        }
        return std::string_view::npos;
    }

    std::string_view line_of(uint32_t number) const {
        std::string_view rest = text_;
        for (uint32_t i = 1; i < number; ++i) rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
        rest = rest.substr(0, rest.find('\n'));
        if (rest.ends_with('\r')) rest.remove_suffix(1);
        return rest;
    }
    void note(uint32_t line, size_t column, std::string message) {
        errors_.push_back(error(std::move(message), {file_, line, uint32_t(column)}, std::string(line_of(line))));
    }

    std::string_view text_;
    const std::string& file_;
    Diagnostics errors_;
};

}  // namespace lanescope::base
