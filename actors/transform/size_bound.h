#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace forebay {

/// The largest a split can be as it passes through the steps: bytes held, and their peak.
///
/// A list of unknown length is bounded by the bytes decoded: all decoded sparse columns together
/// hold at most `decoded_ids` ids.
class SizeBound {
 public:
  SizeBound(std::size_t rows, std::size_t decoded_bytes, std::size_t sparse_columns);

  std::size_t rows() const { return rows_; }
  std::size_t peak() const { return peak_; }

  /// The most ids of the sparse columns of these indices, in all.
  std::size_t ids(std::span<const std::size_t> sparse) const;

  /// A buffer of `bytes` that the split keeps until its end.
  void hold(std::size_t bytes);
  /// A buffer of `bytes` that the step gives back.
  void borrow(std::size_t bytes);

  /// The sparse column `index` (one past the last: a further one) gets list memory of its own,
  /// of at most `ids` ids.
  void hold_sparse(std::size_t index, std::size_t ids);
  /// Columns get list memory of their own for at most the ids of another, and `more` a row.
  struct Copy {
    std::size_t from = 0;
    std::size_t to = 0;
  };
  void hold_copies(std::span<const Copy> copies, std::size_t more);
  void hold_dense() { hold(rows_ * sizeof(float)); }
  void drop_sparse(std::size_t index);

 private:
  /// At most the ids of one decoded column, and so many others.
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
