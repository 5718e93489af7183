// Runs a variant on lanescope's own arithmetic.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "variants.h"

namespace lanescope::semantics {

/// [output][sample], or why there is none.
struct Replayed {
    std::vector<std::vector<uint64_t>> outputs;
    std::string failure;   ///< empty: it ran
};
Replayed replay(const Variant& variant);

}  // namespace lanescope::semantics
