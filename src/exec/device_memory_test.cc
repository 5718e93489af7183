#include "exec/device_memory.h"

#include <gmock/gmock.h>

#include <csignal>
#include <cstring>

namespace lanescope::exec {
namespace {

using testing::IsNull;
using testing::NotNull;

std::unique_ptr<DeviceMemory> memory_of(uint64_t capacity) { return std::move(DeviceMemory::create(capacity)).value(); }

TEST(DeviceMemory, TheSameCallsGiveTheSameAlignedAddresses) {
    std::vector<uint64_t> first, second;
    for (std::vector<uint64_t>* addresses : {&first, &second}) {
        const auto memory = memory_of(1 << 20);
        for (const uint64_t bytes : {1, 513, 4096}) addresses->push_back(memory->allocate(bytes)->begin);
    }
    EXPECT_EQ(first, second);
    EXPECT_EQ(first[1] - first[0], 512u);   // 1 byte takes one unit of 512
    EXPECT_EQ(first[2] - first[1], 1024u);  // 513 bytes take two
    EXPECT_EQ(first[0] % 512, 0u);
}

TEST(DeviceMemory, LargeAllocationsBeginAtALargePage) {
    const auto memory = memory_of(16 << 20);
    const uint64_t small = memory->allocate(100)->begin, large = memory->allocate(3 << 20)->begin;
    EXPECT_EQ(large % (2 << 20), 0u);
    EXPECT_EQ(memory->allocate(100)->begin, small + 512);   // what was left out before it is used
    EXPECT_EQ(memory->used(), (3u << 20) + 2 * 512);
}

TEST(DeviceMemory, ReleasedAddressesAreUsedAgainAndReadAsZero) {
    const auto memory = memory_of(1 << 20);
    const uint64_t a = memory->allocate(1000)->begin;
    const uint64_t b = memory->allocate(1000)->begin;
    std::memset(memory->host(a, 1000), 7, 1000);
    EXPECT_TRUE(memory->release(a));
    EXPECT_FALSE(memory->release(a));
    EXPECT_EQ(memory->allocate(1024)->begin, a);
    EXPECT_EQ(*memory->host(a, 1), std::byte{0});
    EXPECT_EQ(memory->allocate(1)->begin, b + 1024);
}

TEST(DeviceMemory, CapacityBounds) {
    const auto memory = memory_of(1 << 20);
    EXPECT_THAT(memory->allocate((1 << 20) + 1), IsNull());
    EXPECT_THAT(memory->allocate(1 << 20), NotNull());
    EXPECT_EQ(memory->used(), 1u << 20);
    EXPECT_THAT(memory->allocate(1), IsNull());
    EXPECT_THAT(memory->allocate(1, Region::kHost), NotNull());  // host memory is not the device's
}

TEST(DeviceMemory, HostPointersStayWithinOneAllocation) {
    const auto memory = memory_of(1 << 20);
    const uint64_t a = memory->allocate(100)->begin;
    EXPECT_THAT(memory->host(a, 100), NotNull());
    EXPECT_THAT(memory->host(a + 96, 4), NotNull());
    EXPECT_THAT(memory->host(a + 97, 4), IsNull());
    EXPECT_THAT(memory->host(a - 1, 1), IsNull());
}

TEST(DeviceMemory, NearestNamesTheAllocationAndTheDistance) {
    const auto memory = memory_of(1 << 20);
    const uint64_t a = memory->allocate(100)->begin;
    const uint64_t b = memory->allocate(100)->begin;  // a + 512
    const Nearest behind = memory->nearest(a + 103);  // bytes 0…99 are a's: 100 is 1 behind, 103 is 4
    EXPECT_EQ(behind.allocation.begin, a);
    EXPECT_EQ(behind.distance, 4u);
    EXPECT_TRUE(behind.after);
    const Nearest before = memory->nearest(b - 8);
    EXPECT_EQ(before.allocation.begin, b);
    EXPECT_EQ(before.distance, 8u);
    EXPECT_FALSE(before.after);
    memory->release(a);
    const Nearest freed = memory->nearest(a + 50);
    EXPECT_TRUE(freed.freed);
    EXPECT_EQ(freed.allocation.id, 1u);
}

TEST(DeviceMemory, FillWritesEachWidthAndGivesMemoryBack) {
    const auto memory = memory_of(64 << 20);
    const uint64_t a = memory->allocate(16 << 20)->begin;
    EXPECT_TRUE(memory->fill(a, 0x12345678, 4, 4 << 20));
    uint32_t value = 0;
    std::memcpy(&value, memory->host(a + (16 << 20) - 4, 4), 4);
    EXPECT_EQ(value, 0x12345678u);
    EXPECT_TRUE(memory->fill(a + 2, 0xabcd, 2, 1));
    std::memcpy(&value, memory->host(a, 4), 4);
    EXPECT_EQ(value, 0xabcd5678u);
    EXPECT_TRUE(memory->fill(a + 4, 0, 1, (16 << 20) - 8));
    std::memcpy(&value, memory->host(a, 4), 4);
    EXPECT_EQ(value, 0xabcd5678u);
    std::memcpy(&value, memory->host(a + (16 << 20) - 4, 4), 4);
    EXPECT_EQ(value, 0x12345678u);
    std::memcpy(&value, memory->host(a + (8 << 20), 4), 4);
    EXPECT_EQ(value, 0u);
    EXPECT_FALSE(memory->fill(a, 0, 4, (4 << 20) + 1));
}

TEST(DeviceMemory, AdoptedHostMemoryKeepsItsAddress) {
    const auto memory = memory_of(1 << 20);
    int value[4] = {1, 2, 3, 4};
    const Allocation* adopted = memory->adopt(value, sizeof value);
    ASSERT_THAT(adopted, NotNull());
    EXPECT_EQ(adopted->begin, reinterpret_cast<uint64_t>(value));
    EXPECT_EQ(memory->host(adopted->begin + 4, 4), reinterpret_cast<std::byte*>(value + 1));
    EXPECT_THAT(memory->adopt(value + 1, 4), IsNull());
    EXPECT_TRUE(memory->release(adopted->begin));
    EXPECT_EQ(value[3], 4);
}

TEST(DeviceMemoryDeathTest, TheHostCannotReadDeviceMemoryButPinnedMemory) {
    const auto memory = memory_of(1 << 20);
    const uint64_t device = memory->allocate(64)->begin;
    EXPECT_TRUE(memory->in_device_arena(device));
    EXPECT_DEATH((void)*reinterpret_cast<volatile int*>(device), "");
    const uint64_t pinned = memory->allocate(64, Region::kHost)->begin;
    *reinterpret_cast<volatile int*>(pinned) = 5;
    EXPECT_EQ(*reinterpret_cast<int*>(memory->host(pinned, 4)), 5);
    EXPECT_FALSE(memory->in_device_arena(pinned));
}

TEST(DeviceMemory, ACopyOfTheProcessDetachesFromManagedMemory) {
    auto memory = DeviceMemory::create(1 << 26);
    ASSERT_TRUE(memory);
    const Allocation* managed = (*memory)->allocate(3 << 12, Region::kManaged);
    ASSERT_NE(managed, nullptr);
    auto* const kernel_side = reinterpret_cast<volatile char*>((*memory)->host(managed->begin, managed->bytes));
    kernel_side[5] = 'a';
    int go[2], done[2];
    ASSERT_EQ(pipe(go) | pipe(done), 0);
    const pid_t child = fork();
    if (child == 0) {
        const bool detached = (*memory)->detach();
        char byte = 0;
        const bool told = write(done[1], &byte, 1) == 1 && read(go[0], &byte, 1) == 1;
        const bool as_it_was = kernel_side[5] == 'a' && kernel_side[2 << 12] == 0;
        kernel_side[5] = 'c';
        _exit(detached && told && as_it_was ? 0 : 1);
    }
    char byte = 0;
    ASSERT_EQ(read(done[0], &byte, 1), 1);
    kernel_side[5] = 'b';                              // not seen by the copy
    kernel_side[2 << 12] = 'b';
    ASSERT_EQ(write(go[1], &byte, 1), 1);
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(kernel_side[5], 'b');                    // and the copy's writes are not seen here
    for (const int file : {go[0], go[1], done[0], done[1]}) close(file);
}

}  // namespace
}  // namespace lanescope::exec
