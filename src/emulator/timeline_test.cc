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
    time.host_waits(time.moment(a));
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
    time.enqueue(a, Engine::kToDevice, 70);
    time.wait(b, time.moment(a));
    EXPECT_EQ(time.enqueue(b, Engine::kKernels, 1).start, 70);
    time.destroy(b);
    EXPECT_FALSE(time.exists(b));
    EXPECT_TRUE(time.exists(kDefaultStream));
}

TEST(Timeline, KernelsRunBesideEachOtherAsLongAsTheirBlocksFit) {
    Timeline time;
    const Stream s[] = {time.create(true), time.create(true), time.create(true), time.create(true)};
    EXPECT_EQ(time.enqueue(s[0], Engine::kKernels, 100, 0.5).start, 0);
    EXPECT_EQ(time.enqueue(s[1], Engine::kKernels, 40, 0.5).start, 0);     // fills the other half: 0 … 40
    EXPECT_EQ(time.enqueue(s[2], Engine::kKernels, 30, 0.75).start, 100);  // needs more than the half that is free from 40 on
    EXPECT_EQ(time.enqueue(s[3], Engine::kKernels, 60, 0.5).start, 40);    // the half is free from 40 to 100: fits exactly
    EXPECT_EQ(time.enqueue(s[1], Engine::kKernels, 10, 0.25).start, 100);  // beside the three quarters
    EXPECT_EQ(time.enqueue(s[1], Engine::kKernels, 10).start, 130);        // the whole GPU
}

TEST(Timeline, NoMoreKernelsThanTheGpuHolds) {
    Timeline time(2);
    EXPECT_EQ(time.enqueue(time.create(true), Engine::kKernels, 10, 0.1).start, 0);
    EXPECT_EQ(time.enqueue(time.create(true), Engine::kKernels, 20, 0.1).start, 0);
    EXPECT_EQ(time.enqueue(time.create(true), Engine::kKernels, 10, 0.1).start, 10);
}

TEST(Timeline, ManyKernelsWithoutAWaitStayInOrder) {
    Timeline time;
    const Stream stream = time.create(true);
    for (int i = 0; i < 2000; ++i) EXPECT_EQ(time.enqueue(stream, Engine::kKernels, 1, 0.01).start, i);
    // Another stream's kernel may start early, but not where the past is forgotten.
    EXPECT_LT(time.enqueue(time.create(false), Engine::kKernels, 1, 0.01).start, 2000);
}

TEST(Timeline, ADestroyedStreamRunsToItsEnd) {
    Timeline time;
    const Stream stream = time.create(true);
    time.enqueue(stream, Engine::kKernels, 100);
    time.destroy(stream);
    EXPECT_EQ(time.end_of(kDefaultStream), 100);
    time.host_waits_for_all();
    EXPECT_EQ(time.host(), 100);
}

TEST(Timeline, TheHostWaitsForPagesThatItTouches) {
    Timeline time;
    time.enqueue(kDefaultStream, Engine::kToHost, 50);
    const Timeline::Span span = time.now(Engine::kToHost, 10);
    EXPECT_EQ(span.start, 50);
    EXPECT_EQ(time.host(), 60);
}

TEST(Timeline, WorkOfTwoStreamsIsOrderedByEventsAndByTheHostOnly) {
    Timeline time;
    const Stream a = time.create(false), b = time.create(false);
    const uint64_t first = time.order(a);
    time.order(b);
    EXPECT_FALSE(time.before(a, first, b));
    EXPECT_FALSE(time.before_host(a, first));
    const Timeline::Moment event = time.moment(a);
    const uint64_t second = time.order(a);
    time.wait(b, event);
    time.order(b);
    EXPECT_TRUE(time.before(a, first, b));     // the event was recorded behind it
    EXPECT_FALSE(time.before(a, second, b));   // and before this
    time.host_waits(time.moment(a));
    time.order(b);
    EXPECT_TRUE(time.before(a, second, b));
    EXPECT_TRUE(time.before_host(a, second));
}

TEST(Timeline, BlockingStreamsAreOrderedByTheDefaultStream) {
    Timeline time;
    const Stream a = time.create(true), b = time.create(true), free = time.create(false);
    const uint64_t first = time.order(a), other = time.order(free);
    const uint64_t middle = time.order(kDefaultStream);
    time.order(b);
    EXPECT_TRUE(time.before(a, first, kDefaultStream));
    EXPECT_FALSE(time.before(free, other, kDefaultStream));
    EXPECT_TRUE(time.before(kDefaultStream, middle, b));
    EXPECT_TRUE(time.before(a, first, b));
}

}  // namespace
}  // namespace lanescope::emulator
