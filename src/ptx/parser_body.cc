// Function bodies: scopes, declarations, labels, instructions.
#include <algorithm>
#include <utility>

#include "ptx/parser_impl.h"

namespace lanescope::ptx {

void Parser::enter_scope() {
    scopes_->push();
    forwards_.emplace_back();
}

void Parser::leave_scope() {
    const bool outermost = forwards_.size() == 1;
    std::vector<Forward> waiting = std::move(forwards_.back());
    forwards_.pop_back();
    for (Forward& forward : waiting) {
        const Symbol* const symbol = scopes_->find_here(forward.name.text);
        if (symbol == nullptr || symbol->kind == Symbol::Kind::kRegister || symbol->kind == Symbol::Kind::kVariable) {
            if (outermost)
                fail(forward.name, "unknown label '" + std::string(forward.name.text) + "'");
            else
                forwards_.back().push_back(forward);
            continue;
        }
        if (forward.table != kNone) {
            if (symbol->kind != Symbol::Kind::kLabel) fail(forward.name, "'" + std::string(forward.name.text) + "' is not a label");
            function_->tables[forward.table].targets[forward.position] = symbol->index;
            continue;
        }
        Operand& operand = function_->body[forward.instruction].operands[forward.position];
        operand.kind = symbol->kind == Symbol::Kind::kLabel ? Operand::Kind::kLabel : Operand::Kind::kTable;
        operand.local_symbol = symbol->kind == Symbol::Kind::kPrototype;
        operand.index = symbol->index;
    }
    if (!outermost) scopes_->pop();
}

bool Parser::declare(const Token& name, Symbol symbol) {
    return scopes_->declare(name.text, symbol) || fail(name, "'" + std::string(name.text) + "' is already declared in this scope");
}

uint32_t Parser::declare_variable(Variable variable, const Token& name) {
    const auto index = uint32_t(function_->variables.size());
    variable.name = scopes_->unique(name.text);
    function_->variables.push_back(std::move(variable));
    declare(name, {Symbol::Kind::kVariable, Type::kNone, 1, index});
    return index;
}

uint32_t Parser::use_register(Symbol& symbol, std::string_view name) {
    if (symbol.index == kNone) {
        symbol.index = uint32_t(function_->registers.size());
        function_->registers.push_back({std::string(scopes_->unique(name)), symbol.type, symbol.vector});
    }
    return symbol.index;
}

void Parser::parse_body(Function& function) {
    function_ = &function;
    scopes_.emplace();
    forwards_.assign(1, {});
    lines_.begin_function();
    const auto declare_parameters = [&](std::vector<Variable>& parameters, std::vector<uint32_t>& symbols) {
        for (Variable& parameter : parameters) {
            // The name's text, not the copy in `parameter`, lives as long as the scopes do.
            Token name;
            name.line = parameter.line;
            name.column = parameter.column;
            name.text = joined_.emplace_back(parameter.name);
            if (parameter.space == Space::kRegister) {
                if (!declare(name, {Symbol::Kind::kRegister, parameter.type, parameter.vector, kNone})) continue;
                symbols.push_back(use_register(*scopes_->find(name.text), name.text));
            } else {
                symbols.push_back(declare_variable(parameter, name));
            }
        }
    };
    declare_parameters(function.returns, function.return_symbols);
    declare_parameters(function.parameters, function.parameter_symbols);
    advance();  // the '{'
    while (!forwards_.empty() && token().kind != Token::Kind::kEnd && !gave_up()) {
        open_braces_ = 0;
        if (token().is('}')) {
            leave_scope();
            advance();
        } else if (!parse_statement()) {
            skip_statement(open_braces_);
        }
    }
    if (!forwards_.empty()) fail(token(), "function '" + function.name + "' has no closing '}'");
    if (function.location != kNone)  // of an inlined chain the outermost frame is the function itself
        while (module_.locations[function.location].inlined_at != kNone)
            function.location = module_.locations[function.location].inlined_at;
    function_ = nullptr;
}

bool Parser::parse_statement() {
    const Token start = token();
    if (accept(';')) return true;
    if (start.is('{')) {
        advance();
        enter_scope();
        return true;
    }
    if (start.is('@')) {
        Guard guard;
        advance();
        return parse_guard(guard) && (token().kind == Token::Kind::kWord || fail_expected("an instruction")) &&
               parse_instruction(token(), guard);
    }
    if (start.kind == Token::Kind::kWord) return parse_instruction(start, {});
    if (start.kind != Token::Kind::kDotWord) return fail_expected("an instruction");
    if (accept(".loc")) return parse_loc();
    if (accept(".file")) return parse_file();
    if (accept(".pragma")) {
        std::vector<std::string> texts;
        if (!parse_pragma(texts)) return false;
        for (std::string& text : texts) function_->pragmas.push_back({std::move(text), uint32_t(function_->body.size())});
        return true;
    }
    return parse_local_declaration();
}

bool Parser::parse_local_declaration() {
    Variable attributes;
    const Token start = token();
    if (accept(".extern")) attributes.linkage = Linkage::kExtern;
    const auto suffix = find_suffix(token().text.substr(std::min<size_t>(1, token().text.size())));
    if (!suffix || (space_of(*suffix) == Space::kGeneric && type_of(*suffix) == Type::kNone))
        return fail(token(), "unknown directive '" + std::string(token().text) + "'");
    if (!parse_attributes(attributes)) return false;
    if (attributes.space == Space::kRegister) return parse_register_names(attributes);
    if (attributes.space == Space::kGeneric || attributes.space == Space::kSpecial) return fail(start, "a state space is missing");
    do {
        Variable variable = attributes;
        Token name;
        if (!parse_variable_name(variable, name)) return false;
        if (accept('=') && !parse_initializer(variable)) return false;
        declare_variable(std::move(variable), name);
    } while (accept(','));
    return expect(';');
}

bool Parser::parse_register_names(const Variable& attributes) {
    if (attributes.type == Type::kNone) return fail(token(), "a type is missing before the name");
    do {
        Token name;
        if (!take_name(name, "a register's name")) return false;
        if (!accept('<')) {
            if (!declare(name, {Symbol::Kind::kRegister, attributes.type, attributes.vector, kNone})) return false;
            continue;
        }
        uint32_t count = 0;
        Constant value;
        const Token at = token();
        if (at.kind != Token::Kind::kNumber) return fail_expected("a number of registers");
        if (!parse_number(value)) return false;
        if (value.type != Type::kS64 || value.bits >= UINT32_MAX) return fail(at, "a number of registers must be from 0 to 4294967294");
        count = uint32_t(value.bits);
        if (!expect('>')) return false;
        if (!scopes_->declare_range(name.text, count, attributes.type, attributes.vector))
            return fail(name, "'" + std::string(name.text) + "' is already declared in this scope");
    } while (accept(','));
    return expect(';');
}

bool Parser::parse_loc_position(LineTable::Position& position) {
    return parse_unsigned(position.file, "a file index") && parse_unsigned(position.line, "a line") &&
           parse_unsigned(position.column, "a column");
}

bool Parser::parse_loc() {
    LineTable::Position position, inlined_at;
    bool inlined = false;
    std::string function;
    if (!parse_loc_position(position)) return false;
    while (accept(',')) {
        if (accept("function_name")) {
            const Token label = token();
            int64_t offset = 0;
            if (label.kind != Token::Kind::kWord && label.kind != Token::Kind::kDotWord) return fail_expected("a label of .debug_str");
            advance();
            if (!parse_offset(offset)) return false;
            function = debug_strings_.at(label.text, uint64_t(offset));
        } else if (accept("inlined_at")) {
            inlined = true;
            if (!parse_loc_position(inlined_at)) return false;
        } else {
            return fail_expected("'function_name' or 'inlined_at'");
        }
    }
    if (inlined)
        lines_.add_inlined(position, std::move(function), inlined_at);
    else
        lines_.add(position, std::move(function));
    if (function_ != nullptr && function_->location == kNone) function_->location = lines_.current(module_.locations);
    return true;
}

bool Parser::parse_guard(Guard& guard) {
    guard.negated = accept('!');
    Token name;
    if (!take_name(name, "a predicate")) return false;
    Symbol* const symbol = scopes_->find(name.text);
    if (symbol == nullptr) return fail(name, "unknown register '" + std::string(name.text) + "'");
    if (symbol->kind != Symbol::Kind::kRegister || symbol->type != Type::kPred)
        return fail(name, "'" + std::string(name.text) + "' is not a predicate");
    guard.predicate = use_register(*symbol, name.text);
    return true;
}

bool Parser::parse_label(const Token& name) {
    if (token().is(".branchtargets") || token().is(".calltargets")) return parse_table(name);
    if (accept(".callprototype")) return parse_prototype(name);
    if (!declare(name, {Symbol::Kind::kLabel, Type::kNone, 1, uint32_t(function_->labels.size())})) return true;
    function_->labels.push_back({std::string(scopes_->unique(name.text)), uint32_t(function_->body.size())});
    return true;
}

bool Parser::parse_table(const Token& name) {
    const auto index = uint32_t(function_->tables.size());
    if (!declare(name, {Symbol::Kind::kTable, Type::kNone, 1, index})) return false;
    Table table;
    table.name = scopes_->unique(name.text);
    table.functions = token().is(".calltargets");
    advance();
    std::vector<Forward> labels;
    do {
        Token target;
        if (!take_name(target, table.functions ? "a function" : "a label")) return false;
        if (table.functions) {
            const auto symbol = symbols_.find(target.text);
            if (symbol == symbols_.end() || !symbol->second.function)
                return fail(target, "'" + std::string(target.text) + "' is not a function");
            table.targets.push_back(symbol->second.index);
        } else {
            labels.push_back({target, kNone, index, table.targets.size()});
            table.targets.push_back(kNone);
        }
    } while (accept(','));
    function_->tables.push_back(std::move(table));
    forwards_.back().insert(forwards_.back().end(), labels.begin(), labels.end());
    return expect(';');
}

bool Parser::parse_prototype(const Token& name) {
    if (!declare(name, {Symbol::Kind::kPrototype, Type::kNone, 1, uint32_t(function_->prototypes.size())})) return false;
    Prototype prototype;
    prototype.name = scopes_->unique(name.text);
    if (token().is('(') && !parse_parameters(prototype.returns)) return false;
    if (accept(".noreturn")) prototype.noreturn = true;
    Token blank;
    if (!take_name(blank, "'_'")) return false;
    if (token().is('(') && !parse_parameters(prototype.parameters)) return false;
    uint32_t ignored = 0;
    while (token().kind == Token::Kind::kDotWord) {
        if (accept(".noreturn"))
            prototype.noreturn = true;
        else if (!accept(".abi_preserve") && !accept(".abi_preserve_control"))
            return fail_expected("';'");
        else if (!parse_unsigned(ignored, "a number of registers"))
            return false;
    }
    function_->prototypes.push_back(std::move(prototype));
    return expect(';');
}

const Mnemonic* Parser::decode(const Token& word) {
    const auto [it, fresh] = mnemonics_.try_emplace(word.text);
    std::optional<Mnemonic>& known = it->second;
    if (!fresh && known) return &*known;
    const auto match = find_opcode(word.text);
    if (!match) {
        fail(word, "unknown instruction '" + std::string(word.text.substr(0, word.text.find('.'))) + "'");
        return nullptr;
    }
    Mnemonic mnemonic;
    mnemonic.opcode = match->opcode;
    size_t types = 0;
    for (size_t at = match->length; at < word.text.size();) {
        const size_t end = std::min(word.text.find('.', at + 1), word.text.size());
        const std::string_view text = word.text.substr(at + 1, end - at - 1);
        const auto suffix = find_suffix(text);
        if (!suffix) {
            Token place = word;
            place.column += uint32_t(at);
            fail(place, "unknown suffix '." + std::string(text) + "' of '" + std::string(to_string(match->opcode)) + "'");
            return nullptr;
        }
        at = end;
        mnemonic.suffixes.push_back(*suffix);
        const Type type = type_of(*suffix);
        if (type != Type::kNone && types < mnemonic.types.size()) mnemonic.types[types++] = type;
        if (mnemonic.space == Space::kGeneric) mnemonic.space = space_of(*suffix);
        if (*suffix == Suffix::kV2 || *suffix == Suffix::kV4 || *suffix == Suffix::kV8) mnemonic.vector = uint8_t(text[1] - '0');
    }
    known = std::move(mnemonic);
    return &*known;
}

bool Parser::parse_instruction(const Token& start, Guard guard) {
    Token word = start;
    const bool dotted = lexer_.adjacent() == '.';
    if (dotted) {
        lexer_.extend_mnemonic();
        word = token();
    }
    advance();
    if (!dotted && guard.predicate == kNone && accept(':')) return parse_label(word);
    if (token().kind == Token::Kind::kDotWord) {  // blanks between the words of the mnemonic
        std::string& joined = joined_.emplace_back(word.text);
        for (; token().kind == Token::Kind::kDotWord; advance()) joined += token().text;
        word.text = joined;
    }
    const Mnemonic* const mnemonic = decode(word);
    if (mnemonic == nullptr) return false;
    Instruction instruction;
    instruction.opcode = mnemonic->opcode;
    instruction.guard = guard;
    instruction.suffixes = mnemonic->suffixes;
    instruction.types = mnemonic->types;
    instruction.space = mnemonic->space;
    instruction.vector = mnemonic->vector;
    instruction.line = start.line;
    instruction.column = start.column;
    instruction.location = lines_.current(module_.locations);
    unified_ = false;
    // Pushed only once it is complete, but labels in it already refer to the place where it will stand.
    const size_t forwards = forwards_.back().size();
    if (!(instruction.opcode == Opcode::kCall ? parse_call(instruction) : parse_operands(instruction))) {
        forwards_.back().resize(forwards);
        return false;
    }
    if (class_of(instruction.opcode) == OpcodeClass::kMemory) {
        // `ld.global.u32 %r1, table[3]` is an old way to write `[table+12]`.
        for (Operand& operand : instruction.operands) {
            if (operand.kind != Operand::Kind::kVariable) continue;
            Operand address;
            address.kind = Operand::Kind::kAddress;
            address.value = std::exchange(operand.value, 0);
            address.elements.push_back(std::move(operand));
            operand = std::move(address);
        }
    }
    if (unified_) instruction.suffixes.push_back(Suffix::kUnified);
    function_->body.push_back(std::move(instruction));
    return true;
}

}  // namespace lanescope::ptx
