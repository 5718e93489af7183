#include "memory/texture_quads.h"

#include <gtest/gtest.h>

namespace lanescope::memory {
namespace {

/// A block-linear surface of 4-byte texels: 512-byte tiles of 64 bytes × 8 rows, in which a sector is 16 bytes × 2 rows.
uint64_t texel(uint32_t x, uint32_t y, uint32_t row_bytes) {
    const uint32_t b = x * 4;
    const uint64_t tile = uint64_t(y / 8) * (row_bytes / 64) + b / 64;
    return tile * 512 + (b % 64 / 32) * 256 + (y % 8 / 2) * 64 + (b % 32 / 16) * 32 + (y % 2) * 16 + b % 16;
}

TEST(TextureQuads, RowsAndColumnsAsRecorded) {
    uint64_t lanes[kLanes];
    QuadRequests quads;
    for (uint32_t i = 0; i < kLanes; ++i) lanes[i] = texel(i, 5, 4096);
    split_quads(lanes, 1, ~0u, 4, quads);
    EXPECT_EQ(quads.requests, 8u);        // 32 lanes / 4
    EXPECT_EQ(quads.sectors, 8u);         // 4 texels × 4 bytes in a row: one sector a quad
    for (uint32_t i = 0; i < kLanes; ++i) lanes[i] = texel(5, i, 4096);
    split_quads(lanes, 1, ~0u, 4, quads);
    EXPECT_EQ(quads.requests, 8u);
    EXPECT_EQ(quads.sectors, 16u);        // 4 rows, 2 a sector
    split_quads(lanes, 1, 0x00000103, 4, quads);
    EXPECT_EQ(quads.requests, 2u);        // lanes 0, 1 and 8
    EXPECT_EQ(quads.sectors, 2u);
}

// H200, texture_probes.cu: surface_2d_read of floats, a row and a column.
TEST(TextureQuads, SurfacesGoByEight) {
    uint64_t lanes[kLanes];
    QuadRequests groups;
    for (uint32_t i = 0; i < kLanes; ++i) lanes[i] = texel(i, 0, 4096);
    split_quads(lanes, 1, ~0u, 4, groups, 8);
    EXPECT_EQ(groups.requests, 4u);
    EXPECT_EQ(groups.sectors, 8u);
    for (uint32_t i = 0; i < kLanes; ++i) lanes[i] = texel(0, i, 4096);
    split_quads(lanes, 1, ~0u, 4, groups, 8);
    EXPECT_EQ(groups.requests, 4u);
    EXPECT_EQ(groups.sectors, 16u);       // 8 rows, 2 a sector
}

}  // namespace
}  // namespace lanescope::memory
