#include "ptx/lexer.h"

#include <algorithm>
#include <array>

namespace lanescope::ptx {
namespace {

constexpr uint8_t kBlank = 1, kWordPart = 2, kDigit = 4;
constexpr std::array<uint8_t, 256> kClasses = [] {
    std::array<uint8_t, 256> classes{};
    for (int c = 'a'; c <= 'z'; ++c) classes[c] = classes[c - 'a' + 'A'] = kWordPart;
    for (int c = '0'; c <= '9'; ++c) classes[c] = kWordPart | kDigit;
    classes['_'] = classes['$'] = classes['%'] = kWordPart;
    for (const char c : {' ', '\t', '\r', '\v', '\f'}) classes[static_cast<unsigned char>(c)] = kBlank;
    return classes;
}();
bool is(char c, uint8_t what) { return kClasses[static_cast<unsigned char>(c)] & what; }

}  // namespace

void Lexer::skip_blanks() {
    while (position_ < text_.size()) {
        const char c = text_[position_];
        if (c == '\n') {
            line_start_ = ++position_;
            ++line_;
        } else if (is(c, kBlank)) {
            ++position_;
        } else if ((c == '/' && at(position_ + 1) == '/') || (c == '#' && text_.find_first_not_of(" \t", line_start_) == position_) ||
                   (c == '@' && text_.substr(position_, 7) == "@@DWARF")) {
            // `#line` marks and the debug lines of PTX 1.x and 2.x carry nothing we use.
            position_ = std::min(text_.find('\n', position_), text_.size());
        } else if (c == '/' && at(position_ + 1) == '*') {
            const size_t end = std::min(text_.find("*/", position_ + 2), text_.size());
            for (; position_ < end; ++position_) {
                if (text_[position_] != '\n') continue;
                line_start_ = position_ + 1;
                ++line_;
            }
            position_ = std::min(end + 2, text_.size());
        } else {
            return;
        }
    }
}

void Lexer::scan_number() {
    const size_t start = position_;
    const bool prefixed =
        at(start) == '0' && is(at(start + 1), kWordPart) && !is(at(start + 1), kDigit) && at(start + 1) != 'e' && at(start + 1) != 'E';
    while (is(at(position_), kWordPart)) ++position_;
    if (prefixed) return;
    if (at(position_) == '.' && is(at(position_ + 1), kDigit)) {
        ++position_;
        while (is(at(position_), kWordPart)) ++position_;
    }
    const char last = at(position_ - 1);
    if ((last == 'e' || last == 'E') && (at(position_) == '-' || at(position_) == '+')) {
        ++position_;
        while (is(at(position_), kWordPart)) ++position_;
    }
}

void Lexer::advance() {
    skip_blanks();
    token_.line = line_;
    token_.column = uint32_t(position_ - line_start_ + 1);
    const size_t start = position_;
    if (position_ >= text_.size()) {
        token_.kind = Token::Kind::kEnd;
        token_.text = {};
        return;
    }
    const char c = text_[position_++];
    if (is(c, kDigit)) {
        --position_;
        scan_number();
        token_.kind = Token::Kind::kNumber;
    } else if (is(c, kWordPart)) {
        while (is(at(position_), kWordPart)) ++position_;
        token_.kind = Token::Kind::kWord;
    } else if (c == '.' && is(at(position_), kWordPart)) {
        while (is(at(position_), kWordPart) || (at(position_) == ':' && at(position_ + 1) == ':' && is(at(position_ + 2), kWordPart)))
            position_ += at(position_) == ':' ? 2 : 1;
        token_.kind = Token::Kind::kDotWord;
    } else if (c == '"') {
        const size_t end = text_.find_first_of("\"\n", position_);
        token_.kind = end != std::string_view::npos && text_[end] == '"' ? Token::Kind::kString : Token::Kind::kBad;
        position_ = std::min(end, text_.size());
        token_.text = text_.substr(start + 1, position_ - start - 1);
        if (token_.kind == Token::Kind::kString) ++position_;
        return;
    } else {
        token_.kind = Token::Kind::kPunct;
    }
    token_.text = text_.substr(start, position_ - start);
}

void Lexer::extend_mnemonic() {
    const char* const start = token_.text.data();
    for (;;) {
        const char c = at(position_);
        if (is(c, kWordPart) || (c == '.' && is(at(position_ + 1), kWordPart))) {
            ++position_;
        } else if (c == ':' && at(position_ + 1) == ':' && is(at(position_ + 2), kWordPart)) {
            position_ += 2;
        } else {
            break;
        }
    }
    token_.text = std::string_view(start, size_t(text_.data() + position_ - start));
}

bool Lexer::take_until(char end) {
    const char* const start = token_.text.data();
    if (start == nullptr) return false;  // at the end of the text
    position_ = std::min(text_.find(end, size_t(start - text_.data())), text_.size());
    token_.text = std::string_view(start, size_t(text_.data() + position_ - start));
    for (size_t i = 0; i < token_.text.size(); ++i) {
        if (start[i] != '\n') continue;
        ++line_;
        line_start_ = size_t(start - text_.data()) + i + 1;
    }
    return position_ < text_.size();
}

std::string_view Lexer::line_of(const Token& token) const {
    // The end of the text has no characters of its own: its place is the position reached.
    const size_t here = token.text.data() == nullptr ? text_.size() : size_t(token.text.data() - text_.data());
    const size_t before = here == 0 ? std::string_view::npos : text_.rfind('\n', here - 1);
    const size_t start = before == std::string_view::npos ? 0 : before + 1;
    std::string_view line = text_.substr(start, std::min(text_.find('\n', start), text_.size()) - start);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

}  // namespace lanescope::ptx
