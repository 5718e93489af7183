// Laying out text for a terminal: widths in columns, colours that can be off, names made harmless.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lanescope::report {

/// How a terminal report looks.
struct Style {
    unsigned width = 80;
    bool color = false;
    bool unicode = true;      ///< bars, marks and dots beyond ASCII
    bool verbose = false;     ///< every kernel, every line, every launch
};

enum class Color : uint8_t { kPlain, kBold, kDim, kRed, kYellow, kGreen, kCyan };

/// `text` between escape codes, or as it is.
std::string paint(const Style& style, Color color, std::string_view text);

/// Columns that valid UTF-8 takes: one a character, two for wide East Asian ones, none for combining marks and escape codes.
unsigned columns(std::string_view text);
/// Cut to `width` columns, the last being `…` (or `.`) where something was cut. Not for painted text.
std::string fit(const Style& style, std::string_view text, unsigned width);
/// Blanks added up to `width` columns.
std::string left(std::string_view text, unsigned width);
std::string right(std::string_view text, unsigned width);
/// `text` broken at blanks into lines of `width` columns; those after the first stand behind `indent` more blanks.
std::string wrap(std::string_view text, unsigned width, unsigned indent);

/// `length` columns: `part` of `whole` filled, in eighths where the style allows.
std::string bar(const Style& style, double part, double whole, unsigned length);

/// "1234", "32.8 k", "1.05 M": counts for people.
std::string count(double value);
std::string bytes(double value);
std::string percent(double share);  ///< of 0 … 1; "12.5 %", "100 %"
std::string time(double ns);

}  // namespace lanescope::report
