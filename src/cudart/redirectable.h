// Whether a program's CUDA calls can be served by the emulated runtime.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace lanescope::cudart {

/// Why the program at `path` cannot be run on the emulated GPU, with the flags to rebuild it; nullopt: nothing speaks against it.
/// A file that is no ELF (a script) is redirectable: what it starts may be.
std::optional<std::string> why_not_redirectable(const std::filesystem::path& path);

/// Whether the program at `path` is linked with NVRTC's shared library.
bool needs_nvrtc(const std::filesystem::path& path);

}  // namespace lanescope::cudart
