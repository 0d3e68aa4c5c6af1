#pragma once

#include <cstddef>

#include "core/data/buffer_pool.h"

namespace forebay::parquet {

/// Memory for values of type T that a decoder uses again and again; it counts towards the pool's
/// budget. Owns one buffer. Belongs to one thread.
template <class T>
class Scratch {
 public:
  explicit Scratch(BufferPool& pool) : pool_(pool) {}

  /// Returns memory for `count` values and the padding of a Buffer; what it held is lost.
  T* of(std::size_t count) {
    if (!buffer_ || count > buffer_.size() / sizeof(T)) {
      buffer_ = {};
      buffer_ = pool_.take((count + kSlack) * sizeof(T));
    }
    return data();
  }
  T* data() const { return buffer_.template as<T>(); }
  BufferPool& pool() const { return pool_; }

 private:
  static constexpr std::size_t kSlack = 256;

  BufferPool& pool_;
  Buffer buffer_;
};

}  // namespace forebay::parquet
