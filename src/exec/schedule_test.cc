#include "exec/schedule.h"

#include <gmock/gmock.h>

#include "exec/exec_testing.h"

namespace lanescope::exec {
namespace {

using testing::ElementsAre;

std::vector<uint32_t> order_of(const std::string& body) {
    const auto parsed = ptx::parse(kPtxHeader + ".visible .entry k(.param .u64 p) { .reg .b32 %r<20>; .reg .b64 %rd<20>;\n" + body + "}\n", "test.ptx");
    if (!parsed.ok()) {
        ADD_FAILURE() << base::to_string(parsed.errors());
        return {};
    }
    const ptx::Function& function = parsed->functions[0];
    return schedule(function, Flow(function));
}

TEST(Schedule, LoadsOvertakeTheUseOfEarlierLoads) {
    EXPECT_THAT(order_of(R"(
        ld.global.u32 %r1, [%rd1];
        st.shared.u32 [%r9], %r1;
        add.s64 %rd2, %rd1, 4;
        ld.global.u32 %r2, [%rd2];
        st.shared.u32 [%r9+4], %r2;
        ret;)"), ElementsAre(0, 2, 3, 1, 4, 5));
}

TEST(Schedule, MemoryThatMayBeTheSameKeepsItsOrder) {
    // A load behind a store through another pointer stays; one of the same base and another offset does not.
    EXPECT_THAT(order_of("ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd2], %r1; ld.global.u32 %r2, [%rd3]; ret;"), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(order_of("ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd1], %r1; ld.global.u32 %r2, [%rd1+4]; ret;"), ElementsAre(0, 2, 1, 3));
    EXPECT_THAT(order_of("ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd2], %r1; ld.global.nc.u32 %r2, [%rd3]; ret;"), ElementsAre(0, 2, 1, 3));
}

TEST(Schedule, BarriersAndRegistersKeepTheirOrder) {
    EXPECT_THAT(order_of("ld.global.u32 %r1, [%rd1]; add.u32 %r2, %r1, 1; bar.sync 0; ld.global.u32 %r3, [%rd1]; ret;"), ElementsAre(0, 1, 2, 3, 4));
    // %r1 is written again: the second load must come after its first reader.
    EXPECT_THAT(order_of("ld.global.u32 %r1, [%rd1]; add.u32 %r2, %r1, 1; ld.global.u32 %r1, [%rd1+4]; ret;"), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(order_of("ld.global.u32 %r1, [%rd1]; add.cc.u32 %r2, %r1, 1; addc.u32 %r3, %r4, 0; ret;"), ElementsAre(0, 1, 2, 3));
}

}  // namespace
}  // namespace lanescope::exec
