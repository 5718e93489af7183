#include "base/elf.h"

#include <gmock/gmock.h>

#include "base/file.h"

namespace lanescope::base {
namespace {

TEST(Elf, ReadsThisProgram) {
    Result<std::string> self = read_file("/proc/self/exe");
    ASSERT_TRUE(self);
    Result<std::vector<ElfSection>> sections = elf_sections(*self);
    ASSERT_TRUE(sections);
    EXPECT_NE(find_section(*sections, ".text"), nullptr);
    EXPECT_EQ(find_section(*sections, ".nv_fatbin"), nullptr);
    EXPECT_THAT(elf_needed_libraries(*sections), testing::Contains(testing::StartsWith("libc.so")));
    EXPECT_THAT(elf_symbol_names(*sections), testing::Contains("main"));
}

TEST(Elf, RefusesWhatIsNoneAndWhatIsCut) {
    EXPECT_EQ(elf_sections("#!/bin/sh").errors()[0].message, "not an ELF file");
    Result<std::string> self = read_file("/proc/self/exe");
    ASSERT_TRUE(self);
    // The section headers stand at the end of what ld writes: without its last byte the last header is cut.
    EXPECT_THAT(elf_sections(std::string_view(*self).substr(0, self->size() - 1)).errors()[0].message, testing::HasSubstr("outside the file"));
    std::string small = self->substr(0, 64);
    EXPECT_THAT(elf_sections(small).errors()[0].message, testing::HasSubstr("section header 0 lies outside"));
    small[4] = 1;  // 32 bit
    EXPECT_EQ(elf_sections(small).errors()[0].message, "not a 64-bit little-endian ELF file");
}

}  // namespace
}  // namespace lanescope::base
