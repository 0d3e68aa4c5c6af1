#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/data/batch.h"
#include "trainer/torch/kernels/embedding_tables.h"

namespace forebay {

/// Sums the gradients of the rows that share a list: in double, rounded once, in the order of the
/// rows, so results do not depend on threads. `gradients` has a vector for each row, `sums` gets
/// one of the same width for each list; `exact` is working memory.
void sum_by_list(const BatchRepeats& repeats, std::span<const float> gradients,
                 std::vector<double>& exact, std::span<float> sums);

/// The embedding bags of features whose values repeat within a batch (Batch::repeats): each
/// different list is pooled once, and the gradients of the rows that share it are added up before
/// they go to its ids (RecD, MLSys '23).
///
/// Pooled vectors have the bits of those pooled row by row; the gradients of a list are summed by
/// sum_by_list().
class RepeatedBags {
 public:
  /// `tables` outlives the bags.
  explicit RepeatedBags(const EmbeddingTables& tables) : tables_(tables) {}

  /// Prepares a batch and its rows, which stay until the next one. Returns the number of tasks;
  /// pool() has to run for each of them, on any threads, before copy().
  std::size_t begin(const Batch& batch, const BatchRows& rows);
  void pool(std::size_t task);

  bool has(std::size_t feature) const { return bags_[feature].repeats != nullptr; }
  /// Writes the vectors of `count` rows of the batch from row `first` on to out, out + stride, ….
  void copy(std::size_t feature, std::size_t first, std::size_t count, float* out,
            std::size_t stride) const;
  /// Sums the gradients of each row of the feature's table. `gradients` has a vector for each of
  /// the batch's `rows` rows. One thread a feature.
  void add_up(std::size_t feature, std::size_t rows, const float* gradients,
              EmbeddingTables& tables);

 private:
  /// Lists that one task pools.
  static constexpr std::size_t kTask = 512;

  struct Bags {
    const BatchRepeats* repeats = nullptr;  // null: the feature's values do not repeat
    std::vector<std::int32_t> lengths;      // [unique]
    std::vector<std::size_t> first_ids;     // of each task
    std::vector<float> vectors;             // [unique, width]
    std::vector<double> sums;               // [unique, width]
  };
  struct Task {
    std::size_t feature = 0;
    std::size_t number = 0;  // among those of its feature
  };

  void prepare(const Batch& batch, std::size_t feature);

  const EmbeddingTables& tables_;
  const BatchRows* rows_ = nullptr;
  std::vector<Bags> bags_;  // [features]
  std::vector<Task> tasks_;
};

}  // namespace forebay
