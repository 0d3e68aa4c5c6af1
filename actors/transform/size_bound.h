#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace forebay {

/// The upper bound of a split's size as it passes through the steps: bytes held, and their peak.
///
/// A list of unknown length is bounded by the bytes decoded: all decoded sparse columns together
/// hold at most `decoded_ids` ids.
class SizeBound {
 public:
  SizeBound(std::size_t rows, std::size_t decoded_bytes, std::size_t sparse_columns);

  std::size_t rows() const { return rows_; }
  std::size_t peak() const { return peak_; }

  /// The most ids that the sparse columns of these indices hold in all.
  std::size_t ids(std::span<const std::size_t> sparse) const;

  /// Adds a buffer of `bytes` that the split keeps until its end.
  void hold(std::size_t bytes);
  /// Adds a buffer of `bytes` that the step returns.
  void borrow(std::size_t bytes);

  /// The sparse column `index` (one past the last: an additional column) gets its own list memory,
  /// of at most `ids` ids.
  void hold_sparse(std::size_t index, std::size_t ids);
  /// A column `to` that gets its own list memory for at most the ids of column `from`, and `more`
  /// ids per row.
  struct Copy {
    std::size_t from = 0;
    std::size_t to = 0;
  };
  void hold_copies(std::span<const Copy> copies, std::size_t more);
  void hold_dense() { hold(rows_ * sizeof(float)); }
  void drop_sparse(std::size_t index);

 private:
  /// A bound: the ids of one decoded column plus `others`.
  struct Lists {
    std::size_t others = 0;
    std::optional<std::size_t> decoded;
  };

  void put(std::size_t index, Lists lists);

  std::size_t rows_;
  std::size_t decoded_ids_;
  std::size_t held_;
  std::size_t peak_;
  std::vector<Lists> sparse_;
};

}  // namespace forebay
