#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/data/buffer_pool.h"

namespace forebay {

/// Read-only, shared bytes that are sent without a copy.
///
/// `keeper` keeps the memory alive: a pool's Buffer to be sent, or a received message of the
/// transport. The last Frame on the memory frees it, on any thread. A value.
class Frame {
 public:
  Frame() = default;
  Frame(std::shared_ptr<const void> keeper, const std::byte* data, std::size_t size)
      : keeper_(std::move(keeper)), data_(data), size_(size) {}

  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  const std::shared_ptr<const void>& keeper() const { return keeper_; }

 private:
  std::shared_ptr<const void> keeper_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A frame that keeps `buffer` and sends its bytes.
inline Frame frame_of(Buffer buffer) {
  const auto held = std::make_shared<const Buffer>(std::move(buffer));
  return {held, held->data(), held->size()};
}

using Frames = std::vector<Frame>;

inline std::size_t bytes_of(const Frames& frames) {
  std::size_t bytes = 0;
  for (const Frame& frame : frames) bytes += frame.size();
  return bytes;
}

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
  std::byte* data() { return bytes_.get(); }
  std::size_t size() const { return size_; }
  /// Empties the buffer; its bytes belong to the caller.
  std::unique_ptr<std::byte[]> release() {
    size_ = capacity_ = 0;
    return std::move(bytes_);
  }
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

/// Turns references to actors into names that are valid on another node, and back. The codec
/// carries only the name; the caller defines the type behind the pointer.
class WireContext {
 public:
  virtual ~WireContext() = default;

  /// The name of `actor`, which a message about to be sent refers to; `actor` is not null.
  virtual std::string export_actor(const std::shared_ptr<void>& actor) = 0;

  /// The actor called `name`. The name comes from the peer and is untrusted, so it may be refused.
  virtual Result<std::shared_ptr<void>> import_actor(std::string_view name) = 0;
};

}  // namespace forebay
