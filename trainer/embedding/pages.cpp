#include "trainer/embedding/pages.h"

#include <sys/mman.h>

#include <utility>

#include "core/base/check.h"

namespace forebay {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

Pages::Pages(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
               -1, 0);
  FOREBAY_CHECK(data_ != MAP_FAILED);
  if (bytes >= 4 * kHugePage) madvise(data_, bytes, MADV_HUGEPAGE);
}

Pages::~Pages() {
  if (data_ != nullptr) munmap(data_, size_);
}

void Pages::clear() {
  if (data_ != nullptr) FOREBAY_CHECK(madvise(data_, size_, MADV_DONTNEED) == 0);
}

void Pages::swap(Pages& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
}

}  // namespace forebay
