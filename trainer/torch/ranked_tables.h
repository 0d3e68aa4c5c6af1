#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/data/batch.h"
#include "trainer/collective.h"
#include "trainer/ranks/batch_divider.h"
#include "trainer/ranks/placement.h"
#include "trainer/ranks/vector_exchange.h"
#include "trainer/torch/embedding_tables.h"
#include "trainer/torch/network.h"
#include "trainer/torch/replicated_tables.h"

namespace forebay {

/// The tables of all ranks as a step of one sees them: pooled vectors of its rows from whoever has
/// a feature's table, or a part of it; gradients to where the rows are; and this rank's own part in
/// that.
///
/// Its own tables are numbered: first its shards, then those that every rank has. begin, put,
/// start_gradients, wait_gradients, wait_replicas, end, on the model's thread, in the same order on
/// every rank; put on any. Where one fails the others do, too.
class RankedTables {
 public:
  /// What a rank holds.
  struct Parts {
    EmbeddingTables& shards;  ///< Those of shards_of(); bags are summed. Outlives it.
    std::unique_ptr<EmbeddingTables> replicas;  ///< Those of replicas_of(); null: there are none.
  };

  /// `ranks` outlives it.
  RankedTables(Collective& ranks, const ModelShape& whole, const TablePlacement& placement,
               Parts parts, TrainerSpec::Pooling pooling);

  enum class Use : std::uint8_t { kTrain, kScore };

  /// The ids that all ranks' rows of a batch have in this rank's shards, before the batch is
  /// trained on; null: those told and not trained on never will be. Either every rank is told of a
  /// batch, or none: then they exchange its ids within the step. Any thread.
  void prefetch(const std::shared_ptr<const Batch>& ids);

  /// Finds the vectors of `mine`, which may have no rows and outlives the step.
  Status begin(const Batch& mine, Use use, int threads);
  void end();

  std::size_t global_rows() const { return exchange_.global_rows(); }
  /// Which row of the global batch the first of this rank's is.
  std::size_t first_row() const { return exchange_.first_row(); }
  /// Copies the vectors of rows [first, first + rows) to where a network wants them.
  void put(std::size_t first, std::size_t rows, const VectorLocations& places) const;

  /// Of this rank's rows: [features, rows, width]. Changes them; they stay until end().
  void start_gradients(float* gradients, int threads);
  /// Those of its shards are there.
  Status wait_gradients() { return exchange_.wait_gradients(); }
  /// Those of the tables that every rank has are added up.
  Status wait_replicas() { return replicas_ ? replicas_->wait_sums() : Status(); }

  std::size_t tables() const { return shards() + (replicas_ ? replicas_->tables() : 0); }
  std::size_t shards() const { return exchange_.owned().size(); }
  /// Adds up the gradients of a shard, by its number, after wait_gradients.
  void add_up(std::size_t shard);
  /// What was added up of a table.
  std::span<float> sums(std::size_t table);
  void apply(std::size_t table, float learning_rate);

  /// Of this rank's tables, in the steps so far.
  LookupCounts lookups() const;

  /// The tables that every rank has are part of this rank's state.
  void append_to(std::vector<MemoryTensor>& tensors) {
    if (replicas_) replicas_->own().append_to(tensors);
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  /// Where a feature's table is: some shards in a row, or a replica.
  struct Home {
    std::size_t first_shard = 0;
    std::size_t shards = 0;
    std::size_t replica = kNone;
  };

  /// What prefetch() was told of the batch with this number; null: nothing.
  std::shared_ptr<const Batch> take_dealt(std::uint64_t number);
  Status find_ids();
  Status begin_shards(int threads);
  void pool(std::size_t table);
  /// The share of a vector in its bag's mean; 1 where bags are summed here.
  float share_of(std::size_t feature, std::size_t row) const;
  void put_one(std::size_t feature, std::size_t row, float* to) const;

  EmbeddingTables& own_;
  const std::size_t width_;
  const bool mean_;
  std::vector<Home> homes_;            // Per feature.
  std::vector<std::size_t> shard_of_;  // The feature of each shard.
  BatchDivider divider_;
  VectorExchange exchange_;
  std::optional<ReplicatedTables> replicas_;
  Use use_ = Use::kTrain;
  const Batch* mine_ = nullptr;
  std::shared_ptr<const Batch> dealt_;  // What came before this step; null: nothing.
  const Batch* ids_ = nullptr;          // Of all ranks, for the shards of this one.
  const BatchRows* rows_ = nullptr;     // Of those ids.
  std::mutex mutex_;
  std::deque<std::shared_ptr<const Batch>> expected_;  // under mutex_
};

}  // namespace forebay
