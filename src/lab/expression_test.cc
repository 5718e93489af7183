#include "lab/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lanescope::lab {
namespace {

Data data() {
    Data d;
    d.cases = {{{"case", "add"}, {"offset", 0.0}, {"run", "l1_on"}, {"ld", 4.0}, {"us", 10.0}},
               {{"case", "add"}, {"offset", 1.0}, {"run", "l1_on"}, {"ld", 5.0}, {"us", 11.0}},
               {{"case", "add"}, {"offset", 7.0}, {"run", "l1_on"}, {"ld", 5.0}, {"us", 12.0}},
               {{"case", "peak"}, {"gbs", 240.48}}};
    d.faults = {{{"kind", "race"}, {"line", 8.0}, {"text", "total += 2;"}}};
    d.gpu = {{"sms", 132.0}, {"name", "h200"}};
    return d;
}

/// "yes", "no", or the reason for neither.
std::string decide(std::string_view text) {
    const auto expression = Expression::parse(text);
    if (!expression) return base::to_string(expression.errors());
    const auto outcome = expression->decide(data());
    return !outcome.holds ? outcome.reason : *outcome.holds ? "yes" : "no";
}

TEST(Expression, SelectsByNumberRangeWordAndAlternatives) {
    EXPECT_EQ(decide("ld[offset=0] == 4"), "yes");
    EXPECT_EQ(decide("ld[offset=1..7] == 5"), "yes");          // both rows
    EXPECT_EQ(decide("ld[offset=0..7] == 5"), "no");           // 4 is one of them
    EXPECT_EQ(decide("ld[offset=1|7, run=l1_on] == 5"), "yes");
    EXPECT_EQ(decide("ld[run=l1_off] == 5"), "nothing matches the selection of 'ld'");
    EXPECT_EQ(decide("gbs[case=peak] * 2 == 480.96"), "yes");
    EXPECT_EQ(decide("gpu.sms == 132"), "yes");
}

TEST(Expression, ComparesElementByElementAndInChains) {
    EXPECT_EQ(decide("10 <= us[case=add] <= 12"), "yes");
    EXPECT_EQ(decide("10 < us[case=add] <= 12"), "no");        // the first is exactly 10
    EXPECT_EQ(decide("us[offset=1] / us[offset=0] == 1.1"), "yes");
    EXPECT_EQ(decide("us[case=add] / us[offset=0] >= 1"), "yes");  // three numbers against one
    EXPECT_EQ(decide("us[offset=0|1] < us[case=add]"), "2 numbers against 3");
    EXPECT_EQ(decide("ld[offset=0] == 4 and ld[offset=1] == 4"), "no");
}

TEST(Expression, FunctionsAndPrecedence) {
    EXPECT_EQ(decide("rising(us[case=add])"), "yes");
    EXPECT_EQ(decide("falling(us[case=add])"), "no");
    EXPECT_EQ(decide("max(ld[case=add]) - min(ld[case=add]) == 1"), "yes");
    EXPECT_EQ(decide("mean(us[case=add]) == 11"), "yes");      // (10 + 11 + 12) / 3
    EXPECT_EQ(decide("2 + 3 * 4 == 14 and (2 + 3) * 4 == 20 and -2 + 3 == 1 and 7 - 2 - 1 == 4"), "yes");
    EXPECT_EQ(decide("count(fault.line[kind=race]) == 1 and count(fault.line[kind=leak]) == 0"), "yes");
    EXPECT_EQ(decide("fault.line[text~total] == 8"), "yes");
}

TEST(Expression, WhatIsNotKnownIsUndecidedAndSaysWhy) {
    EXPECT_EQ(decide("gbs[case=add] > 0"), "'gbs' is not known there");
    EXPECT_EQ(decide("hits > 0"), "'hits' is not known");
    EXPECT_EQ(decide("1 / (ld[offset=0] - 4) == 1"), "a quotient by zero");
    EXPECT_EQ(decide("gpu.name == 1"), "no number 'gpu.name'");
}

TEST(Expression, SyntaxErrorsHaveAColumn) {
    const auto column = [](std::string_view text) { return Expression::parse(text).errors().at(0).place.column; };
    EXPECT_EQ(column("ld[offset] == 4"), 10u);      // '=' or '~' instead of ']'
    EXPECT_EQ(column("ld == "), 7u);
    EXPECT_EQ(column("median(ld) == 4"), 1u);       // unknown function
    EXPECT_EQ(column("ld == 4 )"), 9u);
    EXPECT_EQ(column("ld[a=1..x] == 4"), 10u);
    EXPECT_FALSE(Expression::parse(std::string(1000, '(')).ok());  // no overflow of the stack
}

TEST(Expression, IsANumberOfOneRow) {
    const auto share = Expression::parse("100 * useful / (32 * sectors)");
    ASSERT_TRUE(share.ok());
    EXPECT_FALSE(share->is_comparison());
    EXPECT_DOUBLE_EQ(*share->of({{"useful", 128.0}, {"sectors", 8.0}}), 50);  // 128 of 256 bytes
    EXPECT_EQ(share->of({{"useful", 128.0}}), std::nullopt);
}

}  // namespace
}  // namespace lanescope::lab
