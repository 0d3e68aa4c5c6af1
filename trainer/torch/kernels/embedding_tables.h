#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/data/batch.h"
#include "trainer/embedding/look_ahead.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/spec.h"

namespace forebay {

/// Embedding bags, one table per sparse feature, with the optimizer's state: the model's operations
/// on rows, for any storage.
///
/// A batch is begun, its bags pooled, its gradients summed by row and applied, and ended. In
/// between, calls for different features may run on different threads; calls for one feature may
/// not. Results depend neither on the threads nor on the storage's memory.
class EmbeddingTables {
 public:
  using Use = TableStorage::Use;
  struct Rule {
    TrainerSpec::TableOptimizer optimizer = TrainerSpec::TableOptimizer::kSgd;
    TrainerSpec::Pooling pooling = TrainerSpec::Pooling::kSum;
  };

  /// Makes tables with their first values. Fails if a folder cannot be used.
  static Result<std::unique_ptr<EmbeddingTables>> make(const TrainerSpec& spec,
                                                       const ModelShape& shape);

  EmbeddingTables(std::unique_ptr<CopyRoom> room, std::unique_ptr<TableStorage> storage,
                  const Rule& rule);

  std::size_t features() const { return sums_.size(); }
  /// Of a feature's vectors, in floats.
  std::size_t width(std::size_t feature) const { return storage_->arena(feature).width(); }

  /// See Model::prefetch.
  void prefetch(std::shared_ptr<const Batch> batch) { ahead_.prefetch(std::move(batch)); }

  /// Returns the rows of a batch, valid until end(). Returns an error if lengths do not add up.
  Result<const BatchRows*> begin(const Batch& batch, Use use = Use::kTrain) {
    return ahead_.begin(batch, use);
  }
  void end() { ahead_.end(); }

  /// Pools the ids from `first_id` on, `lengths[0 … count)` of them for each of `count` bags, into
  /// out, out + stride, …; returns the number of ids pooled.
  std::size_t pool(std::size_t feature, const BatchRows& rows, std::size_t first_id,
                   std::span<const std::int32_t> lengths, float* out, std::size_t stride) const;

  /// The gradients of the pooled vectors of consecutive lists, contiguous.
  struct GradientRun {
    std::size_t lists = 0;
    const float* vectors = nullptr;
  };
  /// Sums the gradients of each row of one table, in the order of the lists; `runs` must cover all
  /// lists of the feature in `rows`, which have these lengths.
  void add_up(std::size_t feature, std::span<const std::int32_t> lengths, const BatchRows& rows,
              std::span<const GradientRun> runs);
  /// The same where each row of the batch has a list of its own.
  void add_up(std::size_t feature, const Batch& batch, const BatchRows& rows,
              const float* gradients) {
    const GradientRun whole{batch.rows, gradients};
    add_up(feature, std::span(batch.lengths + feature * batch.rows, batch.rows), rows, {&whole, 1});
  }
  /// The sums of add_up(): a vector for each row of the feature. May be changed before apply().
  std::span<float> sums(std::size_t feature) { return sums_[feature]; }
  /// Updates each row once. Returns whether all updated rows and their state are finite.
  bool apply(std::size_t feature, const BatchRows& rows, float learning_rate) {
    return apply(feature, rows.slots_of(feature), sums_[feature].data(), learning_rate);
  }
  /// Updates rows by other sums, a vector for each of the slots.
  bool apply(std::size_t feature, std::span<const std::int32_t> slots, const float* sums,
             float learning_rate);

  LookupCounts lookups() const { return ahead_.lookups(); }
  std::vector<TableTiers> tiers() const { return ahead_.tiers(); }

  /// Takes a snapshot of `others` and of the tables. Call it between two steps.
  Result<std::unique_ptr<StateSource>> snapshot(std::vector<MemoryTensor> others) {
    return ahead_.while_still([&] { return storage_->snapshot(std::move(others)); });
  }
  Status restore(StateSource& from, std::vector<MemoryTensor> others) {
    ahead_.forget();
    return ahead_.while_still([&] { return storage_->restore(from, std::move(others)); });
  }
  /// For tables in memory that are part of a larger state: appends their tensors.
  void append_to(std::vector<MemoryTensor>& tensors) { storage_->append_to(tensors); }

 private:
  const Rule rule_;
  const std::unique_ptr<CopyRoom> room_;
  const std::unique_ptr<TableStorage> storage_;
  std::vector<std::vector<float>> sums_;  ///< Per feature.
  LookAhead ahead_;
};

}  // namespace forebay
