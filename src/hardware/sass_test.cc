#include "hardware/sass.h"

#include <gtest/gtest.h>

namespace lanescope::hardware {
namespace {

// Machine words and the text that nvdisasm prints for them.
TEST(Sass, TellsSpaceOperationAndWidth) {
    struct Case {
        uint64_t low, high;
        unsigned architecture;
        std::string_view space, operation;
        uint32_t bytes;
    };
    constexpr Case kCases[] = {
        {0x0000000a1a0b7981, 0x000ea2000c1e1900, 90, "global", "load", 4},         // LDG.E
        {0x0000000a1e037981, 0x000ee8000c1e1100, 90, "global", "load", 1},         // LDG.E.U8
        {0x0000000a16047981, 0x000f22000c1e1d00, 90, "global", "load", 16},        // LDG.E.128
        {0x0009600818007986, 0x0083e2000c101b0a, 90, "global", "store", 8},        // STG.E.64
        {0x000000000d087984, 0x000ee80000000a00, 90, "shared", "load", 8},         // LDS.64
        {0x0000000d0a007988, 0x004fe80008000405, 90, "shared", "store", 2},        // STS.U16
        {0x000000040004783b, 0x000e640008000200, 90, "shared", "load", 16},        // LDSM.16.M88.4
        {0x000000000b0e783b, 0x000ee80000000100, 90, "shared", "load", 8},         // LDSM.16.M88.2
        {0x0000000013ff7f8c, 0x000fe2000d800006, 90, "shared", "atomic", 4},       // ATOMS.POPC.INC.32
        {0x0000000401007387, 0x0001e20000100c00, 90, "local", "store", 16},        // STL.128
        {0x00008400ff087b82, 0x000ef00000000a00, 90, "constant", "load", 8},       // LDC.64
        {0x0000040a0c027980, 0x010ee2000c101900, 90, "generic", "load", 4},        // LD.E
        {0x000020140e1079a8, 0x000ee200081ee5c8, 90, "global", "atomic", 8},       // ATOMG.E.ADD.64
        {0x000048040e0473a9, 0x000ee200001ee506, 90, "global", "atomic", 8},       // ATOMG.E.CAS.64
        {0x0000000c180079a6, 0x000fe8000c10ff8a, 90, "global", "reduction", 8},    // REDG.E.ADD.F64
        {0x000000161200798e, 0x0007e8000d10e788, 90, "global", "reduction", 8},    // REDG.E.MAX.S64
        {0x0000000e1c00798e, 0x0001e8000d10eb84, 80, "global", "reduction", 8},    // RED.E.MAX.S64, numbered otherwise on sm_80
        {0x00001c170c1779a8, 0x000ea200081ee7c4, 80, "global", "atomic", 4},       // ATOMG.E.ADD.F32
        {0x00000000020d7fae, 0x0003e2000b901c46, 90, "global", "async_copy", 16},  // LDGSTS.E.BYPASS.128
        {0x0000000002077fae, 0x000fe8000b9a1406, 120, "global", "async_copy", 8},  // LDGSTS.E.64
        {0x200004050c057f60, 0x000f6200099e01ff, 90, "texture", "load", 0},        // TEX.LL
    };
    for (auto& c : kCases) {
        auto found = decode(c.low, c.high, c.architecture);
        ASSERT_TRUE(found) << std::hex << c.low;
        EXPECT_EQ(found->space, c.space) << std::hex << c.low;
        EXPECT_EQ(found->operation, c.operation) << std::hex << c.low;
        EXPECT_EQ(found->bytes, c.bytes) << std::hex << c.low;
    }
}

TEST(Sass, LeavesEverythingElseAlone) {
    EXPECT_FALSE(decode(0x4040000006097421, 0x008fca0000000000, 90));  // FADD
    EXPECT_FALSE(decode(0x0000000300077824, 0x040fe200078e02ff, 90));  // IMAD
    EXPECT_FALSE(decode(0x00000000000079af, 0x000e220000000000, 90));  // LDGDEPBAR
    EXPECT_FALSE(decode(0x000000000000794d, 0x000fea0003800000, 90));  // EXIT
    EXPECT_FALSE(decode(std::string_view("short"), 0, 90));
}

}  // namespace
}  // namespace lanescope::hardware
