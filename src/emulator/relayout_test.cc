#include "emulator/relayout.h"

#include <gtest/gtest.h>

#include <numeric>

namespace lanescope::emulator {
namespace {

using analysis::Candidate;
using analysis::ChangeKind;

constexpr uint64_t kBase = 0x200000000000;

/// Counts what a change makes of accesses whose lanes lie `stride` bytes apart.
class Changed {
public:
    explicit Changed(const Candidate& change, bool counts_only = true) : model_(*gpu::load("h200"), {.counts_only = counts_only}), relayout_(change, model_) {
        model_.begin_launch({.sites = 4});
    }

    uint32_t access(memory::Space space, memory::Operation operation, uint32_t bytes, uint64_t first, uint64_t stride, uint32_t instruction = 0, uint64_t time = 0) {
        uint64_t addresses[32];
        for (uint64_t lane = 0; lane < 32; ++lane) addresses[lane] = first + stride * lane;
        memory::Access access;
        access.site = instruction;
        access.space = space;
        access.operation = operation;
        access.bytes = uint8_t(bytes);
        access.active = ~0u;
        access.time = time;
        access.addresses = addresses;
        return relayout_.access(access, instruction, 0);
    }
    void load(uint32_t bytes, uint64_t first, uint64_t stride, uint32_t instruction = 0) { access(memory::Space::kGlobal, memory::Operation::kLoad, bytes, first, stride, instruction); }
    void block_ends(uint64_t time) {
        relayout_.block_ends(0, 0, time);
        relayout_.finish();
    }
    const memory::Counters& counts(uint32_t instruction = 0) const { return model_.sites()[instruction]; }

private:
    memory::Model model_;
    Relayout relayout_;
};

Candidate change(ChangeKind kind, uint64_t pitch = 0) {
    Candidate out;
    out.kind = kind;
    out.begin = out.origin = kBase;
    out.bytes = 1 << 20;
    out.pitch = pitch;
    out.element = 4;
    out.add(0);
    return out;
}

TEST(Relayout, FieldsOfRecordsBecomeContiguous) {
    for (const ChangeKind kind : {ChangeKind::kStructureOfArrays, ChangeKind::kBlockedArrays}) {
        Candidate soa = change(kind, 32);
        soa.fields[soa.field_count++] = {8, 4};
        Changed changed(soa);
        changed.load(4, kBase + 8, 32);            // 32 sectors become 32 × 4 B = 4
        EXPECT_EQ(changed.counts().sectors, 4u);
        changed.load(4, kBase + 32 * 32 + 20, 32, 1);   // the next records, a field that no example showed
        EXPECT_EQ(changed.counts(1).sectors, 4u);
        changed.load(4, kBase + (2 << 20), 32, 2);  // another allocation
        EXPECT_EQ(changed.counts(2).sectors, 32u);
    }
}

TEST(Relayout, AnAccessOfSeveralFieldsIsSplit) {
    Candidate soa = change(ChangeKind::kStructureOfArrays, 16);
    for (uint16_t begin = 0; begin < 16; begin += 4) soa.fields[soa.field_count++] = {begin, 4};
    Changed changed(soa);
    changed.load(16, kBase, 16);                   // a float4 of four fields: four loads of 4 sectors
    EXPECT_EQ(changed.counts().requests, 4u);
    EXPECT_EQ(changed.counts().sectors, 16u);
}

TEST(Relayout, ATileTurnsColumnsAndPaysForIt) {
    Changed changed(change(ChangeKind::kTile, 4096));
    changed.load(4, kBase + 4 * 5, 4096);
    EXPECT_EQ(changed.counts().sectors, 4u);
    EXPECT_EQ(changed.counts().wavefronts, 2u);    // one pass to store into the tile, one to load from it
    changed.load(4, kBase, 4096, 1);               // not named: stays a column
    EXPECT_EQ(changed.counts(1).sectors, 32u);
}

// A warp whose own load has come stores when the slowest of its block has come too: the tile is full then.
TEST(Relayout, AStoreWaitsForTheTileOfItsBlock) {
    Changed changed(change(ChangeKind::kTile, 4096), false);
    const auto load = [&](uint64_t first, uint64_t time) { return changed.access(memory::Space::kGlobal, memory::Operation::kLoad, 4, first, 4, 1, time); };
    load(kBase + (8 << 20), 0);
    const uint64_t slow = 5000 + load(kBase + (9 << 20), 5000), quick = 5000 + load(kBase + (8 << 20), 5000);   // from memory, from L1
    ASSERT_LT(quick + 100, slow);
    const uint64_t wait = changed.access(memory::Space::kGlobal, memory::Operation::kStore, 4, kBase, 4096, 0, quick);
    EXPECT_GE(quick + wait, slow);
    EXPECT_LT(quick + wait, slow + 100);           // a pass through shared memory, a few instructions
    EXPECT_EQ(changed.counts().sectors, 0u);       // not yet
    changed.block_ends(quick + wait);
    EXPECT_EQ(changed.counts().sectors, 4u);
}

// 8 × 32 lanes count in 8 words of shared memory; at the block's end one request adds these up, which lie in one sector.
TEST(Relayout, BlocksCountInSharedMemoryFirst) {
    Candidate bins = change(ChangeKind::kSharedBins);
    bins.bytes = 1024;
    Changed changed(bins);
    for (uint64_t time = 0; time < 8; ++time) changed.access(memory::Space::kGlobal, memory::Operation::kReduction, 4, kBase + 4 * time, 0, 0, time);
    EXPECT_EQ(changed.counts().sectors, 0u);
    EXPECT_GE(changed.counts().wavefronts, 8u);
    changed.block_ends(100);
    EXPECT_EQ(changed.counts().sectors, 1u);
    changed.block_ends(200);
    EXPECT_EQ(changed.counts().sectors, 1u) << "once";
}

// Each word of a chunk has one place: a warp's 64 words a lane fill 64 × 32 × 4 B = 256 sectors, none twice.
TEST(Relayout, InterleavingIsABijection) {
    Changed changed(change(ChangeKind::kInterleave, 256));
    for (uint64_t word = 0; word < 64; ++word) changed.load(4, kBase + 4 * word, 256);
    EXPECT_EQ(changed.counts().sectors, 256u);
}

TEST(Relayout, RowsAndStartsMove) {
    Candidate pitch = change(ChangeKind::kPitch, 2044);
    pitch.new_pitch = 2048;
    Changed pitched(pitch);
    pitched.load(4, kBase + 2044, 4);              // 5 sectors where it lies
    EXPECT_EQ(pitched.counts().sectors, 4u);
    Candidate align = change(ChangeKind::kAlign);
    align.origin = 4;
    Changed aligned(align);
    aligned.load(4, kBase + 4, 4);
    EXPECT_EQ(aligned.counts().sectors, 4u);
}

TEST(Relayout, SharedColumns) {
    Candidate pad = change(ChangeKind::kPad, 128);
    pad.begin = 0;
    pad.bytes = 4096;
    pad.new_pitch = 132;
    Candidate swizzle = pad;
    swizzle.kind = ChangeKind::kSwizzle;
    swizzle.width = 4;
    for (const Candidate& each : {pad, swizzle}) {
        Changed changed(each);
        changed.access(memory::Space::kShared, memory::Operation::kLoad, 4, 12, 128);
        changed.access(memory::Space::kShared, memory::Operation::kStore, 4, 256, 4);   // rows stay free of conflicts
        EXPECT_EQ(changed.counts().wavefronts, 2u);
    }
}

TEST(Relayout, FieldsComeWithTheVector) {
    Candidate wide = change(ChangeKind::kWiden, 16);
    wide.width = 16;
    for (uint32_t i = 1; i < 4; ++i) wide.add(i);
    Changed changed(wide);
    for (int turn = 0; turn < 2; ++turn)
        for (uint32_t field = 0; field < 4; ++field) changed.load(4, kBase + 4 * field, 16, field);
    EXPECT_EQ(changed.counts(0).requests, 2u);
    EXPECT_EQ(changed.counts(0).sectors, 32u);     // 2 × 32 lanes × 16 B
    for (uint32_t field = 1; field < 4; ++field) EXPECT_EQ(changed.counts(field).requests, 0u);
}

TEST(Relayout, TablesArraysAndAtomics) {
    Changed table(change(ChangeKind::kTableInGlobal));
    table.access(memory::Space::kConst, memory::Operation::kLoad, 4, 0, 4);
    EXPECT_EQ(table.counts().constant_words, 0u);
    EXPECT_EQ(table.counts().sectors, 4u);

    Candidate array = change(ChangeKind::kArrayInShared, 64);
    Changed shared(array);
    shared.access(memory::Space::kLocal, memory::Operation::kLoad, 4, 0, 4);  // each lane another word
    EXPECT_EQ(shared.counts().sectors, 0u);
    EXPECT_EQ(shared.counts().wavefronts, 1u);

    Changed combined(change(ChangeKind::kCombine));
    combined.access(memory::Space::kGlobal, memory::Operation::kReduction, 4, kBase, 0);
    EXPECT_EQ(combined.counts().threads, 1u);
    EXPECT_EQ(combined.counts().sectors, 1u);
}

}  // namespace
}  // namespace lanescope::emulator
