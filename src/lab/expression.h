// The small language in which experiments state claims and compute columns:
//
//     gld_transactions[offset=0] == 1024
//     1.5 <= us[case=aos_store] / us[case=soa_store] <= 1.8
//     sectors[offset=1..7] == 5 and rising(us[case=add])
//     count(fault.line[kind=race, text~total]) >= 1
//
// A name is a value of the program's cases (a field that the program printed, a metric of the case's launch, a column of the experiment);
// `[field=value, …]` selects cases: a word, a number, a range a..b, alternatives a|b, or `~` for "contains". `line.`, `transfer.` and
// `fault.` before a name select source lines, transfers and faults instead, `gpu.` the GPU's description. A selection may be several
// numbers: arithmetic goes element by element, a comparison must hold for every one. Functions: min max sum mean count abs, and
// rising(x), falling(x): each number above (below) the one before.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/diagnostic.h"

namespace lanescope::lab {

using Cell = std::variant<double, std::string>;
using Row = std::map<std::string, Cell, std::less<>>;

/// What an expression may speak of.
struct Data {
    std::vector<Row> cases, lines, transfers, faults;
    Row gpu;
};

class Expression {
public:
    /// Errors carry a column of `text` (from 1) as their place.
    static base::Result<Expression> parse(std::string_view text);

    struct Outcome {
        std::optional<bool> holds;      ///< nothing: undecided, for `reason`
        std::string reason;
        std::vector<double> subject;    ///< what was compared: the left side, or the middle of a ≤ x ≤ b
    };
    /// For an expression that is a comparison.
    Outcome decide(const Data& data) const;
    /// For an expression that is a number: of one row. Nothing: some part is absent.
    std::optional<double> of(const Row& row) const;
    bool is_comparison() const;
    /// Every name that it mentions, those of conditions too.
    std::vector<std::string> names() const;

    struct Alternative {
        std::string word;
        double low = 0, high = 0;       ///< a number or a range; a plain word if `number` is false
        bool number = false;
    };
    struct Condition {
        std::string field;
        bool contains = false;
        std::vector<Alternative> alternatives;
    };
    struct Node {
        enum class Kind : uint8_t { kNumber, kName, kCall, kNegate, kArithmetic, kCompare, kAnd } kind = Kind::kNumber;
        double number = 0;
        std::string name;               ///< of a kName or kCall; the operator of kArithmetic
        std::vector<Node> children;
        std::vector<std::string> operators;  ///< of kCompare: one less than children
        std::vector<Condition> where;
    };

    /// A selection alone, "case=add, offset=1..7", as plots and tables use it.
    static base::Result<std::vector<Condition>> parse_selection(std::string_view text);
    static bool matches(const Row& row, const std::vector<Condition>& where);

private:
    Node root_;
};

}  // namespace lanescope::lab
