#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/data/batch.h"
#include "trainer/spec.h"
#include "trainer/state/snapshot.h"
#include "trainer/table_tiers.h"

namespace forebay {

/// Number of lookups of table rows in the steps so far, and of those whose row was in memory when
/// the step could have begun. Both 0 if the model does not count them.
struct LookupCounts {
  std::uint64_t all = 0;
  std::uint64_t ready = 0;
};

/// The model that a trainer trains: it takes a batch and changes its weights.
///
/// Owns its weights and optimizer state. One thread makes it and calls it, batch after batch.
/// A batch is read in place and not kept.
class Model {
 public:
  virtual ~Model() = default;

  /// Whether it has a loss and scores; a model that only takes time has neither.
  virtual bool learns() const = 0;

  /// Announces that `batch` will be stepped on after those announced before it, so that its rows
  /// can be prefetched. nullptr cancels all announced batches that were not stepped on and waits
  /// until they are released. Optional: it changes no result. Called by one thread at a time, which
  /// need not be the model's. With several ranks, `batch` has only the ids that all ranks' rows
  /// have in this rank's tables (BatchDivider of shards_of_rank), and every rank announces the same
  /// batches.
  virtual void prefetch(std::shared_ptr<const Batch>) {}  // NOLINT: an override keeps the batch.

  /// Trains on one batch; returns its mean loss (binary cross-entropy). Fails if the loss is not
  /// finite, which the error blames on a row (bad_loss), or if weights or the optimizer's state are
  /// not finite after the update (bad_update). The model must not be used after either.
  virtual Result<double> step(const Batch& batch) = 0;

  /// Called by the thread that steps.
  virtual LookupCounts lookups() const { return {}; }

  /// Where the rows of its tables lie; with several ranks, of the tables or parts of this one.
  /// Empty without tables. Called by the thread that steps.
  virtual std::vector<TableTiers> tiers() const { return {}; }

  /// Scores each row of `batch` as a logit; changes nothing. `scores` has `batch.rows` entries.
  virtual Status predict(const Batch& batch, std::span<float> scores) = 0;

  /// Uses `threads` threads from now on: 1 to the number it was made for (`trainer.threads`, or
  /// with `deterministic = false` `pipeline.cpus`). Results do not depend on it. Call it between
  /// two steps.
  virtual void set_threads(int /*threads*/) {}

  /// The learning rate of the last step; empty if it does not use one.
  virtual std::optional<double> learning_rate() const { return std::nullopt; }

  /// Takes a snapshot of the whole state; any one thread may read it while this one trains on. Only
  /// one may exist at a time, and the model must outlive it.
  virtual Result<std::unique_ptr<StateSource>> snapshot() = 0;

  /// Restores the state of `from`: another model's snapshot, or a checkpoint. Returns an error that
  /// names the difference, before anything changes, if it belongs to a model of another shape. No
  /// snapshot may exist.
  virtual Status restore(StateSource& from) = 0;
};

/// Checks that a batch has the dense features of the model's `shape`, and rows unless it
/// `may_be_empty`.
Status check_batch(const Batch& batch, const ModelShape& shape, bool may_be_empty = false);

/// A batch whose loss is not finite, with the values by which the row at fault is found.
struct BadLoss {
  const Batch& batch;
  double loss = 0;
  std::span<const float> logits = {};  ///< Of the batch's rows; empty if they are unknown.
  std::size_t first_row = 0;           ///< Index of the batch's first row in the global batch.
  /// Returns the lowest feature whose table has a vector for the row that is not finite;
  /// `table_rows.size()` of the shape if all are finite. Empty function: unknown.
  std::function<std::size_t(std::size_t row)> bad_vector = {};
};

/// Builds the error message: the batch, and the first row at fault, found by its values or, if
/// those are finite, by its vectors in the tables and its logit. Columns are named as in `shape`.
Error bad_loss(const BadLoss& what, const ModelShape& shape);

/// A batch whose update left weights or the optimizer's state that are not finite.
struct BadUpdate {
  const Batch& batch;
  std::size_t first_row = 0;  ///< Index of the batch's first row in the global batch.
};

/// Builds the error message: the batch, and the dense value of the largest magnitude among its
/// rows, which is the usual reason. Columns are named as in `shape`.
Error bad_update(const BadUpdate& what, const ModelShape& shape);

/// Takes `step` for each batch without using a CPU, as a trainer on an accelerator would. With a
/// step of 0 it does nothing with the batches, so that only the pipeline's speed counts.
///
/// Has no weights and no loss. `pause` does the waiting; a test passes its own.
class EmulatedModel final : public Model {
 public:
  using Pause = std::function<void(std::chrono::nanoseconds)>;

  explicit EmulatedModel(std::chrono::nanoseconds step) : EmulatedModel(step, wait) {}
  EmulatedModel(std::chrono::nanoseconds step, Pause pause)
      : step_(step), pause_(std::move(pause)) {}

  bool learns() const override { return false; }
  Result<double> step(const Batch& batch) override;
  Status predict(const Batch& batch, std::span<float> scores) override;
  Result<std::unique_ptr<StateSource>> snapshot() override { return snapshot_of_memory({}); }
  Status restore(StateSource& from) override { return restore_memory(from, {}); }

 private:
  static void wait(std::chrono::nanoseconds time);

  const std::chrono::nanoseconds step_;
  const Pause pause_;
};

}  // namespace forebay
