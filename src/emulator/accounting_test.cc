#include "emulator/accounting.h"

#include <gtest/gtest.h>

namespace lanescope::emulator {
namespace {

TEST(Demangle, PutsConstWherePeopleDo) {
    EXPECT_EQ(demangle("_Z10add_offsetPKfS0_Pfii"), "add_offset(const float*, const float*, float*, int, int)");
    EXPECT_EQ(demangle("_Z1fPKhPKPKc"), "f(const unsigned char*, const char* const*)");
    EXPECT_EQ(demangle("_Z13shared_strideILi32EEvPfi"), "void shared_stride<32>(float*, int)");
    EXPECT_EQ(demangle("_Z1gIKfEvPT_"), "void g<const float>(const float*)");
    EXPECT_EQ(demangle("_Z1hRKSt6vectorIPKfSaIS1_EE"), "h(const std::vector<const float*, std::allocator<const float*> >&)");
    EXPECT_EQ(demangle("plain_c_name"), "plain_c_name");
    EXPECT_EQ(demangle(""), "");
}

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
