#include "cudart/api/code.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "cudart/fat_binary.h"

namespace lanescope::cudart {
namespace {

constexpr uint32_t kWrapperMagic = 0x466243B1;
constexpr char kRebuild[] = "-gencode arch=compute_75,code=compute_75";

/// Section .nvFatBinSegment.
struct Wrapper {
    uint32_t magic;
    int32_t version;           ///< 1: data; 2: -rdc=true, `units` ends with a null
    const uint8_t* data;
    const uint8_t* const* units;
};

DeviceCode refused(cudaError_t error, std::string problem) { return {{}, {}, error, std::move(problem)}; }

/// Picks from each container what a GPU of `architecture` would be given.
DeviceCode code_of(const std::vector<std::span<const uint8_t>>& containers, uint32_t architecture, const char* what) {
    DeviceCode code;
    bool code_without_ptx = false;
    for (std::span<const uint8_t> bytes : containers) {
        base::Result<std::vector<Image>> images = parse_fat_binary(bytes);
        if (!images) return refused(cudaErrorInvalidKernelImage, base::to_string(images.errors()));
        const Image* ptx = best_ptx(*images, architecture);
        if (const Image* elf = best_elf(*images, architecture)) code.cubin = elf->payload;
        if (!ptx) {
            code_without_ptx |= !images->empty();
            continue;
        }
        // Names tell units apart in messages: "main.cu.ptx", "PTX 3.ptx".
        std::string name =
            ptx->name.empty() || containers.size() > 2 ? fmt::format("PTX {}{}{}", code.sources.size() + 1, ptx->name.empty() ? "" : " of ", ptx->name) : ptx->name;
        code.sources.push_back({ptx->payload, name + ".ptx"});
    }
    if (code.sources.size() > 1) code.cubin.clear();       // each unit's own code says little about the linked program's registers
    if (code.sources.empty())
        return refused(cudaErrorNoKernelImageForDevice,
                       fmt::format("{} holds {}: rebuild it with {}", what, code_without_ptx ? "machine code but no PTX" : "no device code", kRebuild));
    return code;
}

/// The container at `data`, whose own header tells its length: it lies in a mapped section of the program.
bool add_container(const uint8_t* data, std::vector<std::span<const uint8_t>>& containers) {
    const std::optional<uint64_t> size = fat_binary_size({data, 16});
    if (size) containers.emplace_back(data, *size);
    return size.has_value();
}

/// PTX begins with its version, after blanks and comments.
bool starts_like_ptx(std::string_view text) {
    for (;;) {
        text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
        const bool line = text.starts_with("//");
        if (!line && !text.starts_with("/*")) return text.starts_with(".version");
        const size_t end = text.find(line ? "\n" : "*/", 2);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + (line ? 1 : 2));
    }
}

DeviceCode code_of_text(std::string_view text, std::string name) {
    if (!starts_like_ptx(text)) return refused(cudaErrorInvalidKernelImage, name + " is neither a fat binary nor PTX, which begins with .version");
    DeviceCode code;
    code.sources.push_back({std::string(text.substr(0, text.find('\0'))), std::move(name)});
    return code;
}

bool starts_like_elf(std::string_view bytes) { return bytes.starts_with("\x7f" "ELF"); }

DeviceCode machine_code(const std::string& what) {
    return refused(cudaErrorNoKernelImageForDevice, fmt::format("{} is machine code, but the emulated GPU needs PTX: load the PTX, or a fat binary made with {}", what, kRebuild));
}

}  // namespace

DeviceCode code_of_wrapper(const void* registered, uint32_t architecture) {
    const auto* wrapper = static_cast<const Wrapper*>(registered);
    const auto malformed = [] { return refused(cudaErrorInvalidKernelImage, "a registered fat binary is malformed"); };
    if (!wrapper || wrapper->magic != kWrapperMagic || !wrapper->data) return malformed();
    std::vector<std::span<const uint8_t>> containers;
    bool whole = true;
    if (wrapper->version >= 2 && wrapper->units)
        for (const uint8_t* const* unit = wrapper->units; *unit; ++unit) whole &= add_container(*unit, containers);
    whole &= add_container(wrapper->data, containers);
    return whole ? code_of(containers, architecture, "the program") : malformed();
}

DeviceCode code_of_image(const void* image, uint32_t architecture) {
    uint32_t magic = 0;
    // Text may be shorter than the magic: no further than its end.
    for (size_t i = 0; i < sizeof magic; ++i) {
        const auto byte = static_cast<const uint8_t*>(image)[i];
        magic |= uint32_t(byte) << (8 * i);
        if (byte == 0) break;
    }
    if (magic == kWrapperMagic) return code_of_wrapper(image, architecture);
    if (starts_like_elf({reinterpret_cast<const char*>(&magic), sizeof magic})) return machine_code("a library loaded from memory");
    std::vector<std::span<const uint8_t>> containers;
    if (magic == kFatBinaryMagic) {
        if (!add_container(static_cast<const uint8_t*>(image), containers)) return refused(cudaErrorInvalidKernelImage, "a fat binary loaded from memory is malformed");
        return code_of(containers, architecture, "a library loaded from memory");
    }
    return code_of_text(static_cast<const char*>(image), "code loaded from memory");
}

DeviceCode code_of_file(std::string_view bytes, const std::string& name, uint32_t architecture) {
    if (starts_like_elf(bytes)) return machine_code(name);
    const std::span data(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    if (fat_binary_size(data)) return code_of({data}, architecture, name.c_str());
    return code_of_text(bytes, name);
}

}  // namespace lanescope::cudart
