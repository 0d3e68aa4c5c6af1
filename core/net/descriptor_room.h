#pragma once

#include <chrono>
#include <cstddef>

#include "core/base/open_files.h"

namespace forebay {

/// The file descriptors that are free for connections; some are reserved for files.
///
/// Counts open descriptors (free_descriptors) once a second, and on every call of look() while few
/// are left. Belongs to one thread.
class DescriptorRoom {
 public:
  using Time = std::chrono::nanoseconds;
  using Count = std::size_t (*)();

  /// `kept` is the number of descriptors reserved for files; 0: connections are not limited.
  explicit DescriptorRoom(std::size_t kept, Count count = &free_descriptors)
      : kept_(kept), count_(count) {}

  /// Updates the count; at most `taken` descriptors were taken since the last call.
  void look(Time now, std::size_t taken) {
    if (kept_ == 0) return;
    free_ -= taken < free_ ? taken : free_;
    if (now < next_count_ && free_ > 2 * kept_) return;
    next_count_ = now + std::chrono::seconds(1);
    free_ = count_();
  }

  /// Whether another peer may have a session.
  bool admits() const { return free_ >= kept_; }
  /// Whether to close connections without a session, and to accept no more until is_calm().
  /// Refusing a peer with a message needs one.
  bool is_short() const { return free_ < kept_ / 4; }
  bool is_calm() const { return free_ >= kept_ * 3 / 8; }

 private:
  const std::size_t kept_;
  const Count count_;
  std::size_t free_ = ~std::size_t{0};  // before the first count
  Time next_count_{0};
};

}  // namespace forebay
