#include "ptx/opcode.h"

#include <gtest/gtest.h>

#include <set>

#include "ptx/module.h"

namespace lanescope::ptx {
namespace {

TEST(Opcode, TablesHoldEachWordOnce) {
    std::set<std::string_view> words;
    for (unsigned i = 0; i < kOpcodes; ++i) words.insert(to_string(Opcode(i)));
    EXPECT_EQ(words.size(), kOpcodes);
    words.clear();
    for (unsigned i = 0; i < kSuffixes; ++i) words.insert(to_string(Suffix(i)));
    EXPECT_EQ(words.size(), kSuffixes);
    words.clear();
    for (unsigned i = 0; i < kSpecialRegisters; ++i) words.insert(to_string(SpecialRegister(i)));
    EXPECT_EQ(words.size(), kSpecialRegisters);
}

TEST(Opcode, EveryRowIsFoundByItsText) {
    for (unsigned i = 0; i < kOpcodes; ++i) {
        const auto match = find_opcode(to_string(Opcode(i)));
        ASSERT_TRUE(match);
        EXPECT_EQ(match->opcode, Opcode(i));
        EXPECT_EQ(match->length, to_string(Opcode(i)).size());
    }
    for (unsigned i = 0; i < kSuffixes; ++i) EXPECT_EQ(find_suffix(to_string(Suffix(i))), Suffix(i));
    for (unsigned i = 0; i < kSpecialRegisters; ++i) EXPECT_EQ(find_special_register(to_string(SpecialRegister(i))), SpecialRegister(i));
}

TEST(Opcode, LongestMnemonicWins) {
    // `cp.async.bulk.tensor` is an instruction of its own, `.2d` a suffix of it.
    const auto tensor = find_opcode("cp.async.bulk.tensor.2d.shared::cluster.global");
    ASSERT_TRUE(tensor);
    EXPECT_EQ(tensor->opcode, Opcode::kCpAsyncBulkTensor);
    EXPECT_EQ(tensor->length, std::string_view("cp.async.bulk.tensor").size());
    EXPECT_EQ(find_opcode("cp.async.ca.shared.global")->opcode, Opcode::kCpAsync);
    EXPECT_EQ(find_opcode("bar.warp.sync")->opcode, Opcode::kBarWarpSync);
    EXPECT_EQ(find_opcode("bar.sync")->opcode, Opcode::kBar);
    EXPECT_FALSE(find_opcode("barx.sync"));  // whole words only
    EXPECT_FALSE(find_opcode(""));
}

TEST(Opcode, SuffixesNameTypesAndSpaces) {
    EXPECT_EQ(type_of(Suffix::kF16x2), Type::kF16x2);
    EXPECT_EQ(type_of(Suffix::kSat), Type::kNone);
    EXPECT_EQ(space_of(Suffix::kSharedCluster), Space::kShared);
    EXPECT_EQ(space_of(Suffix::kParamEntry), Space::kParam);
    EXPECT_EQ(space_of(Suffix::kF32), Space::kGeneric);
    EXPECT_EQ(type_of(SpecialRegister::kClock64), Type::kU64);
    EXPECT_EQ(vector_of(SpecialRegister::kTid), 4u);
    EXPECT_EQ(vector_of(SpecialRegister::kTidX), 1u);
}

TEST(Type, EveryTypeHasANameAndASize) {
    for (unsigned i = 1; i <= unsigned(Type::kSurfref); ++i) {
        EXPECT_NE(to_string(Type(i)), "?") << i;
        EXPECT_GT(bits(Type(i)), 0u) << to_string(Type(i));
    }
    EXPECT_EQ(bits(Type::kE2m1x4), 16u);  // four times four bits
    EXPECT_EQ(bits(Type::kE3m2x4), 32u);  // 6-bit formats take a byte each
}

TEST(Component, CodesAndNamesAreInverse) {
    for (const char* name : {"x", "w", "b0", "b3", "h0", "h1", "h10", "h32", "b10", "b210", "b3210", "b7654"}) {
        const uint16_t code = component(name);
        EXPECT_NE(code, 0) << name;
        EXPECT_EQ(component_name(code), name);
    }
    EXPECT_EQ(component("x"), 1);
    EXPECT_EQ(component("h1"), 10);
    EXPECT_EQ(component("h32"), kHalfSelector | 3 << 3 | 2);
    EXPECT_EQ(component("b7654"), kByteSelector | 2 << 12 | 7 << 9 | 6 << 6 | 5 << 3 | 4);
    for (const char* name : {"", "v", "b4", "h2", "h40", "b98", "h321", "b76543", "xx"}) EXPECT_EQ(component(name), 0) << name;
}

}  // namespace
}  // namespace lanescope::ptx
