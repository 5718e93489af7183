// Texture and surface objects: what a handle in a kernel stands for.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

namespace lanescope::exec {

enum class TexelFormat : uint8_t { kUnsigned, kSigned, kFloat };       ///< of one channel; float: 16 or 32 bits
enum class AddressMode : uint8_t { kWrap, kClamp, kMirror, kBorder };  ///< as cudaTextureAddressMode counts them
enum class Filter : uint8_t { kPoint, kLinear };

/// One image: a texture bound to it, or a surface.
struct Texture {
    uint64_t address = 0;                 ///< device address of the first texel
    uint32_t width = 0, height = 0, depth = 0;  ///< texels; 0: that dimension does not exist; depth: or layers or faces
    uint32_t layers = 0;                  ///< layered and cube maps: images behind each other
    uint64_t row_bytes = 0, slice_bytes = 0;
    uint8_t channels = 1, channel_bits = 32;
    TexelFormat format = TexelFormat::kFloat;
    bool linear_memory = false;           ///< cudaResourceTypeLinear: 1D, no filtering, reads outside give 0
    bool block_linear = true;             ///< cudaArray: texels near in 2D are near in memory (for the cache model)
    // sampler
    std::array<AddressMode, 3> address_modes{AddressMode::kClamp, AddressMode::kClamp, AddressMode::kClamp};
    Filter filter = Filter::kPoint;
    bool normalized_coordinates = false;
    bool normalized_values = false;       ///< cudaReadModeNormalizedFloat
    bool srgb = false;
    std::array<float, 4> border{};
};

/// Handle (as the kernel holds it) → texture or surface.
using Textures = std::unordered_map<uint64_t, Texture>;

}  // namespace lanescope::exec
