#pragma once

#include <chrono>
#include <cstddef>

#include "core/base/open_files.h"

namespace forebay {

/// How many descriptors are left for connections beside those that are kept for files.
///
/// Counts what is open (free_descriptors) once a second, and whenever connections came while few
/// are left. Belongs to one thread.
class DescriptorRoom {
 public:
  using Time = std::chrono::nanoseconds;
  using Count = std::size_t (*)();

  /// `kept` 0: there is always room.
  explicit DescriptorRoom(std::size_t kept, Count count = &free_descriptors)
      : kept_(kept), count_(count) {}

  /// So many descriptors may have been taken since the last call of this.
  void look(Time now, std::size_t taken) {
    if (kept_ == 0) return;
    free_ -= taken < free_ ? taken : free_;
    if (now < next_count_ && free_ > 2 * kept_) return;
    next_count_ = now + std::chrono::seconds(1);
    free_ = count_();
  }

  /// Whether another peer may have a session.
  bool admits() const { return free_ >= kept_; }
  /// Whether no connection may be accepted until is_calm(). Refusing a peer in words takes one.
  bool is_short() const { return free_ < kept_ / 4; }
  bool is_calm() const { return free_ >= kept_ * 3 / 8; }
  /// Whether connections without a session are to be cut.
  bool is_crowded() const { return free_ < kept_ / 4; }

 private:
  const std::size_t kept_;
  const Count count_;
  std::size_t free_ = ~std::size_t{0};  // before the first count
  Time next_count_{0};
};

}  // namespace forebay
