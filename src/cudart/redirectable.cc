#include "cudart/redirectable.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/elf.h"
#include "base/file.h"
#include "cudart/fat_binary.h"

namespace lanescope::cudart {
namespace {

constexpr const char* kFlags = "-cudart shared -gencode arch=compute_75,code=compute_75";

/// What cudaGetErrorString answers to cudaErrorInsufficientDriver: each static CUDA runtime has it, symbols or not.
constexpr const char* kRuntimesText = "CUDA driver version is insufficient for CUDA runtime version";

std::string advice(const std::string& what) {
    return fmt::format("{}; rebuild it with nvcc {} -lineinfo, or build as before under NVCC_APPEND_FLAGS=\"{} -lineinfo\"", what, kFlags, kFlags);
}

struct Contents {
    bool ptx = false, machine_code = false;
};

/// What the containers of a section of device code hold. What cannot be read counts as PTX: running it will say why.
void look_into(std::string_view section, Contents& found) {
    std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(section.data()), section.size());
    while (std::optional<uint64_t> size = fat_binary_size(bytes)) {
        base::Result<std::vector<Image>> images = parse_fat_binary(bytes);
        found.ptx |= !images || best_ptx(*images, 0);
        if (images) found.machine_code |= std::any_of(images->begin(), images->end(), [](const Image& image) { return image.kind == Image::Kind::kElf; });
        bytes = bytes.subspan(*size);
    }
}

}  // namespace

std::optional<std::string> why_not_redirectable(const std::filesystem::path& path) {
    base::Result<std::string> file = base::read_file(path);
    if (!file) return std::nullopt;
    base::Result<std::vector<base::ElfSection>> sections = base::elf_sections(*file);
    if (!sections) return std::nullopt;

    Contents found;
    for (const char* section : {".nv_fatbin", "__nv_relfatbin"})
        if (const base::ElfSection* code = base::find_section(*sections, section)) look_into(code->bytes, found);
    const bool kernels = found.ptx || found.machine_code;
    std::string name = base::printable(path.filename().string());
    bool shared = false;
    for (const std::string& library : base::elf_needed_libraries(*sections)) shared |= library.starts_with("libcudart.so");
    bool emulated = base::find_section(*sections, ".lanescope_runtime") != nullptr;  // linked with lanescope's libcudart_static.a
    // Without kernels of its own a program may as well load them through the driver, linked or opened at run time.
    if (!shared && !emulated && (kernels || file->find(kRuntimesText) != std::string::npos))
        return advice(name + " contains NVIDIA's static CUDA runtime, which cannot be redirected");
    if (found.machine_code && !found.ptx) return advice(name + " contains machine code but no PTX, which the emulated GPU needs");
    return std::nullopt;
}

bool needs_nvrtc(const std::filesystem::path& path) {
    base::Result<std::string> file = base::read_file(path);
    if (!file) return false;
    base::Result<std::vector<base::ElfSection>> sections = base::elf_sections(*file);
    if (!sections) return false;
    const std::vector<std::string> needed = base::elf_needed_libraries(*sections);
    return std::any_of(needed.begin(), needed.end(), [](const std::string& library) { return library.starts_with("libnvrtc.so"); });
}

}  // namespace lanescope::cudart
