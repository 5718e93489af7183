#include "emulator/accounting.h"

#include <gtest/gtest.h>

namespace lanescope::emulator {
namespace {

TEST(Frames, FollowTheChainOutwards) {
    ptx::Module module;
    module.files = {"", "inner.h", "outer.cu"};
    module.locations = {{.file = 2, .line = 10}, {.file = 1, .line = 5, .function = "_Z5innerf", .inlined_at = 0}};
    std::vector<profile::Frame> chain = frames(module, 1);
    ASSERT_EQ(chain.size(), 2u);
    EXPECT_EQ(chain[0], (profile::Frame{"inner.h", 5, "inner(float)"}));
    EXPECT_EQ(chain[1].file, "outer.cu");
    EXPECT_EQ(chain[1].line, 10u);
    EXPECT_TRUE(frames(module, ptx::kNone).empty());
}

}  // namespace
}  // namespace lanescope::emulator
