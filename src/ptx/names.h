// Names of a function's own things against those of the module.
#pragma once

#include "ptx/module.h"

namespace lanescope::ptx {

/// Renames what a function declares under the name of a module-scope variable or function. Flattening scopes could otherwise make a local
/// name hide a module's where it did not before. Done by the parser and the linker.
void rename_shadowing_locals(Module& module);

}  // namespace lanescope::ptx
