// Numbers and constant expressions.
#include <bit>
#include <charconv>
#include <cstdlib>

#include "ptx/parser_impl.h"

namespace lanescope::ptx {
namespace {

bool is_float(const Constant& value) { return value.type == Type::kF64 || value.type == Type::kF32; }

double to_double(const Constant& value) {
    switch (value.type) {
        case Type::kF64:
            return std::bit_cast<double>(value.bits);
        case Type::kF32:
            return std::bit_cast<float>(uint32_t(value.bits));
        case Type::kU64:
            return double(value.bits);
        default:
            return double(int64_t(value.bits));
    }
}

Constant from_double(double value) { return {Type::kF64, std::bit_cast<uint64_t>(value)}; }

/// Binary operators by level, weakest first.
constexpr std::string_view kOperators[][5] = {{"||"},       {"&&"},     {"|"},          {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"},
                                              {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};

}  // namespace

bool Parser::parse_number(Constant& value) {
    const Token number = token();
    std::string_view digits = number.text;
    advance();
    const auto hexadecimal = [&](std::string_view text, Type type, size_t length) {
        value.type = type;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value.bits, 16);
        if (text.size() == length && error == std::errc() && end == text.data() + text.size()) return true;
        return fail(number,
                    "'" + std::string(digits) + "' is not a floating-point number of " + std::to_string(length) + " hexadecimal digits");
    };
    const char prefix = digits.size() > 1 && digits[0] == '0' ? char(digits[1] | 0x20) : '\0';
    if (prefix == 'f') return hexadecimal(digits.substr(2), Type::kF32, 8);
    if (prefix == 'd') return hexadecimal(digits.substr(2), Type::kF64, 16);
    if (prefix != 'x' && prefix != 'b' && digits.find_first_of(".eE") != std::string_view::npos) {
        const std::string text(digits);
        char* end = nullptr;
        value = from_double(std::strtod(text.c_str(), &end));
        return end == text.c_str() + text.size() || fail(number, "'" + text + "' is not a number");
    }
    const bool is_unsigned = digits.ends_with('U') || digits.ends_with('u');
    if (is_unsigned) digits.remove_suffix(1);
    const int base = prefix == 'x' ? 16 : prefix == 'b' ? 2 : prefix != '\0' ? 8 : 10;
    if (base == 16 || base == 2) digits.remove_prefix(2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value.bits, base);
    if (error == std::errc::result_out_of_range) return fail(number, "'" + std::string(number.text) + "' needs more than 64 bits");
    if (error != std::errc() || end != digits.data() + digits.size())
        return fail(number, "'" + std::string(number.text) + "' is not a number");
    value.type = is_unsigned || int64_t(value.bits) < 0 ? Type::kU64 : Type::kS64;
    return true;
}

bool Parser::parse_unary(Constant& value, unsigned depth) {
    if (depth > kNestingLimit) return fail(token(), "expression nested too deeply");
    const Token first = token();
    if (accept('-')) {
        if (!parse_unary(value, depth + 1)) return false;
        if (value.type == Type::kF64)
            value.bits ^= uint64_t(1) << 63;
        else if (value.type == Type::kF32)
            value.bits ^= uint64_t(1) << 31;
        else
            value.bits = -value.bits;
        return true;
    }
    if (accept('+')) return parse_unary(value, depth + 1);
    if (accept('~') || accept('!')) {
        if (!parse_unary(value, depth + 1)) return false;
        if (first.is('!')) {
            value = {Type::kS64, uint64_t(to_double(value) == 0)};
        } else {
            if (is_float(value)) return fail(first, "'~' needs an integer");
            value.bits = ~value.bits;
        }
        return true;
    }
    if (accept('(')) {
        const bool to_signed = accept(".s64");
        if (to_signed || accept(".u64")) {
            if (!expect(')') || !parse_unary(value, depth + 1)) return false;
            if (is_float(value)) return fail(first, "casts of floating-point numbers are not constant expressions");
            value.type = to_signed ? Type::kS64 : Type::kU64;
            return true;
        }
        return parse_ternary(value, depth + 1) && expect(')');
    }
    if (accept("WARP_SZ")) {
        value = {Type::kS64, 32};
        return true;
    }
    if (token().kind != Token::Kind::kNumber) return fail_expected("a number");
    return parse_number(value);
}

bool Parser::apply(const Token& at, std::string_view op, Constant& left, const Constant& right) {
    const bool floating = is_float(left) || is_float(right);
    const auto truth = [&](bool is_true) {
        left = {Type::kS64, uint64_t(is_true)};
        return true;
    };
    if (op == "&&") return truth(to_double(left) != 0 && to_double(right) != 0);
    if (op == "||") return truth(to_double(left) != 0 || to_double(right) != 0);
    if (floating) {
        const double a = to_double(left), b = to_double(right);
        if (op == "==") return truth(a == b);
        if (op == "!=") return truth(a != b);
        if (op == "<") return truth(a < b);
        if (op == "<=") return truth(a <= b);
        if (op == ">") return truth(a > b);
        if (op == ">=") return truth(a >= b);
        if (op == "+")
            left = from_double(a + b);
        else if (op == "-")
            left = from_double(a - b);
        else if (op == "*")
            left = from_double(a * b);
        else if (op == "/")
            left = from_double(a / b);
        else
            return fail(at, "'" + std::string(op) + "' needs integers");
        return true;
    }
    const uint64_t a = left.bits, b = right.bits;
    const bool is_unsigned = left.type == Type::kU64 || right.type == Type::kU64;
    const auto less = [&](uint64_t x, uint64_t y) { return is_unsigned ? x < y : int64_t(x) < int64_t(y); };
    if (op == "==") return truth(a == b);
    if (op == "!=") return truth(a != b);
    if (op == "<") return truth(less(a, b));
    if (op == "<=") return truth(!less(b, a));
    if (op == ">") return truth(less(b, a));
    if (op == ">=") return truth(!less(a, b));
    if (op == "<<" || op == ">>") {
        if (op == "<<")
            left.bits = b < 64 ? a << b : 0;
        else if (left.type == Type::kU64)
            left.bits = b < 64 ? a >> b : 0;
        else
            left.bits = uint64_t(int64_t(a) >> (b < 64 ? b : 63));
        return true;
    }
    left.type = is_unsigned ? Type::kU64 : Type::kS64;
    if (op == "+") left.bits = a + b;
    if (op == "-") left.bits = a - b;
    if (op == "*") left.bits = a * b;
    if (op == "&") left.bits = a & b;
    if (op == "|") left.bits = a | b;
    if (op == "^") left.bits = a ^ b;
    if (op != "/" && op != "%") return true;
    if (b == 0) return fail(at, "division by zero");
    if (is_unsigned)
        left.bits = op == "/" ? a / b : a % b;
    else if (int64_t(b) == -1)
        left.bits = op == "/" ? -a : 0;
    else
        left.bits = uint64_t(op == "/" ? int64_t(a) / int64_t(b) : int64_t(a) % int64_t(b));
    return true;
}

bool Parser::parse_binary(Constant& value, size_t level, unsigned depth) {
    if (level == std::size(kOperators)) return parse_unary(value, depth);
    if (!parse_binary(value, level + 1, depth)) return false;
    for (;;) {
        if (token().kind != Token::Kind::kPunct) return true;
        const Token first = token();
        const char next = lexer_.adjacent();
        std::string_view chosen;
        for (const std::string_view op : kOperators[level]) {
            if (op.empty() || op[0] != first.text[0]) continue;
            // One-character operators must not be the start of a longer one of another level: `<` of `<<`, `|` of `||`, …
            if (op.size() == 2 ? op[1] != next
                               : next == '=' || ((op[0] == '<' || op[0] == '>' || op[0] == '|' || op[0] == '&') && next == op[0]))
                continue;
            chosen = op;
            break;
        }
        if (chosen.empty()) return true;
        advance();
        if (chosen.size() == 2) advance();
        Constant right;
        if (!parse_binary(right, level + 1, depth) || !apply(first, chosen, value, right)) return false;
    }
}

bool Parser::parse_ternary(Constant& value, unsigned depth) {
    if (depth > kNestingLimit) return fail(token(), "expression nested too deeply");
    if (!parse_binary(value, 0, depth)) return false;
    if (!accept('?')) return true;
    Constant yes, no;
    if (!parse_ternary(yes, depth + 1) || !expect(':') || !parse_ternary(no, depth + 1)) return false;
    value = to_double(value) != 0 ? yes : no;
    return true;
}

bool Parser::parse_unsigned(uint64_t& result, uint64_t limit, std::string_view what) {
    const Token first = token();
    Constant value;
    if (!parse_constant(value)) return false;
    if (is_float(value)) return fail(first, std::string(what) + " must be an integer");
    if ((value.type == Type::kS64 && int64_t(value.bits) < 0) || value.bits > limit)
        return fail(first, std::string(what) + " must be from 0 to " + std::to_string(limit));
    result = value.bits;
    return true;
}

bool Parser::parse_unsigned(uint32_t& result, std::string_view what) {
    uint64_t value = 0;
    if (!parse_unsigned(value, UINT32_MAX - 1, what)) return false;
    result = uint32_t(value);
    return true;
}

}  // namespace lanescope::ptx
