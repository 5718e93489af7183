// Variables, parameters and initialisers.
#include <algorithm>
#include <bit>

#include "ptx/parser_impl.h"

namespace lanescope::ptx {
namespace {

constexpr uint64_t kVariableLimit = uint64_t(1) << 42;     ///< bytes; more than any device has
constexpr uint64_t kInitializedLimit = uint64_t(1) << 30;  ///< bytes that an initialiser may reach
constexpr size_t kDimensionLimit = 16;

uint64_t element_bytes(Type type) { return std::max(1u, (bits(type) + 7) / 8); }

/// The extents that an initialiser's braces follow: the dimensions, then the vector.
std::vector<uint64_t> extents(const Variable& variable) {
    std::vector<uint64_t> all = variable.dimensions;
    if (variable.vector > 1) all.push_back(variable.vector);
    return all;
}

/// Elements in one item of dimension `dimension`.
uint64_t stride(const std::vector<uint64_t>& extents, size_t dimension) {
    uint64_t elements = 1;
    for (size_t i = dimension + 1; i < extents.size(); ++i) elements *= extents[i];
    return elements;
}

}  // namespace

bool Parser::parse_attributes(Variable& variable) {
    while (token().kind == Token::Kind::kDotWord) {
        const Token word = token();
        advance();
        if (word.is(".align")) {
            const Token at = token();
            Constant alignment;
            if (at.kind != Token::Kind::kNumber) return fail_expected("an alignment");
            if (!parse_number(alignment)) return false;
            if (alignment.type != Type::kS64 || !std::has_single_bit(alignment.bits) || alignment.bits > (1u << 30))
                return fail(at, "an alignment must be a power of two");
            (variable.pointer ? variable.pointer_alignment : variable.alignment) = uint32_t(alignment.bits);
        } else if (word.is(".ptr")) {
            variable.pointer = true;
        } else if (word.is(".attribute")) {
            if (!expect('(')) return false;
            do {
                if (accept(".managed")) {
                    variable.managed = true;
                } else if (accept(".unified")) {  // two halves of an identifier for separate host compilers: of no effect here
                    uint64_t half = 0;
                    if (!expect('(') || !parse_unsigned(half, UINT64_MAX, "an identifier") || !expect(',') ||
                        !parse_unsigned(half, UINT64_MAX, "an identifier") || !expect(')'))
                        return false;
                } else {
                    return fail_expected("an attribute");
                }
            } while (accept(','));
            if (!expect(')')) return false;
        } else if (word.is(".v2") || word.is(".v4") || word.is(".v8")) {
            variable.vector = uint8_t(word.text[2] - '0');
        } else {
            const auto suffix = find_suffix(word.text.substr(1));
            const Type type = suffix ? type_of(*suffix) : Type::kNone;
            const Space space = suffix ? space_of(*suffix) : Space::kGeneric;
            if (type != Type::kNone)
                variable.type = type;
            else if (space != Space::kGeneric)
                (variable.pointer ? variable.pointer_space : variable.space) = space;
            else
                return fail(word, "unknown type '" + std::string(word.text) + "'");
        }
    }
    return true;
}

bool Parser::parse_dimensions(Variable& variable) {
    while (token().is('[')) {
        const Token open = token();
        advance();
        if (variable.dimensions.size() == kDimensionLimit) return fail(open, "too many dimensions");
        uint64_t extent = 0;
        if (!token().is(']') && !parse_unsigned(extent, kVariableLimit, "a dimension")) return false;
        if (!expect(']')) return false;
        variable.dimensions.push_back(extent);
        uint64_t bytes = element_bytes(variable.type) * variable.vector;
        for (const uint64_t dimension : variable.dimensions) {
            if (dimension != 0 && bytes > kVariableLimit / dimension) return fail(open, "the variable is larger than any memory");
            bytes *= std::max<uint64_t>(dimension, 1);
        }
    }
    return true;
}

bool Parser::parse_variable_name(Variable& variable, Token& name) {
    if (variable.type == Type::kNone) return fail(token(), "a type is missing before the name");
    if (!take_name(name, "a name") || !parse_dimensions(variable)) return false;
    variable.name = name.text;
    variable.line = name.line;
    variable.column = name.column;
    if (variable.alignment == 0) variable.alignment = uint32_t(element_bytes(variable.type) * variable.vector);
    return true;
}

bool Parser::parse_parameters(std::vector<Variable>& parameters) {
    if (!expect('(')) return false;
    if (accept(')')) return true;
    do {
        Variable parameter;
        Token name;
        const Token first = token();
        if (!parse_attributes(parameter)) return false;
        if (parameter.space != Space::kParam && parameter.space != Space::kRegister)
            return fail(first, "expected a '.param' or '.reg' declaration");
        if (!parse_variable_name(parameter, name)) return false;
        parameters.push_back(std::move(parameter));
    } while (accept(','));
    return expect(')');
}

bool Parser::parse_initializer_symbol(Variable& variable, uint64_t offset) {
    Relocation relocation;
    relocation.offset = offset;
    relocation.bytes = uint8_t(element_bytes(variable.type));
    bool masked = false;
    if (token().kind == Token::Kind::kNumber) {
        const Token at = token();
        Constant mask;
        if (!parse_number(mask) || !expect('(')) return false;
        const unsigned low = mask.bits == 0 ? 0 : unsigned(std::countr_zero(mask.bits));
        const unsigned ones = unsigned(std::popcount(mask.bits));
        if (low % 8 != 0 || ones % 8 != 0 || ones == 0 || (ones < 64 && mask.bits >> low != (uint64_t(1) << ones) - 1))
            return fail(at, "a mask must select whole neighbouring bytes");
        if (ones / 8 > relocation.bytes) return fail(at, "the mask selects more bytes than the element has");
        relocation.bytes = uint8_t(ones / 8);
        relocation.shift = uint8_t(low);
        masked = true;
    }
    const auto parse_addend = [&] {
        int64_t addend = 0;
        if (!parse_offset(addend)) return false;
        relocation.addend = int64_t(uint64_t(relocation.addend) + uint64_t(addend));
        return true;
    };
    Token name;
    if (!take_name(name, "a symbol")) return false;
    if (name.is("generic") && token().is('(')) {
        advance();
        relocation.generic = true;
        if (!take_name(name, "a symbol") || !parse_addend() || !expect(')')) return false;
    }
    if (!parse_addend() || (masked && !expect(')'))) return false;
    const auto symbol = symbols_.find(name.text);
    if (symbol == symbols_.end()) return fail(name, "unknown symbol '" + std::string(name.text) + "'");
    relocation.function = symbol->second.function;
    relocation.index = symbol->second.index;
    variable.relocations.push_back(relocation);
    return true;
}

bool Parser::parse_initializer_element(Variable& variable, uint64_t element) {
    const uint64_t bytes = element_bytes(variable.type), offset = element * bytes;
    const Token first = token();
    if (offset + bytes > kInitializedLimit) return fail(first, "the initialiser reaches too far");
    if (variable.initializer.size() < offset + bytes) variable.initializer.resize(offset + bytes);
    if ((first.kind == Token::Kind::kWord && !first.is("WARP_SZ")) || (first.kind == Token::Kind::kNumber && lexer_.adjacent() == '('))
        return parse_initializer_symbol(variable, offset);
    Constant value;
    if (!parse_constant(value)) return false;
    const bool floating = value.type == Type::kF32 || value.type == Type::kF64;
    const auto as_double = [&] {
        if (value.type == Type::kF64) return std::bit_cast<double>(value.bits);
        if (value.type == Type::kF32) return double(std::bit_cast<float>(uint32_t(value.bits)));
        return value.type == Type::kU64 ? double(value.bits) : double(int64_t(value.bits));
    };
    uint64_t raw = value.bits;
    if (variable.type == Type::kF32 && value.type != Type::kF32)
        raw = std::bit_cast<uint32_t>(float(as_double()));
    else if (variable.type == Type::kF64 && value.type != Type::kF64)
        raw = std::bit_cast<uint64_t>(as_double());
    else if (floating && bytes != (value.type == Type::kF32 ? 4 : 8))
        return fail(first, "a floating-point number cannot initialise type '." + std::string(to_string(variable.type)) + "'");
    for (uint64_t i = 0; i < std::min<uint64_t>(bytes, 8); ++i) variable.initializer[offset + i] = uint8_t(raw >> 8 * i);
    return true;
}

bool Parser::parse_initializer_level(Variable& variable, uint64_t first, size_t dimension, uint64_t& end) {
    const std::vector<uint64_t> shape = extents(variable);
    const uint64_t item = stride(shape, dimension);
    const bool unbounded = dimension == 0 && shape[0] == 0;
    end = first;
    if (!expect('{')) return false;
    ++open_braces_;
    if (!token().is('}')) do {
            const Token at = token();
            if (!unbounded && end >= first + shape[dimension] * item) return fail(at, "more values than the variable has room for");
            if (token().is('{')) {
                if (dimension + 1 >= shape.size()) return fail(at, "braces deeper than the variable's dimensions");
                const uint64_t start = first + (end - first + item - 1) / std::max<uint64_t>(item, 1) * item;
                uint64_t used = 0;
                if (!parse_initializer_level(variable, start, dimension + 1, used)) return false;
                end = start + item;
            } else if (!parse_initializer_element(variable, end++)) {
                return false;
            }
        } while (accept(','));
    if (!expect('}')) return false;
    --open_braces_;
    return true;
}

bool Parser::parse_initializer(Variable& variable) {
    if (!token().is('{')) return parse_initializer_element(variable, 0);
    if (extents(variable).empty()) return fail(token(), "a scalar has one value, without braces");
    uint64_t end = 0;
    if (!parse_initializer_level(variable, 0, 0, end)) return false;
    if (!variable.dimensions.empty() && variable.dimensions[0] == 0) {
        const uint64_t item = std::max<uint64_t>(stride(extents(variable), 0), 1);
        variable.dimensions[0] = (end + item - 1) / item;
    }
    return true;
}

bool Parser::declare_module_variable(Variable variable, const Token& name) {
    const auto [it, fresh] = symbols_.try_emplace(name.text, ModuleSymbol{false, uint32_t(module_.variables.size())});
    if (fresh) {
        module_.variables.push_back(std::move(variable));
        return true;
    }
    if (it->second.function) return fail(name, "'" + std::string(name.text) + "' is already a function");
    Variable& known = module_.variables[it->second.index];
    if (variable.linkage == Linkage::kExtern) return true;
    if (known.linkage != Linkage::kExtern)
        return fail(name, "variable '" + std::string(name.text) + "' is already defined on line " + std::to_string(known.line));
    known = std::move(variable);
    return true;
}

bool Parser::parse_module_variables(Linkage linkage) {
    Variable attributes;
    attributes.linkage = linkage;
    if (!parse_attributes(attributes)) return false;
    do {
        Variable variable = attributes;
        Token name;
        if (!parse_variable_name(variable, name) || !declare_module_variable(std::move(variable), name)) return false;
        if (!accept('=')) continue;
        // The variable may hold its own address, so it is declared before its value is read.
        if (!parse_initializer(module_.variables[symbols_.at(name.text).index])) return false;
    } while (accept(','));
    return expect(';');
}

}  // namespace lanescope::ptx
