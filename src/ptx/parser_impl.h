// The parser's inside, shared by its source files.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/diagnostic.h"
#include "ptx/lexer.h"
#include "ptx/line_table.h"
#include "ptx/module.h"
#include "ptx/scopes.h"

namespace lanescope::ptx {

/// A constant expression's value. `bits` are those of the type: kS64, kU64, kF64, kF32 (low 32 bits).
struct Constant {
    Type type = Type::kS64;
    uint64_t bits = 0;
};

/// A module-scope name.
struct ModuleSymbol {
    bool function = false;
    uint32_t index = kNone;
};

/// What an instruction's dotted word says, decoded once for each distinct word.
struct Mnemonic {
    Opcode opcode{};
    std::vector<Suffix> suffixes;
    std::array<Type, 5> types{};
    Space space = Space::kGeneric;
    uint8_t vector = 1;
};

/// Parsing functions return false after reporting an error; the caller passes that on up to the level that resynchronises.
class Parser {
public:
    Parser(std::string_view text, std::string name);
    base::Result<Module> run();

private:
    // Tokens and errors.
    const Token& token() const { return lexer_.token(); }
    void advance() { lexer_.advance(); }
    bool fail(const Token& at, std::string message);
    bool fail_expected(std::string_view what);
    bool accept(char c);
    bool expect(char c);
    bool accept(std::string_view word);
    bool take_name(Token& name, std::string_view what);
    bool take_string(std::string& text);
    bool gave_up() const { return errors_.size() >= kErrorLimit; }
    /// Skips to after the next ';', or to the '}' behind those of the statement's own `open` braces.
    void skip_statement(unsigned open);
    void skip_block();  ///< to after the '}' of a block whose '{' is behind

    // Constant expressions (parser_constants.cc).
    bool parse_number(Constant& value);
    bool parse_constant(Constant& value) { return parse_ternary(value, 0); }
    bool parse_ternary(Constant& value, unsigned depth);
    bool parse_binary(Constant& value, size_t level, unsigned depth);
    bool parse_unary(Constant& value, unsigned depth);
    bool apply(const Token& at, std::string_view op, Constant& left, const Constant& right);
    bool parse_unsigned(uint64_t& value, uint64_t limit, std::string_view what);
    bool parse_unsigned(uint32_t& value, std::string_view what);

    // Declarations (parser_declarations.cc).
    /// Everything before the name: space, type, alignment, …; `variable.name` stays empty.
    bool parse_attributes(Variable& variable);
    bool parse_dimensions(Variable& variable);
    bool parse_variable_name(Variable& variable, Token& name);
    bool parse_initializer(Variable& variable);
    bool parse_initializer_level(Variable& variable, uint64_t first, size_t dimension, uint64_t& end);
    bool parse_initializer_element(Variable& variable, uint64_t element);
    bool parse_initializer_symbol(Variable& variable, uint64_t offset);
    bool parse_parameters(std::vector<Variable>& parameters);
    bool parse_module_variables(Linkage linkage);
    bool declare_module_variable(Variable variable, const Token& name);

    // Module scope (parser.cc).
    void parse_module();
    bool parse_directive();
    bool parse_version();
    bool parse_target();
    bool parse_file();
    bool parse_section();
    bool parse_alias();
    bool parse_pragma(std::vector<std::string>& pragmas);
    bool parse_function(Linkage linkage, bool entry);
    bool parse_function_directives(Function& function);
    bool parse_dimensions3(std::array<uint32_t, 3>& dimensions, std::string_view what);

    // Function bodies (parser_body.cc).
    void parse_body(Function& function);
    bool parse_statement();
    bool parse_local_declaration();
    bool parse_register_names(const Variable& attributes);
    bool parse_loc();
    bool parse_loc_position(LineTable::Position& position);
    bool parse_label(const Token& name);
    bool parse_table(const Token& name);
    bool parse_prototype(const Token& name);
    bool parse_instruction(const Token& start, Guard guard);
    bool parse_guard(Guard& guard);
    const Mnemonic* decode(const Token& word);
    void enter_scope();
    void leave_scope();
    bool declare(const Token& name, Symbol symbol);
    uint32_t declare_variable(Variable variable, const Token& name);
    uint32_t use_register(Symbol& symbol, std::string_view name);

    // Operands (parser_operands.cc).
    bool parse_operands(Instruction& instruction);
    bool parse_call(Instruction& instruction);
    bool parse_list(Operand& operand);
    bool parse_operand(Operand& operand, unsigned depth);
    bool parse_simple_operand(Operand& operand, unsigned depth);
    bool parse_vector(Operand& operand, unsigned depth);
    bool parse_address(Operand& operand, unsigned depth);
    bool parse_named_operand(Operand& operand);
    bool parse_immediate(Operand& operand);
    bool parse_offset(int64_t& offset);
    bool parse_label_operand(Operand& operand, size_t position);

    static constexpr size_t kErrorLimit = 20;
    static constexpr unsigned kNestingLimit = 64;

    Lexer lexer_;
    std::string_view text_;
    Module module_;
    base::Diagnostics errors_;
    std::unordered_map<std::string_view, ModuleSymbol> symbols_;
    std::unordered_map<std::string_view, std::optional<Mnemonic>> mnemonics_;
    std::deque<std::string> joined_;  ///< mnemonics written with blanks between their words
    DebugStrings debug_strings_;
    LineTable lines_;

    /// A name whose declaration may follow: a label, or the table of an indirect branch or call.
    struct Forward {
        Token name;
        uint32_t instruction = kNone;  ///< the instruction whose operand `position` it is, or else …
        uint32_t table = kNone;        ///< … the table whose target `position` it is
        size_t position = 0;
    };
    Function* function_ = nullptr;  ///< whose body is being parsed
    std::optional<Scopes> scopes_;
    std::vector<std::vector<Forward>> forwards_;  ///< by scope
    unsigned open_braces_ = 0;                    ///< of the current statement
    bool unified_ = false;                        ///< an address of the current instruction had `.unified`
};

}  // namespace lanescope::ptx
