// The canonical form in which parser and linker leave a module, so that printing and parsing it again changes nothing.
#pragma once

#include "ptx/module.h"

namespace lanescope::ptx {

/// - Functions: entries behind all others (an entry cannot be declared ahead in PTX, a `.func` can), else in their order. Operands, tables
///   and initialisers that name an alias name its target.
/// - Locations: each used position once, in the order of functions and instructions, outer frames before inner ones.
/// - A function's own names differ from all module-scope names. Flattened scopes could otherwise hide those where they did not before.
void make_canonical(Module& module);

/// Calls `visit` with each operand of `operands`, nested ones included.
template <class Visit>
void for_each_operand(std::vector<Operand>& operands, const Visit& visit) {
    for (Operand& operand : operands) {
        visit(operand);
        if (!operand.elements.empty()) for_each_operand(operand.elements, visit);
    }
}

}  // namespace lanescope::ptx
