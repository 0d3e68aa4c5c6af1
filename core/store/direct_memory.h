#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "core/base/check.h"
#include "core/base/open_files.h"

namespace forebay {

/// Memory aligned for direct reads and writes.
class DirectMemory {
 public:
  explicit DirectMemory(std::size_t bytes)
      : size_(whole_pages(bytes)),
        memory_(static_cast<char*>(std::aligned_alloc(kDirectPage, size_)), &std::free) {
    FOREBAY_CHECK(memory_ != nullptr);
  }

  char* data() const { return memory_.get(); }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_;
  std::unique_ptr<char, void (*)(void*)> memory_;
};

}  // namespace forebay
