#include "base/diagnostic.h"

#include <array>

namespace lanescope::base {
namespace {

constexpr std::array<std::string_view, 3> kSeverityNames = {"error", "warning", "note"};

/// Length of the valid UTF-8 sequence at the start of `text`, 0 if there is none.
size_t utf8_length(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text[0]);
    const size_t length = lead < 0x80 ? 1 : lead >= 0xC2 && lead < 0xE0 ? 2 : lead >= 0xE0 && lead < 0xF0 ? 3 : lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
    if (length == 0 || length > text.size()) return 0;
    for (size_t i = 1; i < length; ++i)
        if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
    // C1 controls (U+0080..U+009F) are terminal controls too; U+202A..U+202E and U+2066..U+2069 turn text around.
    if (length == 2 && lead == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0) return 0;
    if (length == 3 && ((text.substr(0, 2) == "\xE2\x80" && text[2] >= '\xAA' && text[2] <= '\xAE') || (text.substr(0, 2) == "\xE2\x81" && text[2] >= '\xA6' && text[2] <= '\xA9'))) return 0;
    return length;
}

}  // namespace

std::string printable(std::string_view text) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const auto c = static_cast<unsigned char>(text[0]);
        const size_t length = utf8_length(text);
        if (c == '\t') {
            out += ' ';
        } else if (length == 0 || c < 0x20 || c == 0x7F) {
            out += "\\x";
            out += kHex[c >> 4];
            out += kHex[c & 15];
        } else {
            out += text.substr(0, length);
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return out;
}

std::string to_string(const Diagnostic& diagnostic) {
    std::string out;
    const Place& place = diagnostic.place;
    if (!place.file.empty()) {
        out += printable(place.file);
        if (place.line != 0) {
            out += ':' + std::to_string(place.line);
            if (place.column != 0) out += ':' + std::to_string(place.column);
        }
        out += ": ";
    }
    out += kSeverityNames[static_cast<size_t>(diagnostic.severity)];
    out += ": ";
    out += printable(diagnostic.message);
    if (diagnostic.source_line.empty()) return out;
    // Of a long line (a binary file, generated code) what is around the place.
    constexpr size_t kBefore = 100, kShown = 200;
    const std::string_view line = diagnostic.source_line;
    const size_t column = place.column != 0 && place.column <= line.size() + 1 ? place.column - 1 : line.npos;
    const size_t begin = line.size() > kShown && column != line.npos && column > kBefore ? column - kBefore : 0;
    out += '\n' + printable(line.substr(begin, kShown));
    if (column != line.npos) out += '\n' + std::string(printable(line.substr(begin, column - begin)).size(), ' ') + '^';
    return out;
}

std::string to_string(const Diagnostics& diagnostics) {
    std::string out;
    for (const Diagnostic& diagnostic : diagnostics) {
        if (!out.empty()) out += '\n';
        out += to_string(diagnostic);
    }
    return out;
}

}  // namespace lanescope::base
