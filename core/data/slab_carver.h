#pragma once

#include <cstddef>

#include "core/data/buffer_pool.h"

namespace forebay {

/// Cuts one slab into columns, each aligned and padded like a Buffer, so that a split needs one
/// buffer instead of one for each column. The slab's size is the sum of aligned() over the columns.
class SlabCarver {
 public:
  explicit SlabCarver(std::byte* slab) : at_(slab) {}

  template <class T>
  T* take(std::size_t count) {
    T* column = reinterpret_cast<T*>(at_);
    at_ += aligned<T>(count);
    return column;
  }

  /// Bytes that a column of `count` elements occupies: at least kPadding more than its data.
  template <class T>
  static constexpr std::size_t aligned(std::size_t count) {
    return (count * sizeof(T) + 2 * Buffer::kPadding - 1) / Buffer::kPadding * Buffer::kPadding;
  }

 private:
  std::byte* at_;
};

}  // namespace forebay
