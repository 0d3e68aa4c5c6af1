#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/data/batch.h"

namespace forebay::test {

/// A batch of the given labels, dense columns and lists of ids by column; owns its memory.
struct MadeBatch {
  using Lists = std::vector<std::vector<std::int64_t>>;

  MadeBatch(std::vector<float> all_labels, const std::vector<std::vector<float>>& dense_columns,
            const std::vector<Lists>& sparse_columns)
      : labels(std::move(all_labels)) {
    for (std::size_t row = 0; row < labels.size(); ++row) {
      for (const auto& column : dense_columns) dense.push_back(column[row]);
    }
    for (const Lists& column : sparse_columns) {
      for (const auto& list : column) {
        lengths.push_back(static_cast<std::int32_t>(list.size()));
        ids.insert(ids.end(), list.begin(), list.end());
      }
    }
    batch.rows = labels.size();
    batch.dense_features = dense_columns.size();
    batch.sparse_features = sparse_columns.size();
    batch.num_ids = ids.size();
    batch.labels = labels.data();
    batch.dense = dense.data();
    batch.lengths = lengths.data();
    batch.ids = ids.data();
  }
  MadeBatch(const MadeBatch&) = delete;
  MadeBatch& operator=(const MadeBatch&) = delete;

  std::vector<float> labels, dense;
  std::vector<std::int32_t> lengths;
  std::vector<std::int64_t> ids;
  Batch batch;
};

}  // namespace forebay::test
