#include "cudart/redirectable.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "base/elf_test_file.h"
#include "base/file.h"

namespace lanescope::cudart {
namespace {

/// An ELF file with a section .nv_fatbin of `code` and a dynamic section that needs `library`.
std::string program(const std::string& code, const std::string& library) {
    Elf64_Dyn dynamic[2]{};
    dynamic[0].d_tag = DT_NEEDED;
    dynamic[0].d_un.d_val = 1;
    return base::elf_test_file({{".nv_fatbin", SHT_PROGBITS, code},
                                {".dynamic", SHT_DYNAMIC, base::bytes_of(dynamic), 3},
                                {".dynstr", SHT_STRTAB, std::string(1, '\0') + library + std::string(1, '\0')}});
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
    EXPECT_EQ(why(program(empty, "libc.so.6")), std::nullopt);      // that it opens itself
}

TEST_F(Redirectable, TheStaticRuntimeIsKnownWithoutKernelsToo) {
    const std::string text = "CUDA driver version is insufficient for CUDA runtime version";
    EXPECT_TRUE(why(program(text, "libc.so.6")));
    EXPECT_TRUE(why(base::elf_test_file({{".rodata", SHT_PROGBITS, text}})));   // no section of device code either
    EXPECT_EQ(why(base::elf_test_file({{".rodata", SHT_PROGBITS, "CUDA driver"}})), std::nullopt);
}

TEST_F(Redirectable, WhoIsLinkedWithNvrtc) {
    const auto needs = [&](const std::string& library) {
        why(program("", library));
        return needs_nvrtc(path_);
    };
    EXPECT_TRUE(needs("libnvrtc.so.13"));
    EXPECT_FALSE(needs("libcudart.so.13"));
    EXPECT_FALSE(needs_nvrtc(path_.string() + ".absent"));
}

}  // namespace
}  // namespace lanescope::cudart
