#pragma once

#include <cstddef>
#include <cstdint>

#include "core/data/column_set.h"

namespace forebay {

/// The columns of a set, packed or not, as batches copy them. Borrows the set. Any thread.
class SetColumns {
 public:
  explicit SetColumns(const ColumnSet& set) : set_(set) {}

  std::size_t num_dense() const {
    return set_.packed ? set_.packed->dense.size() : set_.dense.size();
  }
  std::size_t num_sparse() const {
    return set_.packed ? set_.packed->sparse.size() : set_.sparse.size();
  }
  std::size_t num_extras() const {
    return set_.packed ? set_.packed->extras.size() : set_.extras.size();
  }
  bool has_weights() const { return weights() != nullptr; }

  /// The index of the first id of `row` in the ids of a sparse feature.
  std::size_t first_id(std::size_t feature, std::size_t row) const {
    return set_.packed ? set_.packed->sparse[feature].first_id(row)
                       : set_.sparse[feature].first_id(row);
  }

  float dense(std::size_t feature, std::size_t row) const;

  // Rows [begin, end) of a column.
  void copy_labels(std::size_t begin, std::size_t end, float* out) const;
  void copy_weights(std::size_t begin, std::size_t end, float* out) const;
  void copy_extra(std::size_t extra, std::size_t begin, std::size_t end, std::int64_t* out) const;
  void copy_lengths(std::size_t feature, std::size_t begin, std::size_t end,
                    std::int32_t* out) const;
  /// All dense columns that are in the set itself, row by row: out[row - begin][feature].
  void copy_dense(std::size_t begin, std::size_t end, float* out) const;

  /// `count` ids of a sparse feature, from id `first` on.
  void copy_ids(std::size_t feature, std::size_t first, std::size_t count, std::int64_t* out) const;

 private:
  const std::byte* weights() const {
    return set_.packed ? set_.packed->weights : reinterpret_cast<const std::byte*>(set_.weights);
  }

  const ColumnSet& set_;
};

}  // namespace forebay
