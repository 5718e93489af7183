// The names of a function while it is parsed: nested `{ }` scopes in, one flat set of unique names out.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ptx/module.h"

namespace lanescope::ptx {

struct Symbol {
    enum class Kind : uint8_t { kRegister, kVariable, kLabel, kTable, kPrototype };
    Kind kind = Kind::kRegister;
    Type type = Type::kNone;  ///< of a register
    uint8_t vector = 1;       ///< of a register
    uint32_t index = kNone;   ///< into the function's list; kNone: a register that nothing has used yet
};

/// Names are views that must outlive the object.
class Scopes {
public:
    Scopes() { push(); }
    void push() { scopes_.emplace_back(); }
    void pop();
    uint32_t depth() const { return uint32_t(scopes_.size() - 1); }

    /// False if the innermost scope has the name already.
    bool declare(std::string_view name, Symbol symbol) { return declare_at(depth(), name, symbol) != nullptr; }
    /// `prefix<count>`: the registers prefix0 … prefix(count - 1). False if the scope has such a range already.
    bool declare_range(std::string_view prefix, uint32_t count, Type type, uint8_t vector);
    /// The innermost declaration, or nullptr. Valid until the next declaration.
    Symbol* find(std::string_view name);
    /// Like find, but only in the innermost scope.
    Symbol* find_here(std::string_view name);
    /// `name`, with a number appended if it was returned before.
    std::string_view unique(std::string_view name);

private:
    struct Entry {
        Symbol symbol;
        uint32_t depth = 0, previous = kNone;
    };
    struct Range {
        uint32_t count = 0;
        Type type = Type::kNone;
        uint8_t vector = 1;
        uint32_t depth = 0, previous = kNone;
    };
    struct Scope {
        std::vector<std::string_view> names, prefixes;
    };

    Symbol* declare_at(uint32_t depth, std::string_view name, Symbol symbol);
    const Range* find_range(std::string_view name) const;

    std::vector<Scope> scopes_;
    std::deque<Entry> entries_;
    std::vector<Range> ranges_;
    std::unordered_map<std::string_view, uint32_t> names_, prefixes_;  ///< innermost entry or range of a name
    uint32_t nested_ranges_ = 0;                                       ///< ranges in scope that may hide an outer scope's name
    std::unordered_set<std::string_view> taken_;
    std::deque<std::string> renamed_;
};

}  // namespace lanescope::ptx
