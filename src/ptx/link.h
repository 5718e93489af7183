// Several modules of one program (nvcc -rdc=true) → one.
#pragma once

#include <vector>

#include "base/diagnostic.h"
#include "ptx/module.h"

namespace lanescope::ptx {

/// Resolves `.extern` against `.visible`, `.weak` and `.common` symbols of all modules. A symbol that is defined twice or not at all is a
/// diagnostic that names both places.
base::Result<Module> link(std::vector<Module> modules);

}  // namespace lanescope::ptx
