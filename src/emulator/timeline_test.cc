#include "emulator/timeline.h"

#include <gtest/gtest.h>

namespace lanescope::emulator {
namespace {

TEST(Timeline, AStreamIsAQueueAndEnginesAreShared) {
    Timeline time;
    Stream a = time.create(true), b = time.create(true);
    EXPECT_EQ(time.enqueue(a, Engine::kToDevice, 100).end, 100);   // 0 … 100
    EXPECT_EQ(time.enqueue(a, Engine::kKernels, 50).start, 100);   // behind the copy of its stream: 100 … 150
    EXPECT_EQ(time.enqueue(b, Engine::kToDevice, 100).start, 100); // copy engine busy until 100: 100 … 200, beside a's kernel
    EXPECT_EQ(time.enqueue(b, Engine::kKernels, 10).start, 200);
    EXPECT_EQ(time.host(), 0);                                     // nothing waited
    time.host_waits(time.end_of(a));
    EXPECT_EQ(time.host(), 150);
    EXPECT_EQ(time.enqueue(a, Engine::kToHost, 5).start, 150);     // asked for after the wait
    time.host_waits_for_all();
    EXPECT_EQ(time.host(), 210);
}

TEST(Timeline, TheDefaultStreamJoinsBlockingStreamsOnly) {
    Timeline time;
    Stream blocking = time.create(true), free = time.create(false);
    time.enqueue(blocking, Engine::kToDevice, 100);
    time.enqueue(free, Engine::kToHost, 1000);
    EXPECT_EQ(time.enqueue(kDefaultStream, Engine::kKernels, 10).start, 100);    // waits for `blocking`, not for `free`
    EXPECT_EQ(time.enqueue(blocking, Engine::kToDevice, 10).start, 110);         // and `blocking` for it
    EXPECT_EQ(time.enqueue(free, Engine::kToDevice, 10).start, 1000);
}

TEST(Timeline, AStreamWaitsForAnEvent) {
    Timeline time;
    Stream a = time.create(false), b = time.create(false);
    double event = time.enqueue(a, Engine::kToDevice, 70).end;
    time.wait(b, event);
    EXPECT_EQ(time.enqueue(b, Engine::kKernels, 1).start, 70);
    time.destroy(b);
    EXPECT_FALSE(time.exists(b));
    EXPECT_TRUE(time.exists(kDefaultStream));
}

}  // namespace
}  // namespace lanescope::emulator
