// Names of functions as people write them.
#pragma once

#include <string>

namespace lanescope::base {

/// "add_offset(const float*, int)" for "_Z10add_offsetPKfi"; other names as they are.
std::string demangle(const std::string& symbol);

}  // namespace lanescope::base
