#include "memory/timetable.h"

#include <gtest/gtest.h>

namespace lanescope::memory {
namespace {

constexpr double kSlot = Timetable::kSlotCycles;

TEST(Timetable, WhatComesFromTheFutureLeavesTheTimeBefore) {
    Timetable table;
    EXPECT_EQ(table.take(100 * kSlot, kSlot), 0);
    EXPECT_EQ(table.take(kSlot, kSlot), 0) << "a server that is taken up until the last request's end would let this one wait for 100 slots";
    EXPECT_EQ(table.take(100 * kSlot, 1), kSlot) << "that slot is full";
}

TEST(Timetable, WorkQueuesBehindFullSlots) {
    Timetable table;
    EXPECT_EQ(table.take(0, 2.5 * kSlot), 0);
    EXPECT_EQ(table.take(kSlot, kSlot), 1.5 * kSlot) << "the third slot is half free";
    EXPECT_EQ(table.take(0, 1), 3.5 * kSlot);
    EXPECT_EQ(table.take(4 * kSlot, 1), 0);
}

TEST(Timetable, ATimeThatIsOverIsNotGivenAgain) {
    Timetable table;
    table.take(kSlot, kSlot / 4);
    table.pass(3 * kSlot);
    EXPECT_EQ(table.take(0, 1), 3 * kSlot) << "late";
    table.pass(1000 * kSlot);
    EXPECT_EQ(table.take(1000 * kSlot, 1), 0) << "nothing is left of earlier rounds of the ring";
}

TEST(Timetable, AQueueMayBeLongerThanTheRing) {
    Timetable table(4);
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(table.take(0, kSlot), i * kSlot);
    table.pass(999 * kSlot);
    EXPECT_EQ(table.take(999 * kSlot, kSlot), kSlot);
}

}  // namespace
}  // namespace lanescope::memory
