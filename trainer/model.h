#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/base/result.h"
#include "core/data/batch.h"
#include "trainer/state/snapshot.h"

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
  /// finite; the error names the row at fault (trainer/batch_faults.h).
  virtual Result<double> step(const Batch& batch) = 0;

  /// Called by the thread that steps.
  virtual LookupCounts lookups() const { return {}; }

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

}  // namespace forebay
