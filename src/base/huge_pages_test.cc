#include "base/huge_pages.h"

#include <gtest/gtest.h>

#include <vector>

namespace lanescope::base {
namespace {

TEST(HugePages, BeginAtLargePagesAndCanBeUsedAsAWhole) {
    HugePages pages;
    std::pmr::vector<uint32_t> numbers(1'000'000, 7, &pages);   // 4 MB: two pages
    EXPECT_EQ(reinterpret_cast<uintptr_t>(numbers.data()) % (2u << 20), 0u);
    numbers.back() = 8;
    numbers.resize(3'000'000, 9);
    EXPECT_EQ(numbers.front(), 7u);
    EXPECT_EQ(numbers[999'999], 8u);
    EXPECT_EQ(numbers.back(), 9u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(numbers.data()) % (2u << 20), 0u);
}

TEST(HugePages, AreOneKindOfMemory) {
    HugePages one, other;
    EXPECT_EQ(one, other);
    EXPECT_NE(static_cast<std::pmr::memory_resource&>(one), *std::pmr::new_delete_resource());
}

}  // namespace
}  // namespace lanescope::base
