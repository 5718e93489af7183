// Lane functions under the rounding modes .rz .rm .rp.
#pragma once

#include <cfenv>

#include "exec/lane_form.h"

namespace lanescope::exec {
inline namespace LANESCOPE_LEVEL {

/// kFunction under another rounding mode of the host. Its operands are in memory that fesetround might read or write as far as
/// the compiler knows, so no arithmetic moves across the calls.
template <LaneFunction kFunction, int kMode>
void directed(const LaneOperands& operands, uint32_t mask) {
    std::fesetround(kMode);
    kFunction(operands, mask);
    std::fesetround(FE_TONEAREST);
}

template <LaneFunction kFunction>
LaneFunction with_rounding(Rounding rounding) {
    switch (rounding) {
        case Rounding::kNone:
        case Rounding::kRn: return kFunction;
        case Rounding::kRz: return directed<kFunction, FE_TOWARDZERO>;
        case Rounding::kRm: return directed<kFunction, FE_DOWNWARD>;
        case Rounding::kRp: return directed<kFunction, FE_UPWARD>;
        default: return nullptr;
    }
}

}  // namespace LANESCOPE_LEVEL
}  // namespace lanescope::exec
