#include "exec/sample.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

namespace lanescope::exec {
namespace {

/// 4 × 2 floats, texel (x, y) = 10 y + x, at address 0x1000.
struct Image {
    std::vector<float> texels{0, 1, 2, 3, 10, 11, 12, 13};
    Texture texture{.address = 0x1000, .width = 4, .height = 2, .row_bytes = 16, .slice_bytes = 32, .block_linear = false};
    const std::byte* host() const { return reinterpret_cast<const std::byte*>(texels.data()); }
    float at(float x, float y) { return std::bit_cast<float>(sample(texture, host(), 2, {.at = {x, y, 0}}).value[0]); }
};

TEST(Sample, PointTakesTheTexelThatContainsTheCoordinate) {
    Image image;
    EXPECT_EQ(image.at(2.99f, 1.0f), 12);
    EXPECT_EQ(image.at(-7, 0.5f), 0);        // clamped
    EXPECT_EQ(image.at(99, 99), 13);
    EXPECT_EQ(image.at(NAN, 0), 0);
    Sample one = sample(image.texture, image.host(), 2, {.at = {2.5f, 1.5f, 0}});
    EXPECT_EQ(one.count, 1u);
    EXPECT_EQ(one.texels[0], 0x1000u + 16 + 8);   // row 1, third float
    EXPECT_EQ(one.xyz, (std::array<int32_t, 3>{2, 1, 0}));
}

TEST(Sample, LinearWeighsWithEightBits) {
    Image image;
    image.texture.filter = Filter::kLinear;
    EXPECT_EQ(image.at(1.0f, 0.5f), 0.5f);    // half way between 0 and 1
    EXPECT_EQ(image.at(2.0f, 1.0f), 6.5f);    // (1 + 2 + 11 + 12) / 4
    EXPECT_EQ(image.at(1.001f, 0.5f), 0.5f);  // 0.501 × 256 = 128.256: 128/256
    EXPECT_EQ(image.at(1.002f, 0.5f), 129 / 256.0f);   // 0.502 × 256 = 128.5…: 129
    EXPECT_EQ(image.at(0, 0), 0);             // clamped on all sides
    EXPECT_EQ(sample(image.texture, image.host(), 2, {.at = {2, 1, 0}}).count, 4u);
    EXPECT_EQ(sample(image.texture, image.host(), 2, {.at = {2, 0.5f, 0}}).count, 2u) << "the row below has no weight and is not fetched";
}

TEST(Sample, AddressModes) {
    Image image;
    image.texture.address_modes.fill(AddressMode::kBorder);
    image.texture.border = {7, 0, 0, 0};
    EXPECT_EQ(image.at(-0.1f, 0), 7);
    EXPECT_EQ(image.at(3.9f, 1.9f), 13);
    EXPECT_EQ(image.at(4, 0), 7);
    image.texture.address_modes.fill(AddressMode::kWrap);
    EXPECT_EQ(image.at(5.5f, 0), 3);          // unnormalised coordinates do not wrap: clamped
    image.texture.normalized_coordinates = true;
    EXPECT_EQ(image.at(1.3f, 0), 1);          // 0.3 × 4 = 1.2
    EXPECT_EQ(image.at(-0.1f, 1.6f), 13);     // 0.9 × 4 = 3.6; 0.6 × 2 = 1.2
    image.texture.address_modes.fill(AddressMode::kMirror);
    EXPECT_EQ(image.at(1.1f, -0.1f), 3);      // 1.1 × 4 = 4.4 → 4 mirrors to 3; -0.2 → -1 mirrors to 0
    EXPECT_EQ(image.at(2.1f, 0), 0);          // 8.4 → 8: one period
    image.texture.filter = Filter::kLinear;
    image.texture.address_modes.fill(AddressMode::kWrap);
    EXPECT_EQ(image.at(0, 0.25f), 1.5f);      // between texels 3 and 0
}

TEST(Sample, ConvertsFormats) {
    const uint8_t bytes[8] = {0, 51, 128, 255, 1, 2, 3, 4};
    const auto* host = reinterpret_cast<const std::byte*>(bytes);
    Texture t{.address = 0, .width = 2, .height = 1, .row_bytes = 8, .channels = 4, .channel_bits = 8, .format = TexelFormat::kUnsigned};
    EXPECT_EQ(sample(t, host, 1, {.at = {0.5f}}).value, (std::array<uint32_t, 4>{0, 51, 128, 255}));
    t.normalized_values = true;
    EXPECT_EQ(std::bit_cast<float>(sample(t, host, 1, {.at = {0.5f}}).value[1]), 51 / 255.0f);
    t.format = TexelFormat::kSigned;
    EXPECT_EQ(std::bit_cast<float>(sample(t, host, 1, {.at = {0.5f}}).value[2]), -1.0f);    // -128 / 127, limited
    t.normalized_values = false;
    EXPECT_EQ(int32_t(sample(t, host, 1, {.at = {0.5f}}).value[3]), -1);
    const uint16_t halves[2] = {0x3e00, 0xc000};
    Texture h{.address = 0, .width = 2, .row_bytes = 4, .channel_bits = 16};
    Sample one = sample(h, reinterpret_cast<const std::byte*>(halves), 1, {.at = {0.5f}});
    EXPECT_EQ(std::bit_cast<float>(one.value[0]), 1.5f);
    EXPECT_EQ(std::bit_cast<float>(one.value[1]), 0.0f);   // channels that are not there: 0, 0, 1
    EXPECT_EQ(std::bit_cast<float>(one.value[3]), 1.0f);
}

TEST(Sample, LinearMemoryAndLayersAndVolumes) {
    Image image;
    Texture line{.address = 0x1000, .width = 8, .row_bytes = 32, .linear_memory = true};
    EXPECT_EQ(std::bit_cast<float>(sample(line, image.host(), 1, {.texel = {5}, .integer = true}).value[0]), 11);
    Sample outside = sample(line, image.host(), 1, {.texel = {8}, .integer = true});
    EXPECT_EQ(outside.value[0], 0u);
    EXPECT_EQ(outside.count, 0u);
    Texture layered{.address = 0x1000, .width = 2, .height = 2, .layers = 2, .row_bytes = 8, .slice_bytes = 16};
    EXPECT_EQ(std::bit_cast<float>(sample(layered, image.host(), 2, {.at = {1.5f, 0.5f}, .layer = 1}).value[0]), 11);
    EXPECT_EQ(std::bit_cast<float>(sample(layered, image.host(), 2, {.at = {1.5f, 0.5f}, .layer = 9}).value[0]), 11);
    Texture volume{.address = 0x1000, .width = 2, .height = 2, .depth = 2, .row_bytes = 8, .slice_bytes = 16, .filter = Filter::kLinear};
    // the mean of all eight: (0+1+2+3+10+11+12+13) / 8
    EXPECT_EQ(std::bit_cast<float>(sample(volume, image.host(), 3, {.at = {1, 1, 1}}).value[0]), 6.5f);
}

TEST(Sample, ArraysAreBlockLinearForTheCaches) {
    Texture t{.address = 0x2000, .width = 1024, .height = 1024, .row_bytes = 4096, .slice_bytes = 4096 * 1024};
    EXPECT_EQ(texel_address(t, 3, 0, 0), 0x2000u + 12);           // 16 bytes of a row …
    EXPECT_EQ(texel_address(t, 0, 1, 0), 0x2000u + 16);           // … and 16 of the next one are a sector
    EXPECT_EQ(texel_address(t, 4, 0, 0), 0x2000u + 32);
    EXPECT_EQ(texel_address(t, 0, 2, 0), 0x2000u + 64);
    EXPECT_EQ(texel_address(t, 8, 0, 0), 0x2000u + 256);
    EXPECT_EQ(texel_address(t, 16, 0, 0), 0x2000u + 512);         // the next tile
    EXPECT_EQ(texel_address(t, 0, 8, 0), 0x2000u + 64 * 512);     // 64 tiles a row
    EXPECT_EQ(texel_address(t, 0, 0, 1), 0x2000u + 4096 * 1024);
    t.block_linear = false;
    EXPECT_EQ(texel_address(t, 3, 2, 0), 0x2000u + 2 * 4096 + 12);
}

TEST(Sample, GatherAndCube) {
    Image image;
    Sample four = gather(image.texture, image.host(), 0, {.at = {1, 1, 0}});   // texels 0 1 above 10 11
    EXPECT_EQ(std::bit_cast<float>(four.value[0]), 10);
    EXPECT_EQ(std::bit_cast<float>(four.value[1]), 11);
    EXPECT_EQ(std::bit_cast<float>(four.value[2]), 1);
    EXPECT_EQ(std::bit_cast<float>(four.value[3]), 0);
    float s, t;
    EXPECT_EQ(cube_face(2, 0, 0, s, t), 0u);
    EXPECT_EQ(s, 0.5f);
    EXPECT_EQ(cube_face(0, -3, 1.5f, s, t), 3u);
    EXPECT_EQ(t, 0.25f);                       // t = -z / 3 = -0.5 → 0.25
    EXPECT_EQ(cube_face(1, 1, -4, s, t), 5u);
    EXPECT_EQ(s, 0.375f);                      // s = -x / 4
}

}  // namespace
}  // namespace lanescope::exec
