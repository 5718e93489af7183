// Splits PTX text into tokens, one at a time, without copying.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lanescope::ptx {

struct Token {
    enum class Kind : uint8_t {
        kEnd,
        kWord,     ///< identifier, register or mnemonic: letters, digits, '_', '$', '%'
        kDotWord,  ///< ".global", ".L1::no_allocate"; text includes the dot
        kNumber,   ///< anything that begins with a digit, not yet judged
        kString,   ///< text without the quotes
        kPunct,    ///< one character
        kBad,      ///< a string without its end
    };
    Kind kind = Kind::kEnd;
    std::string_view text;
    uint32_t line = 1, column = 1;

    bool is(char c) const { return kind == Kind::kPunct && text[0] == c; }
    bool is(std::string_view word) const { return (kind == Kind::kWord || kind == Kind::kDotWord) && text == word; }
};

class Lexer {
public:
    explicit Lexer(std::string_view text) : text_(text) { advance(); }

    const Token& token() const { return token_; }
    /// The character directly after the current token, 0 at the end.
    char adjacent() const { return position_ < text_.size() ? text_[position_] : '\0'; }
    void advance();
    /// Makes the current word and the dot-words that touch it one token: "ld" of `ld.global.u32 …` becomes "ld.global.u32".
    void extend_mnemonic();
    /// Makes the current token everything up to (without) `end`, or up to the end of the text; false in the latter case.
    bool take_until(char end);
    /// The line of text that holds the token.
    std::string_view line_of(const Token& token) const;

private:
    void skip_blanks();
    char at(size_t position) const { return position < text_.size() ? text_[position] : '\0'; }
    void scan_number();

    std::string_view text_;
    size_t position_ = 0;
    size_t line_start_ = 0;
    uint32_t line_ = 1;
    Token token_;
};

}  // namespace lanescope::ptx
