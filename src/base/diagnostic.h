// Errors as data: what went wrong, where, and the one formatter that prints them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace lanescope::base {

/// A position in a text. Lines and columns count from 1; 0 means unknown.
struct Place {
    std::string file;
    uint32_t line = 0;
    uint32_t column = 0;
    friend bool operator==(const Place&, const Place&) = default;
};

enum class Severity : uint8_t { kError, kWarning, kNote };

struct Diagnostic {
    Severity severity = Severity::kError;
    Place place;
    std::string message;
    std::string source_line;  ///< the text of `place.line`, shown under the message with a caret; may be empty
};

using Diagnostics = std::vector<Diagnostic>;

/// "file:line:col: error: message", then the source line and a caret where they are known. No trailing newline.
/// Control characters of the message and the source line are shown escaped, so that no input reaches the terminal raw.
std::string to_string(const Diagnostic& diagnostic);
std::string to_string(const Diagnostics& diagnostics);

inline Diagnostic error(std::string message, Place place = {}, std::string source_line = {}) {
    return {Severity::kError, std::move(place), std::move(message), std::move(source_line)};
}

/// `text` with control characters (and invalid UTF-8) replaced by visible escapes; tabs become one space.
std::string printable(std::string_view text);

/// A value or the diagnostics that explain why there is none.
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::move(value)) {}
    Result(Diagnostic diagnostic) : state_(Diagnostics{std::move(diagnostic)}) {}
    Result(Diagnostics diagnostics) : state_(std::move(diagnostics)) {}

    bool ok() const { return state_.index() == 0; }
    explicit operator bool() const { return ok(); }
    T& value() & { return std::get<0>(state_); }
    const T& value() const& { return std::get<0>(state_); }
    T&& value() && { return std::get<0>(std::move(state_)); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }
    const Diagnostics& errors() const { return std::get<1>(state_); }

private:
    std::variant<T, Diagnostics> state_;
};

/// Success, or diagnostics.
class [[nodiscard]] Status {
public:
    Status() = default;
    Status(Diagnostic diagnostic) : errors_{std::move(diagnostic)} {}
    Status(Diagnostics diagnostics) : errors_(std::move(diagnostics)) {}
    bool ok() const { return errors_.empty(); }
    explicit operator bool() const { return ok(); }
    const Diagnostics& errors() const { return errors_; }

private:
    Diagnostics errors_;
};

}  // namespace lanescope::base
