#include "cudart/redirectable.h"

#include <fmt/format.h>

#include "base/elf.h"
#include "base/file.h"
#include "cudart/fat_binary.h"

namespace lanescope::cudart {
namespace {

constexpr const char* kFlags = "-cudart shared -gencode arch=compute_75,code=compute_75";

std::string advice(const std::string& what) {
    return fmt::format("{}; rebuild it with nvcc {} -lineinfo, or build as before under NVCC_APPEND_FLAGS=\"{} -lineinfo\"", what, kFlags, kFlags);
}

/// Whether any container of a section of device code holds PTX. What cannot be read counts as PTX: running it will say why.
bool has_ptx(std::string_view section) {
    std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(section.data()), section.size());
    while (std::optional<uint64_t> size = fat_binary_size(bytes)) {
        base::Result<std::vector<Image>> images = parse_fat_binary(bytes);
        if (!images || best_ptx(*images, 0)) return true;
        bytes = bytes.subspan(*size);
    }
    return false;
}

}  // namespace

std::optional<std::string> why_not_redirectable(const std::filesystem::path& path) {
    base::Result<std::string> file = base::read_file(path);
    if (!file) return std::nullopt;
    base::Result<std::vector<base::ElfSection>> sections = base::elf_sections(*file);
    if (!sections) return std::nullopt;
    const base::ElfSection* code = base::find_section(*sections, ".nv_fatbin");
    if (!code) return std::nullopt;

    std::string name = base::printable(path.filename().string());
    bool shared = false;
    for (const std::string& library : base::elf_needed_libraries(*sections)) shared |= library.starts_with("libcudart.so");
    bool emulated = base::find_section(*sections, ".lanescope_runtime") != nullptr;  // linked with lanescope's libcudart_static.a
    if (!shared && !emulated) return advice(name + " contains NVIDIA's static CUDA runtime, which cannot be redirected");
    bool ptx = has_ptx(code->bytes);
    if (const base::ElfSection* units = base::find_section(*sections, "__nv_relfatbin")) ptx |= has_ptx(units->bytes);
    if (!ptx) return advice(name + " contains machine code but no PTX, which the emulated GPU needs");
    return std::nullopt;
}

}  // namespace lanescope::cudart
