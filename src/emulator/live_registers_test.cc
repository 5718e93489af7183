#include "emulator/live_registers.h"

#include <gtest/gtest.h>

#include "ptx/parser.h"

namespace lanescope::emulator {
namespace {

uint32_t of(const std::string& body) {
    auto module = ptx::parse(".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k() {\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .pred %p<3>;\n" +
                                 body + "\nret;\n}\n",
                             "test.ptx");
    EXPECT_TRUE(module) << to_string(module.errors());
    return module ? live_registers(module->functions[0]) : 0;
}

TEST(LiveRegisters, CountsThirtyTwoBitRegistersAtTheFullestPoint) {
    EXPECT_EQ(of(""), 0u);
    // before the add two 32-bit registers are live, after it one
    EXPECT_EQ(of("mov.u32 %r1, 1; mov.u32 %r2, 2; add.u32 %r3, %r1, %r2; st.global.u32 [%r3], %r3;"), 2u);
    // a 64-bit address (2) and the value (1)
    EXPECT_EQ(of("mov.u64 %rd1, 0; mov.u32 %r1, 5; st.global.u32 [%rd1], %r1;"), 3u);
    // a guarded write may leave %r1 as it was: it is live beside %r3
    EXPECT_EQ(of("mov.u32 %r3, 5; @%p1 mov.u32 %r1, %r3; mov.u32 %r2, %r1;"), 2u);
    EXPECT_EQ(of("mov.u32 %r3, 5; mov.u32 %r1, %r3; mov.u32 %r2, %r1;"), 1u);
}

TEST(LiveRegisters, FollowsLoops) {
    // %r1 is needed in the next round, so it is live over the whole loop together with %r2 and %r3
    EXPECT_EQ(of("mov.u32 %r1, 1; mov.u32 %r2, 0;\nL: mov.u32 %r3, 7; add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r1; setp.lt.u32 %p1, %r2, 100;\n@%p1 bra L;"), 3u);
}

}  // namespace
}  // namespace lanescope::emulator
