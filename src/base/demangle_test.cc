#include "base/demangle.h"

#include <gtest/gtest.h>

namespace lanescope::base {
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

}  // namespace
}  // namespace lanescope::base
