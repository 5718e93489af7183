// Operands of instructions.
#include <algorithm>
#include <cctype>
#include <utility>

#include "ptx/parser_impl.h"

namespace lanescope::ptx {

bool Parser::parse_operands(Instruction& instruction) {
    if (accept(';')) return true;
    const bool branches = instruction.opcode == Opcode::kBra || instruction.opcode == Opcode::kBrxIdx;
    do {
        Operand& operand = instruction.operands.emplace_back();
        const size_t position = instruction.operands.size() - 1;
        const bool label = branches && position == (instruction.opcode == Opcode::kBra ? 0 : 1);
        if (!(label ? parse_label_operand(operand, position) : parse_operand(operand, 0))) return false;
    } while (accept(','));
    return expect(';');
}

bool Parser::parse_label_operand(Operand& operand, size_t position) {
    Token name;
    if (!take_name(name, "a label")) return false;
    operand.kind = Operand::Kind::kLabel;
    forwards_.back().push_back({name, uint32_t(function_->body.size()), kNone, position});
    return true;
}

bool Parser::parse_call(Instruction& instruction) {
    std::vector<Operand>& operands = instruction.operands;
    operands.resize(3);
    for (const size_t list : {0, 2}) operands[list].kind = Operand::Kind::kList;
    if (token().is('(') && (!parse_list(operands[0]) || !expect(','))) return false;
    if (!parse_operand(operands[1], 0)) return false;
    if (operands[1].kind != Operand::Kind::kFunction && operands[1].kind != Operand::Kind::kRegister)
        return fail(token(), "a call needs a function or a register");
    if (accept(';')) return true;
    if (!expect(',')) return false;
    if (token().is('(')) {
        if (!parse_list(operands[2])) return false;
        if (accept(';')) return true;
        if (!expect(',')) return false;
    }
    return parse_label_operand(operands.emplace_back(), 3) && expect(';');
}

bool Parser::parse_list(Operand& operand) {
    if (!expect('(')) return false;
    if (accept(')')) return true;
    do {
        if (!parse_operand(operand.elements.emplace_back(), 1)) return false;
    } while (accept(','));
    return expect(')');
}

bool Parser::parse_operand(Operand& operand, unsigned depth) {
    if (depth > 4) return fail(token(), "operand nested too deeply");
    if (!parse_simple_operand(operand, depth)) return false;
    if (!token().is('|')) return true;
    advance();
    Operand pair;
    pair.kind = Operand::Kind::kPair;
    pair.elements.push_back(std::move(operand));
    if (!parse_simple_operand(pair.elements.emplace_back(), depth)) return false;
    operand = std::move(pair);
    return true;
}

bool Parser::parse_simple_operand(Operand& operand, unsigned depth) {
    const Token& first = token();
    if (first.kind == Token::Kind::kWord && first.text != "WARP_SZ") return parse_named_operand(operand);
    if (first.is('[')) return parse_address(operand, depth);
    if (first.is('{')) return parse_vector(operand, depth);
    const char next = lexer_.adjacent();
    if (first.is('!') || (first.is('-') && (next == '%' || next == '_' || next == '$' || std::isalpha(static_cast<unsigned char>(next))))) {
        const Token sign = first;
        advance();
        if (token().kind == Token::Kind::kWord && token().text != "WARP_SZ") {
            operand.negated = true;
            if (!parse_named_operand(operand)) return false;
            return operand.kind == Operand::Kind::kRegister || fail(sign, "only a register can be negated");
        }
        if (!parse_immediate(operand)) return false;
        operand.value = operand.value == 0;
        operand.immediate_type = Type::kS64;
        return true;
    }
    if (first.kind == Token::Kind::kNumber || first.kind == Token::Kind::kWord || first.is('-') || first.is('+') || first.is('~') ||
        first.is('('))
        return parse_immediate(operand);
    return fail_expected("an operand");
}

bool Parser::parse_immediate(Operand& operand) {
    Constant value;
    if (!parse_constant(value)) return false;
    operand.kind = Operand::Kind::kImmediate;
    operand.immediate_type = value.type;
    operand.value = int64_t(value.bits);
    return true;
}

bool Parser::parse_vector(Operand& operand, unsigned depth) {
    operand.kind = Operand::Kind::kVector;
    advance();
    ++open_braces_;
    if (!token().is('}')) do {
            if (!parse_operand(operand.elements.emplace_back(), depth + 1)) return false;
        } while (accept(','));
    if (!expect('}')) return false;
    --open_braces_;
    return true;
}

bool Parser::parse_offset(int64_t& offset) {
    // `+4`, `-4`, `+-4`: as often as written.
    offset = 0;
    while (token().is('+') || token().is('-')) {
        const Token sign = token();
        advance();
        Constant value;
        if (!parse_unary(value, 0)) return false;
        if (value.type != Type::kS64 && value.type != Type::kU64) return fail(sign, "an offset must be an integer");
        offset = int64_t(sign.is('+') ? uint64_t(offset) + value.bits : uint64_t(offset) - value.bits);
    }
    return true;
}

bool Parser::parse_address(Operand& operand, unsigned depth) {
    operand.kind = Operand::Kind::kAddress;
    advance();
    if (!parse_operand(operand.elements.emplace_back(), depth + 1) || !parse_offset(operand.value)) return false;
    // The base of a variable takes an offset as part of itself: here it belongs to the address.
    Operand& base = operand.elements[0];
    if (base.kind == Operand::Kind::kVariable) operand.value = int64_t(uint64_t(operand.value) + uint64_t(std::exchange(base.value, 0)));
    while (accept(','))
        if (!parse_operand(operand.elements.emplace_back(), depth + 1)) return false;
    if (!expect(']')) return false;
    if (accept(".unified")) unified_ = true;
    return true;
}

bool Parser::parse_named_operand(Operand& operand) {
    const Token name = token();
    const bool dotted = lexer_.adjacent() == '.';
    advance();
    if (name.text == "_" && !dotted) {
        operand.kind = Operand::Kind::kSink;
        return true;
    }
    Symbol* const symbol = scopes_->find(name.text);
    if (symbol != nullptr && symbol->kind == Symbol::Kind::kRegister) {
        operand.kind = Operand::Kind::kRegister;
        operand.index = use_register(*symbol, name.text);
        if (!dotted) return true;
        operand.component = component(token().text.substr(1));
        if (operand.component == 0) return fail(token(), "unknown component '" + std::string(token().text) + "'");
        advance();
        return true;
    }
    if (symbol == nullptr && name.text[0] == '%') {
        std::string full(name.text);
        if (dotted) full += token().text;
        const auto special = find_special_register(full);
        if (!special) return fail(name, "unknown register '" + full + "'");
        if (dotted) advance();
        operand.kind = Operand::Kind::kSpecial;
        operand.index = uint32_t(*special);
        return true;
    }
    uint64_t element_bytes = 1;
    if (symbol != nullptr) {
        if (symbol->kind != Symbol::Kind::kVariable)
            return fail(name, "'" + std::string(name.text) + "' is neither a register nor a variable");
        operand.kind = Operand::Kind::kVariable;
        operand.local_symbol = true;
        operand.index = symbol->index;
        element_bytes = (bits(function_->variables[symbol->index].type) + 7) / 8;
    } else {
        const auto known = symbols_.find(name.text);
        if (known == symbols_.end()) return fail(name, "unknown name '" + std::string(name.text) + "'");
        operand.kind = known->second.function ? Operand::Kind::kFunction : Operand::Kind::kVariable;
        operand.index = known->second.index;
        if (known->second.function) return true;
        element_bytes = (bits(module_.variables[known->second.index].type) + 7) / 8;
    }
    if (accept('[')) {  // an element of an array
        uint64_t element = 0;
        if (!parse_unsigned(element, uint64_t(1) << 42, "an element's index") || !expect(']')) return false;
        operand.value = int64_t(element * element_bytes);
        return true;
    }
    return parse_offset(operand.value);
}

}  // namespace lanescope::ptx
