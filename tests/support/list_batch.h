#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/data/batch.h"

namespace forebay::test {

/// Returns a batch of `rows` rows with these lists, by feature, then row; it points to them.
inline Batch batch_of(std::size_t rows, std::vector<std::int32_t>& lengths,
                      std::vector<std::int64_t>& ids) {
  Batch batch;
  batch.rows = rows;
  batch.sparse_features = lengths.size() / rows;
  batch.num_ids = ids.size();
  batch.lengths = lengths.data();
  batch.ids = ids.data();
  return batch;
}

/// Says that rows of a batch share the lists of some features, which it has once. Points to the
/// numbers.
inline void share_lists(Batch& batch, std::vector<std::size_t> features,
                        const std::vector<std::uint32_t>& numbers,
                        const std::vector<std::uint32_t>& first_rows) {
  batch.lists_once = true;
  batch.repeats.push_back({.features = {.sparse = std::move(features)},
                           .unique = first_rows.size(),
                           .numbers = numbers.data(),
                           .first_rows = first_rows.data()});
}

}  // namespace forebay::test
