#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace forebay {

/// Anonymous memory that this process and a child map. It grows and never shrinks: it is sealed, so
/// that a child which cuts it cannot crash this process. Move-only; belongs to one thread.
class SharedMemory {
 public:
  /// kUnavailable: the system gives none.
  static Result<SharedMemory> create();

  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  /// Makes it at least `bytes` large. Earlier pointers are invalid after it grew. kUnavailable as
  /// above.
  Status reserve(std::size_t bytes);

  std::span<std::byte> bytes() const { return {data_, size_}; }
  /// The file that a child maps.
  int descriptor() const { return file_.number(); }

 private:
  explicit SharedMemory(Descriptor file) : file_(std::move(file)) {}

  Descriptor file_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace forebay
