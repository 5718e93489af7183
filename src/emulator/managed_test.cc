#include "emulator/managed.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

namespace lanescope::emulator {
namespace {

constexpr uint64_t kKi = 1024, kBlock = 64 * kKi, kRegion = 2048 * kKi, kWait = 100;

class Managed : public testing::Test {
protected:
    void SetUp() override {
        std::vector<uint8_t> page(1);
        begin = memory->allocate(2 * kRegion, exec::Region::kManaged, "cudaMallocManaged")->begin;
        if (!memory->host_touched(begin, page)) GTEST_SKIP() << "this system does not tell what the host touches";
    }
    char* host() { return reinterpret_cast<char*>(begin); }
    /// One lane of a warp accesses `offset`.
    void access(uint64_t offset, bool store = false, uint32_t warp = 0, uint64_t time = 0) {
        uint64_t addresses[32] = {begin + offset};
        exec::AccessEvent event{};
        event.active = 1;
        event.addresses = addresses;
        event.warp_slot = warp;
        event.time = time;
        managed.access(event, store);
    }
    ManagedMemory::Faults kernel(const std::vector<uint64_t>& offsets, bool store = false) {
        managed.collect_host_accesses();
        managed.begin_kernel(kWait);
        for (const uint64_t offset : offsets) access(offset, store);
        return managed.end_kernel();
    }

    std::unique_ptr<exec::DeviceMemory> memory = std::move(exec::DeviceMemory::create(64 << 20)).value();
    ManagedMemory managed{*memory, true, 64};
    uint64_t begin = 0;
};

TEST_F(Managed, PagesThatNobodyTouchedAreCreatedNotMoved) {
    const ManagedMemory::Faults faults = kernel({0, 4, kBlock});
    EXPECT_EQ(faults.blocks, 2u);                  // bytes 0 and 4 lie in one block
    EXPECT_EQ(faults.batches, std::vector<uint64_t>{0});
    EXPECT_TRUE(kernel({0, kBlock}).batches.empty());
}

TEST_F(Managed, WhatTheHostWroteMovesOnceAndComesBackWhenTouched) {
    std::memset(host(), 1, 3 * kBlock);
    EXPECT_EQ(kernel({0}).moved(), kBlock);        // the block of the faulting page, all of whose pages exist
    EXPECT_EQ(kernel({0, 4096}).moved(), 0u);
    EXPECT_EQ(managed.collect_host_accesses(), 0u);
    host()[5] = 2;                                 // a store maps one page
    EXPECT_EQ(managed.collect_host_accesses(), 4096u);
    EXPECT_EQ(host()[6], 1);                       // the bytes were there all the time
    EXPECT_EQ(managed.collect_host_accesses(), 0u);
    EXPECT_EQ(kernel({8192, 0}).moved(), 4096u);   // byte 8192 is still there
}

TEST_F(Managed, AccessesOfTheSystemOnTheProgramsBehalfCountToo) {
    EXPECT_EQ(kernel({0}, true).moved(), 0u);
    FILE* zeros = std::fopen("/dev/zero", "rb");
    ASSERT_NE(zeros, nullptr);
    std::setvbuf(zeros, nullptr, _IONBF, 0);
    EXPECT_EQ(std::fread(host() + 100, 1, 50, zeros), 50u);
    std::fclose(zeros);
    EXPECT_EQ(managed.collect_host_accesses(), 4096u);
}

TEST_F(Managed, DenseRegionsGrow) {
    std::memset(host(), 1, kRegion);
    EXPECT_EQ(kernel({0, kBlock}).moved(), 2 * kBlock);              // 2 of 4 blocks are not over 51 %
    EXPECT_EQ(kernel({2 * kBlock}).moved(), 2 * kBlock);             // 3 of 4 are: the fourth comes along
    EXPECT_EQ(kernel({4 * kBlock}).moved(), 4 * kBlock);             // 5 of 8 are: 1 + 3
    EXPECT_EQ(kernel({16 * kBlock, 24 * kBlock}).moved(), 2 * kBlock);  // 10 of 32 are not, nor 1 of 2 anywhere
}

TEST_F(Managed, AWarpThatGoesOnHasBeenServed) {
    managed.collect_host_accesses();
    managed.begin_kernel(kWait);
    access(0, false, 0, 10);
    access(4 * kBlock, false, 0, 12);              // its second load, before it needed the first
    access(8 * kBlock, false, 1, 500);             // another warp: it may come late
    access(12 * kBlock, false, 0, 10 + kWait + 1); // the first warp again, later than its data can have come: a new batch
    EXPECT_EQ(managed.end_kernel().batches.size(), 2u);
}

TEST_F(Managed, ReadMostlyKeepsACopyOnBothSidesUntilTheDeviceWrites) {
    std::memset(host(), 1, kBlock);
    managed.collect_host_accesses();
    managed.advise(begin, kBlock, Advice::kReadMostly);
    EXPECT_EQ(kernel({0}).moved(), kBlock);
    EXPECT_EQ(host()[0], 1);
    EXPECT_EQ(managed.collect_host_accesses(), 0u);    // the host reads its own copy
    EXPECT_TRUE(kernel({0}, true).batches.empty());    // a store drops that copy; nothing has to move
    EXPECT_EQ(host()[0], 1);
    EXPECT_GT(managed.collect_host_accesses(), 0u);
}

TEST_F(Managed, AdviceKeepsPagesOnTheHost) {
    std::memset(host(), 1, 2 * kBlock);
    managed.collect_host_accesses();
    EXPECT_TRUE(managed.remote().empty());
    managed.advise(begin, 2 * kBlock, Advice::kPreferHost);
    const std::vector<AddressRange> remote = managed.remote();
    ASSERT_EQ(remote.size(), 1u);
    EXPECT_EQ(managed.advice_of(begin, 2 * kBlock).preferred, Place::kHost);
    EXPECT_EQ(managed.advice_of(begin, 3 * kBlock).preferred, Place::kNowhere);   // nothing was said of the third
    EXPECT_EQ(remote[0].begin, begin);
    EXPECT_EQ(remote[0].bytes, 2 * kBlock);
    EXPECT_TRUE(kernel({0, kBlock}).batches.empty());
    managed.advise(begin, 2 * kBlock, Advice::kNoPreference);
    EXPECT_EQ(kernel({0, kBlock}).moved(), 2 * kBlock);
}

TEST_F(Managed, PrefetchMovesWhatIsNotThere) {
    std::memset(host(), 1, kBlock + 4096);
    managed.collect_host_accesses();
    EXPECT_EQ(managed.prefetch(begin, kRegion, false), kBlock + 4096);
    EXPECT_EQ(managed.prefetch(begin, kRegion, false), 0u);
    EXPECT_TRUE(kernel({0, kRegion - 1}).batches.empty());
    EXPECT_EQ(managed.prefetch(begin, 8192, true), 8192u);
    EXPECT_EQ(kernel({0}).moved(), 8192u);
}

TEST_F(Managed, WhatACopyOfTheDeviceWroteIsThere) {
    std::memset(host(), 1, kBlock);
    managed.collect_host_accesses();
    managed.written_by_device(begin, kBlock);
    EXPECT_TRUE(kernel({0}).batches.empty());
}

TEST_F(Managed, WithoutPageFaultsAllThatTheHostTouchedMovesBeforeTheKernel) {
    ManagedMemory kepler(*memory, false, 64);
    std::memset(host(), 1, kBlock);
    host()[kRegion] = 1;
    kepler.collect_host_accesses();
    EXPECT_EQ(kepler.move_all_to_device(), kBlock + 4096);
    EXPECT_EQ(kepler.move_all_to_device(), 0u);
    kepler.begin_kernel(kWait);
    EXPECT_TRUE(kepler.end_kernel().batches.empty());
}

TEST_F(Managed, NewAllocationsStartAfresh) {
    std::memset(host(), 1, kBlock);
    EXPECT_EQ(kernel({0}).moved(), kBlock);
    memory->release(begin);
    ASSERT_EQ(memory->allocate(kBlock, exec::Region::kManaged, "cudaMallocManaged")->begin, begin);
    const ManagedMemory::Faults faults = kernel({0});
    EXPECT_EQ(faults.blocks, 1u);
    EXPECT_EQ(faults.moved(), 0u);
}

}  // namespace
}  // namespace lanescope::emulator
