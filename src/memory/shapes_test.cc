#include "memory/shapes.h"

#include <gtest/gtest.h>

namespace lanescope::memory {
namespace {

template <class Address>
Shapes of(Address address, uint32_t active = ~0u, uint32_t bytes = 4) {
    uint64_t lanes[32];
    for (uint64_t lane = 0; lane < 32; ++lane) lanes[lane] = (active >> lane & 1) != 0 ? 0x10000 + address(lane) : 0xdead;
    Shapes shapes;
    shapes.add(lanes, active, bytes);
    return shapes;
}

TEST(Shapes, OfFullWarps) {
    EXPECT_EQ(of([](uint64_t) { return 0; }).uniform, 1u);
    EXPECT_EQ(of([](uint64_t lane) { return 4 * lane; }).contiguous, 1u);
    EXPECT_EQ(of([](uint64_t lane) { return 16 * lane; }, ~0u, 16).contiguous, 1u);
    EXPECT_EQ(of([](uint64_t lane) { return 4 * (31 - lane); }).reversed, 1u);
    EXPECT_EQ(of([](uint64_t lane) { return 12 * lane; }).strided, 1u);
    EXPECT_EQ(of([](uint64_t lane) { return 12 * lane; }).stride_bytes, 12u);
    EXPECT_EQ(of([](uint64_t lane) { return 4096 * (31 - lane); }).stride_bytes, 4096u) << "downwards as well";
    EXPECT_EQ(of([](uint64_t lane) { return 4 * (lane * 7919 % 1024); }).irregular, 1u);
    EXPECT_EQ(of([](uint64_t lane) { return 4 * lane; }).partial, 0u);
}

// The fields of records lie at one place of each; a thread that walks its own chunk of 64 bytes is elsewhere each time.
TEST(Shapes, ChunksAreWalked) {
    uint64_t lanes[32];
    Shapes records, chunks;
    for (uint64_t turn = 0; turn < 8; ++turn) {
        for (uint64_t lane = 0; lane < 32; ++lane) lanes[lane] = 0x10000 + 64 * (lane + 32 * turn) + 4;
        records.add(lanes, ~0u, 4);
        for (uint64_t lane = 0; lane < 32; ++lane) lanes[lane] = 0x10000 + 64 * lane + 4 * turn;
        chunks.add(lanes, ~0u, 4);
    }
    EXPECT_EQ(records.strided, 8u);
    EXPECT_EQ(records.walking, 0u);
    EXPECT_EQ(chunks.walking, 7u);
}

// Blocks 16, 8, 4 and 2 threads wide over rows of 4096 bytes; 16 lanes each reading one word of a row.
TEST(Shapes, OfSeveralRows) {
    for (const uint64_t width : {2, 4, 8, 16}) {
        EXPECT_EQ(of([&](uint64_t lane) { return 4096 * (lane / width) + 4 * (lane % width); }).rows, 1u) << width;
        EXPECT_EQ(of([&](uint64_t lane) { return 4096 * (lane / width); }).groups, 1u) << width;
    }
    EXPECT_EQ(of([](uint64_t lane) { return 4096 * (lane / 12) + 4 * (lane % 12); }).irregular, 1u) << "12 lanes a row";
}

TEST(Shapes, OfSomeLanes) {
    EXPECT_EQ(of([](uint64_t) { return 0; }, 1u << 7).single, 1u);
    EXPECT_EQ(of([](uint64_t) { return 0; }, 1u << 7).partial, 1u);
    EXPECT_EQ(of([](uint64_t lane) { return 4 * lane; }, 0x000fffff).contiguous, 1u);
    EXPECT_EQ(of([](uint64_t lane) { return 4 * lane; }, 0xaaaaaaaa).contiguous, 1u) << "the odd lanes stand where contiguous lanes stand";
    EXPECT_EQ(of([](uint64_t lane) { return 4 * (lane / 2); }, 0x55555555).strided, 1u) << "even lanes packed: 2 bytes a lane number";
    EXPECT_EQ(of([](uint64_t lane) { return 4 * lane * lane; }, 0xf0).irregular, 1u);
}

TEST(Shapes, EachRequestIsCountedOnce) {
    uint64_t lanes[32];
    Shapes shapes;
    uint64_t state = 1;
    for (int i = 0; i < 1000; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const uint64_t stride = (state >> 60) * 4;
        for (uint64_t lane = 0; lane < 32; ++lane) lanes[lane] = 0x10000 + stride * lane + ((state >> 33) % 9 == 0 ? 4 * (lane * lane % 5) : 0);
        shapes.add(lanes, uint32_t(state >> 20) | 1, 4);
    }
    EXPECT_EQ(shapes.single + shapes.uniform + shapes.contiguous + shapes.reversed + shapes.strided + shapes.rows + shapes.groups + shapes.irregular, 1000u);
}

}  // namespace
}  // namespace lanescope::memory
