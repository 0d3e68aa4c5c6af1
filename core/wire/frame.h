#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

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

}  // namespace forebay
