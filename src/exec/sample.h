// What a texture unit does with one lane's coordinates: addressing, filtering, conversion of texels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "exec/texture.h"

namespace lanescope::exec {

/// Coordinates of one lane, dimensions that the texture has not left 0. A layer is chosen by `layer`.
struct Coordinates {
    std::array<float, 3> at{};
    std::array<int32_t, 3> texel{};       ///< instead of `at` where the instruction has integer coordinates
    bool integer = false;
    int32_t layer = 0;
};

struct Sample {
    std::array<uint32_t, 4> value{};      ///< bits of r, g, b, a: floats, or integers where the format is one and is not read as float
    std::array<uint64_t, 8> texels{};     ///< device addresses read, repeated up to eight
    uint32_t count = 0;                   ///< how many of them; 0: outside, nothing was read
    std::array<int32_t, 3> xyz{};         ///< integer coordinates of the first
};

/// A texture fetch. `host`: where the texture's first byte is for us; `dimensions`: 1, 2 or 3.
/// Linear filtering weighs with 8 fractional bits, as hardware does (CUDA programming guide, texture fetching). Texels outside are
/// addressed as the texture says; unnormalised coordinates know clamp and border only.
Sample sample(const Texture& texture, const std::byte* host, unsigned dimensions, const Coordinates& coordinates);

/// The four texels around a point in two dimensions, one component each, in the order of tld4: (0, 1), (1, 1), (1, 0), (0, 0).
Sample gather(const Texture& texture, const std::byte* host, unsigned component, const Coordinates& coordinates);

/// Offset of a texel from the texture's first byte.
inline uint64_t texel_offset(const Texture& t, uint32_t x, uint32_t y, uint32_t z) {
    return uint64_t(x) * (uint32_t(t.channels) * t.channel_bits / 8) + y * t.row_bytes + z * t.slice_bytes;
}

/// The device address of a texel as the caches see it: arrays of two and more dimensions are block-linear, in tiles of 64 bytes × 8 rows
/// whose sectors hold 16 bytes of two rows (seen in the sectors of rows and columns of texels on an H200). Programs cannot see that order,
/// so the bytes themselves lie row by row.
uint64_t texel_address(const Texture& t, uint32_t x, uint32_t y, uint32_t z);

/// Face 0 … 5 (+x, -x, +y, -y, +z, -z) that a direction points at, and the normalised coordinates on it.
uint32_t cube_face(float x, float y, float z, float& s, float& t);

}  // namespace lanescope::exec
