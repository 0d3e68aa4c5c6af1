#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>

#include "core/wire/frame.h"

namespace forebay {

/// A message being written: its bytes, and the frames sent beside them.
///
/// Owns both. Reuse a buffer and clear it: its capacity stays. Belongs to one thread.
class WireBuffer {
 public:
  /// A location where at least `bytes` more may be written. Call `filled_to` with the end of the
  /// bytes written.
  std::byte* room(std::size_t bytes) {
    if (capacity_ - size_ < bytes) grow(bytes);
    return bytes_.get() + size_;
  }
  void filled_to(const std::byte* end) { size_ = static_cast<std::size_t>(end - bytes_.get()); }

  std::span<const std::byte> bytes() const { return {bytes_.get(), size_}; }
  std::size_t size() const { return size_; }
  void clear() {
    size_ = 0;
    frames.clear();
  }

  Frames frames;

 private:
  void grow(std::size_t bytes) {
    const std::size_t capacity = std::max({size_ + bytes, capacity_ * 2, std::size_t{256}});
    auto larger = std::make_unique_for_overwrite<std::byte[]>(capacity);
    if (size_ > 0) std::memcpy(larger.get(), bytes_.get(), size_);
    bytes_ = std::move(larger);
    capacity_ = capacity;
  }

  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace forebay
