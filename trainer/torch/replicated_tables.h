#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/data/batch.h"
#include "trainer/collective.h"
#include "trainer/torch/kernels/embedding_tables.h"

namespace forebay {

/// Tables that every rank has: each rank pools its own rows and sums their gradients; the sums over
/// all ranks, of whole tables, update them identically everywhere.
///
/// Call begin, start_sums, wait_sums, apply, end, on the model's thread, in the same order on every
/// rank; apply on any thread. For small tables: the cost of a step grows with their rows.
class ReplicatedTables {
 public:
  /// `table_rows` per table; `ranks` outlives it.
  ReplicatedTables(Collective& ranks, std::unique_ptr<EmbeddingTables> tables,
                   std::vector<std::int64_t> table_rows, std::size_t width);

  std::size_t tables() const { return table_rows_.size(); }
  EmbeddingTables& own() { return *tables_; }
  const EmbeddingTables& own() const { return *tables_; }

  /// Pools the bags of `mine`, which has one sparse feature per table and must outlive the step.
  Status begin(const Batch& mine, EmbeddingTables::Use use, int threads);
  void end();
  /// [rows, width]
  const float* vectors(std::size_t table) const { return pooled_.data() + table * batch_floats(); }

  /// Sums the gradients of each table's pooled vectors, [rows, width], and starts the sums over
  /// ranks.
  void start_sums(std::span<const float* const> gradients, int threads);
  Status wait_sums();
  /// [rows of the table, width]; valid after wait_sums.
  std::span<float> sums(std::size_t table);
  void apply(std::size_t table, float learning_rate);

 private:
  std::size_t batch_floats() const { return mine_->rows * width_; }
  void pool(std::size_t table);
  void add_up(std::size_t table, const float* gradients);

  Collective& ranks_;
  const std::unique_ptr<EmbeddingTables> tables_;
  const std::vector<std::int64_t> table_rows_;
  const std::size_t width_;
  std::vector<std::size_t> first_sum_;  // of each table in sums_, and the end
  std::vector<float> pooled_;           // [tables, rows, width]
  std::vector<float> sums_;             // by table: [its rows, width]
  const Batch* mine_ = nullptr;
  const BatchRows* rows_ = nullptr;
  Collective::Handle pending_;
};

}  // namespace forebay
