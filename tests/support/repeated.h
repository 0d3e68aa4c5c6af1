#pragma once

#include <cstddef>
#include <vector>

#include "core/data/repeated_columns.h"

namespace forebay::test {

/// Stores the columns of `groups` once, as the decode stage does.
inline void store_groups(ColumnSet& columns, const std::vector<FeatureGroup>& groups,
                         BufferPool& pool) {
  for (const FeatureGroup& group : groups) {
    store_once(columns, group, rows_that_differ(columns, group), pool);
  }
}

/// Gives every column of `groups` a value for each row again.
inline void make_plain(ColumnSet& columns, const std::vector<FeatureGroup>& groups,
                       BufferPool& pool) {
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (std::size_t i = 0; i < groups[group].dense.size(); ++i) {
      columns.dense[groups[group].dense[i]] = plain_dense(columns, group, i, pool);
    }
    for (std::size_t i = 0; i < groups[group].sparse.size(); ++i) {
      columns.sparse[groups[group].sparse[i]] = plain_sparse(columns, group, i, pool);
    }
  }
  columns.repeated.clear();
}

}  // namespace forebay::test
