// Memory in large pages, where the system has them: what is read all over misses fewer translations of addresses.
#pragma once

#include <memory_resource>

namespace lanescope::base {

/// Takes whole large pages from the system: put a pool or a monotonic buffer before it.
class HugePages final : public std::pmr::memory_resource {
    void* do_allocate(size_t bytes, size_t alignment) override;
    void do_deallocate(void* at, size_t bytes, size_t alignment) override;
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return dynamic_cast<const HugePages*>(&other) != nullptr; }
};

}  // namespace lanescope::base
