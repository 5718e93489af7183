#include "analysis/timeline.h"

#include <gtest/gtest.h>

namespace lanescope::analysis {
namespace {

profile::Launch launch(uint32_t stream, double start, double duration) {
    profile::Launch out;
    out.kernel = "void add<(int)4>(int *)";
    out.stream = stream;
    out.start_ns = start;
    out.metrics = {{"gpu__time_duration.sum", duration}};
    return out;
}

TEST(Timeline, AddsUpWhatRunsSideBySide) {
    profile::Profile profile;
    profile.launches = {launch(1, 100, 100), launch(2, 150, 100)};            // 100 … 200 and 150 … 250
    profile.transfers = {{"host_to_device", "pinned", 8, 1, 0, 100},          // 0 … 100
                         {"host_to_device", "pinned", 8, 2, 100, 50},         // 100 … 150, beside the first kernel
                         {"device_to_host", "pinned", 8, 1, 200, 60},         // 200 … 260, beside the second until 250
                         {"memset", "device", 8, 0, 260, 10}};
    const Timeline timeline = timeline_of(profile);
    ASSERT_EQ(timeline.items.size(), 6u);
    EXPECT_EQ(timeline.items[0].name, "host to device, pinned");
    EXPECT_EQ(timeline.items[1].name, "add<4>");
    EXPECT_EQ(timeline.streams, (std::vector<uint32_t>{0, 1, 2}));
    EXPECT_EQ(timeline.end_ns, 270);
    EXPECT_EQ(timeline.kernels_ns, 150);             // 100 … 250
    EXPECT_EQ(timeline.several_kernels_ns, 50);      // 150 … 200
    EXPECT_EQ(timeline.copies_ns, 100 + 50 + 60);
    EXPECT_EQ(timeline.both_ns, 50 + 50);            // 100 … 150 and 200 … 250
    EXPECT_EQ(timeline.items[5].kind, TimelineItem::Kind::kOnDevice);
}

TEST(Timeline, TransfersWithinAKernelAreTheKernels) {
    profile::Profile profile;
    profile.launches = {launch(0, 0, 100)};
    profile.transfers = {{"migration_to_device", "managed", 8, 0, 0, 50, 0}};
    const Timeline timeline = timeline_of(profile);
    EXPECT_EQ(timeline.items.size(), 1u);
    EXPECT_EQ(timeline.copies_ns, 0);
}

TEST(Timeline, UnknownStartsGiveNoTimeline) {
    profile::Profile profile;
    profile.launches = {launch(0, 0, 100)};
    profile.launches[0].start_ns.reset();
    EXPECT_TRUE(timeline_of(profile).items.empty());
}

}  // namespace
}  // namespace lanescope::analysis
