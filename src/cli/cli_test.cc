#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstring>

#include "base/file.h"
#include "cli/compile.h"
#include "cli/output.h"
#include "cli/process.h"
#include "cli/ptx_arguments.h"

namespace lanescope::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Words, AreSplitAsAShellWould) {
    EXPECT_THAT(words("-O2  -DN=5"), ElementsAre("-O2", "-DN=5"));
    EXPECT_THAT(words("'-I/a b' \"-DX=\\\"q\\\"\" a\\ b"), ElementsAre("-I/a b", "-DX=\"q\"", "a b"));
    EXPECT_THAT(words("''"), ElementsAre(""));
    EXPECT_THAT(words("$(rm) ;"), ElementsAre("$(rm)", ";")) << "nothing is expanded";
    EXPECT_THAT(words(""), ElementsAre());
}

TEST(Dependencies, OfAMakeRule) {
    EXPECT_THAT(dependencies("prog : a.cu \\\n    /usr/include/b\\ c.h \\\n  d$$.h\n"), ElementsAre("a.cu", "/usr/include/b c.h", "d$.h"));
    EXPECT_THAT(dependencies("nonsense"), ElementsAre());
}

TEST(Architecture, IsTheNewestThatServesTheGpu) {
    const std::string list = "sm_75\nsm_80\nsm_86\nsm_89\nsm_90\nsm_100\nsm_120\n";
    EXPECT_EQ(virtual_architecture(90, list), 90u);
    EXPECT_EQ(virtual_architecture(87, list), 86u);
    EXPECT_EQ(virtual_architecture(37, list), 75u) << "Kepler's rules apply to the same PTX";
    EXPECT_EQ(virtual_architecture(130, list), 120u);
    EXPECT_EQ(virtual_architecture(90, ""), 75u);
}

// --- processes

// A compiler that only its own folder has, as the Python wheels in .cuda/ are: PATH says nothing of its assembler.
TEST(Compiler, ItsAssemblerStandsBesideIt) {
    const auto folder = TemporaryFolder::make();
    ASSERT_TRUE(folder.ok());
    const std::filesystem::path bin = folder->path() / "bin";
    std::filesystem::create_directory(bin);
    const std::string path = ::getenv("PATH") ? ::getenv("PATH") : "";
    ::setenv("PATH", bin.c_str(), 1);
    const auto place = [&](const char* name) {
        ASSERT_TRUE(base::write_file(bin / name, "").ok());
        std::filesystem::permissions(bin / name, std::filesystem::perms::owner_all);
    };
    place("nvcc");
    EXPECT_EQ(find_ptxas(), "");
    place("ptxas");
    EXPECT_EQ(find_ptxas(), (bin / "ptxas").string());
    ::setenv("LANESCOPE_PTXAS", "none", 1);
    EXPECT_EQ(find_ptxas(), "none");
    ::unsetenv("LANESCOPE_PTXAS");
    ::setenv("PATH", path.c_str(), 1);
}

TEST(Process, StatusesPassThrough) {
    EXPECT_EQ(*run({{"true"}, {}, false}), 0);
    EXPECT_EQ(*run({{"sh", "-c", "exit 7"}, {}, false}), 7);
    EXPECT_EQ(*run({{"sh", "-c", "kill -SEGV $$"}, {}, false}), 128 + SIGSEGV);
    EXPECT_EQ(*run({{"sh", "-c", "kill -KILL $$"}, {}, false}), 128 + SIGKILL);
}

TEST(Process, EnvironmentIsAddedAndReplaced) {
    ::setenv("LANESCOPE_TEST_A", "old", 1);
    EXPECT_EQ(*run({{"sh", "-c", "test \"$LANESCOPE_TEST_A$LANESCOPE_TEST_B\" = newb"}, {{"LANESCOPE_TEST_A", "new"}, {"LANESCOPE_TEST_B", "b"}}, false}), 0);
    ::unsetenv("LANESCOPE_TEST_A");
}

TEST(Process, ArgumentsMeetNoShell) {
    const auto text = output_of({"printf", "%s|", "$(id)", "a b", "*", ";exit 1"});
    ASSERT_TRUE(text.ok());
    EXPECT_EQ(*text, "$(id)|a b|*|;exit 1|");
}

TEST(Process, WhatCannotBeStartedIsNamed) {
    const auto status = run({{"/no/such/program"}, {}, false});
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(base::to_string(status.errors()), "error: cannot start '/no/such/program': No such file or directory");
    EXPECT_FALSE(output_of({"false"}).ok());
}

// A SIGTERM that is sent to us alone ends the child, and we live to report: 128 + 15.
TEST(Process, SignalsAreHandedOn) {
    EXPECT_EQ(*run({{"sh", "-c", "kill -TERM $PPID; sleep 10"}, {}, false}), 128 + SIGTERM);
}

TEST(TemporaryFolders, AreRemoved) {
    std::filesystem::path path;
    {
        const auto folder = TemporaryFolder::make();
        ASSERT_TRUE(folder.ok());
        path = folder->path();
        ASSERT_TRUE(base::write_file(path / "a", "x").ok());
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

// --- how a terminal wants it

TEST(Style, FollowsTheEnvironment) {
    ::setenv("COLUMNS", "133", 1);
    ::setenv("LC_ALL", "en_US.ISO-8859-1", 1);
    Outputs outputs;
    EXPECT_EQ(style_for(-1, outputs).width, 133u);
    EXPECT_FALSE(style_for(-1, outputs).unicode);
    EXPECT_FALSE(style_for(-1, outputs).color) << "not a terminal";
    ::unsetenv("COLUMNS");
    ::setenv("LC_ALL", "C", 1);
    EXPECT_EQ(style_for(-1, outputs).width, 80u);
    EXPECT_TRUE(style_for(-1, outputs).unicode);
    outputs.color = "always";
    outputs.width = 99;
    EXPECT_TRUE(style_for(-1, outputs).color);
    EXPECT_EQ(style_for(-1, outputs).width, 99u);
    ::unsetenv("LC_ALL");
}

// --- arguments of a kernel

uint64_t low_bytes(const PtxArgument& argument) {
    uint64_t value = 0;
    std::memcpy(&value, argument.value.data(), argument.value.size());
    return value;
}

TEST(Arguments, Scalars) {
    EXPECT_EQ(parse_argument("i32:-1")->value.size(), 4u);
    EXPECT_EQ(low_bytes(*parse_argument("i32:-1")), 0xffffffffu);
    EXPECT_EQ(low_bytes(*parse_argument("u8:255")), 255u);
    EXPECT_EQ(low_bytes(*parse_argument("b64:0xffffffffffffffff")), ~0ull);
    EXPECT_EQ(low_bytes(*parse_argument("f32:1.5")), 0x3fc00000u);
    EXPECT_EQ(low_bytes(*parse_argument("f64:-2")), 0xc000000000000000u);
    for (const char* bad : {"i32", "i32:", "i32:x", "u8:256", "u8:-1", "i8:128", "i8:-129", "i32: 5", "f32:", "f32:1.5x", "q32:5", "i64:9999999999999999999"})
        EXPECT_FALSE(parse_argument(bad).ok()) << bad;
}

TEST(Arguments, Buffers) {
    EXPECT_EQ(parse_argument("buffer:4096")->buffer_bytes, 4096u);
    EXPECT_EQ(parse_argument("buffer:4M")->buffer_bytes, 4u << 20);
    EXPECT_EQ(parse_argument("buffer:4K:f32")->fill, "f32");
    for (const char* bad : {"buffer:", "buffer:0", "buffer:-1", "buffer:K", "buffer:4T", "buffer:4:ones", "buffer:99999999999999999999", "buffer:17179869184G"})
        EXPECT_FALSE(parse_argument(bad).ok()) << bad;
}

TEST(Arguments, FillingsAreReproducible) {
    std::vector<std::byte> a(16), b(16);
    fill("f32", a.data(), a.size());
    float second = 0;
    std::memcpy(&second, a.data() + 4, 4);
    EXPECT_EQ(second, 1.0f);
    fill("random", a.data(), a.size());
    fill("random", b.data(), b.size());
    EXPECT_EQ(a, b);
    EXPECT_NE(a, std::vector<std::byte>(16));
}

TEST(Dimensions, OfAGrid) {
    EXPECT_THAT(*parse_dimensions("128"), ElementsAre(128, 1, 1));
    EXPECT_THAT(*parse_dimensions("32,8,2"), ElementsAre(32, 8, 2));
    for (const char* bad : {"", "0", "1,", ",1", "1,2,3,4", "1x2", "-1", "4294967296"}) EXPECT_FALSE(parse_dimensions(bad).ok()) << bad;
}

}  // namespace
}  // namespace lanescope::cli
