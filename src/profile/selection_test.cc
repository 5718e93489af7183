#include "profile/selection.h"

#include <gmock/gmock.h>

namespace lanescope::profile {
namespace {

std::string taken(LaunchFilter filter, std::initializer_list<const char*> symbols) {
    auto selector = LaunchSelector::make(std::move(filter));
    std::string out;
    for (const char* symbol : symbols) out += selector->takes(symbol) ? 'x' : '.';
    return out;
}

TEST(Selection, SkipAndCountAreOfTheLaunchesThatMatch) {
    const auto launches = {"add", "mul", "add", "add", "mul", "add"};
    EXPECT_EQ(taken({}, launches), "xxxxxx");
    EXPECT_EQ(taken({.kernel = "add"}, launches), "x.xx.x");
    EXPECT_EQ(taken({.kernel = "add", .skip = 1, .count = 2}, launches), "..xx..");
    EXPECT_EQ(taken({.skip = 4}, launches), "....xx");
    EXPECT_EQ(taken({.count = 0}, launches), "......");
}

TEST(Selection, NamesAreDemangled) { EXPECT_EQ(taken({.kernel = "^axpy\\(float"}, {"_Z4axpyf", "_Z4axpyd", "saxpy"}), "x.."); }

TEST(Selection, WhatIsNoExpressionIsNamed) {
    const auto selector = LaunchSelector::make({.kernel = "a("});
    ASSERT_FALSE(selector.ok());
    EXPECT_THAT(selector.errors()[0].message, testing::StartsWith("'a(' is not a regular expression: "));
}

}  // namespace
}  // namespace lanescope::profile
