#include "emulator/cubin.h"

#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>

#include "base/elf_test_file.h"
#include "base/file.h"

namespace lanescope::emulator {
namespace {

/// An ELF file with a section .nv.info of the given bytes and one symbol "kernel" (index 1).
std::string cubin(const std::string& info) {
    Elf64_Sym symbols[2]{};
    symbols[1].st_name = 1;
    return base::elf_test_file({{".nv.info", 0x70000000, info}, {".symtab", SHT_SYMTAB, base::bytes_of(symbols), 3}, {".strtab", SHT_STRTAB, std::string("\0kernel\0", 8)}});
}

std::string record(uint8_t attribute, uint32_t symbol, uint32_t value) {
    std::string out("\x04\0\x08\0", 4);
    out[1] = char(attribute);
    out.append(reinterpret_cast<const char*>(&symbol), 4).append(reinterpret_cast<const char*>(&value), 4);
    return out;
}

TEST(Cubin, ReadsRegistersAndFrame) {
    std::string short_record("\x03\x50\x01\0", 4);  // a record whose value is inside its header
    auto facts = read_cubin(cubin(record(0x2f, 1, 40) + short_record + record(0x12, 1, 7) + record(0x11, 1, 128)));
    ASSERT_TRUE(facts) << to_string(facts.errors());
    ASSERT_TRUE(facts->contains("kernel"));
    EXPECT_EQ(facts->at("kernel").registers, 40u);
    EXPECT_EQ(facts->at("kernel").frame_bytes, 128u);
    EXPECT_EQ(facts->size(), 1u);
}

TEST(Cubin, RefusesWhatIsCut) {
    std::string info = record(0x2f, 1, 40);
    EXPECT_EQ(read_cubin(cubin(info.substr(0, 9))).errors()[0].message, "truncated .nv.info record");
    EXPECT_TRUE(read_cubin(cubin(record(0x2f, 99, 40)))->empty());  // a symbol that is not there
    EXPECT_FALSE(read_cubin("PTX"));
}

/// A stand-in for ptxas: a script that counts its calls and "translates" by copying a prepared cubin.
class FakeAssembler : public testing::Test {
protected:
    void SetUp() override {
        folder_ = std::filesystem::path(testing::TempDir()) / ("cubin_test_" + std::to_string(::getpid()));
        std::filesystem::create_directories(folder_);
        ASSERT_TRUE(base::write_file(folder_ / "made.cubin", cubin(record(0x2f, 1, 24))));
        ASSERT_TRUE(base::write_file(folder_ / "ptxas", "#!/bin/sh\necho x >> " + (folder_ / "calls").string() + "\n[ \"$1\" = -arch=sm_90 ] || exit 1\ncp " +
                                                            (folder_ / "made.cubin").string() + " \"$3\"\n"));
        std::filesystem::permissions(folder_ / "ptxas", std::filesystem::perms::owner_all);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    base::Result<ModuleFacts> run(std::string_view ptx, uint32_t architecture) {
        return assemble(ptx, architecture, false, (folder_ / "ptxas").string(), (folder_ / "cache").string());
    }
    size_t calls() const { return base::read_file(folder_ / "calls")->size() / 2; }
    std::filesystem::path folder_;
};

TEST_F(FakeAssembler, TranslatesEachModuleOnce) {
    EXPECT_EQ(run("one", 90)->at("kernel").registers, 24u);
    EXPECT_EQ(run("one", 90)->at("kernel").registers, 24u);
    EXPECT_EQ(calls(), 1u);
    EXPECT_TRUE(run("two", 90));
    EXPECT_EQ(calls(), 2u);
    EXPECT_THAT(run("one", 37).errors()[0].message, testing::EndsWith("does not translate this module for sm_37"));
}

TEST(Cubin, AnAbsentAssemblerIsAnError) {
    EXPECT_FALSE(assemble("", 90, false, "/nonexistent/ptxas", ""));
    EXPECT_EQ(assemble("", 90, false, "none", "").errors()[0].message, "ptxas is not there");
}

}  // namespace
}  // namespace lanescope::emulator
