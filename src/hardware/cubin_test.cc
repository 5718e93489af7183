#include "hardware/cubin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "hardware/sass.h"

namespace lanescope::hardware {
namespace {

using testing::ElementsAre;

// tests/hardware/inline.cu, compiled for sm_90 with -lineinfo in /example. The expected chains are what nvdisasm -gi prints.
std::string recorded() {
    auto bytes = base::read_file(LANESCOPE_SOURCE_DIR "/tests/hardware/inline.cubin");
    EXPECT_TRUE(bytes.ok());
    return bytes.ok() ? *bytes : std::string();
}

std::vector<std::string> chain(const Cubin& cubin, const char* symbol, uint64_t pc) {
    std::vector<std::string> out;
    const Cubin::Function* function = cubin.find(symbol);
    if (!function) return {"no such function"};
    for (auto& frame : cubin.frames(*function, pc)) out.push_back(frame.file + ":" + std::to_string(frame.line) + " " + frame.function);
    return out;
}

TEST(Cubin, FindsTheChainOfAnInlinedCall) {
    auto cubin = Cubin::parse(recorded(), "inline.cubin");
    ASSERT_TRUE(cubin.ok());
    // The four loads of outer() stand at 0x90 … 0xc0: leaf() in mid() twice, mid() in outer() twice.
    EXPECT_THAT(chain(*cubin, "_Z5outerPKfPf", 0x90),
                ElementsAre("/example/inline.cu:2 leaf(const float*, int)", "/example/inline.cu:5 mid(const float*, int)",
                            "/example/inline.cu:10 outer(const float*, float*)"));
    EXPECT_THAT(chain(*cubin, "_Z5outerPKfPf", 0xc0),
                ElementsAre("/example/inline.cu:2 leaf(const float*, int)", "/example/inline.cu:6 mid(const float*, int)",
                            "/example/inline.cu:11 outer(const float*, float*)"));
}

TEST(Cubin, KnowsTheLineOfCodeThatIsNotInlined) {
    auto cubin = Cubin::parse(recorded(), "inline.cubin");
    ASSERT_TRUE(cubin.ok());
    EXPECT_THAT(chain(*cubin, "_Z5outerPKfPf", 0x110), ElementsAre("/example/inline.cu:10 outer(const float*, float*)"));
    EXPECT_THAT(chain(*cubin, "_Z5plainPf", 0x40), ElementsAre("/example/inline.cu:13 plain(float*)"));
}

TEST(Cubin, HandsOutTheCodeOfAFunction) {
    auto cubin = Cubin::parse(recorded(), "inline.cubin");
    ASSERT_TRUE(cubin.ok());
    const Cubin::Function* outer = cubin->find("_Z5outerPKfPf");
    ASSERT_NE(outer, nullptr);
    EXPECT_EQ(outer->code.size(), 0x200u);
    size_t loads = 0, stores = 0;
    for (uint64_t pc = 0; pc < outer->code.size(); pc += 16)
        if (auto found = decode(outer->code, pc, 90)) {
            loads += found->space == "global" && found->operation == "load" && found->bytes == 4;
            stores += found->space == "global" && found->operation == "store";
        }
    EXPECT_EQ(loads, 4u);  // p[i], p[i + 64], and the same 1000 further on
    EXPECT_EQ(stores, 1u);
}

TEST(Cubin, RefusesWhatIsNoCubin) {
    EXPECT_FALSE(Cubin::parse("", "x").ok());
    EXPECT_FALSE(Cubin::parse("a text file that is long enough to hold an ELF header, but is none of it at all", "x").ok());
}

// Whatever is cut off or damaged, an answer or an error comes back, never a read past the end (the address sanitizer looks on).
TEST(Cubin, SurvivesDamage) {
    std::string bytes = recorded();
    for (size_t size = 0; size < bytes.size(); size += 37) (void)Cubin::parse(std::string_view(bytes).substr(0, size), "cut");
    for (size_t at = 0; at < bytes.size(); at += 3) {
        std::string damaged = bytes;
        damaged[at] = char(~damaged[at]);
        auto cubin = Cubin::parse(damaged, "damaged");
        if (!cubin) continue;
        for (auto& function : cubin->functions())
            for (uint64_t pc = 0; pc < function.code.size(); pc += 16) (void)cubin->frames(function, pc);
    }
}

}  // namespace
}  // namespace lanescope::hardware
