#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/data/batch.h"
#include "core/data/batch_lists.h"
#include "trainer/collective.h"
#include "trainer/ranks/batch_divider.h"
#include "trainer/ranks/id_exchange.h"
#include "trainer/ranks/placement.h"
#include "trainer/ranks/vector_exchange.h"
#include "trainer/torch/kernels/embedding_tables.h"
#include "trainer/torch/network/network.h"

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
  void end() {
    if (std::exchange(rows_, nullptr) != nullptr) tables_->end();
  }
  /// A vector for each list of `mine`.
  const float* vectors(std::size_t table) const { return pooled_.data() + table * batch_floats(); }

  /// Sums the gradients of each table's pooled vectors, one for each list, and starts the sums over
  /// ranks.
  void start_sums(std::span<const float* const> gradients, int threads);
  Status wait_sums() { return std::exchange(pending_, nullptr)->wait(); }
  /// [rows of the table, width]; valid after wait_sums.
  std::span<float> sums(std::size_t table) {
    return std::span(sums_).subspan(first_sum_[table], first_sum_[table + 1] - first_sum_[table]);
  }
  /// Returns whether all updated rows and their state are finite.
  bool apply(std::size_t table, float learning_rate);

 private:
  std::size_t batch_floats() const { return mine_->rows * width_; }
  void add_up(std::size_t table, const float* gradients);

  Collective& ranks_;
  const std::unique_ptr<EmbeddingTables> tables_;
  const std::vector<std::int64_t> table_rows_;
  const std::size_t width_;
  std::vector<std::size_t> first_sum_;  // of each table in sums_, and the end
  std::vector<float> pooled_;           // [tables, rows, width], as far as there are lists
  std::vector<float> sums_;             // by table: [its rows, width]
  const Batch* mine_ = nullptr;
  BatchLists lists_;  // of mine_
  const BatchRows* rows_ = nullptr;
  Collective::Handle pending_;
};

/// The tables of all ranks in one rank's step: gets the pooled vectors of its rows from the ranks
/// that own a feature's table, or a part of it; sends gradients to the ranks that have the rows;
/// and does the work of this rank's own tables for all ranks.
///
/// This rank's tables are numbered: first its shards, then the replicated tables. Call begin, put,
/// start_gradients, wait_gradients, wait_replicas, end, on the model's thread, in the same order on
/// every rank; put on any thread. If a call fails on one rank it fails on the others, too.
class RankedTables {
 public:
  /// The tables of a rank.
  struct Parts {
    EmbeddingTables& shards;  ///< Those of shards_of(); bags are summed. Must outlive this object.
    std::unique_ptr<EmbeddingTables> replicas;  ///< Those of replicas_of(); null: none.
  };

  /// `ranks` outlives it.
  RankedTables(Collective& ranks, const ModelShape& whole, const TablePlacement& placement,
               Parts parts, TrainerSpec::Pooling pooling);

  using Use = EmbeddingTables::Use;

  /// Announces the ids that all ranks' rows of a batch have in this rank's shards, before the batch
  /// is trained on; null cancels all announced batches. A batch must be announced on every rank, or
  /// on none: its ids are then exchanged within the step. Any thread.
  void prefetch(const std::shared_ptr<const Batch>& ids);

  /// Gets the vectors of `mine`, which may have no rows and must outlive the step.
  Status begin(const Batch& mine, Use use, int threads);
  void end();

  std::size_t global_rows() const { return first_rows_.back(); }
  /// Index in the global batch of this rank's first row.
  std::size_t first_row() const { return first_rows_[rank_]; }
  /// Copies the vectors of rows [first, first + rows) to the network's locations.
  void put(std::size_t first, std::size_t rows, const VectorLocations& places) const;

  /// Sends the gradients of this rank's rows: [features, rows, width]. Changes them; they must stay
  /// until end().
  void start_gradients(float* gradients, int threads);
  /// Blocks until the gradients of this rank's shards have arrived.
  Status wait_gradients() { return exchange_.wait(); }
  /// Blocks until the gradients of the replicated tables are summed.
  Status wait_replicas() { return replicas_ ? replicas_->wait_sums() : Status(); }

  std::size_t tables() const { return shards() + (replicas_ ? replicas_->tables() : 0); }
  std::size_t shards() const { return exchange_.owned().size(); }
  /// Sums the gradients of a shard, by its number; call it after wait_gradients.
  void add_up(std::size_t shard);
  /// The summed gradients of a table.
  std::span<float> sums(std::size_t table) {
    return table < shards() ? own_.sums(table) : replicas_->sums(table - shards());
  }
  /// Returns whether all updated rows and their state are finite.
  bool apply(std::size_t table, float learning_rate) {
    if (table < shards()) return own_.apply(table, *rows_, learning_rate);
    return replicas_->apply(table - shards(), learning_rate);
  }

  /// Lookups of this rank's tables, in the steps so far.
  LookupCounts lookups() const;
  /// Of this rank's tables, parts of tables, and replicas.
  std::vector<TableTiers> tiers() const;

  /// Appends the tensors of the replicated tables, which are part of this rank's state.
  void append_to(std::vector<MemoryTensor>& tensors) {
    if (replicas_) replicas_->own().append_to(tensors);
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  /// The location of a feature's table: consecutive shards, or a replica.
  struct Home {
    std::size_t first_shard = 0;
    std::size_t shards = 0;
    std::size_t replica = kNone;
  };

  /// Removes and returns the batch announced with this number; null if it was not announced.
  std::shared_ptr<const Batch> take_dealt(std::uint64_t number);
  Status find_ids();
  Status take_dealt_rows();
  Status begin_shards(Use use, int threads);
  void pool(std::size_t table);
  /// The factor of a vector in its bag's mean; 1 if bags are summed here.
  float share_of(std::size_t feature, std::size_t row) const;
  void put_one(std::size_t feature, std::size_t row, float* to) const;
  /// Multiplies the gradients of rows by their vectors' factors in the means.
  void scale_to_means(float* gradients) const;
  /// Sums the gradients of the rows that share lists, and says where each feature's are.
  void sum_by_lists(const float* gradients, int threads);
  std::size_t batch_floats() const { return mine_->rows * width_; }

  EmbeddingTables& own_;
  const std::size_t rank_;
  const std::size_t width_;
  const bool mean_;
  std::vector<Home> homes_;            // Per feature.
  std::vector<std::size_t> shard_of_;  // The feature of each shard.
  BatchDivider divider_;
  IdExchange id_exchange_;
  VectorExchange exchange_;
  std::optional<ReplicatedTables> replicas_;
  const Batch* mine_ = nullptr;
  BatchLists lists_;                      // Of mine_.
  std::vector<std::size_t> shard_lists_;  // Of mine_, per shard.
  std::shared_ptr<const Batch> dealt_;    // Ids announced before this step; null: none.
  const Batch* ids_ = nullptr;            // Ids of all ranks, for the shards of this one.
  BatchLists owned_lists_;                // Of ids_.
  std::vector<std::size_t> first_rows_;   // Of each rank, in the global batch, and the end.
  const BatchRows* rows_ = nullptr;       // Rows of those ids.

  /// Gradients of the lists of a feature whose rows share them.
  struct ListGradients {
    std::vector<double> exact;
    std::vector<float> sums;
  };
  std::vector<ListGradients> by_list_;      // Per feature.
  std::vector<const float*> gradients_of_;  // Per feature: a vector for each list.

  std::mutex mutex_;
  std::deque<std::shared_ptr<const Batch>> expected_;  // under mutex_
};

}  // namespace forebay
