#include "ptx/link.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ptx/canonical.h"

namespace lanescope::ptx {
namespace {

/// How much a declaration defines its symbol; the strongest wins.
enum class Strength : uint8_t { kDeclared, kCommon, kWeak, kDefined };

Strength strength(Linkage linkage, bool defined) {
    if (!defined || linkage == Linkage::kExtern) return Strength::kDeclared;
    if (linkage == Linkage::kCommon) return Strength::kCommon;
    return linkage == Linkage::kWeak ? Strength::kWeak : Strength::kDefined;
}
Strength strength(const Function& function) { return strength(function.linkage, function.defined || function.alias_of != kNone); }
Strength strength(const Variable& variable) { return strength(variable.linkage, true); }

/// A symbol of one of the modules.
struct Origin {
    uint32_t module = 0, index = 0;
};

/// One kind of symbol of the linked module, and where each module's symbols of that kind went.
template <class Thing>
struct Symbols {
    std::vector<Origin> chosen;                         ///< by index in the linked module
    std::unordered_map<std::string, uint32_t> by_name;  ///< those with linkage
    std::vector<std::vector<uint32_t>> renumbered;      ///< [module][index]
};

class Linker {
public:
    explicit Linker(std::vector<Module> modules) : modules_(std::move(modules)) {}
    base::Result<Module> run();

private:
    template <class Thing>
    void collect(Symbols<Thing>& symbols, std::vector<Thing> Module::*things);
    template <class Thing>
    void merge(Symbols<Thing>& symbols, std::vector<Thing> Module::*things, uint32_t known, Origin incoming);
    bool same_shape(const Variable& declared, const Variable& defined) const;
    bool same_shape(const Function& declared, const Function& defined) const;
    template <class Thing>
    base::Place place(const Thing& thing, uint32_t module) const {
        return {modules_[module].name, thing.line, thing.column};
    }
    void report(std::string message, base::Place at, std::string note, base::Place other);
    void renumber(Function& function, uint32_t module);
    void name_internals();
    void check_uses();

    std::vector<Module> modules_;
    Module linked_;
    Symbols<Function> functions_;
    Symbols<Variable> variables_;
    base::Diagnostics errors_;
};

void Linker::report(std::string message, base::Place at, std::string note, base::Place other) {
    errors_.push_back(base::error(std::move(message), std::move(at)));
    errors_.push_back({base::Severity::kNote, std::move(other), std::move(note), {}});
}

bool Linker::same_shape(const Variable& declared, const Variable& defined) const {
    return declared.space == defined.space && (declared.bytes() == defined.bytes() || declared.bytes() == 0 || defined.bytes() == 0);
}

bool Linker::same_shape(const Function& declared, const Function& defined) const {
    const auto same = [](const std::vector<Variable>& a, const std::vector<Variable>& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                          [](const Variable& x, const Variable& y) { return x.bytes() == y.bytes() || x.bytes() == 0 || y.bytes() == 0; });
    };
    return declared.entry == defined.entry && same(declared.returns, defined.returns) && same(declared.parameters, defined.parameters);
}

template <class Thing>
void Linker::merge(Symbols<Thing>& symbols, std::vector<Thing> Module::*things, uint32_t known, Origin incoming) {
    Origin& chosen = symbols.chosen[known];
    const Thing& first = (modules_[chosen.module].*things)[chosen.index];
    const Thing& second = (modules_[incoming.module].*things)[incoming.index];
    const Strength a = strength(first), b = strength(second);
    if (a == Strength::kDefined && b == Strength::kDefined)
        return report("'" + second.name + "' is defined twice", place(second, incoming.module), "first defined here",
                      place(first, chosen.module));
    if (!same_shape(first, second) && !(a == Strength::kCommon && b == Strength::kCommon))
        return report("'" + second.name + "' differs from its other declaration", place(second, incoming.module), "declared here",
                      place(first, chosen.module));
    bool better = b > a;
    if constexpr (std::is_same_v<Thing, Variable>) better |= b == a && b <= Strength::kCommon && second.bytes() > first.bytes();
    if (better) chosen = incoming;
}

template <class Thing>
void Linker::collect(Symbols<Thing>& symbols, std::vector<Thing> Module::*things) {
    symbols.renumbered.resize(modules_.size());
    for (uint32_t m = 0; m < modules_.size(); ++m) {
        const std::vector<Thing>& own = modules_[m].*things;
        for (uint32_t i = 0; i < own.size(); ++i) {
            const bool internal = own[i].linkage == Linkage::kInternal && strength(own[i]) == Strength::kDefined;
            const auto fresh = uint32_t(symbols.chosen.size());
            uint32_t index = fresh;
            if (!internal) {
                const auto [it, is_new] = symbols.by_name.try_emplace(own[i].name, fresh);
                index = it->second;
                if (!is_new) merge(symbols, things, index, {m, i});
            }
            if (index == fresh) symbols.chosen.push_back({m, i});
            symbols.renumbered[m].push_back(index);
        }
    }
}

void Linker::renumber(Function& function, uint32_t module) {
    const std::vector<uint32_t>& functions = functions_.renumbered[module];
    const std::vector<uint32_t>& variables = variables_.renumbered[module];
    if (function.alias_of != kNone) function.alias_of = functions[function.alias_of];
    for (Table& table : function.tables)
        if (table.functions)
            for (uint32_t& target : table.targets) target = functions[target];
    for (Variable& variable : function.variables)
        for (Relocation& relocation : variable.relocations)
            relocation.index = (relocation.function ? functions : variables)[relocation.index];
    for (Instruction& instruction : function.body)
        for_each_operand(instruction.operands, [&](Operand& operand) {
            if (operand.kind == Operand::Kind::kFunction) operand.index = functions[operand.index];
            if (operand.kind == Operand::Kind::kVariable && !operand.local_symbol) operand.index = variables[operand.index];
        });
}

void Linker::name_internals() {
    std::unordered_set<std::string> taken;
    const auto with_linkage = [&](auto& symbols, auto& things, auto visit) {
        for (size_t i = 0; i < things.size(); ++i) {
            const auto it = symbols.by_name.find(things[i].name);
            visit(things[i], it != symbols.by_name.end() && it->second == i);
        }
    };
    const auto take = [&](auto& thing, bool linkage) {
        if (linkage) taken.insert(thing.name);
    };
    const auto rename = [&](auto& thing, bool linkage) {
        if (linkage || taken.insert(thing.name).second) return;
        for (unsigned i = 1;; ++i) {
            std::string name = thing.name + '_' + std::to_string(i);
            if (!taken.insert(name).second) continue;
            thing.name = std::move(name);
            return;
        }
    };
    with_linkage(functions_, linked_.functions, take);
    with_linkage(variables_, linked_.variables, take);
    with_linkage(functions_, linked_.functions, rename);
    with_linkage(variables_, linked_.variables, rename);
}

void Linker::check_uses() {
    std::unordered_set<const void*> reported;
    const auto check = [&](bool function, uint32_t index, uint32_t user_module, base::Place use) {
        std::string name;
        base::Place declared;
        const void* thing = nullptr;
        if (function) {
            const Function& target = linked_.functions[index];
            if (strength(target) != Strength::kDeclared || is_runtime_function(target.name)) return;
            thing = &target, name = target.name, declared = place(target, functions_.chosen[index].module);
        } else {
            const Variable& target = linked_.variables[index];
            if (strength(target) != Strength::kDeclared || target.space == Space::kShared) return;
            thing = &target, name = target.name, declared = place(target, variables_.chosen[index].module);
        }
        if (!reported.insert(thing).second) return;
        use.file = modules_[user_module].name;
        report("'" + name + "' is used but defined nowhere", std::move(use), "declared here", std::move(declared));
    };
    const auto check_relocations = [&](const Variable& variable, uint32_t module) {
        for (const Relocation& relocation : variable.relocations)
            check(relocation.function, relocation.index, module, {{}, variable.line, variable.column});
    };
    for (size_t i = 0; i < linked_.variables.size(); ++i) check_relocations(linked_.variables[i], variables_.chosen[i].module);
    for (size_t i = 0; i < linked_.functions.size(); ++i) {
        const uint32_t module = functions_.chosen[i].module;
        for (const Variable& variable : linked_.functions[i].variables) check_relocations(variable, module);
        for (Instruction& instruction : linked_.functions[i].body)
            for_each_operand(instruction.operands, [&](const Operand& operand) {
                const bool function = operand.kind == Operand::Kind::kFunction;
                if (function || (operand.kind == Operand::Kind::kVariable && !operand.local_symbol))
                    check(function, operand.index, module, {{}, instruction.line, instruction.column});
            });
    }
}

base::Result<Module> Linker::run() {
    collect(functions_, &Module::functions);
    collect(variables_, &Module::variables);
    for (const auto& [name, index] : variables_.by_name) {
        const auto function = functions_.by_name.find(name);
        if (function == functions_.by_name.end()) continue;
        const Origin f = functions_.chosen[function->second], v = variables_.chosen[index];
        report("'" + name + "' is a variable and a function", place(modules_[v.module].variables[v.index], v.module), "the function",
               place(modules_[f.module].functions[f.index], f.module));
    }
    if (!errors_.empty()) return std::move(errors_);

    std::unordered_map<std::string, uint32_t> files;
    linked_.files.resize(1);  // `.file` counts from 1
    std::vector<uint32_t> first_location(modules_.size());
    for (uint32_t m = 0; m < modules_.size(); ++m) {
        Module& module = modules_[m];
        std::vector<uint32_t> file_index;
        for (const std::string& file : module.files) {
            const auto [it, fresh] = files.try_emplace(file, uint32_t(linked_.files.size()));
            if (fresh) linked_.files.push_back(file);
            file_index.push_back(it->second);
        }
        first_location[m] = uint32_t(linked_.locations.size());
        for (Location location : module.locations) {
            if (location.file < file_index.size()) location.file = file_index[location.file];
            if (location.inlined_at != kNone) location.inlined_at += first_location[m];
            linked_.locations.push_back(std::move(location));
        }
        linked_.version = std::max(linked_.version, module.version, [](const Version& a, const Version& b) {
            return std::pair(a.major, a.minor) < std::pair(b.major, b.minor);
        });
        for (std::string& pragma : module.pragmas) linked_.pragmas.push_back(std::move(pragma));
        if (module.address_bits != modules_[0].address_bits)
            report("addresses have " + std::to_string(module.address_bits) + " bits", {module.name, 0, 0},
                   "but " + std::to_string(modules_[0].address_bits) + " here", {modules_[0].name, 0, 0});
    }
    if (!modules_.empty()) {
        linked_.name = modules_[0].name;
        linked_.target = modules_[0].target;
        linked_.address_bits = modules_[0].address_bits;
    }
    for (const Origin origin : functions_.chosen) {
        Function function = std::move(modules_[origin.module].functions[origin.index]);
        renumber(function, origin.module);
        const auto shift = [&](uint32_t& location) {
            if (location != kNone) location += first_location[origin.module];
        };
        shift(function.location);
        for (Instruction& instruction : function.body) shift(instruction.location);
        linked_.functions.push_back(std::move(function));
    }
    for (const Origin origin : variables_.chosen) {
        Variable variable = std::move(modules_[origin.module].variables[origin.index]);
        for (Relocation& relocation : variable.relocations)
            relocation.index = (relocation.function ? functions_.renumbered : variables_.renumbered)[origin.module][relocation.index];
        linked_.variables.push_back(std::move(variable));
    }
    check_uses();
    if (!errors_.empty()) return std::move(errors_);
    name_internals();
    make_canonical(linked_);
    return std::move(linked_);
}

}  // namespace

base::Result<Module> link(std::vector<Module> modules) { return Linker(std::move(modules)).run(); }

bool is_runtime_function(std::string_view name) {
    constexpr std::string_view kNames[] = {"vprintf", "malloc", "free", "__assertfail"};
    return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) || name.starts_with("cuda") ||
           name.starts_with("__cuda");
}

}  // namespace lanescope::ptx
