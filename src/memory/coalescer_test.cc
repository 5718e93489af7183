#include "memory/coalescer.h"

#include <gtest/gtest.h>

#include <functional>

namespace lanescope::memory {
namespace {

Footprint touch(uint32_t bytes, const std::function<uint64_t(uint32_t)>& address, uint32_t active = ~0u) {
    uint64_t lanes[kLanes];
    for (uint32_t lane = 0; lane < kLanes; ++lane) lanes[lane] = address(lane);
    Footprint out;
    coalesce(lanes, active, bytes, out);
    return out;
}

struct Expected { uint32_t lines, sectors, ideal, unique; };
void expect(const Footprint& f, Expected e) {
    EXPECT_EQ(f.lines, e.lines);
    EXPECT_EQ(f.sectors, e.sectors);
    EXPECT_EQ(ideal_sectors(f), e.ideal);
    EXPECT_EQ(f.unique_bytes, e.unique);
}

TEST(Coalescer, OffsetFloats) {
    for (uint32_t offset = 0; offset <= 32; ++offset) {
        const Footprint f = touch(4, [&](uint32_t lane) { return 4096 + 4ull * (lane + offset); });
        // 128 bytes from 4 × offset: 4 sectors when that is a multiple of 32 bytes (offset % 8 == 0), else one more;
        // one line only when it is a multiple of 128 bytes.
        expect(f, {offset % 32 == 0 ? 1u : 2u, offset % 8 == 0 ? 4u : 5u, 4, 128});
    }
}

TEST(Coalescer, StridedFloats) {
    // lane i at 4 s i: the span is 4 s 32 bytes, each sector holds 8 / s floats: s = 2 → 8 sectors of 2 lines; s ≥ 8 → a sector each.
    expect(touch(4, [](uint32_t i) { return 8ull * i; }), {2, 8, 4, 128});
    expect(touch(4, [](uint32_t i) { return 12ull * i; }), {3, 12, 4, 128});
    expect(touch(4, [](uint32_t i) { return 28ull * i; }), {7, 28, 4, 128});
    expect(touch(4, [](uint32_t i) { return 32ull * i; }), {8, 32, 4, 128});
    expect(touch(4, [](uint32_t i) { return 128ull * i; }), {32, 32, 4, 128});
    expect(touch(4, [](uint32_t i) { return 1ull << (20 + i); }), {32, 32, 4, 128});
}

TEST(Coalescer, ReversedIsAsGoodAsForward) {
    expect(touch(4, [](uint32_t i) { return 4ull * (31 - i); }), {1, 4, 4, 128});
}

TEST(Coalescer, UniformAndFewLanes) {
    expect(touch(4, [](uint32_t) { return 1000ull; }), {1, 1, 1, 4});
    expect(touch(4, [](uint32_t i) { return 4ull * i; }, 0x00000100), {1, 1, 1, 4});
    expect(touch(4, [](uint32_t i) { return 4ull * i; }, 0x000000ff), {1, 1, 1, 32});      // 8 lanes in one sector
    expect(touch(4, [](uint32_t i) { return 4ull * i; }, 0xaaaaaaaa), {1, 4, 2, 64});      // odd lanes: 64 bytes pack into 2
    // two rows, one word each (matmul's A in 16×16 blocks): ideal is what it needs already
    expect(touch(4, [](uint32_t i) { return i < 16 ? 0ull : 4096ull; }), {2, 2, 2, 8});
}

TEST(Coalescer, Widths) {
    expect(touch(1, [](uint32_t i) { return 64ull + i; }), {1, 1, 1, 32});
    expect(touch(2, [](uint32_t i) { return 2ull * i; }), {1, 2, 2, 64});
    expect(touch(8, [](uint32_t i) { return 8ull * i; }), {2, 8, 8, 256});
    expect(touch(16, [](uint32_t i) { return 16ull * i; }), {4, 16, 16, 512});
    expect(touch(32, [](uint32_t i) { return 32ull * i; }), {8, 32, 32, 1024});
    // one channel of packed RGB: 32 lanes over 94 bytes from 0 → 3 sectors
    expect(touch(1, [](uint32_t i) { return 3ull * i; }), {1, 3, 1, 32});
    // AoS of two doubles, one field: 16-byte stride → 2 lanes a sector
    expect(touch(8, [](uint32_t i) { return 16ull * i; }), {4, 16, 8, 256});
}

TEST(Coalescer, MasksNameTheBytes) {
    const Footprint f = touch(4, [](uint32_t i) { return 112ull + 4 * i; });   // 112 … 239: lines 0 and 1
    ASSERT_EQ(f.lines, 2u);
    EXPECT_EQ(f.parts[0].bytes, (ByteMask{0, 0xffffull << 48}));
    EXPECT_EQ(f.parts[1].bytes, (ByteMask{~0ull, (1ull << 48) - 1}));
    EXPECT_EQ(f.parts[1].bytes.sectors(), 0xfu);
    EXPECT_EQ(f.parts[1].bytes.sector(3), 0xffffu);
}

TEST(Coalescer, FastPathsAgreeWithTheGeneralOne) {
    // Swapping the last two lanes takes the general path; the result may not differ.
    for (uint32_t bytes : {1u, 2u, 4u, 8u, 16u}) {
        for (uint64_t base : {0ull, 16ull, 48ull, 112ull, 128ull}) {
            const Footprint fast = touch(bytes, [&](uint32_t i) { return base + uint64_t(bytes) * i; });
            const Footprint slow = touch(bytes, [&](uint32_t i) { return base + uint64_t(bytes) * (i < 30 ? i : i ^ 1); });
            EXPECT_EQ(fast.lines, slow.lines);
            EXPECT_EQ(fast.sectors, slow.sectors);
            EXPECT_EQ(fast.unique_bytes, slow.unique_bytes);
            for (uint32_t k = 0; k < fast.lines; ++k) EXPECT_EQ(fast.parts[k].bytes, slow.parts[k].bytes);
        }
    }
}

}  // namespace
}  // namespace lanescope::memory
