#include "ptx/names.h"

#include <string_view>
#include <unordered_set>

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

}  // namespace

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
            for (unsigned i = 1; fresh.empty() || names.contains(fresh) || taken.contains(fresh); ++i) fresh = name + '_' + std::to_string(i);
            taken.insert(fresh);
            name = std::move(fresh);
        });
        // The header repeats the names of the parameters.
        if (!function.defined) continue;
        const auto copy_names = [&](std::vector<Variable>& header, const std::vector<uint32_t>& symbols) {
            for (size_t i = 0; i < header.size() && i < symbols.size(); ++i)
                header[i].name = header[i].space == Space::kRegister ? function.registers[symbols[i]].name : function.variables[symbols[i]].name;
        };
        copy_names(function.returns, function.return_symbols);
        copy_names(function.parameters, function.parameter_symbols);
    }
}

}  // namespace lanescope::ptx
