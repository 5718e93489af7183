#include "emulator/replay.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace lanescope::emulator {
namespace {

std::vector<analysis::Candidate> changes(size_t count) {
    std::vector<analysis::Candidate> out(count);
    for (size_t i = 0; i < count; ++i) out[i].pitch = i;
    return out;
}

TEST(Replay, SeesTheMemoryOfThenAndChangesNothingHere) {
    double value = 1;
    auto replay = Replay::prepare([&](const analysis::Candidate& change) {
        Outcome outcome;
        outcome.time_ns = value + double(change.pitch);
        value = 100;                               // of the copy's copy
        return outcome;
    });
    ASSERT_NE(replay, nullptr);
    value = 50;
    const auto outcomes = replay->run(changes(3), 2, false, 10);
    ASSERT_EQ(outcomes.size(), 3u);
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(outcomes[i].time_ns, 1 + double(i));
    EXPECT_EQ(value, 50);
}

TEST(Replay, InPlaceNeedsNoSecondCopy) {
    const pid_t self = ::getpid();
    auto replay = Replay::prepare([&](const analysis::Candidate&) {
        Outcome outcome;
        outcome.finished = ::getppid() == self;
        return outcome;
    });
    ASSERT_NE(replay, nullptr);
    const auto outcomes = replay->run(changes(1), 1, true, 10);
    ASSERT_EQ(outcomes.size(), 1u);
    EXPECT_TRUE(outcomes[0].finished);
}

TEST(Replay, WhatTakesTooLongOrDiesIsMissing) {
    auto replay = Replay::prepare([](const analysis::Candidate& change) {
        if (change.pitch == 1) ::pause();
        if (change.pitch == 2) ::_exit(3);
        return Outcome{};
    });
    ASSERT_NE(replay, nullptr);
    const auto outcomes = replay->run(changes(3), 3, false, 0.5);
    ASSERT_EQ(outcomes.size(), 1u);
    EXPECT_EQ(outcomes[0].index, 0u);
}

TEST(Replay, LeavesNoProcessBehind) {
    { auto unused = Replay::prepare([](const analysis::Candidate&) { return Outcome{}; }); }
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
}

TEST(Replay, WritesNothingOfTheProgram) {
    testing::internal::CaptureStdout();
    std::fputs("once", stdout);                    // in the buffer, as a program's own output would be
    {
        auto replay = Replay::prepare([](const analysis::Candidate&) { return Outcome{}; });
        ASSERT_NE(replay, nullptr);
        replay->run(changes(2), 2, false, 10);
    }
    std::fflush(stdout);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "once");
}

}  // namespace
}  // namespace lanescope::emulator
