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
        // toml++ 3.3 has undefined behaviour for U+FB26…U+FEFE (EF AC A6 … EF BB BE) where it looks for white space.
        for (size_t i = 0; i + 2 < text_.size(); ++i)
            if (const std::string_view c = text_.substr(i, 3); c >= "\xEF\xAC\xA6" && c <= "\xEF\xBB\xBE") {
                note(uint32_t(std::count(text_.begin(), text_.begin() + long(i), '\n')) + 1, i - (text_.rfind('\n', i) + 1) + 1,
                     "characters U+FB26 to U+FEFE are not supported");
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
