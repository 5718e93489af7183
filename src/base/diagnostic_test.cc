#include "base/diagnostic.h"

#include <gtest/gtest.h>

namespace lanescope::base {
namespace {

TEST(Diagnostic, PrintsPlaceLineAndCaret) {
    const Diagnostic diagnostic = error("unknown type '.f23'", {"k.ptx", 12, 7}, "  add.f23 %f1, %f2, %f3;");
    EXPECT_EQ(to_string(diagnostic),
              "k.ptx:12:7: error: unknown type '.f23'\n"
              "  add.f23 %f1, %f2, %f3;\n"
              "      ^");
}

TEST(Diagnostic, OmitsWhatIsUnknown) {
    EXPECT_EQ(to_string(error("no such file", {"a.cu", 0, 0})), "a.cu: error: no such file");
    EXPECT_EQ(to_string(error("out of memory")), "error: out of memory");
}

TEST(Diagnostic, CaretStandsUnderTabsAndEscapes) {
    // A tab is one space, a control character four: "\x1b" before column 3.
    EXPECT_EQ(to_string(error("bad", {"f", 1, 3}, "\t\x1bX")), "f:1:3: error: bad\n \\x1bX\n     ^");
}

TEST(Diagnostic, ShowsOfALongLineWhatIsAroundThePlace) {
    // 100 columns before the place and as many from it on.
    const std::string line = std::string(500, 'a') + "B" + std::string(500, 'c');
    EXPECT_EQ(to_string(error("bad", {"f", 1, 501}, line)), "f:1:501: error: bad\n" + std::string(100, 'a') + "B" + std::string(99, 'c') + "\n" + std::string(100, ' ') + "^");
    EXPECT_EQ(to_string(error("bad", {"f", 1, 1}, line)), "f:1:1: error: bad\n" + line.substr(0, 200) + "\n^");
}

TEST(Printable, LetsNoControlSequenceThrough) {
    EXPECT_EQ(printable("\x1b[31mred"), "\\x1b[31mred");
    EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");  // C1 control sequence introducer in UTF-8
    EXPECT_EQ(printable("\xff"), "\\xff");
    EXPECT_EQ(printable("\x7f"), "\\x7f");
    EXPECT_EQ(printable("a\u202eb"), "a\\xe2\\x80\\xaeb");   // what follows would be shown from right to left
    EXPECT_EQ(printable("\u2066\u2026"), "\\xe2\\x81\\xa6\u2026");
    EXPECT_EQ(printable("Grüße, 世界"), "Grüße, 世界");
}

TEST(Result, HoldsValueOrErrors) {
    Result<int> good = 3;
    Result<int> bad = error("why");
    EXPECT_TRUE(good.ok());
    EXPECT_EQ(*good, 3);
    ASSERT_FALSE(bad.ok());
    EXPECT_EQ(bad.errors().size(), 1u);
}

}  // namespace
}  // namespace lanescope::base
