#include "memory/model.h"

#include <gtest/gtest.h>

#include <functional>

namespace lanescope::memory {
namespace {

gpu::Description description(const char* name) {
    const auto loaded = gpu::load(name);
    EXPECT_TRUE(loaded.ok()) << base::to_string(loaded.errors());
    return *loaded;
}

/// A model of one GPU, driven access by access.
class Driver {
public:
    explicit Driver(const char* gpu_name = "h200", Settings settings = {}, uint32_t sites = 4) : model(description(gpu_name), settings), sites_(sites) { begin(); }
    void begin(AccessWindow window = {}) {
        model.begin_launch({.sites = sites_, .blocks_per_sm = 8, .warps_per_block = 8, .local_bytes_per_thread = 128, .window = window});
    }
    uint32_t run(Access access, const std::function<uint64_t(uint32_t)>& address) {
        uint64_t lanes[32];
        for (uint32_t lane = 0; lane < 32; ++lane) lanes[lane] = address(lane);
        access.addresses = lanes;
        if (access.active == 0) access.active = ~0u;
        return model.access(access);
    }
    uint32_t load(uint64_t from, uint32_t sm = 0, uint64_t time = 0, uint32_t site = 0, CacheOperator cache = CacheOperator::kDefault) {
        return run({.site = site, .cache = cache, .sm = sm, .time = time}, [=](uint32_t lane) { return from + 4ull * lane; });
    }
    void store(uint64_t from, uint32_t stride = 4, uint64_t time = 0, uint32_t site = 1) {
        run({.site = site, .operation = Operation::kStore, .time = time}, [=](uint32_t lane) { return from + uint64_t(stride) * lane; });
    }
    const Counters& site(uint32_t index) const { return model.sites()[index]; }
    Counters total() const {
        Counters sum = model.unattributed();
        for (const Counters& c : model.sites()) {
            sum.l2_reads += c.l2_reads;
            sum.dram_read_bytes += c.dram_read_bytes;
            sum.dram_write_bytes += c.dram_write_bytes;
        }
        return sum;
    }
    Model model;

private:
    uint32_t sites_;
};

constexpr uint64_t kBase = 0x7000'0000'0000;

TEST(Model, NeighbouringWarpsShareASectorInL1) {
    Driver d;
    // 8 warps read 32 floats each, all one float off: 5 sectors a warp, the last is the next warp's first → 7 hits
    for (uint32_t warp = 0; warp < 8; ++warp) d.load(kBase + 4 + 128 * warp, 0, warp);
    EXPECT_EQ(d.site(0).sectors, 40u);
    EXPECT_EQ(d.site(0).l1_hits, 7u);
    EXPECT_EQ(d.site(0).l2_reads, 33u);
    EXPECT_EQ(d.site(0).dram_read_bytes, 34u * 32);         // pairs of sectors
}

TEST(Model, LatencyByLevel) {
    Driver d;
    const uint32_t dram = d.load(kBase, 0, 0), in_flight = d.load(kBase, 0, 10), l1 = d.load(kBase, 0, 5000), l2 = d.load(kBase, 0, 6000, 0, CacheOperator::kCg);
    EXPECT_LT(l1, 60u);
    EXPECT_GT(l2, 200u);
    EXPECT_LT(l2, 400u);
    EXPECT_GT(dram, 550u);
    EXPECT_EQ(in_flight + 10, dram) << "a sector on its way is a hit that waits";
    EXPECT_EQ(d.site(0).l1_hits, 8u);
}

TEST(Model, LoadsAroundL1NeverHitIt) {
    Driver d;
    for (uint32_t i = 0; i < 3; ++i) d.load(kBase, 0, 5000 * i, 0, CacheOperator::kCg);
    EXPECT_EQ(d.site(0).l1_hits, 0u);
    EXPECT_EQ(d.site(0).l2_reads, 12u);
    EXPECT_EQ(d.site(0).dram_read_bytes, 128u);
    Driver off("h200", {.l1 = Settings::L1::kOff});
    for (uint32_t i = 0; i < 2; ++i) off.load(kBase, 0, 5000 * i);
    EXPECT_EQ(off.site(0).l1_hits, 0u);
}

TEST(Model, LoadsWithoutAllocationLeaveNothingInL1) {
    Driver d;
    const auto load = [&](uint32_t site, Eviction l1, uint64_t time) {
        d.run({.site = site, .l1 = l1, .time = time}, [](uint32_t lane) { return kBase + 4ull * lane; });
    };
    load(0, Eviction::kNoAllocate, 0);
    load(0, Eviction::kNoAllocate, 5000);
    EXPECT_EQ(d.site(0).l1_hits, 0u);
    load(1, Eviction::kNormal, 10000);
    EXPECT_EQ(d.site(1).l1_hits, 0u);
    load(2, Eviction::kNoAllocate, 15000);
    EXPECT_EQ(d.site(2).l1_hits, 4u) << "what is there is found";
}

TEST(Model, LinesToEvictFirstMakeRoomBeforeOthers) {
    // 64 KiB are read, then four times what the L2 holds streams by, then the 64 KiB are read again: 512 lines of 4 sectors
    using base::L2Policy, base::L2Priority;
    for (const auto& [policy, cache, hits] : {std::tuple{L2Policy(), CacheOperator::kCg, 0u}, {L2Policy::always(L2Priority::kFirst), CacheOperator::kCg, 2048u},
                                              {L2Policy(), CacheOperator::kCs, 2048u}}) {
        Driver d("t4");
        uint64_t time = 0;
        const auto read = [&](uint32_t site, uint64_t from, uint64_t lines, L2Policy how, CacheOperator by) {
            for (uint64_t line = 0; line < lines; ++line)
                d.run({.site = site, .cache = by, .policy = how, .time = time += 100}, [=](uint32_t lane) { return from + 128 * line + 4 * lane; });
        };
        read(0, kBase, 512, {}, CacheOperator::kCg);
        read(1, kBase + (1 << 28), 4 * (4 << 20) / 128, policy, cache);
        read(2, kBase, 512, {}, CacheOperator::kCg);
        EXPECT_EQ(d.site(2).l2_read_hits, hits);
    }
}

TEST(Model, PoliciesOfInstructionsAndOfTheLaunchSayWhatL2Keeps) {
    // 64 KiB (512 lines of 4 sectors) are read, then four times what the L2 holds streams by, then they are read again
    using base::L2Policy, base::L2Priority;
    const L2Policy last = L2Policy::always(L2Priority::kLast), quarter = L2Policy::fraction(L2Priority::kLast, L2Priority::kUnchanged, 0.25f);
    const auto hits = [](L2Policy policy, AccessWindow window, Operation operation = Operation::kLoad) {
        Driver d("a10", {.cold = false});
        d.begin(window);
        uint64_t time = 0;
        const auto pass = [&](uint32_t site, uint64_t from, uint64_t lines, L2Policy how, Operation what) {
            for (uint64_t line = 0; line < lines; ++line)
                d.run({.site = site, .operation = what, .cache = CacheOperator::kCg, .policy = how, .time = time += 100}, [=](uint32_t lane) { return from + 128 * line + 4 * lane; });
        };
        pass(0, kBase, 512, policy, operation);
        pass(1, kBase + (1 << 28), 4 * (6 << 20) / 128, {}, Operation::kLoad);
        pass(2, kBase, 512, {}, Operation::kLoad);
        return d.site(2).l2_read_hits;
    };
    EXPECT_EQ(hits({}, {}), 0u);
    EXPECT_EQ(hits(last, {}), 2048u);
    EXPECT_EQ(hits(quarter, {}), 512u);
    EXPECT_EQ(hits(last, {}, Operation::kStore), 2048u);
    EXPECT_EQ(hits(last, {}, Operation::kReduction), 2048u);
    EXPECT_EQ(hits(last, {}, Operation::kPrefetch), 2048u);
    EXPECT_EQ(hits({}, {kBase, 64 << 10, last}), 2048u);
    EXPECT_EQ(hits({}, {kBase, 64 << 10, last}, Operation::kStore), 2048u);
    EXPECT_EQ(hits({}, {kBase + (16 << 10), 16 << 10, last}), 512u) << "128 lines of 4 sectors lie in the window";
    EXPECT_EQ(hits({}, {kBase + (1 << 28), 1 << 28, L2Policy::always(L2Priority::kFirst)}), 2048u) << "what streams by goes first";
    EXPECT_EQ(hits(L2Policy::always(L2Priority::kFirst), {kBase, 64 << 10, last}), 0u) << "an instruction's own policy goes before the window";
}

TEST(Model, APrefetchIntoL2IsNoReadOfAnSm) {
    Driver d;
    d.run({.site = 0, .operation = Operation::kPrefetch, .cache = CacheOperator::kCg, .bytes = 1}, [](uint32_t lane) { return kBase + 4ull * lane; });
    EXPECT_EQ(d.site(0).l2_reads, 0u);
    EXPECT_EQ(d.site(0).dram_read_bytes, 128u);
    d.load(kBase, 0, 5000, 1, CacheOperator::kCg);
    EXPECT_EQ(d.site(1).dram_read_bytes, 0u);
}

TEST(Model, IdenticalReadsOfAClusterMergeWhileInFlight) {
    Driver d;
    d.load(kBase, 0, 0);
    d.load(kBase, 1, 5);                                    // the same cluster, at once: joins
    EXPECT_EQ(d.site(0).l2_reads, 4u);
    d.load(kBase, 20, 5);                                   // another cluster
    EXPECT_EQ(d.site(0).l2_reads, 8u);
    d.load(kBase, 2, 5000);                                 // long after
    EXPECT_EQ(d.site(0).l2_reads, 12u);
    EXPECT_EQ(d.site(0).l2_read_hits, 8u) << "the line is there or on its way";
    // four at most: the fifth goes on its own
    for (uint32_t sm = 0; sm < 5; ++sm) d.load(kBase + 4096, sm, 6000, 2);
    EXPECT_EQ(d.site(2).l2_reads, 8u);
}

// The executor lets a warp run ahead of others: what it asks for later is not in their way.
TEST(Model, AnAccessEarlyInTimeDoesNotWaitForALaterOne) {
    Driver d;
    const auto shared = [&](uint64_t time) { return d.run({.space = Space::kShared, .time = time}, [](uint32_t lane) { return 4ull * lane; }); };
    const uint32_t alone = shared(100);
    EXPECT_EQ(shared(80), alone + 1);                       // a cycle of work was seen before it
    EXPECT_EQ(shared(200), alone);
}

TEST(Model, EachFourLinesAreReadInThePassesOfTheirOwnBanks) {
    Driver d;
    // Lanes 0 to 3 want bank 0 of lines 0 to 3, lanes 4 to 7 bank 1 of lines 4 to 7: four passes each, though no bank is wanted more than four times.
    d.run({.active = 0xff}, [](uint32_t lane) { return kBase + 128ull * lane + (lane < 4 ? 0 : 4); });
    EXPECT_EQ(d.model.busy().l1, 8);
}

TEST(Model, StoresThatFollowEachOtherLeaveAsOne) {
    Driver d;
    d.store(kBase, 8, 0);                                   // 32 × 8 bytes: 8 sectors, half of each
    d.store(kBase + 4, 8, 10);                              // the other half
    d.store(kBase + 4096, 8, 100, 2);
    d.store(kBase + 4100, 8, 400, 2);                       // too late
    d.model.end_launch();
    EXPECT_EQ(d.site(1).l2_writes, 8u);
    EXPECT_EQ(d.site(2).l2_writes, 16u);
    EXPECT_EQ(d.total().dram_read_bytes, 0u) << "the halves meet in L2: nothing to fill";
}

TEST(Model, StoresHoldTheirWarpUpWhileTheWayOutIsFull) {
    Driver d;
    const auto scattered = [&](uint64_t from) {
        return d.run({.site = 1, .operation = Operation::kStore}, [=](uint32_t lane) { return from + 128ull * lane; });
    };
    EXPECT_EQ(scattered(kBase), 0u);
    // 32 lines of half a packet each for head and mask and one for a sector, 1.03 cycles a packet: 65.9
    EXPECT_EQ(scattered(kBase + 65536), 65u);
    EXPECT_GE(d.model.end_launch(), 131u) << "over when the second store has left";
    EXPECT_EQ(d.site(1).l2_writes, 64u);
    // A load finds what its SM stored before, though that is still on its way.
    Driver e;
    for (uint32_t i = 0; i < 4; ++i) e.run({.site = 1, .operation = Operation::kStore}, [=](uint32_t lane) { return kBase + 4096 * i + 128ull * lane; });
    for (uint32_t k = 0; k < 8; ++k) e.store(kBase + 65536 + 4096 * k, 4);
    e.load(kBase + 65536 + 4096 * 7, 0, 10, 0, CacheOperator::kCg);
    EXPECT_EQ(e.site(0).l2_read_hits, 4u);
    EXPECT_EQ(e.site(0).dram_read_bytes, 0u);
}

TEST(Model, StoredBytesCanBeLoadedFromL1AndAtomicsVoidThem) {
    Driver d;
    d.store(kBase, 4, 0);
    d.load(kBase, 0, 100);
    EXPECT_EQ(d.site(0).l1_hits, 4u);
    d.run({.site = 2, .operation = Operation::kReduction, .time = 200}, [](uint32_t lane) { return kBase + 4ull * lane; });
    EXPECT_EQ(d.site(2).l2_reductions, 4u);
    d.load(kBase, 0, 300);
    EXPECT_EQ(d.site(0).l1_hits, 4u);
}

TEST(Model, AtomicsOnOneAddressDoNotShareASector) {
    Driver d;
    d.run({.site = 0, .operation = Operation::kReduction}, [](uint32_t) { return kBase; });
    EXPECT_EQ(d.site(0).sectors, 32u);                      // as recorded: 32 lanes, one address each time
    d.run({.site = 1, .operation = Operation::kReduction, .uniform_reduction = true}, [](uint32_t) { return kBase; });
    EXPECT_EQ(d.site(1).sectors, 1u);
    d.run({.site = 2, .operation = Operation::kAtomic}, [](uint32_t lane) { return kBase + 4 * (lane / 2); });
    EXPECT_EQ(d.site(2).sectors, 4u);                       // 16 words in 2 sectors, each word twice
}

TEST(Model, EveryDramByteIsReadOnceAndCountsForItsSite) {
    Driver d;
    const uint32_t lines = 600'000;                         // 73 MiB: more than L2
    for (uint32_t i = 0; i < lines; ++i) d.load(kBase + 128ull * i, i % 132, i, i % 2);
    EXPECT_EQ(d.site(0).dram_read_bytes, 64ull * lines);
    EXPECT_EQ(d.site(1).dram_read_bytes, 64ull * lines);
    EXPECT_EQ(d.total().l2_reads, 4ull * lines);
    // the flush's own dirty lines were driven out, and nothing else was dirty
    EXPECT_EQ(d.site(0).dram_write_bytes + d.site(1).dram_write_bytes, 0u);
    EXPECT_GT(d.model.unattributed().dram_write_bytes, 2'000'000u);
    EXPECT_LT(d.model.unattributed().dram_write_bytes, 2'800'000u);
}

TEST(Model, WrittenDataStaysUntilTooMuchIsDirty) {
    Driver d;
    const uint64_t lines = 600'000, most = uint64_t(0.468 * (60 << 20) / 128);
    for (uint64_t i = 0; i < lines; ++i) d.store(kBase + 128 * i, 4, 2 * i);
    d.model.end_launch();
    const uint64_t written = d.total().dram_write_bytes / 128;
    EXPECT_GE(written, lines - most);
    EXPECT_LE(written, lines - most + 25'000) << "the flush's own lines, and sets that lost dirty lines to make room";
    EXPECT_EQ(d.total().dram_read_bytes, 0u) << "whole sectors need no fill";
    EXPECT_EQ(d.site(1).l2_writes, 4 * lines);
}

TEST(Model, EachSetHasItsOwnLimitOfDirtyLines) {
    // 30 720 sets keep 7 or 8 lines dirty, and three of five hold one of the flush's. 24 MiB are 6.4 lines a set, 28 MiB 7.5. Recorded: 0.54 and 2.62 MB.
    const auto written = [](uint64_t mebibytes) {
        Driver d;
        for (uint64_t i = 0; i < mebibytes << 20; i += 128) d.store(kBase + i, 4, i / 64);
        d.model.end_launch();
        return double(d.total().dram_write_bytes);
    };
    EXPECT_LT(written(16), 0.1e6);
    EXPECT_NEAR(written(24), 0.54e6, 0.15e6);
    EXPECT_NEAR(written(28), 2.62e6, 0.7e6);
}

/// Fills of one sector in each of so many lines, which come so many cycles apart.
double fills(uint64_t lines, uint64_t apart) {
    Driver d;
    for (uint64_t i = 0; i < lines; i += 32) d.run({.site = 1, .operation = Operation::kStore, .time = apart * i}, [=](uint32_t lane) { return kBase + 128 * (i + lane); });
    d.model.end_launch();
    return double(d.site(1).dram_read_bytes) / 32;
}

TEST(Model, PartlyWrittenSectorsAreFilledWhenTheyAreTooMany) {
    EXPECT_EQ(fills(50'000, 40), 0) << "two lines a set at most";
    // 13.5 % of the ways: 2 lines in most sets, 3 in the others
    EXPECT_NEAR(fills(200'000, 40), 200'000 - 0.135 * (60 << 20) / 128, 300);
}

TEST(Model, APlaceForByteMasksIsTakenUntilTheFillHasCome) {
    // A set's next line comes 30 720 lines later: after 30 000 cycles if one comes a cycle, and before many a fill has come if twenty do.
    const auto burst = [](double lines_a_cycle) {
        Driver d;
        for (uint64_t i = 0; i < 400'000; i += 32)
            d.run({.site = 1, .operation = Operation::kStore, .sm = uint32_t(i / 32 % 132), .time = uint64_t(double(i) / lines_a_cycle)},
                  [=](uint32_t lane) { return kBase + 128 * (i + lane); });
        d.model.end_launch();
        return double(d.site(1).dram_read_bytes) / 32;
    };
    const double too_many = 400'000 - 0.135 * (60 << 20) / 128;
    EXPECT_NEAR(burst(1), too_many, 300);
    EXPECT_GT(burst(20), too_many + 600);
}

TEST(Model, NarrowTexelsOfLinearMemoryGoByEight) {
    Driver d;
    for (const uint8_t texel : {4, 16})
        for (uint64_t time : {0, 10000})
            d.run({.site = texel / 16u, .space = Space::kTexture, .operation = Operation::kLoad, .bytes = 4, .time = time, .texel_bytes = texel},
                  [&](uint32_t lane) { return kBase + (texel == 16 ? 4096 : 0) + uint64_t(texel) * lane; });
    EXPECT_EQ(d.site(0).requests, 8u);    // 32 lanes / 8, twice
    EXPECT_EQ(d.site(0).sectors, 8u);     // 128 bytes, twice
    EXPECT_EQ(d.site(0).l1_hits, 4u);
    EXPECT_EQ(d.site(0).l2_reads, 4u);
    EXPECT_EQ(d.site(1).requests, 16u);   // 16 bytes: by quads
    EXPECT_EQ(d.site(1).sectors, 32u);
}

TEST(Model, SurfaceStoresHitLinesThatAreThere) {
    Driver d;
    // Eight lanes write 32 bytes of a line, the next eight its next 32: only the first sector of each line is new.
    const auto write = [&](uint32_t site, uint64_t time) {
        std::array<uint64_t, 32> texels;
        for (uint32_t lane = 0; lane < 32; ++lane) texels[lane] = kBase + 4 * lane;
        d.run({.site = site, .space = Space::kSurface, .operation = Operation::kStore, .bytes = 4, .time = time, .texels = texels.data(), .texels_per_lane = 1, .texel_bytes = 4},
              [&](uint32_t lane) { return texels[lane]; });
    };
    write(0, 0);
    EXPECT_EQ(d.site(0).requests, 4u);
    EXPECT_EQ(d.site(0).sectors, 4u);
    EXPECT_EQ(d.site(0).l1_hits, 3u);
    write(1, 10000);
    EXPECT_EQ(d.site(1).l1_hits, 4u);
}

TEST(Model, SharedMemoryOfOtherBlocksTakesNoPass) {
    Driver d;
    d.run({.site = 0, .space = Space::kShared, .operation = Operation::kLoad, .bytes = 4}, [](uint32_t lane) { return 128ull * lane; });
    d.run({.site = 1, .space = Space::kShared, .operation = Operation::kLoad, .bytes = 4, .remote = true}, [](uint32_t lane) { return 128ull * lane; });
    EXPECT_EQ(d.site(0).wavefronts, 32u);
    EXPECT_EQ(d.site(1).wavefronts, 0u);
    EXPECT_EQ(d.site(1).requests, 1u);
}

TEST(Model, BulkCopiesAreNoRequestsAndGoAroundL1) {
    Driver d;
    const auto copy = [&](uint32_t site, Operation operation, uint64_t from, bool continued, uint64_t time) {
        return d.run({.site = site, .operation = operation, .bytes = 16, .bulk = true, .continued = continued, .time = time}, [=](uint32_t lane) { return from + 16 * lane; });
    };
    EXPECT_GT(copy(0, Operation::kAsyncCopy, kBase, false, 0), 550u) << "DRAM's latency";
    copy(0, Operation::kAsyncCopy, kBase + 512, true, 0);   // one copy of 1024 bytes: 32 sectors
    copy(0, Operation::kAsyncCopy, kBase, false, 5000);     // and one of 512 that L2 has and L1 has not: 16
    const Counters& c = d.site(0);
    EXPECT_EQ(c.instructions, 2u);
    EXPECT_EQ(c.requests + c.tags + c.sectors + c.l1_hits, 0u);
    EXPECT_EQ(c.requested_bytes, 1536u);
    EXPECT_EQ(c.l2_reads, 48u);
    EXPECT_EQ(c.l2_read_hits, 16u);
    EXPECT_EQ(c.dram_read_bytes, 1024u);
    copy(1, Operation::kStore, kBase + 4096, false, 6000);
    d.load(kBase + 4096, 0, 7000, 2);
    EXPECT_EQ(d.site(1).l2_writes, 16u);
    EXPECT_EQ(d.site(1).sectors, 0u);
    EXPECT_EQ(d.site(2).l1_hits, 0u) << "what the copy engine stored is in L2 only";
    EXPECT_EQ(d.site(2).l2_read_hits, 4u);
}

TEST(Model, MappedHostMemoryGoesOverTheLink) {
    Driver d;
    d.model.map(kBase, 1 << 20, Backing::kHost);
    d.load(kBase + 128, 0, 0);
    d.store(kBase + 256, 4, 0);
    d.model.end_launch();
    EXPECT_EQ(d.site(0).link_read_bytes, 128u);
    EXPECT_EQ(d.site(1).link_write_bytes, 128u);
    EXPECT_EQ(d.total().dram_read_bytes, 0u);
}

TEST(Model, LocalMemoryIsInterleavedByLane) {
    Driver d;
    d.run({.site = 0, .space = Space::kLocal, .operation = Operation::kStore}, [](uint32_t) { return 12ull; });
    EXPECT_EQ(d.site(0).sectors, 4u);                       // one index for all: 32 neighbouring words
    d.run({.site = 1, .space = Space::kLocal}, [](uint32_t lane) { return 4ull * lane; });
    EXPECT_EQ(d.site(1).sectors, 32u);                      // each lane another index
    d.run({.site = 2, .space = Space::kLocal, .bytes = 16}, [](uint32_t) { return 16ull; });
    EXPECT_EQ(d.site(2).sectors, 16u);
    EXPECT_EQ(d.site(2).requests, 1u);
}

TEST(Model, WarmCachesKeepWhatCopiesWrote) {
    for (const bool cold : {true, false}) {
        Driver d("h200", {.cold = cold});
        d.model.end_launch();
        d.model.copied_to(kBase, 4096, false);
        d.begin();
        for (uint32_t i = 0; i < 32; ++i) d.load(kBase + 128 * i, 0, i);
        EXPECT_EQ(d.total().dram_read_bytes, cold ? 4096u : 0u);
    }
}

/// Recorded on an H200: 4 MiB that kernels read are still there after copies of up to 64 MiB from or to the host, not after 24 MiB within the device.
TEST(Model, CopiesOverTheLinkDriveNothingOut) {
    constexpr uint64_t kOther = kBase + (1ull << 30), kMany = 64 << 20;
    const auto read_again = [&](const std::function<void(Model&)>& copy) {
        Driver d("h200", {.cold = false});
        for (uint32_t i = 0; i < 1024; ++i) d.load(kBase + 128 * i, 0, i);
        d.model.end_launch();
        copy(d.model);
        d.begin();
        for (uint32_t i = 0; i < 1024; ++i) d.load(kBase + 128 * i, 0, i);
        return d.total().dram_read_bytes;
    };
    EXPECT_LT(read_again([](Model& m) { m.copied_to(kOther, kMany, true); }), 1000u);
    EXPECT_LT(read_again([](Model& m) { m.copied_from(kOther, kMany, true); }), 1000u);
    EXPECT_GT(read_again([](Model& m) { m.copied_to(kOther, kMany, false); }), 130'000u);
    EXPECT_GT(read_again([](Model& m) {
                  m.copied_to(kBase, 128 << 10, true);
                  m.copied_to(kOther, kMany, true);
              }), 130'000u) << "what was written over goes first";
}

/// The tutorial's K80: 16384 ints in blocks of 512 at an offset: two loads a warp and a store.
TEST(Model, KeplerTransactions) {
    for (const auto& [offset, loads] : {std::pair{0u, 1024u}, {1u, 2048u}, {16u, 2048u}, {32u, 1024u}}) {
        Driver d("k80");
        for (uint32_t warp = 0; warp < 512; ++warp) {
            d.load(kBase + 128 * warp + 4 * offset, 0, warp);
            d.load(kBase + (1 << 20) + 128 * warp + 4 * offset, 0, warp);
            d.store(kBase + (2 << 20) + 128 * warp, 4, warp);
        }
        EXPECT_EQ(d.site(0).transactions, loads) << offset;
        EXPECT_EQ(d.site(1).transactions, 512u);
    }
}

TEST(Model, KeplerFetchesWholeLinesThroughL1) {
    Driver with("k80", {.l1 = Settings::L1::kOn}), without("k80", {.l1 = Settings::L1::kOff});
    const auto column = [](uint32_t lane) { return kBase + 4096ull * lane; };
    // 32 lanes on 32 lines: all four sectors of each, or the one that is needed
    with.run({}, column);
    without.run({}, column);
    EXPECT_EQ(with.site(0).l2_reads, 128u);
    EXPECT_EQ(without.site(0).l2_reads, 32u);
}

TEST(Model, KeplersLinesAPowerOfTwoApartDriveEachOtherOut) {
    // Lines of 8 KiB apart, all in one of 64 sets of 6 ways: of 6 all are still there, of 7 none.
    for (const uint64_t lines : {6, 7}) {
        Driver d("k80", {.l1 = Settings::L1::kOn});
        for (int pass = 0; pass < 2; ++pass)
            for (uint64_t line = 0; line < lines; ++line) d.load(kBase + 8192 * line, 0, 10'000 * (lines * uint64_t(pass) + line));
        EXPECT_EQ(d.site(0).l1_hits, lines == 6 ? 6u * 4 : 0u);
    }
}

TEST(Model, KeplersSmWaitsForSixtyFourLinesAtATime) {
    Driver d("k80");
    uint32_t first = 0, third = 0;
    // Warps that load 32 lines each, all at once: two have room, the third's lines wait for the first's, 229 ns × 0.875 cycles more at least.
    for (uint32_t warp = 0; warp < 3; ++warp) {
        const uint32_t took = d.run({}, [=](uint32_t lane) { return kBase + 4096ull * lane + 32 * 4096ull * warp; });
        (warp == 0 ? first : third) = took;
    }
    EXPECT_GE(third, first + 200);
}

TEST(Model, KeplerEfficiencies) {
    const auto percent = [](const Counters& c) { return 100.0 * double(c.unique_bytes) / double(c.transaction_bytes); };
    // a column of a row-major int matrix: 4 of 128 bytes through L1, 4 of 32 without
    for (const auto& [l1, expected] : {std::pair{Settings::L1::kOn, 3.125}, {Settings::L1::kOff, 12.5}}) {
        Driver d("k80", {.l1 = l1});
        d.run({.site = 0}, [](uint32_t lane) { return kBase + 4096ull * lane; });
        d.store(kBase, 4096);
        EXPECT_DOUBLE_EQ(percent(d.site(0)), expected);
        EXPECT_DOUBLE_EQ(percent(d.site(1)), 12.5) << "stores never use L1";
    }
    // nested structure of arrays of 32 ints: init loads two 8-byte pointers (2 transactions, 25 %), kernel loads those and
    // two rows of 32 ints: (8 × 2 + 128 × 2) / (32 × 2 + 128 × 2) = 85 %
    Driver d("k80");
    for (uint32_t i = 0; i < 2; ++i) d.run({.site = 0, .bytes = 8}, [=](uint32_t) { return kBase + 8 * i; });
    EXPECT_EQ(d.site(0).transactions, 2u);
    EXPECT_DOUBLE_EQ(percent(d.site(0)), 25);
    for (uint32_t i = 0; i < 2; ++i) d.load(kBase + 4096 + 128 * i, 0, 10);
    EXPECT_EQ(d.site(0).transactions, 4u);
    EXPECT_DOUBLE_EQ(percent(d.site(0)), 85);
}

}  // namespace
}  // namespace lanescope::memory
