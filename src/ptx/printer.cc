#include "ptx/printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>

#include "ptx/line_table.h"

namespace lanescope::ptx {
namespace {

std::string_view linkage_prefix(Linkage linkage) {
    switch (linkage) {
        case Linkage::kInternal:
            return "";
        case Linkage::kExtern:
            return ".extern ";
        case Linkage::kVisible:
            return ".visible ";
        case Linkage::kWeak:
            return ".weak ";
        case Linkage::kCommon:
            return ".common ";
    }
    return "";
}

/// Declarations call the register space `.reg` and have no generic one.
std::string_view declared_space(Space space) { return space == Space::kGeneric ? std::string_view("global") : to_string(space); }

class Printer {
public:
    explicit Printer(const Module& module) : module_(module) {}

    std::string print();
    void print_instruction(const Function& function, const Instruction& instruction);
    std::string take() { return std::move(out_); }

private:
    template <class... Args>
    void put(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    }

    void print_header();
    void print_function(const Function& function);
    void print_signature(const Function& function);
    void print_parameters(const std::vector<Variable>& parameters);
    void print_variable(const Variable& variable);
    void print_initializer(const Variable& variable);
    void print_registers(const Function& function);
    void print_own_declarations(const Function& function);
    void print_body(const Function& function);
    void print_location(uint32_t location);
    void print_operand(const Function& function, const Operand& operand);
    void print_elements(const Function& function, const Operand& operand);
    void print_offset(int64_t value);
    void find_names();

    const Module& module_;
    std::string out_;
    std::unordered_map<std::string, std::string> labels_;  ///< of function names in .debug_str
    std::string new_strings_;                              ///< what .debug_str lacks
    std::map<std::array<uint32_t, 3>, uint32_t> printed_;  ///< latest location printed in this function for each position
    uint32_t current_ = kNone;
};

void Printer::find_names() {
    for (const std::string& section : module_.sections) {
        // The section is text that begins with its name.
        if (!section.starts_with(".debug_str")) continue;
        const std::string text = ".section " + section;
        const DebugStrings strings(text);
        for (const auto& [label, offset] : strings.labels()) {
            std::string& known = labels_[strings.at(label, 0)];
            if (known.empty() || label < known) known = label;
        }
    }
    for (const Location& location : module_.locations) {
        if (location.function.empty()) continue;
        std::string& label = labels_[location.function];
        if (!label.empty()) continue;
        label = fmt::format("$L__lanescope_name{}", labels_.size());
        new_strings_ += label + ":\n.b8 ";
        for (const char c : location.function) new_strings_ += fmt::format("{},", static_cast<unsigned char>(c));
        new_strings_ += "0\n";
    }
}

std::string Printer::print() {
    find_names();
    print_header();
    for (const Function& function : module_.functions) {
        // Every function in order, so that definitions may name each other and indices stay what they are; entries come last.
        if (function.entry && function.defined) continue;
        print_signature(function);
        out_ += ";\n";
    }
    for (const Function& function : module_.functions)
        if (function.alias_of != kNone) put(".alias {}, {};\n", function.name, module_.functions[function.alias_of].name);
    for (const Variable& variable : module_.variables) {
        out_ += linkage_prefix(variable.linkage);
        print_variable(variable);
        print_initializer(variable);
        out_ += ";\n";
    }
    for (const Function& function : module_.functions)
        if (function.defined) print_function(function);
    for (size_t i = 0; i < module_.files.size(); ++i)
        if (!module_.files[i].empty()) put(".file {} \"{}\"\n", i, module_.files[i]);
    for (const std::string& section : module_.sections) put(".section {}\n", section);
    if (!new_strings_.empty()) put(".section .debug_str {{\n{}}}\n", new_strings_);
    return std::move(out_);
}

void Printer::print_header() {
    put(".version {}.{}\n", module_.version.major, module_.version.minor);
    if (!module_.target.empty()) put(".target {}\n", module_.target);
    put(".address_size {}\n", module_.address_bits);
    for (const std::string& pragma : module_.pragmas) put(".pragma \"{}\";\n", pragma);
}

void Printer::print_variable(const Variable& variable) {
    put(".{} ", declared_space(variable.space));
    if (variable.managed) out_ += ".attribute(.managed) ";
    if (variable.space != Space::kRegister) put(".align {} ", variable.alignment);
    if (variable.vector > 1) put(".v{} ", variable.vector);
    put(".{} ", to_string(variable.type));
    if (variable.pointer) {
        out_ += ".ptr ";
        if (variable.pointer_space != Space::kGeneric) put(".{} ", to_string(variable.pointer_space));
        if (variable.pointer_alignment != 0) put(".align {} ", variable.pointer_alignment);
    }
    out_ += variable.name;
    for (const uint64_t dimension : variable.dimensions) {
        if (dimension == 0)
            out_ += "[]";
        else
            put("[{}]", dimension);
    }
}

void Printer::print_initializer(const Variable& variable) {
    if (variable.initializer.empty()) return;
    const size_t bytes = std::max(1u, (bits(variable.type) + 7) / 8);
    const bool scalar = variable.dimensions.empty() && variable.vector == 1;
    out_ += scalar ? " = " : " = {";
    size_t relocation = 0;
    for (size_t offset = 0; offset < variable.initializer.size(); offset += bytes) {
        if (offset > 0) out_ += ", ";
        if (relocation < variable.relocations.size() && variable.relocations[relocation].offset == offset) {
            const Relocation& symbol = variable.relocations[relocation++];
            const bool masked = symbol.shift != 0 || symbol.bytes != bytes || bytes < 4;
            if (masked) put("0x{:x}(", (symbol.bytes == 8 ? ~uint64_t(0) : (uint64_t(1) << 8 * symbol.bytes) - 1) << symbol.shift);
            const std::string& name = symbol.function ? module_.functions[symbol.index].name : module_.variables[symbol.index].name;
            put("{}{}{}", symbol.generic ? "generic(" : "", name, symbol.generic ? ")" : "");
            print_offset(symbol.addend);
            if (masked) out_ += ')';
            continue;
        }
        uint64_t value = 0;
        for (size_t i = 0; i < std::min<size_t>(bytes, 8); ++i) value |= uint64_t(variable.initializer[offset + i]) << 8 * i;
        if (variable.type == Type::kF32)
            put("0f{:08X}", value);
        else if (variable.type == Type::kF64)
            put("0d{:016X}", value);
        else
            put("{}", value);
    }
    if (!scalar) out_ += '}';
}

void Printer::print_parameters(const std::vector<Variable>& parameters) {
    out_ += '(';
    for (const Variable& parameter : parameters) {
        if (&parameter != &parameters.front()) out_ += ", ";
        print_variable(parameter);
    }
    out_ += ')';
}

void Printer::print_signature(const Function& function) {
    out_ += linkage_prefix(function.linkage);
    out_ += function.entry ? ".entry " : ".func ";
    if (!function.returns.empty()) {
        print_parameters(function.returns);
        out_ += ' ';
    }
    out_ += function.name;
    print_parameters(function.parameters);
    if (function.noreturn) out_ += " .noreturn";
    const auto dimensions = [&](std::string_view directive, const std::array<uint32_t, 3>& d) {
        if (d != std::array<uint32_t, 3>{}) put(" .{} {}, {}, {}", directive, d[0], d[1], d[2]);
    };
    const auto number = [&](std::string_view directive, uint32_t value) {
        if (value != 0) put(" .{} {}", directive, value);
    };
    dimensions("maxntid", function.max_threads);
    dimensions("reqntid", function.required_threads);
    number("minnctapersm", function.min_blocks);
    number("maxnctapersm", function.max_blocks);
    number("maxnreg", function.max_registers);
    if (function.explicit_cluster) out_ += " .explicitcluster";
    dimensions("reqnctapercluster", function.required_cluster);
    number("maxclusterrank", function.max_cluster_rank);
    if (function.blocks_are_clusters) out_ += " .blocksareclusters";
}

void Printer::print_registers(const Function& function) {
    // Registers take their indices from first use, so their declarations may stand in any order: `prefix<N>` where all names with a
    // prefix are of one type, else one by one.
    struct Family {
        const Register* first = nullptr;
        uint64_t count = 0;
        bool uniform = true;
    };
    std::map<std::string_view, Family> families;
    const auto split = [](std::string_view name) {
        size_t digits = 0;
        while (digits + 1 < name.size() && digits < 9 && name[name.size() - 1 - digits] >= '0' && name[name.size() - 1 - digits] <= '9')
            ++digits;
        while (digits > 1 && name[name.size() - digits] == '0') --digits;
        return name.size() - digits;
    };
    std::vector<bool> declared(function.registers.size());
    for (const auto* header : {&function.returns, &function.parameters}) {
        const auto& symbols = header == &function.returns ? function.return_symbols : function.parameter_symbols;
        for (size_t i = 0; i < header->size(); ++i)
            if ((*header)[i].space == Space::kRegister) declared[symbols[i]] = true;
    }
    for (size_t i = 0; i < function.registers.size(); ++i) {
        const std::string_view name = function.registers[i].name;
        const size_t length = split(name);
        Family& family = families[name.substr(0, length)];
        if (family.first == nullptr) family.first = &function.registers[i];
        const bool numbered = length < name.size();
        family.uniform &= numbered && !declared[i] && family.first->type == function.registers[i].type &&
                          family.first->vector == function.registers[i].vector;
        if (numbered) family.count = std::max<uint64_t>(family.count, std::stoull(std::string(name.substr(length))) + 1);
    }
    const auto attributes = [&](const Register& reg) {
        out_ += "\t.reg ";
        if (reg.vector > 1) put(".v{} ", reg.vector);
        put(".{} ", to_string(reg.type));
    };
    for (const auto& [prefix, family] : families) {
        if (!family.uniform) continue;
        attributes(*family.first);
        put("{}<{}>;\n", prefix, family.count);
    }
    for (size_t i = 0; i < function.registers.size(); ++i) {
        const Register& reg = function.registers[i];
        if (declared[i] || families[std::string_view(reg.name).substr(0, split(reg.name))].uniform) continue;
        attributes(reg);
        put("{};\n", reg.name);
    }
}

void Printer::print_own_declarations(const Function& function) {
    print_registers(function);
    std::vector<bool> declared(function.variables.size());
    for (const auto* header : {&function.returns, &function.parameters}) {
        const auto& symbols = header == &function.returns ? function.return_symbols : function.parameter_symbols;
        for (size_t i = 0; i < header->size(); ++i)
            if ((*header)[i].space != Space::kRegister) declared[symbols[i]] = true;
    }
    for (size_t i = 0; i < function.variables.size(); ++i) {
        if (declared[i]) continue;
        put("\t{}", linkage_prefix(function.variables[i].linkage));
        print_variable(function.variables[i]);
        print_initializer(function.variables[i]);
        out_ += ";\n";
    }
    for (const Prototype& prototype : function.prototypes) {
        put("{}: .callprototype ", prototype.name);
        print_parameters(prototype.returns);
        out_ += " _ ";
        print_parameters(prototype.parameters);
        out_ += prototype.noreturn ? " .noreturn;\n" : ";\n";
    }
    for (const Table& table : function.tables) {
        put("{}: .{} ", table.name, table.functions ? "calltargets" : "branchtargets");
        for (size_t i = 0; i < table.targets.size(); ++i) {
            if (i > 0) out_ += ", ";
            out_ += table.functions ? module_.functions[table.targets[i]].name : function.labels[table.targets[i]].name;
        }
        out_ += ";\n";
    }
}

void Printer::print_location(uint32_t location) {
    // The reader takes the latest `.loc` at the outer position for the outer frame: where that is another, the right one is printed first.
    std::vector<uint32_t> chain = {location};
    for (uint32_t outer = module_.locations[location].inlined_at; outer != kNone; outer = module_.locations[outer].inlined_at) {
        const Location& frame = module_.locations[outer];
        const auto known = printed_.find({frame.file, frame.line, frame.column});
        if (known != printed_.end() && known->second == outer) break;
        chain.push_back(outer);
    }
    for (; !chain.empty(); chain.pop_back()) {
        const Location& at = module_.locations[chain.back()];
        put("\t.loc {} {} {}", at.file, at.line, at.column);
        if (!at.function.empty()) put(", function_name {}", labels_[at.function]);
        if (at.inlined_at != kNone) {
            const Location& outer = module_.locations[at.inlined_at];
            put(", inlined_at {} {} {}", outer.file, outer.line, outer.column);
        }
        out_ += '\n';
        printed_[{at.file, at.line, at.column}] = chain.back();
    }
}

void Printer::print_function(const Function& function) {
    print_signature(function);
    out_ += "\n{\n";
    printed_.clear();
    current_ = function.location;
    if (current_ != kNone) print_location(current_);
    print_own_declarations(function);
    print_body(function);
    out_ += "}\n";
}

void Printer::print_body(const Function& function) {
    size_t label = 0, pragma = 0;
    for (size_t i = 0; i <= function.body.size(); ++i) {
        for (; label < function.labels.size() && function.labels[label].position == i; ++label) put("{}:\n", function.labels[label].name);
        for (; pragma < function.pragmas.size() && function.pragmas[pragma].position == i; ++pragma)
            put("\t.pragma \"{}\";\n", function.pragmas[pragma].text);
        if (i == function.body.size()) break;
        const Instruction& instruction = function.body[i];
        if (instruction.location != current_ && instruction.location != kNone) {
            print_location(instruction.location);
            current_ = instruction.location;
        }
        out_ += '\t';
        print_instruction(function, instruction);
        out_ += ";\n";
    }
}

void Printer::print_instruction(const Function& function, const Instruction& instruction) {
    if (instruction.guard.predicate != kNone)
        put("@{}{} ", instruction.guard.negated ? "!" : "", function.registers[instruction.guard.predicate].name);
    out_ += to_string(instruction.opcode);
    for (const Suffix suffix : instruction.suffixes)
        if (suffix != Suffix::kUnified) put(".{}", to_string(suffix));
    bool first = true, unified = instruction.has(Suffix::kUnified);
    for (const Operand& operand : instruction.operands) {
        if (operand.kind == Operand::Kind::kList && operand.elements.empty()) continue;
        out_ += first ? " " : ", ";
        first = false;
        print_operand(function, operand);
        if (unified && operand.kind == Operand::Kind::kAddress) {
            out_ += ".unified";
            unified = false;
        }
    }
}

void Printer::print_offset(int64_t value) {
    if (value > 0) put("+{}", value);
    if (value < 0) put("+{}", value);
}

void Printer::print_elements(const Function& function, const Operand& operand) {
    for (size_t i = 0; i < operand.elements.size(); ++i) {
        if (i > 0) out_ += ", ";
        print_operand(function, operand.elements[i]);
    }
}

void Printer::print_operand(const Function& function, const Operand& operand) {
    if (operand.negated) out_ += function.registers[operand.index].type == Type::kPred ? '!' : '-';
    switch (operand.kind) {
        case Operand::Kind::kRegister:
            out_ += function.registers[operand.index].name;
            if (operand.component != 0) put(".{}", component_name(operand.component));
            return;
        case Operand::Kind::kImmediate:
            switch (operand.immediate_type) {
                case Type::kF32:
                    put("0f{:08X}", uint32_t(operand.value));
                    return;
                case Type::kF64:
                    put("0d{:016X}", uint64_t(operand.value));
                    return;
                case Type::kU64:
                    put("{}U", uint64_t(operand.value));
                    return;
                default:
                    put("{}", operand.value);
                    return;
            }
        case Operand::Kind::kVariable:
            out_ += operand.local_symbol ? function.variables[operand.index].name : module_.variables[operand.index].name;
            return print_offset(operand.value);
        case Operand::Kind::kFunction:
            out_ += module_.functions[operand.index].name;
            return;
        case Operand::Kind::kSpecial:
            out_ += to_string(SpecialRegister(operand.index));
            return;
        case Operand::Kind::kLabel:
            out_ += function.labels[operand.index].name;
            return;
        case Operand::Kind::kTable:
            out_ += operand.local_symbol ? function.prototypes[operand.index].name : function.tables[operand.index].name;
            return;
        case Operand::Kind::kSink:
            out_ += '_';
            return;
        case Operand::Kind::kPair:
            print_operand(function, operand.elements[0]);
            out_ += '|';
            print_operand(function, operand.elements[1]);
            return;
        case Operand::Kind::kAddress:
            out_ += '[';
            print_operand(function, operand.elements[0]);
            print_offset(operand.value);
            for (size_t i = 1; i < operand.elements.size(); ++i) {
                out_ += ", ";
                print_operand(function, operand.elements[i]);
            }
            out_ += ']';
            return;
        case Operand::Kind::kVector:
        case Operand::Kind::kList:
            out_ += operand.kind == Operand::Kind::kVector ? '{' : '(';
            print_elements(function, operand);
            out_ += operand.kind == Operand::Kind::kVector ? '}' : ')';
            return;
    }
}

}  // namespace

std::string print(const Module& module) { return Printer(module).print(); }

std::string print(const Module& module, const Function& function, const Instruction& instruction) {
    Printer printer(module);
    printer.print_instruction(function, instruction);
    return printer.take();
}

}  // namespace lanescope::ptx
