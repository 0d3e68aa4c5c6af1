#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/result.h"
#include "core/data/buffer_pool.h"
#include "core/data/digest.h"
#include "core/data/schema.h"

namespace forebay {

/// The progress of a run: all that a resume needs, in integers (actors/README.md).
struct Position {
  std::uint64_t epoch = 0;  ///< Epochs completed.
  std::uint64_t split = 0;  ///< The lowest split of the epoch not yet given out whole.
  std::uint64_t split_rows =
      0;  ///< Rows of `open_split`, the split being given out, already given out.
  std::uint64_t open_split = 0;  ///< Equal to `split` in exact order; any split in arrival order.
  std::uint64_t batches = 0;     ///< Batches given out since the start of the job.
  std::uint64_t rows = 0;        ///< Rows given out since the start of the job.
  std::uint64_t bad_rows = 0;    ///< Damaged rows in the splits given out whole in the first epoch.
  std::uint64_t held_out = 0;    ///< Rows held out for evaluation in the same splits.
  std::uint64_t sampled = 0;     ///< Rows that the operator `sampling` left out of them.
  /// The rows of these three kinds in the splits given out whole in the current epoch.
  std::uint64_t left_out = 0;
  Digest digest;  ///< Chained over every batch given out.
  /// Made by one of several ranks of a training, which sees a part of the rows: the four counts of
  /// rows left out, and the digest, are this run's own, and no state has them.
  bool of_ranks = false;
  /// Arrival order only: splits above `split` given out whole, as distances from it.
  std::vector<std::uint32_t> ahead;

  /// Rows that each epoch leaves out, as far as the first one has counted them.
  std::uint64_t counted() const { return bad_rows + held_out + sampled; }

  /// The split that a resumed run gives out first: the partly given out one if there is one, else
  /// the lowest.
  std::uint64_t first_split() const { return split_rows > 0 ? open_split : split; }

  bool operator==(const Position&) const = default;
};

/// Which rows of a batch share their values in a group of features (Schema::repeated).
struct BatchRepeats {
  FeatureGroup features;
  std::size_t unique = 0;
  const std::uint32_t* numbers = nullptr;     ///< [rows]: of each row's values, below `unique`.
  const std::uint32_t* first_rows = nullptr;  ///< [unique]: the first row with these values.
};

/// `rows` consecutive rows of the epoch as tensors, in the layout of TorchRec's
/// KeyedJaggedTensor. Immutable once made; its views live as long as it does.
struct Batch {
  std::uint64_t number = 0;  ///< Counts from 0 over all epochs.
  std::size_t rows = 0;
  std::size_t whole_rows = 0;  ///< Of all ranks; `rows` if there is one.
  std::size_t dense_features = 0;
  std::size_t sparse_features = 0;
  std::size_t num_ids = 0;          ///< In `ids`.
  float* labels = nullptr;          ///< [rows]
  float* dense = nullptr;           ///< [rows, dense_features], row-major
  std::int32_t* lengths = nullptr;  ///< [sparse_features, rows], key-major
  /// [num_ids], key-major: those of all rows, or with `lists_once`, for a feature of `repeats`,
  /// those of its different rows alone, in their order.
  std::int64_t* ids = nullptr;
  bool lists_once = false;
  float* weights = nullptr;  ///< [rows], finite and >= 0; nullptr without weights.
  std::size_t extra_columns = 0;
  std::int64_t* extras = nullptr;  ///< [extra_columns, rows]: integers, or the bits of a float64.
  /// For readers that do the work of rows which share their values once; all tensors but `ids` have
  /// all rows.
  std::vector<BatchRepeats> repeats;
  Buffer storage;  ///< What the pointers point into.
  Position after;  ///< The loader's position after this batch was given out.

  std::size_t bytes() const { return storage.size(); }
};

/// The source of a trainer's batches.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  /// The next batch; nullptr at the end of the last epoch or after an orderly stop. Blocks. Only
  /// one thread may call it.
  virtual Result<std::shared_ptr<const Batch>> next() = 0;
};

}  // namespace forebay
