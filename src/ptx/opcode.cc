#include "ptx/opcode.h"

#include <string>
#include <unordered_map>

#include "ptx/module.h"

namespace lanescope::ptx {
namespace {

struct OpcodeRow {
    std::string_view mnemonic;
    OpcodeClass opcode_class;
    uint8_t destinations;
};
constexpr OpcodeRow kOpcodeRows[] = {
#define LANESCOPE_OPCODE(enumerator, mnemonic, opcode_class, destinations) {mnemonic, OpcodeClass::opcode_class, destinations},
#include "ptx/opcodes.def"
#undef LANESCOPE_OPCODE
};

struct SuffixRow {
    std::string_view text;
    Type type;
    Space space;
};
constexpr SuffixRow kSuffixRows[] = {
#define LANESCOPE_SUFFIX(enumerator, text, type, space) {text, Type::type, Space::space},
#include "ptx/suffixes.def"
#undef LANESCOPE_SUFFIX
};

struct SpecialRow {
    std::string_view name;
    Type type;
    uint8_t vector;
};
constexpr SpecialRow kSpecialRows[] = {
#define LANESCOPE_SPECIAL_REGISTER(enumerator, name, type, vector) {name, Type::type, vector},
#include "ptx/special_registers.def"
#undef LANESCOPE_SPECIAL_REGISTER
};

template <class Enum, class Rows, class Text>
std::unordered_map<std::string_view, Enum> index_by_text(const Rows& rows, Text text) {
    std::unordered_map<std::string_view, Enum> index;
    for (size_t i = 0; i < std::size(rows); ++i) index.emplace(text(rows[i]), Enum(i));
    return index;
}

template <class Enum>
std::optional<Enum> find(const std::unordered_map<std::string_view, Enum>& index, std::string_view text) {
    const auto it = index.find(text);
    return it == index.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace

std::string_view to_string(Opcode opcode) { return kOpcodeRows[size_t(opcode)].mnemonic; }
std::string_view to_string(Suffix suffix) { return kSuffixRows[size_t(suffix)].text; }
std::string_view to_string(SpecialRegister reg) { return kSpecialRows[size_t(reg)].name; }
OpcodeClass class_of(Opcode opcode) { return kOpcodeRows[size_t(opcode)].opcode_class; }
unsigned destinations_of(Opcode opcode) { return kOpcodeRows[size_t(opcode)].destinations; }
Type type_of(Suffix suffix) { return kSuffixRows[size_t(suffix)].type; }
Space space_of(Suffix suffix) { return kSuffixRows[size_t(suffix)].space; }
Type type_of(SpecialRegister reg) { return kSpecialRows[size_t(reg)].type; }
unsigned vector_of(SpecialRegister reg) { return kSpecialRows[size_t(reg)].vector; }

std::optional<OpcodeMatch> find_opcode(std::string_view text) {
    static const auto index = index_by_text<Opcode>(kOpcodeRows, [](const OpcodeRow& row) { return row.mnemonic; });
    for (size_t length = text.size(); length != 0 && length != std::string_view::npos; length = text.rfind('.', length - 1))
        if (const auto opcode = find(index, text.substr(0, length))) return OpcodeMatch{*opcode, length};
    return std::nullopt;
}

std::optional<Suffix> find_suffix(std::string_view text) {
    static const auto index = index_by_text<Suffix>(kSuffixRows, [](const SuffixRow& row) { return row.text; });
    return find(index, text);
}

std::optional<SpecialRegister> find_special_register(std::string_view name) {
    static const auto index = index_by_text<SpecialRegister>(kSpecialRows, [](const SpecialRow& row) { return row.name; });
    return find(index, name);
}

}  // namespace lanescope::ptx
