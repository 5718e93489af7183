#include "gpu/clusters.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lanescope::gpu {
namespace {

/// How many SMs of each cluster get one of `blocks` blocks.
std::vector<uint32_t> share(const Clusters& clusters, uint32_t blocks) {
    std::vector<uint32_t> out(*std::max_element(clusters.of_sm.begin(), clusters.of_sm.end()) + 1);
    for (size_t sm = 0; sm < clusters.rank.size(); ++sm) out[clusters.of_sm[sm]] += clusters.rank[sm] < blocks;
    return out;
}

// Blocks that wrote down their SM: of 66 TPCs in 8 clusters two have nine; half of one cluster is filled first, the others get one block after the other.
TEST(Clusters, AsRecordedOnAnH200) {
    const Clusters h200 = clusters(*load("h200"));
    EXPECT_EQ(share(h200, 132), (std::vector<uint32_t>{16, 16, 16, 16, 18, 18, 16, 16}));
    EXPECT_EQ(share(h200, 8), (std::vector<uint32_t>{8, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(share(h200, 16), (std::vector<uint32_t>{9, 1, 1, 1, 1, 1, 1, 1}));
    EXPECT_EQ(share(h200, 32), (std::vector<uint32_t>{11, 3, 3, 3, 3, 3, 3, 3}));
    EXPECT_EQ(share(h200, 68), (std::vector<uint32_t>{12, 8, 8, 8, 8, 8, 8, 8}));
    EXPECT_EQ(share(h200, 76), (std::vector<uint32_t>{13, 9, 9, 9, 9, 9, 9, 9}));
    EXPECT_EQ(share(h200, 128), (std::vector<uint32_t>{16, 16, 16, 16, 16, 16, 16, 16}));
    EXPECT_EQ(h200.of_sm[7], 0u);
    EXPECT_EQ(h200.of_sm[8], 1u);
    EXPECT_EQ(h200.of_sm[131], 0u);
    // Two blocks come to two TPCs.
    EXPECT_EQ(h200.rank[0], 0u);
    EXPECT_EQ(h200.rank[2], 1u);
    EXPECT_EQ(h200.rank[1], 4u);
}

TEST(Clusters, SmsThatDoNotDivide) {
    Description gpu;
    gpu.sms = 7;
    gpu.gpcs = 2;
    gpu.sms_per_tpc = 2;                                    // four TPCs, the last of one SM
    EXPECT_EQ(clusters(gpu).of_sm, (std::vector<uint32_t>{0, 0, 0, 0, 1, 1, 1}));
    EXPECT_EQ(clusters(gpu).rank, (std::vector<uint32_t>{0, 4, 2, 6, 1, 5, 3}));
    gpu.gpcs = 0;                                           // not known
    EXPECT_EQ(share(clusters(gpu), 7), std::vector<uint32_t>{7});
}

}  // namespace
}  // namespace lanescope::gpu
