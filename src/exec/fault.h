// What a kernel did wrong, with its place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "exec/access.h"
#include "exec/device_memory.h"

namespace lanescope::exec {

enum class FaultKind : uint8_t {
    kOutOfBounds,        ///< no allocation there, or beyond the end of shared or local memory, of the constant bank or the parameters
    kNull,               ///< an address in the first page
    kUseAfterFree,
    kMisaligned,
    kWrongSpace,         ///< e.g. a host address that is not registered, a shared address used as global
    kReadOnly,           ///< a store to constant memory
    kUnsupported,        ///< lanescope has no semantics for the instruction
    kIllegal,            ///< the instruction or the jump target cannot be executed on any GPU, or not on the described one
    kRunaway,            ///< a limit of Machine was exceeded, or nothing can make progress
    kBarrierDivergence,  ///< threads of a block wait at barriers that the others never reach
    kAssert,
    kStackOverflow,
    kTrap,
    kInterrupted,        ///< Launch::stop
    kInvalidLaunch,      ///< block or shared memory larger than the GPU has, and the like
};
std::string_view to_string(FaultKind kind);  ///< "out_of_bounds"

struct Fault {
    FaultKind kind = FaultKind::kIllegal;
    std::string message;                  ///< one sentence: what, with address and allocation; no place
    uint32_t function = ptx::kNone;       ///< index into Module::functions
    uint32_t instruction = ptx::kNone;    ///< index into its body
    uint32_t location = ptx::kNone;       ///< index into Module::locations
    Dim3 block{0, 0, 0}, thread{0, 0, 0};
    uint64_t address = 0;                 ///< of memory faults: as the instruction's space counts it
    uint32_t bytes = 0;                   ///< of memory faults: access width, 0: not a memory fault
    bool store = false;
    std::optional<Nearest> nearest;       ///< global memory faults only
};

}  // namespace lanescope::exec
