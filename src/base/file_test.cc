#include "base/file.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace lanescope::base {
namespace {

std::filesystem::path scratch(const char* name) { return std::filesystem::path(::testing::TempDir()) / name; }

TEST(File, WritesAndReadsBack) {
    const auto path = scratch("lanescope-file-test");
    const std::string bytes("a\0b", 3);
    ASSERT_TRUE(write_file(path, bytes).ok());
    const auto read = read_file(path);
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(*read, bytes);
    EXPECT_FALSE(read_file(path, 2).ok()) << "3 bytes are over a limit of 2";
    std::filesystem::remove(path);
}

TEST(File, NamesFileAndReason) {
    const auto read = read_file("/nonexistent/x");
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(to_string(read.errors()), "/nonexistent/x: error: cannot open: No such file or directory");
    EXPECT_FALSE(read_file("/").ok());
    EXPECT_FALSE(write_file("/nonexistent/x", "").ok());
}

TEST(File, FullDiskIsAnError) {
    const auto status = write_file("/dev/full", "x");
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(to_string(status.errors()), "/dev/full: error: cannot write: No space left on device");
}

}  // namespace
}  // namespace lanescope::base
