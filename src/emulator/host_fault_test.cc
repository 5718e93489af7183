#include "emulator/host_fault.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

namespace lanescope::emulator {
namespace {

TEST(HostFault, IsWrittenBeforeTheProcessDies) {
    std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / ("host_fault_test_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    auto memory = exec::DeviceMemory::create(1 << 30);
    ASSERT_TRUE(memory);
    uint64_t address = (*memory)->allocate(4096)->begin;
    pid_t child = ::fork();
    if (child == 0) {
        ::signal(SIGSEGV, SIG_DFL);   // a sanitizer may have its own
        profile::Profile header;
        header.backend = "emulated";
        header.gpu_name = "h200";
        Journal journal(folder.string(), header);
        watch_host_accesses(memory->get(), &journal);
        *reinterpret_cast<volatile int*>(address + 12) = 1;
        ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    auto profile = read_session(folder.string());
    std::filesystem::remove_all(folder);
    ASSERT_TRUE(profile) << to_string(profile.errors());
    ASSERT_EQ(profile->faults.size(), 1u);
    EXPECT_EQ(profile->faults[0].kind, "host_access");
    EXPECT_THAT(profile->faults[0].message, testing::StartsWith("the host writes to device address 0x"));
    EXPECT_THAT(profile->faults[0].message, testing::HasSubstr("byte 12 of cudaMalloc (4096 bytes)"));
}

}  // namespace
}  // namespace lanescope::emulator
