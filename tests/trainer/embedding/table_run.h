#pragma once

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/data/batch.h"
#include "trainer/torch/kernels/embedding_tables.h"

namespace forebay::test {

/// A batch that owns its lists, made by seed and number: ids of uneven frequency, 0 to 3 a list.
struct ListBatch {
  ListBatch(std::uint64_t seed, std::uint64_t number, const std::vector<std::int64_t>& table_rows,
            std::size_t rows) {
    Random random(mix64(seed, number));
    for (const std::int64_t most : table_rows) {
      for (std::size_t row = 0; row < rows; ++row) {
        lengths.push_back(static_cast<std::int32_t>(random.below(4)));
        for (std::int32_t i = 0; i < lengths.back(); ++i) {
          const std::uint64_t spread = random.below(3) == 0 ? static_cast<std::uint64_t>(most) : 5;
          ids.push_back(static_cast<std::int64_t>(random.below(spread)) - most);
        }
      }
    }
    fill(number, table_rows.size(), rows);
  }

  /// One list with one id for each row of each table: pooling returns the tables themselves.
  explicit ListBatch(const std::vector<std::int64_t>& table_rows, std::int64_t first,
                     std::int64_t count) {
    for (std::size_t feature = 0; feature < table_rows.size(); ++feature) {
      for (std::int64_t row = first; row < first + count; ++row) {
        lengths.push_back(1);
        ids.push_back(row);
      }
    }
    fill(0, table_rows.size(), static_cast<std::size_t>(count));
  }

  void fill(std::uint64_t number, std::size_t features, std::size_t rows) {
    batch.number = number;
    batch.rows = rows;
    batch.sparse_features = features;
    batch.num_ids = ids.size();
    batch.lengths = lengths.data();
    batch.ids = ids.data();
  }

  std::vector<std::int32_t> lengths;
  std::vector<std::int64_t> ids;
  Batch batch;
};

/// The pooled vectors of a batch, [features, rows, width].
inline std::vector<float> pooled(const EmbeddingTables& tables, const Batch& batch,
                                 const BatchRows& rows, std::size_t width) {
  std::vector<float> out(batch.sparse_features * batch.rows * width);
  for (std::size_t feature = 0; feature < batch.sparse_features; ++feature) {
    tables.pool(feature, rows, rows.first_id[feature],
                {batch.lengths + feature * batch.rows, batch.rows},
                out.data() + feature * batch.rows * width, width);
  }
  return out;
}

/// A step whose gradients depend on the pooled vectors, so that any wrong value spreads.
inline Result<std::vector<float>> step(EmbeddingTables& tables, const Batch& batch,
                                       std::size_t width) {
  auto rows = tables.begin(batch);
  if (!rows) return pass(rows);
  const std::vector<float> vectors = pooled(tables, batch, **rows, width);
  std::vector<float> gradients(vectors.size());
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    gradients[i] = vectors[i] * 0.5f + static_cast<float>(i % 7) * 0.01f - 0.02f;
  }
  for (std::size_t feature = 0; feature < batch.sparse_features; ++feature) {
    tables.add_up(feature, batch, **rows, gradients.data() + feature * batch.rows * width);
    tables.apply(feature, **rows, 0.1f);
  }
  tables.end();
  return vectors;
}

inline Result<std::vector<float>> score(EmbeddingTables& tables, const Batch& batch,
                                        std::size_t width) {
  auto rows = tables.begin(batch, EmbeddingTables::Use::kScore);
  if (!rows) return pass(rows);
  auto vectors = pooled(tables, batch, **rows, width);
  tables.end();
  return vectors;
}

/// Every row of every table, by scoring `at_once` rows of each at a time.
inline std::vector<float> contents(EmbeddingTables& tables,
                                   const std::vector<std::int64_t>& table_rows, std::size_t width,
                                   std::int64_t at_once) {
  std::vector<float> all;
  for (std::int64_t first = 0; first < table_rows.front(); first += at_once) {
    const ListBatch batch(table_rows, first, at_once);
    const std::vector<float> some = score(tables, batch.batch, width).value();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace forebay::test
