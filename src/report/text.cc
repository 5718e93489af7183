#include "report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lanescope::report {
namespace {

constexpr std::array<std::string_view, 7> kCodes = {"", "\x1b[1m", "\x1b[2m", "\x1b[1;31m", "\x1b[33m", "\x1b[32m", "\x1b[36m"};

/// The code point at the front of valid UTF-8, which is taken off. An invalid byte counts as itself.
uint32_t next_character(std::string_view& text) {
    const auto lead = static_cast<unsigned char>(text[0]);
    const size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (lead < 0xC0 || length > text.size()) {
        text.remove_prefix(1);
        return lead;
    }
    uint32_t character = lead & (0xFF >> (length + 1));
    for (size_t i = 1; i < length; ++i) character = character << 6 | (static_cast<unsigned char>(text[i]) & 0x3F);
    text.remove_prefix(length);
    return character;
}

unsigned width_of(uint32_t c) {
    if ((c >= 0x300 && c < 0x370) || (c >= 0x200B && c < 0x2010) || (c >= 0xFE00 && c < 0xFE10)) return 0;
    const bool wide = (c >= 0x1100 && c < 0x1160) || (c >= 0x2E80 && c < 0xA4D0) || (c >= 0xAC00 && c < 0xD7A4) || (c >= 0xF900 && c < 0xFB00) ||
                      (c >= 0xFE30 && c < 0xFE70) || (c >= 0xFF00 && c < 0xFF61) || (c >= 0x1F300 && c < 0x1FA00) || (c >= 0x20000 && c < 0x40000);
    return wide ? 2 : 1;
}

/// Takes an escape code off the front.
bool skip_escape(std::string_view& text) {
    if (!text.starts_with("\x1b[")) return false;
    const size_t end = text.find('m');
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 1);
    return true;
}

std::string scaled(double value, std::string_view unit, std::initializer_list<std::string_view> prefixes) {
    auto prefix = prefixes.begin();
    double shown = value;
    while (std::abs(shown) >= 999.5 && prefix + 1 != prefixes.end()) {
        shown /= 1000;
        ++prefix;
    }
    const bool whole = prefix == prefixes.begin() && value == std::floor(value);
    const std::string digits = whole ? fmt::format("{:.0f}", shown) : fmt::format("{:.3g}", shown);
    return prefix->empty() && unit.empty() ? digits : fmt::format("{} {}{}", digits, *prefix, unit);
}

}  // namespace

std::string paint(const Style& style, Color color, std::string_view text) {
    if (!style.color || color == Color::kPlain || text.empty()) return std::string(text);
    return fmt::format("{}{}\x1b[0m", kCodes[static_cast<size_t>(color)], text);
}

unsigned columns(std::string_view text) {
    unsigned total = 0;
    while (!text.empty())
        if (!skip_escape(text)) total += width_of(next_character(text));
    return total;
}

std::string fit(const Style& style, std::string_view text, unsigned width) {
    if (columns(text) <= width) return std::string(text);
    if (width == 0) return {};
    std::string_view rest = text;
    unsigned used = 0;
    while (!rest.empty()) {
        std::string_view after = rest;
        const unsigned next = width_of(next_character(after));
        if (used + next > width - 1) break;
        used += next;
        rest = after;
    }
    return std::string(text.substr(0, text.size() - rest.size())) + (style.unicode ? "…" : ".");
}

std::string left(std::string_view text, unsigned width) {
    const unsigned used = columns(text);
    return std::string(text) + std::string(used < width ? width - used : 0, ' ');
}

std::string right(std::string_view text, unsigned width) {
    const unsigned used = columns(text);
    return std::string(used < width ? width - used : 0, ' ') + std::string(text);
}

std::string wrap(std::string_view text, unsigned width, unsigned indent) {
    std::string out;
    unsigned used = 0;
    bool line_start = true;
    while (!text.empty()) {
        const size_t blank = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, blank);
        const unsigned length = columns(word);
        if (!line_start && used + 1 + length > width) {
            out += '\n' + std::string(indent, ' ');
            used = 0;
        } else if (!line_start) {
            out += ' ';
            ++used;
        }
        out += word;
        used += length;
        line_start = false;
        text.remove_prefix(std::min(blank + 1, text.size()));
    }
    return out;
}

std::string bar(const Style& style, double part, double whole, unsigned length) {
    constexpr std::array<std::string_view, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const double share = whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0;
    auto eighths = static_cast<unsigned>(std::lround(share * length * 8));
    if (share > 0 && eighths == 0) eighths = 1;
    std::string out;
    for (unsigned i = 0; i < eighths / 8; ++i) out += style.unicode ? "█" : "#";
    if (style.unicode) out += kEighths[eighths % 8];
    else if (eighths % 8 >= 4) out += '#';
    return out;
}

std::string count(double value) { return value < 100000 && value == std::floor(value) ? fmt::format("{:.0f}", value) : scaled(value, "", {"", "k", "M", "G", "T"}); }
std::string bytes(double value) { return scaled(value, "B", {"", "k", "M", "G", "T"}); }
std::string time(double ns) { return scaled(ns, "s", {"n", "µ", "m", ""}); }
std::string percent(double share) {
    const double value = 100 * share;
    const bool whole = std::abs(value - std::round(value)) < 0.05 || value >= 99.95;
    return fmt::format("{:.{}f} %", value, whole ? 0 : 1);
}

}  // namespace lanescope::report
