#include "memory/timetable.h"

#include <gtest/gtest.h>

namespace lanescope::memory {
namespace {

constexpr double kSlot = Timetable::kSlotCycles;

double unused(Timetable& table, double now) {
    double sum = 0;
    table.pass(now, [&](double cycles, double unused) {
        EXPECT_LE(unused, cycles);
        sum += unused;
    });
    return sum;
}

TEST(Timetable, WhatComesFromTheFutureLeavesTheTimeBefore) {
    Timetable table;
    EXPECT_EQ(table.take(100 * kSlot, kSlot), 0);
    EXPECT_EQ(table.take(kSlot, kSlot), 0) << "a server that is taken up until the last request's end would let this one wait for 100 slots";
    EXPECT_EQ(table.take(100 * kSlot, 1), kSlot) << "that slot is full";
}

TEST(Timetable, WorkQueuesBehindFullSlots) {
    Timetable table;
    EXPECT_EQ(table.take(0, 2.5 * kSlot), 0);
    EXPECT_EQ(table.wait(kSlot), 1.5 * kSlot) << "the third slot is half free";
    EXPECT_EQ(table.take(kSlot, kSlot), 1.5 * kSlot);
    EXPECT_EQ(table.wait(0), 3.5 * kSlot);
    EXPECT_EQ(table.wait(4 * kSlot), 0);
}

TEST(Timetable, ATimeThatIsOverIsNotGivenAgain) {
    Timetable table;
    table.take(kSlot, kSlot / 4);
    EXPECT_EQ(unused(table, 3 * kSlot), 2.75 * kSlot);
    EXPECT_EQ(unused(table, 3 * kSlot), 0);
    EXPECT_EQ(table.take(0, 1), 3 * kSlot) << "late";
    EXPECT_EQ(unused(table, 1000 * kSlot), 997 * kSlot - 1);
}

TEST(Timetable, AQueueMayBeLongerThanTheRing) {
    Timetable table(4);
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(table.take(0, kSlot), i * kSlot);
    EXPECT_EQ(unused(table, 999 * kSlot), 0);
    EXPECT_EQ(table.wait(999 * kSlot), kSlot);
    EXPECT_EQ(unused(table, 1001 * kSlot), kSlot);
}

}  // namespace
}  // namespace lanescope::memory
