#include "exec/lane_rows.h"
#include "exec/move.h"

namespace lanescope::exec {

inline namespace LANESCOPE_LEVEL {
MoveFunctions move_functions_at_level();
}
#ifdef LANESCOPE_WITH_V3
namespace v3 {
MoveFunctions move_functions_at_level();
}
#endif

const MoveFunctions& move_functions() {
    static const MoveFunctions functions = [] {
#ifdef LANESCOPE_WITH_V3
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c"))
            return v3::move_functions_at_level();
#endif
        return LANESCOPE_LEVEL::move_functions_at_level();
    }();
    return functions;
}

}  // namespace lanescope::exec
