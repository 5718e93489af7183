#include "ptx/parser.h"

#include <algorithm>

#include "ptx/canonical.h"
#include "ptx/parser_impl.h"

namespace lanescope::ptx {
namespace {

constexpr size_t kShownColumns = 240;      ///< a longer source line is not shown under a message
constexpr uint32_t kFileLimit = 1u << 16;  ///< indices of `.file`

}  // namespace

base::Result<Module> parse(std::string_view text, std::string name) { return Parser(text, std::move(name)).run(); }

Parser::Parser(std::string_view text, std::string name)
    : lexer_(text.substr(0, std::min(text.find('\0'), text.size()))), text_(text), debug_strings_(text) {
    module_.name = std::move(name);
}

base::Result<Module> Parser::run() {
    parse_module();
    std::stable_sort(errors_.begin(), errors_.end(),
                     [](const base::Diagnostic& a, const base::Diagnostic& b) { return a.place.line < b.place.line; });
    if (gave_up()) errors_.push_back({base::Severity::kNote, {module_.name, 0, 0}, "too many errors, the rest is not shown", {}});
    if (!errors_.empty()) return std::move(errors_);
    make_canonical(module_);
    return std::move(module_);
}

bool Parser::fail(const Token& at, std::string message) {
    if (gave_up()) return false;
    const std::string_view line = lexer_.line_of(at);
    errors_.push_back(
        base::error(std::move(message), {module_.name, at.line, at.column}, std::string(line.size() <= kShownColumns ? line : "")));
    return false;
}

bool Parser::fail_expected(std::string_view what) {
    const Token& found = token();
    std::string message = "expected " + std::string(what);
    if (found.kind == Token::Kind::kEnd)
        message += " before the end of the text";
    else if (found.kind == Token::Kind::kBad)
        message = "the string has no end";
    else
        message += ", found '" + std::string(found.text.substr(0, 80)) + "'";
    return fail(found, std::move(message));
}

bool Parser::accept(char c) {
    if (!token().is(c)) return false;
    advance();
    return true;
}

bool Parser::expect(char c) { return accept(c) || fail_expected("'" + std::string(1, c) + "'"); }

bool Parser::accept(std::string_view word) {
    if (!token().is(word)) return false;
    advance();
    return true;
}

bool Parser::take_name(Token& name, std::string_view what) {
    if (token().kind != Token::Kind::kWord) return fail_expected(what);
    name = token();
    advance();
    return true;
}

bool Parser::take_string(std::string& text) {
    if (token().kind != Token::Kind::kString) return fail_expected("a string");
    text = token().text;
    advance();
    return true;
}

void Parser::skip_statement(unsigned open) {
    for (; token().kind != Token::Kind::kEnd; advance()) {
        if (token().is('{')) ++open;
        if (token().is('}')) {
            if (open == 0) return;
            --open;
        }
        if (accept(';')) return;
    }
}

void Parser::skip_block() {
    for (unsigned open = 1; open != 0 && token().kind != Token::Kind::kEnd; advance()) {
        if (token().is('{')) ++open;
        if (token().is('}')) --open;
    }
}

void Parser::parse_module() {
    const auto begins_directive = [&] {
        for (const std::string_view word : {".visible", ".extern", ".weak", ".common", ".entry", ".func", ".version", ".target"})
            if (token().is(word)) return true;
        return false;
    };
    while (token().kind != Token::Kind::kEnd && !gave_up()) {
        const char* const start = token().text.data();
        open_braces_ = 0;
        if (parse_directive()) continue;
        if (token().text.data() == start) advance();
        while (token().kind != Token::Kind::kEnd && !begins_directive()) {
            const bool block = token().is('{'), closes = token().is('}'), end = token().is(';');
            advance();
            if (block) skip_block();
            if (block || end || (closes && open_braces_ == 0)) break;
            if (closes) --open_braces_;
        }
    }
    if (!errors_.empty()) return;
    if (module_.version.major == 0) fail(token(), "no '.version': this is not PTX");
}

bool Parser::parse_directive() {
    if (accept(';')) return true;
    if (token().kind != Token::Kind::kDotWord) return fail_expected("a directive");
    if (accept(".version")) return parse_version();
    if (accept(".target")) return parse_target();
    if (accept(".address_size")) {
        const Token at = token();
        if (!parse_unsigned(module_.address_bits, "the address size")) return false;
        return module_.address_bits == 32 || module_.address_bits == 64 || fail(at, "the address size must be 32 or 64");
    }
    if (accept(".file")) return parse_file();
    if (accept(".section")) return parse_section();
    if (accept(".alias")) return parse_alias();
    if (accept(".pragma")) return parse_pragma(module_.pragmas);
    if (accept(".loc")) return parse_loc();
    Linkage linkage = Linkage::kInternal;
    if (accept(".extern"))
        linkage = Linkage::kExtern;
    else if (accept(".visible"))
        linkage = Linkage::kVisible;
    else if (accept(".weak"))
        linkage = Linkage::kWeak;
    else if (accept(".common"))
        linkage = Linkage::kCommon;
    if (accept(".entry")) return parse_function(linkage, true);
    if (accept(".func")) return parse_function(linkage, false);
    const auto suffix = token().kind == Token::Kind::kDotWord ? find_suffix(token().text.substr(1)) : std::nullopt;
    if (suffix && (space_of(*suffix) != Space::kGeneric || type_of(*suffix) != Type::kNone)) return parse_module_variables(linkage);
    if (linkage != Linkage::kInternal) return fail_expected("a function or a variable");
    return fail(token(), "unknown directive '" + std::string(token().text) + "'");
}

bool Parser::parse_version() {
    const Token at = token();
    const size_t dot = at.text.find('.');
    const auto number = [](std::string_view digits, uint32_t& value) {
        value = 0;
        for (const char c : digits) {
            if (c < '0' || c > '9') return false;
            value = value * 10 + uint32_t(c - '0');
        }
        return !digits.empty() && digits.size() < 5;
    };
    if (at.kind != Token::Kind::kNumber || dot == std::string_view::npos || !number(at.text.substr(0, dot), module_.version.major) ||
        !number(at.text.substr(dot + 1), module_.version.minor) || module_.version.major == 0)
        return fail(at, "expected a version such as 9.0");
    advance();
    return true;
}

bool Parser::parse_target() {
    std::string target;
    do {
        Token name;
        if (!take_name(name, "a target such as sm_90")) return false;
        if (!target.empty()) target += ", ";
        target += name.text;
    } while (accept(','));
    if (module_.target.empty()) module_.target = std::move(target);
    return true;
}

bool Parser::parse_file() {
    const Token at = token();
    uint64_t index = 0, ignored = 0;
    std::string name;
    if (!parse_unsigned(index, UINT32_MAX, "a file index")) return false;
    if (index >= kFileLimit) return fail(at, "file indices go up to " + std::to_string(kFileLimit - 1));
    if (!take_string(name)) return false;
    if (token().kind == Token::Kind::kString) {  // LLVM: directory and name
        if (!token().text.starts_with('/'))
            name += '/';
        else
            name.clear();
        name += token().text;
        advance();
        if (accept("md5")) advance();
    }
    // Time stamp and size.
    while (accept(','))
        if (!parse_unsigned(ignored, UINT64_MAX, "a number")) return false;
    if (module_.files.size() <= index) module_.files.resize(index + 1);
    module_.files[index] = std::move(name);
    return true;
}

bool Parser::parse_section() {
    const Token name = token();
    if (name.kind != Token::Kind::kDotWord && name.kind != Token::Kind::kWord) return fail_expected("a section's name");
    advance();
    if (!token().is('{')) return fail_expected("'{'");
    advance();
    if (!lexer_.take_until('}')) return fail(name, "the section has no closing '}'");
    const char* const begin = name.text.data();
    module_.sections.emplace_back(begin, size_t(token().text.data() + token().text.size() - begin) + 1);
    advance();
    return expect('}');
}

bool Parser::parse_alias() {
    std::array<uint32_t, 2> functions{};
    for (uint32_t& index : functions) {
        if (&index == &functions[1] && !expect(',')) return false;
        Token name;
        if (!take_name(name, "a function")) return false;
        const auto symbol = symbols_.find(name.text);
        if (symbol == symbols_.end() || !symbol->second.function) return fail(name, "'" + std::string(name.text) + "' is not a function");
        index = symbol->second.index;
    }
    module_.functions[functions[0]].alias_of = functions[1];
    return expect(';');
}

bool Parser::parse_pragma(std::vector<std::string>& pragmas) {
    do {
        std::string text;
        if (!take_string(text)) return false;
        pragmas.push_back(std::move(text));
    } while (accept(','));
    return expect(';');
}

bool Parser::parse_dimensions3(std::array<uint32_t, 3>& dimensions, std::string_view what) {
    dimensions = {1, 1, 1};
    for (size_t i = 0; i < 3; ++i) {
        if (i > 0 && !accept(',')) return true;
        if (!parse_unsigned(dimensions[i], what)) return false;
    }
    return true;
}

bool Parser::parse_function_directives(Function& function) {
    for (;;) {
        uint32_t ignored = 0;
        std::vector<std::string> pragmas;
        if (accept(".maxntid")) {
            if (!parse_dimensions3(function.max_threads, "a block dimension")) return false;
        } else if (accept(".reqntid")) {
            if (!parse_dimensions3(function.required_threads, "a block dimension")) return false;
        } else if (accept(".reqnctapercluster")) {
            if (!parse_dimensions3(function.required_cluster, "a cluster dimension")) return false;
        } else if (accept(".minnctapersm")) {
            if (!parse_unsigned(function.min_blocks, "a number of blocks")) return false;
        } else if (accept(".maxnctapersm")) {
            if (!parse_unsigned(function.max_blocks, "a number of blocks")) return false;
        } else if (accept(".maxnreg")) {
            if (!parse_unsigned(function.max_registers, "a number of registers")) return false;
        } else if (accept(".maxclusterrank")) {
            if (!parse_unsigned(function.max_cluster_rank, "a cluster rank")) return false;
        } else if (accept(".explicitcluster")) {
            function.explicit_cluster = true;
        } else if (accept(".blocksareclusters")) {
            function.blocks_are_clusters = true;
        } else if (accept(".noreturn")) {
            function.noreturn = true;
        } else if (accept(".abi_preserve") || accept(".abi_preserve_control")) {  // registers that callees keep: nothing to us
            if (!parse_unsigned(ignored, "a number of registers")) return false;
        } else if (accept(".pragma")) {
            if (!parse_pragma(pragmas)) return false;
            for (std::string& text : pragmas) function.pragmas.push_back({std::move(text), 0});
        } else {
            return token().kind != Token::Kind::kDotWord || fail(token(), "unknown directive '" + std::string(token().text) + "'");
        }
    }
}

bool Parser::parse_function(Linkage linkage, bool entry) {
    Function function;
    function.linkage = linkage;
    function.entry = entry;
    Variable attributes;  // `.attribute(…)` of a function says nothing to us
    if (token().is(".attribute") && !parse_attributes(attributes)) return false;
    if (token().is('(') && !entry && !parse_parameters(function.returns)) return false;
    if (accept(".noreturn")) function.noreturn = true;
    Token name;
    if (!take_name(name, "a function's name")) return false;
    function.name = name.text;
    function.line = name.line;
    function.column = name.column;
    if (token().is('(') && !parse_parameters(function.parameters)) return false;
    if (!parse_function_directives(function)) return false;
    function.defined = token().is('{');
    if (!function.defined && !token().is(';')) return fail_expected("'{' or ';'");

    const auto [it, fresh] = symbols_.try_emplace(name.text, ModuleSymbol{true, uint32_t(module_.functions.size())});
    if (!it->second.function) return fail(name, "'" + function.name + "' is already a variable");
    if (fresh) module_.functions.emplace_back();
    const uint32_t index = it->second.index;
    if (!fresh && module_.functions[index].defined) {
        if (!function.defined) return expect(';');
        return fail(name, "function '" + function.name + "' is already defined on line " + std::to_string(module_.functions[index].line));
    }
    if (!function.defined) {
        if (fresh) module_.functions[index] = std::move(function);
        return expect(';');
    }
    module_.functions[index].name = function.name;  // calls of itself inside the body find it; the rest follows
    module_.functions[index].defined = true;
    module_.functions[index].line = function.line;
    parse_body(function);
    module_.functions[index] = std::move(function);
    return true;
}

}  // namespace lanescope::ptx
