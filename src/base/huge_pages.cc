#include "base/huge_pages.h"

#include <sys/mman.h>

#include <new>

namespace lanescope::base {
namespace {

constexpr size_t kPage = size_t(2) << 20;

size_t rounded(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

}  // namespace

void* HugePages::do_allocate(size_t bytes, size_t alignment) {
    void* const at = ::operator new(rounded(bytes), std::align_val_t(alignment > kPage ? alignment : kPage));
    madvise(at, rounded(bytes), MADV_HUGEPAGE);   // where there are none, small pages do
    return at;
}

void HugePages::do_deallocate(void* at, size_t bytes, size_t alignment) {
    ::operator delete(at, rounded(bytes), std::align_val_t(alignment > kPage ? alignment : kPage));
}

}  // namespace lanescope::base
