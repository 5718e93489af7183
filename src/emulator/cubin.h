// What machine code says about its kernels: registers and stack, from a cubin of the program or one that ptxas makes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

namespace lanescope::emulator {

struct KernelFacts {
    uint32_t registers = 0;      ///< a thread
    uint32_t frame_bytes = 0;    ///< local memory of the kernel's own frame: arrays and spilled registers
};

using ModuleFacts = std::map<std::string, KernelFacts, std::less<>>;  ///< by mangled name

/// Reads the .nv.info section of a cubin (records EIATTR_REGCOUNT 0x2f and EIATTR_FRAME_SIZE 0x11: symbol index, value).
base::Result<ModuleFacts> read_cubin(std::string_view elf);

/// Translates PTX for `architecture` with NVIDIA's assembler and reads the result; kept in `cache` by content, so that each module is
/// translated once. `ptxas`: its path, "" to look on PATH and in /usr/local/cuda/bin. Fails where there is none, or it refuses.
base::Result<ModuleFacts> assemble(std::string_view ptx, uint32_t architecture, bool relocatable, const std::string& ptxas,
                                   const std::string& cache);

/// $XDG_CACHE_HOME/lanescope or ~/.cache/lanescope; empty: neither is known.
std::string cache_folder();

}  // namespace lanescope::emulator
