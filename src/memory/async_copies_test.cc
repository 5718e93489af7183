#include "memory/async_copies.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>

namespace lanescope::memory {
namespace {

using Pieces = std::pair<std::array<uint64_t, kLanes>, std::array<uint64_t, kLanes>>;

/// `of(lane)`: the piece that it reads and the one it fills, each of `bytes`.
Pieces pieces(uint32_t bytes, auto of) {
    Pieces out;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const auto [from, to] = of(lane);
        out.first[lane] = 0x10000 + uint64_t(from) * bytes;
        out.second[lane] = uint64_t(to) * bytes;
    }
    return out;
}
Wavefronts through_l1(uint32_t bytes, auto of) {
    const Pieces p = pieces(bytes, of);
    return copy_wavefronts(p.first.data(), p.second.data(), ~0u, bytes);
}
struct PastL1 { Wavefronts waves; uint32_t sectors, l2_sectors; };
PastL1 past_l1(auto of) {
    const Pieces p = pieces(16, of);
    Footprint footprint;
    PastL1 out{split_past_l1(p.first.data(), p.second.data(), ~0u, footprint), footprint.sectors, 0};
    for (uint32_t i = 0; i < footprint.lines; ++i) out.l2_sectors += uint32_t(std::popcount(footprint.parts[i].bytes.sectors()));
    return out;
}
using At = std::pair<uint32_t, uint32_t>;

// All values: H200, tests/accuracy/programs/async_probes.cu and texture_probes.cu.
TEST(AsyncCopies, ThroughL1) {
    EXPECT_EQ(through_l1(4, [](uint32_t l) { return At{l, l}; }), (Wavefronts{1, 1}));
    EXPECT_EQ(through_l1(16, [](uint32_t l) { return At{l, l}; }), (Wavefronts{4, 4}));
    EXPECT_EQ(through_l1(4, [](uint32_t l) { return At{l, 8 * l}; }), (Wavefronts{8, 1}));       // eight rows of each bank are written
    EXPECT_EQ(through_l1(4, [](uint32_t l) { return At{8 * l, l}; }), (Wavefronts{8, 1}));       // or read
    EXPECT_EQ(through_l1(8, [](uint32_t l) { return At{l / 2, l}; }), (Wavefronts{4, 2}));       // no lane shares what it reads
    EXPECT_EQ(through_l1(4, [](uint32_t) { return At{0, 0}; }), (Wavefronts{32, 1}));
    // Four lines of eight words; those of the first line go to one bank: a lane that must wait for it keeps its bank from the others.
    EXPECT_EQ(through_l1(4, [](uint32_t l) { return At{l % 4 * 32 + l / 4, l % 4 == 0 ? l / 4 * 32 : l % 4 * 8 + l / 4}; }), (Wavefronts{11, 1}));
    EXPECT_EQ(through_l1(4, [](uint32_t l) { return At{l % 4 * 32 + l / 4, l / 4 * 32 + l % 4}; }), (Wavefronts{11, 1}));
}

TEST(AsyncCopies, PastL1) {
    const auto check = [](auto of, uint32_t passes, uint32_t sectors, uint32_t l2_sectors) {
        const PastL1 got = past_l1(of);
        EXPECT_EQ(got.waves, (Wavefronts{passes, std::min(passes, 4u)}));
        EXPECT_EQ(got.sectors, sectors);
        EXPECT_EQ(got.l2_sectors, l2_sectors);
    };
    check([](uint32_t l) { return At{l, l}; }, 4, 16, 16);
    check([](uint32_t l) { return At{l, l / 8 * 8 + (l % 8 ^ l / 8)}; }, 4, 16, 16);   // swizzled rows: whole sectors move
    check([](uint32_t l) { return At{l, l / 8 * 8 + 7 - l % 8}; }, 4, 16, 16);
    check([](uint32_t l) { return At{l, l + 2}; }, 8, 16, 16);                         // two lines of shared memory each
    check([](uint32_t l) { return At{l, l + 1}; }, 12, 20, 32);                        // halves: lower ones, upper ones, those of the next line
    check([](uint32_t l) { return At{l, l / 8 * 9 + l % 8}; }, 10, 18, 24);            // rows padded by 16 bytes
    check([](uint32_t l) { return At{l, l / 8 * 10 + l % 8}; }, 7, 16, 16);            // by 32
    check([](uint32_t l) { return At{2 * l, l}; }, 32, 16, 32);                        // each half is moved otherwise
}

TEST(AsyncCopies, OnlyActiveLanes) {
    const Pieces p = pieces(16, [](uint32_t l) { return At{l, l}; });
    EXPECT_EQ(copy_wavefronts(p.first.data(), p.second.data(), 0xff, 16), (Wavefronts{1, 1}));
    Footprint footprint;
    EXPECT_EQ(split_past_l1(p.first.data(), p.second.data(), 0x7, footprint), (Wavefronts{1, 1}));
    EXPECT_EQ(footprint.sectors, 2u);
}

}  // namespace
}  // namespace lanescope::memory
