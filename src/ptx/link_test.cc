#include "ptx/link.h"

#include <gtest/gtest.h>

#include "ptx/lookup.h"
#include "ptx/parser.h"
#include "ptx/printer.h"

namespace lanescope::ptx {
namespace {

Module unit(std::string name, std::string_view text) {
    auto module = parse(".version 8.0\n.target sm_80\n.address_size 64\n" + std::string(text), std::move(name));
    EXPECT_TRUE(module.ok()) << base::to_string(module.errors());
    return *std::move(module);
}

const char* const kMain = R"(.extern .func (.param .b32 r) helper(.param .b32 a);
.extern .global .align 4 .u32 counter;
.global .u32 hidden = 1;
.visible .entry kernel()
{
    .reg .b32 %r<3>;
    .param .b32 p;
    .param .b32 q;
    .loc 1 5 3
    ld.global.u32 %r1, [counter];
    ld.global.u32 %r2, [hidden];
    st.param.b32 [p], %r1;
    call (q), helper, (p);
    ret;
}
.file 1 "main.cu"
)";
const char* const kHelper = R"(.global .u32 hidden = 2;
.visible .global .align 4 .u32 counter = 7;
.visible .func (.param .b32 r) helper(.param .b32 a)
{
    .reg .b32 %r<3>;
    .loc 1 9 1
    ld.global.u32 %r1, [hidden];
    st.param.b32 [r], %r1;
    ret;
}
.file 1 "helper.cu"
.file 2 "main.cu"
)";

TEST(Link, ExternsFindTheirDefinitions) {
    const auto linked = link({unit("main.ptx", kMain), unit("helper.ptx", kHelper)});
    ASSERT_TRUE(linked.ok()) << base::to_string(linked.errors());
    ASSERT_EQ(linked->functions.size(), 2u);
    EXPECT_TRUE(find_function(*linked, "helper")->defined);
    const Variable* counter = find_variable(*linked, "counter");
    EXPECT_EQ(counter->linkage, Linkage::kVisible);
    EXPECT_EQ(counter->initializer[0], 7);
    const Function& kernel = *find_function(*linked, "kernel");
    EXPECT_EQ(&linked->variables[kernel.body[0].operands[1].elements[0].index], counter);
    EXPECT_EQ(&linked->functions[kernel.body[3].operands[1].index], find_function(*linked, "helper"));
}

TEST(Link, NamesWithoutLinkageStayApart) {
    const auto linked = link({unit("main.ptx", kMain), unit("helper.ptx", kHelper)});
    ASSERT_TRUE(linked.ok());
    const auto value_read_by = [&](std::string_view function, size_t instruction) {
        const Operand& base = find_function(*linked, function)->body[instruction].operands[1].elements[0];
        return linked->variables[base.index].initializer[0];
    };
    EXPECT_EQ(value_read_by("kernel", 1), 1);
    EXPECT_EQ(value_read_by("helper", 0), 2);
    EXPECT_TRUE(parse(print(*linked), "linked").ok());  // so the names must differ
}

TEST(Link, LocationsPointIntoOneListOfFiles) {
    const auto linked = link({unit("main.ptx", kMain), unit("helper.ptx", kHelper)});
    ASSERT_TRUE(linked.ok());
    const auto frame = [&](std::string_view function) {
        return source_frames(*linked, find_function(*linked, function)->body[0].location).at(0);
    };
    EXPECT_EQ(frame("kernel").file, "main.cu");
    EXPECT_EQ(frame("helper").file, "helper.cu");
    EXPECT_EQ(frame("helper").line, 9u);
    EXPECT_EQ(std::count(linked->files.begin(), linked->files.end(), "main.cu"), 1);
}

TEST(Link, MissingDefinitionsNameUseAndDeclaration) {
    const auto linked = link({unit("main.ptx", kMain)});
    ASSERT_FALSE(linked.ok());
    ASSERT_EQ(linked.errors().size(), 4u);
    EXPECT_EQ(base::to_string(linked.errors()[0]), "main.ptx:13:5: error: 'counter' is used but defined nowhere");
    EXPECT_EQ(base::to_string(linked.errors()[1]), "main.ptx:5:31: note: declared here");
    EXPECT_EQ(base::to_string(linked.errors()[2]), "main.ptx:16:5: error: 'helper' is used but defined nowhere");
    EXPECT_EQ(base::to_string(linked.errors()[3]), "main.ptx:4:31: note: declared here");
}

TEST(Link, TwoDefinitionsAreAnErrorNamingBoth) {
    const auto linked = link({unit("a.ptx", ".visible .global .u32 x = 1;"), unit("b.ptx", "\n.visible .global .u32 x = 2;")});
    ASSERT_FALSE(linked.ok());
    EXPECT_EQ(base::to_string(linked.errors()), "b.ptx:5:23: error: 'x' is defined twice\na.ptx:4:23: note: first defined here");
}

TEST(Link, DeclarationsMustFit) {
    EXPECT_FALSE(link({unit("a.ptx", ".extern .global .u64 x;"), unit("b.ptx", ".visible .global .u32 x;")}).ok());
    EXPECT_FALSE(link({unit("a.ptx", ".extern .func f(.param .b64 p);"), unit("b.ptx", ".visible .func f(.param .b32 p) { ret; }")}).ok());
    EXPECT_FALSE(link({unit("a.ptx", ".visible .global .u32 f;"), unit("b.ptx", ".visible .func f { ret; }")}).ok());
    EXPECT_TRUE(link({unit("a.ptx", ".extern .global .b8 x[];"), unit("b.ptx", ".visible .global .b8 x[9];")}).ok());
}

TEST(Link, StrongerDefinitionsWin) {
    const auto linked = link({unit("a.ptx", ".weak .global .u32 x = 1;"), unit("b.ptx", ".visible .global .u32 x = 2;"),
                              unit("c.ptx", ".weak .global .u32 x = 3;")});
    ASSERT_TRUE(linked.ok());
    ASSERT_EQ(linked->variables.size(), 1u);
    EXPECT_EQ(linked->variables[0].initializer[0], 2);
    const auto common = link({unit("a.ptx", ".common .global .b8 x[4];"), unit("b.ptx", ".common .global .b8 x[16];")});
    ASSERT_TRUE(common.ok());
    EXPECT_EQ(common->variables[0].bytes(), 16u);
}

TEST(Link, WhatTheRuntimeProvidesMayStayOpen) {
    EXPECT_TRUE(link({unit("a.ptx", ".extern .func free(.param .b64 p); .entry e() { .param .b64 p; call free, (p); }")}).ok());
    EXPECT_TRUE(link({unit("a.ptx", ".extern .shared .b8 s[]; .entry e() { .reg .b32 r; mov.b32 r, s; }"),
                      unit("b.ptx", ".extern .shared .b8 s[]; .entry f() { .reg .b32 r; mov.b32 r, s; }")})
                    .ok());
    EXPECT_TRUE(is_runtime_function("cudaDeviceSynchronize"));
    EXPECT_FALSE(is_runtime_function("my_function"));
}

}  // namespace
}  // namespace lanescope::ptx
