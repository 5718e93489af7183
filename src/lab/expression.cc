#include "lab/expression.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace lanescope::lab {
namespace {

using Node = Expression::Node;
using Kind = Node::Kind;

constexpr std::string_view kFunctions[] = {"min", "max", "sum", "mean", "count", "abs", "rising", "falling"};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' || c == '+'; }
bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

/// Recursive descent; the first error stops it.
class Parser {
public:
    explicit Parser(std::string_view text) : text_(text) {}

    std::optional<Node> expression() {
        Node root = conjunction();
        skip();
        if (!error_ && at_ != text_.size()) fail("expected the end");
        return error_ ? std::nullopt : std::optional(std::move(root));
    }
    std::optional<std::vector<Expression::Condition>> selection() {
        std::vector<Expression::Condition> where = conditions();
        skip();
        if (!error_ && at_ != text_.size()) fail("expected the end");
        return error_ ? std::nullopt : std::optional(std::move(where));
    }
    base::Diagnostic error() const { return *error_; }

private:
    static constexpr int kMaxDepth = 100;

    void fail(std::string message) {
        if (!error_) error_ = base::error(std::move(message), {"", 1, uint32_t(at_) + 1}, std::string(text_));
        at_ = text_.size();
    }
    void skip() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    }
    bool take(std::string_view token) {
        skip();
        if (text_.substr(at_, token.size()) != token) return false;
        at_ += token.size();
        return true;
    }
    std::string_view word(bool (*belongs)(char)) {
        skip();
        const size_t begin = at_;
        while (at_ < text_.size() && belongs(text_[at_])) ++at_;
        return text_.substr(begin, at_ - begin);
    }

    Node conjunction() {
        Node left = comparison();
        for (;;) {
            const size_t before = at_;
            if (word(is_name) != "and") return at_ = before, left;
            Node both{Kind::kAnd};
            both.children.push_back(std::move(left));
            both.children.push_back(comparison());
            left = std::move(both);
        }
    }
    Node comparison() {
        Node left = sum();
        Node chain{Kind::kCompare};
        for (;;) {
            const char* taken = nullptr;
            for (const char* op : {"==", "!=", "<=", ">=", "<", ">"})
                if (taken == nullptr && take(op)) taken = op;
            if (taken == nullptr) break;
            if (chain.children.empty()) chain.children.push_back(std::move(left));
            chain.operators.emplace_back(taken);
            chain.children.push_back(sum());
        }
        return chain.children.empty() ? left : chain;
    }
    Node binary(Node (Parser::*next)(), std::string_view operators) {
        Node left = (this->*next)();
        for (;;) {
            skip();
            if (at_ >= text_.size() || operators.find(text_[at_]) == std::string_view::npos) return left;
            Node both{Kind::kArithmetic};
            both.name = text_[at_++];
            both.children.push_back(std::move(left));
            both.children.push_back((this->*next)());
            left = std::move(both);
        }
    }
    Node sum() { return binary(&Parser::product, "+-"); }
    Node product() { return binary(&Parser::unary, "*/"); }
    Node unary() {
        if (++depth_ > kMaxDepth) fail("nested too deeply");
        Node node;
        if (take("-")) {
            node.kind = Kind::kNegate;
            node.children.push_back(unary());
        } else {
            node = primary();
        }
        --depth_;
        return node;
    }
    Node primary() {
        if (take("(")) {
            Node inner = conjunction();
            if (!take(")")) fail("expected ')'");
            return inner;
        }
        skip();
        Node node;
        if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
            node.number = number();
            return node;
        }
        const std::string_view name = word(is_name);
        if (name.empty()) return fail("expected a name, a number or '('"), node;
        node.name = name;
        if (take("(")) {
            node.kind = Kind::kCall;
            if (std::find(std::begin(kFunctions), std::end(kFunctions), name) == std::end(kFunctions)) {
                at_ -= 1 + name.size();
                return fail(fmt::format("unknown function '{}'; known: {}", name, fmt::join(kFunctions, ", "))), node;
            }
            do node.children.push_back(conjunction());
            while (take(","));
            if (!take(")")) fail("expected ')'");
            return node;
        }
        node.kind = Kind::kName;
        if (take("[")) {
            node.where = conditions();
            if (!take("]")) fail("expected ']'");
        }
        return node;
    }
    double number() {
        double value = 0;
        const auto [end, problem] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
        if (problem != std::errc()) return fail("expected a number"), 0;
        at_ = size_t(end - text_.data());
        return value;
    }
    std::vector<Expression::Condition> conditions() {
        std::vector<Expression::Condition> where;
        do {
            Expression::Condition condition;
            condition.field = word(is_name);
            if (condition.field.empty()) return fail("expected a field"), where;
            condition.contains = take("~");
            if (!condition.contains && !take("=")) return fail("expected '=' or '~'"), where;
            do condition.alternatives.push_back(alternative());
            while (take("|"));
            where.push_back(std::move(condition));
        } while (!error_ && take(","));
        return where;
    }
    Expression::Alternative alternative() {
        Expression::Alternative value;
        value.word = word(is_word);
        if (value.word.empty()) return fail("expected a value"), value;
        const char *begin = value.word.data(), *end = begin + value.word.size();
        const size_t dots = value.word.find("..");
        const char* first_end = dots == std::string::npos ? end : begin + dots;
        const auto [low_end, low_problem] = std::from_chars(begin, first_end, value.low);
        if (low_problem != std::errc() || low_end != first_end) return value;  // a word
        value.high = value.low;
        value.number = true;
        if (dots != std::string::npos) {
            const auto [high_end, high_problem] = std::from_chars(first_end + 2, end, value.high);
            if (high_problem != std::errc() || high_end != end) fail("expected a range such as 1..7");
        }
        return value;
    }

    std::string_view text_;
    size_t at_ = 0;
    int depth_ = 0;
    std::optional<base::Diagnostic> error_;
};

bool equal(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max({std::abs(a), std::abs(b), 1e-300}); }

bool compare(double a, std::string_view op, double b) {
    if (op == "==") return equal(a, b);
    if (op == "!=") return !equal(a, b);
    if (op == "<=") return a < b || equal(a, b);
    if (op == ">=") return a > b || equal(a, b);
    return op == "<" ? a < b && !equal(a, b) : a > b && !equal(a, b);
}

std::string text_of(const Cell& cell) {
    if (const auto* text = std::get_if<std::string>(&cell)) return *text;
    return fmt::format("{:.10g}", std::get<double>(cell));
}

/// Evaluates over a Data; `reason` says why there is no value.
class Evaluator {
public:
    explicit Evaluator(const Data& data) : data_(data) {}
    std::string reason;

    std::optional<std::vector<double>> values(const Node& node) {
        switch (node.kind) {
            case Kind::kNumber: return std::vector<double>{node.number};
            case Kind::kName: return select(node, false);
            case Kind::kCall: return call(node);
            case Kind::kNegate: {
                auto inner = values(node.children[0]);
                if (inner)
                    for (double& value : *inner) value = -value;
                return inner;
            }
            case Kind::kArithmetic: return arithmetic(node);
            default: return refuse("a comparison stands where a number is needed");
        }
    }

    /// Every comparison must hold; notes the subject of the first one.
    std::optional<bool> holds(const Node& node, std::vector<double>& subject) {
        if (node.kind == Kind::kAnd) {
            const auto left = holds(node.children[0], subject);
            std::vector<double> ignored;
            const auto right = left ? holds(node.children[1], ignored) : std::nullopt;
            if (!left || !right) return std::nullopt;
            return *left && *right;
        }
        if (node.kind == Kind::kCall) {  // rising, falling
            const auto value = values(node);
            if (!value) return std::nullopt;
            subject = select_subject(node);
            return (*value)[0] != 0;
        }
        if (node.kind != Kind::kCompare) return refuse("not a comparison"), std::nullopt;
        std::vector<std::vector<double>> sides;
        for (const Node& child : node.children) {
            auto side = values(child);
            if (!side) return std::nullopt;
            sides.push_back(std::move(*side));
        }
        subject = sides[node.children.size() > 2 ? 1 : 0];
        bool all = true;
        for (size_t k = 0; k < node.operators.size(); ++k) {
            const auto& a = sides[k];
            const auto& b = sides[k + 1];
            const size_t n = std::max(a.size(), b.size());
            if ((a.size() != 1 && a.size() != n) || (b.size() != 1 && b.size() != n)) return unequal(a.size(), b.size()), std::nullopt;
            for (size_t i = 0; i < n; ++i) all &= compare(a[a.size() == 1 ? 0 : i], node.operators[k], b[b.size() == 1 ? 0 : i]);
        }
        return all;
    }

private:
    std::nullopt_t refuse(std::string why) {
        if (reason.empty()) reason = std::move(why);
        return std::nullopt;
    }
    std::nullopt_t unequal(size_t a, size_t b) { return refuse(fmt::format("{} numbers against {}", a, b)); }

    std::vector<double> select_subject(const Node& call) {
        auto inner = values(call.children[0]);
        return inner ? *inner : std::vector<double>();
    }

    std::optional<std::vector<double>> select(const Node& node, bool may_be_empty) {
        std::string_view name = node.name;
        const std::vector<Row>* rows = &data_.cases;
        const auto prefixed = [&](std::string_view prefix) {
            if (!name.starts_with(prefix)) return false;
            name.remove_prefix(prefix.size());
            return true;
        };
        if (prefixed("gpu.")) {
            const auto found = data_.gpu.find(name);
            if (found == data_.gpu.end() || !std::holds_alternative<double>(found->second)) return refuse(fmt::format("no number '{}'", node.name));
            return std::vector<double>{std::get<double>(found->second)};
        }
        if (prefixed("line.")) rows = &data_.lines;
        else if (prefixed("transfer.")) rows = &data_.transfers;
        else if (prefixed("fault.")) rows = &data_.faults;

        std::vector<double> found;
        bool matched = false;
        for (const Row& row : *rows) {
            if (!Expression::matches(row, node.where)) continue;
            matched = true;
            const auto cell = row.find(name);
            const bool number = cell != row.end() && std::holds_alternative<double>(cell->second);
            if (number) found.push_back(std::get<double>(cell->second));
            else if (!node.where.empty()) return refuse(fmt::format("'{}' is not known there", node.name));
        }
        if (found.empty() && !may_be_empty)
            return refuse(matched ? fmt::format("'{}' is not known", node.name) : fmt::format("nothing matches the selection of '{}'", node.name));
        return found;
    }

    std::optional<std::vector<double>> arithmetic(const Node& node) {
        const auto a = values(node.children[0]);
        const auto b = a ? values(node.children[1]) : std::nullopt;
        if (!a || !b) return std::nullopt;
        const size_t n = std::max(a->size(), b->size());
        if ((a->size() != 1 && a->size() != n) || (b->size() != 1 && b->size() != n)) return unequal(a->size(), b->size());
        std::vector<double> out(n);
        for (size_t i = 0; i < n; ++i) {
            const double x = (*a)[a->size() == 1 ? 0 : i], y = (*b)[b->size() == 1 ? 0 : i];
            if (node.name == "/" && y == 0) return refuse("a quotient by zero");
            out[i] = node.name == "+" ? x + y : node.name == "-" ? x - y : node.name == "*" ? x * y : x / y;
        }
        return out;
    }

    std::optional<std::vector<double>> call(const Node& node) {
        const std::string& f = node.name;
        std::vector<double> all;
        for (const Node& child : node.children) {
            const bool counted = f == "count" || f == "sum";
            const auto part = counted && child.kind == Kind::kName ? select(child, true) : values(child);
            if (!part) return std::nullopt;
            all.insert(all.end(), part->begin(), part->end());
        }
        const double total = std::accumulate(all.begin(), all.end(), 0.0);
        if (f == "count") return std::vector<double>{double(all.size())};
        if (f == "sum") return std::vector<double>{total};
        if (f == "mean") return std::vector<double>{total / double(all.size())};
        if (f == "min") return std::vector<double>{*std::min_element(all.begin(), all.end())};
        if (f == "max") return std::vector<double>{*std::max_element(all.begin(), all.end())};
        if (f == "abs") {
            for (double& value : all) value = std::abs(value);
            return all;
        }
        bool ordered = true;
        for (size_t i = 1; i < all.size(); ++i) ordered &= f == "rising" ? all[i - 1] < all[i] : all[i - 1] > all[i];
        return std::vector<double>{ordered ? 1.0 : 0.0};
    }

    const Data& data_;
};

}  // namespace

base::Result<Expression> Expression::parse(std::string_view text) {
    Parser parser(text);
    std::optional<Node> root = parser.expression();
    if (!root) return parser.error();
    Expression expression;
    expression.root_ = std::move(*root);
    return expression;
}

base::Result<std::vector<Expression::Condition>> Expression::parse_selection(std::string_view text) {
    Parser parser(text);
    auto where = parser.selection();
    if (!where) return parser.error();
    return std::move(*where);
}

bool Expression::matches(const Row& row, const std::vector<Condition>& where) {
    return std::all_of(where.begin(), where.end(), [&](const Condition& condition) {
        const auto cell = row.find(condition.field);
        if (cell == row.end()) return false;
        return std::any_of(condition.alternatives.begin(), condition.alternatives.end(), [&](const Alternative& value) {
            const auto* number = std::get_if<double>(&cell->second);
            if (condition.contains) return text_of(cell->second).find(value.word) != std::string::npos;
            if (value.number && number != nullptr) return compare(*number, ">=", value.low) && compare(*number, "<=", value.high);
            return text_of(cell->second) == value.word;
        });
    });
}

std::vector<std::string> Expression::names() const {
    std::vector<std::string> out;
    const auto visit = [&](const auto& self, const Node& node) -> void {
        if (node.kind == Node::Kind::kName) out.push_back(node.name);
        for (const Condition& condition : node.where) out.push_back(condition.field);
        for (const Node& child : node.children) self(self, child);
    };
    visit(visit, root_);
    return out;
}

bool Expression::is_comparison() const {
    return root_.kind == Kind::kCompare || root_.kind == Kind::kAnd ||
           (root_.kind == Kind::kCall && (root_.name == "rising" || root_.name == "falling"));
}

Expression::Outcome Expression::decide(const Data& data) const {
    Evaluator evaluator(data);
    Outcome outcome;
    outcome.holds = evaluator.holds(root_, outcome.subject);
    if (!outcome.holds) outcome.reason = evaluator.reason;
    return outcome;
}

std::optional<double> Expression::of(const Row& row) const {
    const Data one{{row}, {}, {}, {}, {}};
    const auto values = Evaluator(one).values(root_);
    if (!values || values->size() != 1) return std::nullopt;
    return (*values)[0];
}

}  // namespace lanescope::lab
