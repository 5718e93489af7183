#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/candidate.h"
#include "analysis/pattern.h"
#include "analysis/testing.h"

namespace lanescope::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kBase = 0x7f0000000000;

/// One allocation of 1 MiB, one shared array of 4 KiB.
Surroundings around() {
    Surroundings out;
    out.region = [](uint64_t address) -> Surroundings::Region { return address - kBase < (1 << 20) ? Surroundings::Region{kBase, 1 << 20, false} : Surroundings::Region{}; };
    out.samples = [](uint32_t) { return std::span<const Surroundings::Sample>(); };
    out.through_l1 = [](uint32_t) { return true; };
    out.shared_arrays = {{0, 4096}};
    out.shared_bytes = 4096;
    out.most_shared_bytes = 48 << 10;
    return out;
}

/// `requests` requests of 32 lanes, `stride` bytes apart, the first at `first`.
profile::Access strided(const char* operation, uint32_t instruction, uint64_t stride, uint64_t first = 0, double requests = 100) {
    const double sectors = std::min(32.0, std::max(1.0, double(stride)));  // 32 lanes × stride / 32
    profile::Access access = make_access("global", operation, {{"requests", requests}, {"sectors", requests * sectors}, {"ideal_sectors", 4 * requests}}, stride);
    for (uint64_t& address : access.example->addresses) address += first;
    access.instruction = instruction;
    return access;
}

profile::Launch launch_of(std::vector<profile::Access> accesses) {
    profile::Profile profile;
    profile.launches.resize(1);
    profile.launches[0].lines = {make_line(7, std::move(accesses))};
    classify(profile);
    return profile.launches[0];
}

std::vector<ChangeKind> kinds(const std::vector<Candidate>& all) {
    std::vector<ChangeKind> out;
    for (const Candidate& each : all) out.push_back(each.kind);
    return out;
}

TEST(Candidates, NothingForWhatIsIdeal) { EXPECT_THAT(candidates(launch_of({strided("load", 0, 4), strided("store", 1, 4, 65536)}), around()), IsEmpty()); }

TEST(Candidates, RecordsBecomeArrays) {
    const auto found = candidates(launch_of({strided("load", 3, 32, 8), strided("load", 4, 32, 16)}), around());
    ASSERT_THAT(kinds(found), ElementsAre(ChangeKind::kStructureOfArrays, ChangeKind::kBlockedArrays));
    EXPECT_EQ(found[0].pitch, 32u);
    EXPECT_EQ(found[0].origin, kBase + 8) << "the lowest field that is used";
    ASSERT_EQ(found[0].field_count, 2u);
    EXPECT_EQ(found[0].fields[1].begin, 8u);   // 16 - 8
    EXPECT_TRUE(found[0].names(3) && found[0].names(4) && !found[0].names(5));
}

TEST(Candidates, FieldsThatFillAVectorAreWidened) {
    const auto found = candidates(launch_of({strided("load", 0, 16, 0), strided("load", 1, 16, 4), strided("load", 2, 16, 8), strided("load", 3, 16, 12)}), around());
    ASSERT_THAT(kinds(found), ::testing::Contains(ChangeKind::kWiden));
    const Candidate& wide = *std::find_if(found.begin(), found.end(), [](const Candidate& each) { return each.kind == ChangeKind::kWiden; });
    EXPECT_EQ(wide.width, 16u);
    EXPECT_EQ(wide.accesses, 4u);
}

TEST(Candidates, StoresThatLeaveAGapAreNotWidened) {
    const auto found = candidates(launch_of({strided("store", 0, 16, 0), strided("store", 1, 16, 4), strided("store", 2, 16, 8)}), around());
    const auto wide = std::find_if(found.begin(), found.end(), [](const Candidate& each) { return each.kind == ChangeKind::kWiden; });
    ASSERT_NE(wide, found.end());
    EXPECT_EQ(wide->width, 8u) << "12 of 16 bytes: a store of 16 would overwrite the rest";
    EXPECT_EQ(wide->accesses, 2u);
}

TEST(Candidates, ColumnsBesideRowsAreATranspose) {
    EXPECT_THAT(kinds(candidates(launch_of({strided("store", 0, 4096), strided("load", 1, 4, 65536)}), around())), ElementsAre(ChangeKind::kTile));
}

TEST(Candidates, ChunksOfThreadsAreInterleaved) {
    EXPECT_THAT(kinds(candidates(launch_of({strided("load", 0, 256), strided("store", 1, 4, 65536, 2)}), around())), ElementsAre(ChangeKind::kInterleave));
}

TEST(Candidates, ASharedColumnIsPaddedOrSwizzled) {
    profile::Access column = make_access("shared", "load", {{"requests", 10}, {"wavefronts", 320}, {"ideal_wavefronts", 10}}, 128);
    const auto found = candidates(launch_of({column}), around());
    ASSERT_THAT(kinds(found), ElementsAre(ChangeKind::kPad, ChangeKind::kSwizzle));
    EXPECT_EQ(found[0].pitch, 128u);
    EXPECT_EQ(found[0].new_pitch, 132u);
    EXPECT_EQ(found[0].more_shared_bytes, 128u);  // 32 rows × 4 bytes
}

TEST(Candidates, PaddingThatDoesNotFitIsNotTried) {
    Surroundings full = around();
    full.most_shared_bytes = 4096;
    profile::Access column = make_access("shared", "load", {{"requests", 10}, {"wavefronts", 320}, {"ideal_wavefronts", 10}}, 128);
    EXPECT_THAT(kinds(candidates(launch_of({column}), full)), ElementsAre(ChangeKind::kSwizzle));
}

TEST(Candidates, OffsetDataIsAlignedUnlessSomeOfItIs) {
    profile::Access off = strided("load", 0, 4, 4);
    off.metrics["sectors"] = 500;
    EXPECT_THAT(kinds(candidates(launch_of({off}), around())), ElementsAre(ChangeKind::kAlign));
    EXPECT_THAT(candidates(launch_of({off, strided("load", 1, 4)}), around()), IsEmpty()) << "a shift would only move the problem";
}

TEST(Candidates, RowsOfAnOddLengthArePitched) {
    profile::Access off = strided("load", 0, 4, 2044);
    off.metrics["sectors"] = 487;
    const std::vector<Surroundings::Sample> samples = {{0, 0, kBase}, {1, 0, kBase + 2044}, {2, 0, kBase + 4088}};
    Surroundings with_rows = around();
    with_rows.samples = [&](uint32_t) { return std::span(samples); };
    const auto found = candidates(launch_of({off}), with_rows);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0].kind, ChangeKind::kPitch);
    EXPECT_EQ(found[0].pitch, 2044u);
    EXPECT_EQ(found[0].new_pitch, 2048u);
}

TEST(Candidates, HostMemoryIsCopied) {
    Surroundings mapped = around();
    mapped.region = [](uint64_t) { return Surroundings::Region{kBase, 1 << 20, true}; };
    profile::Access load = strided("load", 0, 4);
    load.metrics["link_read_bytes"] = 12800;
    const auto found = candidates(launch_of({load}), mapped);
    ASSERT_THAT(kinds(found), ElementsAre(ChangeKind::kDeviceMemory));
    EXPECT_EQ(found[0].width, 1u) << "read only: copied to the device, not back";
}

TEST(Candidates, LoadsPastL1ThatHitInL2) {
    Surroundings past = around();
    past.through_l1 = [](uint32_t) { return false; };
    profile::Access load = strided("load", 0, 4);
    load.metrics["l2_read_hits"] = 300;
    EXPECT_THAT(kinds(candidates(launch_of({load}), past)), ElementsAre(ChangeKind::kReadOnly));
    EXPECT_THAT(candidates(launch_of({load, strided("store", 1, 4)}), past), IsEmpty()) << "data that the kernel writes may be stale in L1";
}

// A thread that walks 64 bytes of its own is elsewhere each time; the fields of a record are where they are.
TEST(Candidates, AShortChunkIsNoRecord) {
    profile::Access chunk = strided("load", 0, 64);
    chunk.metrics["strided_requests"] = 100;
    EXPECT_THAT(kinds(candidates(launch_of({chunk}), around())), ElementsAre(ChangeKind::kStructureOfArrays, ChangeKind::kBlockedArrays));
    chunk.metrics["walking_requests"] = 99;
    EXPECT_THAT(kinds(candidates(launch_of({chunk}), around())), ElementsAre(ChangeKind::kInterleave));
}

TEST(Candidates, WhatIsUsedOnceGoesPastL1WhereItKeepsOtherThings) {
    profile::Access once = strided("load", 0, 4), again = strided("load", 1, 4, 65536);
    again.metrics["l1_hits"] = 200;                // of 400
    const auto found = candidates(launch_of({once, again}), around());
    ASSERT_THAT(kinds(found), ElementsAre(ChangeKind::kBypassL1));
    EXPECT_TRUE(found[0].names(0) && !found[0].names(1));
    again.metrics["l1_hits"] = 400;
    EXPECT_THAT(candidates(launch_of({once, again}), around()), IsEmpty()) << "L1 keeps all of it as it is";
}

TEST(Candidates, StoresThatDriveOutWhatIsReadAgain) {
    Surroundings two = around();
    two.region = [](uint64_t address) { return Surroundings::Region{address < kBase + 65536 ? kBase : kBase + 65536, 65536, false}; };
    profile::Access load = strided("load", 0, 4), store = strided("store", 1, 4, 65536);
    store.metrics["l2_writes"] = 400;
    load.metrics["dram_read_bytes"] = 65536;
    EXPECT_THAT(candidates(launch_of({load, store}), two), IsEmpty()) << "memory delivers each byte once";
    load.metrics["dram_read_bytes"] = 2 * 65536;
    EXPECT_THAT(kinds(candidates(launch_of({load, store}), two)), ElementsAre(ChangeKind::kStreamStores));
}

TEST(Candidates, TablesOfConstantMemoryAndArraysOfThreads) {
    profile::Access table = make_access("constant", "load", {{"instructions", 10}, {"requests", 10}, {"constant_words", 320}}, 4);
    EXPECT_THAT(kinds(candidates(launch_of({table}), around())), ElementsAre(ChangeKind::kTableInGlobal));
    table.metrics["constant_words"] = 10;
    EXPECT_THAT(candidates(launch_of({table}), around()), IsEmpty()) << "one word a request";

    profile::Launch launch = launch_of({make_access("local", "load", {{"instructions", 10}, {"requests", 10}, {"sectors", 320}}, 4)});
    launch.block[0] = 128;
    Surroundings with_array = around();
    with_array.local_bytes = 64;
    const auto found = candidates(launch, with_array);
    ASSERT_THAT(kinds(found), ElementsAre(ChangeKind::kArrayInShared));
    EXPECT_EQ(found[0].more_shared_bytes, 128u * 64);
    with_array.most_shared_bytes = 8 << 10;        // 4 KiB are taken
    EXPECT_THAT(candidates(launch, with_array), IsEmpty()) << "no room";
}

TEST(Candidates, AtomicsOfOneAddressAreCombined) {
    profile::Access same = make_access("global", "reduction", {{"requests", 10}, {"sectors", 80}, {"ideal_sectors", 10}}, 0);
    EXPECT_THAT(kinds(candidates(launch_of({same}), around())), ElementsAre(ChangeKind::kCombine));
    same.metrics["sectors"] = 10;
    EXPECT_THAT(candidates(launch_of({same}), around()), IsEmpty()) << "the compiler has combined them";
}

TEST(Candidates, ASmallArrayOfCountersGoesIntoSharedMemory) {
    profile::Access bins = strided("reduction", 0, 8);       // no two lanes on one address
    bins.metrics["threads"] = 1 << 20;
    profile::Launch launch = launch_of({bins});
    Surroundings small = around();
    small.region = [](uint64_t) { return Surroundings::Region{kBase, 1024, false}; };
    const auto found = candidates(launch, small);
    ASSERT_THAT(kinds(found), ElementsAre(ChangeKind::kSharedBins));
    EXPECT_EQ(found[0].more_shared_bytes, 1024u);
    launch.grid[0] = 1 << 13;                                // 128 updates a block, for 256 words
    EXPECT_THAT(candidates(launch, small), IsEmpty()) << "adding up would cost as much";
    EXPECT_THAT(candidates(launch_of({bins}), around()), IsEmpty()) << "1 MiB has no room";
    bins.operation = "atomic";
    EXPECT_THAT(candidates(launch_of({bins}), small), IsEmpty()) << "the old values are used";
}

TEST(Texts, EveryChangeHasOne) {
    for (const ChangeText& text : change_texts()) {
        EXPECT_EQ(find_change(text.key), &text);
        EXPECT_EQ(&text_of(text.kind), &text);
    }
    EXPECT_EQ(change_texts().size(), size_t(ChangeKind::kSharedBins) + 1);
    EXPECT_EQ(find_change("magic"), nullptr);
}

}  // namespace
}  // namespace lanescope::analysis
