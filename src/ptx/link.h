// Several modules of one program (nvcc -rdc=true) → one.
#pragma once

#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "ptx/module.h"

namespace lanescope::ptx {

/// Resolves the symbols of all modules against each other: `.visible` definitions before `.weak` before `.common`, `.extern` to whichever
/// there is. Names without linkage stay apart (all but the first are renamed). `.extern .shared` arrays of one name become one.
/// A symbol that is defined twice, used but not defined, or declared otherwise than defined is an error, followed by a note with the other
/// place. Debug sections are left out: what they say of functions is in the locations.
base::Result<Module> link(std::vector<Module> modules);

/// Functions that programs declare but the device runtime provides: vprintf, malloc, free, __assertfail, and those named cuda…, __cuda….
bool is_runtime_function(std::string_view name);

}  // namespace lanescope::ptx
