#include "ptx/line_table.h"

#include <gtest/gtest.h>

#include "ptx/lookup.h"
#include "ptx/parser.h"
#include "ptx/printer.h"

namespace lanescope::ptx {
namespace {

constexpr std::string_view kText = R"(.version 8.0
.target sm_80
.address_size 64
.entry kernel()
{
    .loc 1 10 0
    .loc 1 12 5
    exit;
    .loc 1 13 7
    .loc 2 3 9, function_name $L__info_string0, inlined_at 1 13 7
    exit;
    .loc 2 8 1, function_name $L__info_string0+2, inlined_at 2 3 9
    exit;
    .loc 1 20 7
    .loc 2 3 9, function_name $L__info_string0, inlined_at 1 20 7
    .loc 2 8 1, function_name $L__info_string0+2, inlined_at 2 3 9
    exit;
    .loc 2 8 1, function_name $L__info_string0, inlined_at 1 99 3
    exit;
}
.entry other()
{
    exit;
    .loc 2 8 1, function_name $L__info_string0, inlined_at 1 12 5
    exit;
}
.file 1 "kernel.cu"
.file 2 "inner.h"
.section .debug_str
{
$L__info_string0:
.b8 97,98,99
.b8 100,0
}
)";

const Module& module() {
    static const Module parsed = *parse(kText, "lines.ptx");
    return parsed;
}

std::string frames(const Function& function, size_t instruction) {
    std::string text;
    for (const SourceFrame& frame : source_frames(module(), function.body[instruction].location))
        text += frame.file + ":" + std::to_string(frame.line) + ":" + std::to_string(frame.column) + "(" + frame.function + ") ";
    return text;
}

TEST(LineTable, InlinedChainsFollowTheNearestEarlierLoc) {
    const Function& kernel = *find_function(module(), "kernel");
    EXPECT_EQ(frames(kernel, 0), "kernel.cu:12:5() ");
    EXPECT_EQ(frames(kernel, 1), "inner.h:3:9(abcd) kernel.cu:13:7() ");
    EXPECT_EQ(frames(kernel, 2), "inner.h:8:1(cd) inner.h:3:9(abcd) kernel.cu:13:7() ");
    // inner.h:3:9 was inlined twice: the second chain must end at line 20, not 13.
    EXPECT_EQ(frames(kernel, 3), "inner.h:8:1(cd) inner.h:3:9(abcd) kernel.cu:20:7() ");
    // No `.loc` for the outer frame: it is still a frame.
    EXPECT_EQ(frames(kernel, 4), "inner.h:8:1(abcd) kernel.cu:99:3() ");
}

TEST(LineTable, ChainsAndPositionsEndWithTheFunction) {
    const Function& other = *find_function(module(), "other");
    EXPECT_EQ(other.body[0].location, kNone);
    EXPECT_EQ(frames(other, 1), "inner.h:8:1(abcd) kernel.cu:12:5() ");
    EXPECT_TRUE(source_frames(module(), kNone).empty());
}

TEST(LineTable, AFunctionStandsWhereItsFirstLocIs) {
    EXPECT_EQ(source_frames(module(), find_function(module(), "kernel")->location).at(0).line, 10u);
    // The first one of `other` is inlined: its outermost frame counts.
    EXPECT_EQ(source_frames(module(), find_function(module(), "other")->location).at(0).line, 12u);
}

TEST(LineTable, PrintingKeepsEveryChain) {
    const auto again = parse(print(module()), "again.ptx");
    ASSERT_TRUE(again.ok()) << base::to_string(again.errors());
    EXPECT_EQ(again->locations, module().locations);
}

TEST(DebugStrings, LabelsAndOffsets) {
    const DebugStrings strings(kText);
    EXPECT_EQ(strings.at("$L__info_string0", 0), "abcd");
    EXPECT_EQ(strings.at("$L__info_string0", 3), "d");
    EXPECT_EQ(strings.at("$L__info_string0", 5), "");
    EXPECT_EQ(strings.at("$L__info_string0", UINT64_MAX), "");
    EXPECT_EQ(strings.at("nothing", 0), "");
}

TEST(DebugStrings, StringsEndWithTheirSection) {
    // The first section's string has no zero and a stray quote: neither may reach into the second section.
    const DebugStrings strings(".section .debug_str {\na: .b8 97,98\n\"}\n.section .debug_str {\nb: .b8 99,0\n}\n");
    EXPECT_EQ(strings.at("a", 0), "ab");
    EXPECT_EQ(strings.at("b", 0), "c");
}

}  // namespace
}  // namespace lanescope::ptx
