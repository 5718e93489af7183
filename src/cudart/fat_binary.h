// Fat binaries: the containers in which nvcc embeds a program's device code, once for each architecture.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"

namespace lanescope::cudart {

/// How a container begins.
constexpr uint32_t kFatBinaryMagic = 0xBA55ED50;

struct Image {
    enum class Kind : uint8_t { kPtx, kElf, kOther } kind = Kind::kOther;
    uint32_t architecture = 0;   ///< 75 for sm_75 or compute_75
    std::string name;            ///< source file as the compiler noted it; may be empty
    std::string payload;         ///< decompressed; PTX without its padding
};

/// Every image of a container, decompressed. `bytes` starts at the container's header and may extend beyond its end.
/// A container without images is fine; a truncated or malformed one is an error that says what does not fit.
base::Result<std::vector<Image>> parse_fat_binary(std::span<const uint8_t> bytes);

/// The whole length of a container as its 16-byte header gives it; nullopt if the header is none.
std::optional<uint64_t> fat_binary_size(std::span<const uint8_t> header);

/// The PTX image that a GPU of compute capability `architecture` would be given: the highest that it can run, else (the emulator
/// executes any PTX) the lowest one above. nullptr: there is no PTX.
const Image* best_ptx(const std::vector<Image>& images, uint32_t architecture);

/// The machine code for a GPU of compute capability `architecture`: same major version, highest minor not above it, else nullptr.
const Image* best_elf(const std::vector<Image>& images, uint32_t architecture);

}  // namespace lanescope::cudart
