// PTX text → module.
#pragma once

#include <string>
#include <string_view>

#include "base/diagnostic.h"
#include "ptx/module.h"

namespace lanescope::ptx {

/// The module that `text` describes, or every error found in it (the parser goes on after each, up to a limit). `name` stands for the
/// text in messages.
base::Result<Module> parse(std::string_view text, std::string name);

}  // namespace lanescope::ptx
