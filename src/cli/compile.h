// From a .cu file to a program that runs on the emulated runtime.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/diagnostic.h"

namespace lanescope::cli {

/// NVIDIA's compiler: on PATH, in $CUDA_HOME or $CUDA_PATH, in /usr/local/cuda, or in a `.cuda` folder beside or above lanescope's own.
base::Result<std::filesystem::path> find_nvcc();

/// The assembler that tells a kernel's registers: $LANESCOPE_PTXAS, else the one beside nvcc; empty if there is none.
std::string find_ptxas();

/// The newest virtual architecture that serves a GPU: 75 for all older ones, else the newest of `nvcc_list` (what `nvcc --list-gpu-code`
/// prints) that is not newer than the GPU.
uint32_t virtual_architecture(uint32_t compute_capability, const std::string& nvcc_list);

/// Words of a command line option: separated by blanks; '…', "…" and \ as in a shell.
std::vector<std::string> words(const std::string& text);

/// Files that a make rule ("program: a.cu b\ c.h \⏎ d.h") depends on.
std::vector<std::string> dependencies(const std::string& rule);

struct Compiled {
    std::filesystem::path program;
    bool from_cache = false;
};

/// What a program is to run on: the emulated runtime (shared, PTX), or a GPU (machine code, the toolkit's own runtime).
enum class Target : uint8_t { kEmulated, kHardware };

/// The folder of our libcudart.so.13 and libcuda.so.1: beside lanescope's bin in the build tree, below lib/lanescope when installed.
base::Result<std::filesystem::path> runtime_folder();

/// Compiles `source` with line information for `target`, or finds it compiled: programs are kept in
/// $XDG_CACHE_HOME/lanescope by the contents of all files they are made of, flags and compiler. The compiler's messages go to
/// standard error as they are; where it refuses, the error says no more than that.
base::Result<Compiled> compile(const std::filesystem::path& source, uint32_t compute_capability, const std::vector<std::string>& flags, bool show_progress, Target target = Target::kEmulated);

}  // namespace lanescope::cli
