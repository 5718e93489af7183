#include "ptx/canonical.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace lanescope::ptx {
namespace {

/// Calls `visit` with each name that `function` declares.
template <class Visit>
void for_each_name(Function& function, Visit visit) {
    for (Register& reg : function.registers) visit(reg.name);
    for (Variable& variable : function.variables) visit(variable.name);
    for (Label& label : function.labels) visit(label.name);
    for (Table& table : function.tables) visit(table.name);
    for (Prototype& prototype : function.prototypes) visit(prototype.name);
}

void order_functions(Module& module) {
    std::vector<uint32_t> order(module.functions.size()), renumbered(order.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_partition(order.begin(), order.end(), [&](uint32_t index) { return !module.functions[index].entry; });
    for (uint32_t i = 0; i < order.size(); ++i) renumbered[order[i]] = i;
    const auto target = [&](uint32_t& index) {
        for (size_t steps = 0; module.functions[index].alias_of != kNone && steps < order.size(); ++steps)
            index = module.functions[index].alias_of;
        index = renumbered[index];
    };
    for (Variable& variable : module.variables)
        for (Relocation& relocation : variable.relocations)
            if (relocation.function) target(relocation.index);
    for (Function& function : module.functions) {
        for (Table& table : function.tables)
            if (table.functions)
                for (uint32_t& index : table.targets) target(index);
        for (Instruction& instruction : function.body)
            for (Operand& operand : instruction.operands)
                if (operand.kind == Operand::Kind::kFunction) target(operand.index);
    }
    std::vector<Function> ordered;
    ordered.reserve(order.size());
    for (const uint32_t index : order) ordered.push_back(std::move(module.functions[index]));
    for (Function& function : ordered)
        if (function.alias_of != kNone) function.alias_of = renumbered[function.alias_of];
    module.functions = std::move(ordered);
}

void renumber_locations(Module& module) {
    const std::vector<Location> old = std::exchange(module.locations, {});
    std::vector<uint32_t> renumbered(old.size(), kNone);
    std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, std::string>, uint32_t> known;
    std::vector<uint32_t> chain;
    const auto update = [&](uint32_t& location) {
        if (location == kNone) return;
        for (uint32_t i = location; i != kNone && renumbered[i] == kNone; i = old[i].inlined_at) chain.push_back(i);
        for (; !chain.empty(); chain.pop_back()) {
            Location at = old[chain.back()];
            if (at.inlined_at != kNone) at.inlined_at = renumbered[at.inlined_at];
            const auto [it, fresh] =
                known.try_emplace({at.file, at.line, at.column, at.inlined_at, at.function}, uint32_t(module.locations.size()));
            renumbered[chain.back()] = it->second;
            if (fresh) module.locations.push_back(std::move(at));
        }
        location = renumbered[location];
    };
    for (Function& function : module.functions) {
        update(function.location);
        for (Instruction& instruction : function.body) update(instruction.location);
    }
}

void rename_shadowing_locals(Module& module) {
    std::unordered_set<std::string_view> names;
    for (const Variable& variable : module.variables) names.insert(variable.name);
    for (const Function& function : module.functions) names.insert(function.name);
    for (Function& function : module.functions) {
        std::unordered_set<std::string> taken;  // filled only where something must be renamed
        for_each_name(function, [&](std::string& name) {
            if (!names.contains(name)) return;
            if (taken.empty()) for_each_name(function, [&](const std::string& own) { taken.insert(own); });
            std::string fresh;
            for (unsigned i = 1; fresh.empty() || names.contains(fresh) || taken.contains(fresh); ++i)
                fresh = name + '_' + std::to_string(i);
            taken.insert(fresh);
            name = std::move(fresh);
        });
        // The header repeats the names of the parameters.
        if (!function.defined) continue;
        const auto copy_names = [&](std::vector<Variable>& header, const std::vector<uint32_t>& symbols) {
            for (size_t i = 0; i < header.size() && i < symbols.size(); ++i)
                header[i].name =
                    header[i].space == Space::kRegister ? function.registers[symbols[i]].name : function.variables[symbols[i]].name;
        };
        copy_names(function.returns, function.return_symbols);
        copy_names(function.parameters, function.parameter_symbols);
    }
}

}  // namespace

void make_canonical(Module& module) {
    order_functions(module);
    renumber_locations(module);
    rename_shadowing_locals(module);
}

}  // namespace lanescope::ptx
