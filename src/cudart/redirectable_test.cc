#include "cudart/redirectable.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "base/file.h"

namespace lanescope::cudart {
namespace {

/// An ELF file with a section .nv_fatbin of `code` and a dynamic section that needs `library`.
std::string program(const std::string& code, const std::string& library) {
    const std::string names("\0.nv_fatbin\0.dynamic\0.dynstr\0.shstrtab\0", 40), strings = std::string(1, '\0') + library + std::string(1, '\0');
    Elf64_Dyn dynamic[2]{};
    dynamic[0].d_tag = DT_NEEDED;
    dynamic[0].d_un.d_val = 1;
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_shoff = sizeof header;
    header.e_shnum = 5;
    header.e_shstrndx = 4;
    Elf64_Shdr sections[5]{};
    uint64_t at = sizeof header + sizeof sections;
    auto place = [&](int i, uint32_t name, uint32_t type, uint64_t size) {
        sections[i].sh_name = name;
        sections[i].sh_type = type;
        sections[i].sh_offset = at;
        sections[i].sh_size = size;
        at += size;
    };
    place(1, 1, SHT_PROGBITS, code.size());
    place(2, 12, SHT_DYNAMIC, sizeof dynamic);
    place(3, 21, SHT_STRTAB, strings.size());
    place(4, 29, SHT_STRTAB, names.size());
    sections[2].sh_link = 3;
    auto bytes = [](const auto& object) { return std::string(reinterpret_cast<const char*>(&object), sizeof object); };
    return bytes(header) + bytes(sections) + code + bytes(dynamic) + strings + names;
}

class Redirectable : public testing::Test {
protected:
    void TearDown() override { std::filesystem::remove(path_); }
    std::optional<std::string> why(const std::string& bytes) {
        EXPECT_TRUE(base::write_file(path_, bytes));
        return why_not_redirectable(path_);
    }
    std::string container(const char* kind) {
        auto bytes = base::read_file(std::string(LANESCOPE_SOURCE_DIR) + "/tests/fuzz/corpus/fatbin_fuzz/small_" + kind + ".fatbin");
        return bytes ? *bytes : std::string();
    }
    std::filesystem::path path_ = std::filesystem::path(testing::TempDir()) / ("redirectable_test_" + std::to_string(::getpid()));
};

TEST_F(Redirectable, TheSharedRuntimeAndPtxAreFine) {
    EXPECT_EQ(why(program(container("zstd"), "libcudart.so.13")), std::nullopt);
    EXPECT_EQ(why(program(container("raw"), "libcudart.so.11.0")), std::nullopt);
    EXPECT_EQ(why("#!/bin/sh\nexec ./program\n"), std::nullopt);   // what it starts may be
}

TEST_F(Redirectable, TheStaticRuntimeIsRefusedWithTheFlagsThatHelp) {
    std::optional<std::string> reason = why(program(container("zstd"), "libc.so.6"));
    ASSERT_TRUE(reason);
    EXPECT_THAT(*reason, testing::HasSubstr("static CUDA runtime"));
    EXPECT_THAT(*reason, testing::HasSubstr("-cudart shared -gencode arch=compute_75,code=compute_75"));
}

TEST_F(Redirectable, MachineCodeAloneIsRefused) {
    std::string code = container("raw");
    code.at(16) = 2;   // the kind of its one image, after the container's header of 16 bytes: machine code
    std::optional<std::string> reason = why(program(code, "libcudart.so.13"));
    ASSERT_TRUE(reason);
    EXPECT_THAT(*reason, testing::HasSubstr("no PTX"));
}

TEST_F(Redirectable, AProgramWithoutKernelsIsFine) {
    const std::string empty("\x50\xed\x55\xba\x01\0\x10\0\0\0\0\0\0\0\0\0", 16);   // a container without images
    EXPECT_EQ(why(program(empty, "libcudart.so.13")), std::nullopt);
    EXPECT_EQ(why(program(empty, "libcuda.so.1")), std::nullopt);   // it loads them through the driver
    EXPECT_TRUE(why(program(empty, "libc.so.6")));
}

}  // namespace
}  // namespace lanescope::cudart
