#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/base/result.h"
#include "core/data/batch.h"
#include "trainer/snapshot.h"

namespace forebay {

/// Lookups of table rows in the steps so far, and those of them whose row was in memory when the
/// step could have begun. Both 0 for a model that does not count them.
struct LookupCounts {
  std::uint64_t all = 0;
  std::uint64_t ready = 0;
};

/// What a trainer trains: it takes a batch and changes its weights.
///
/// Owns its weights and optimizer state. One thread makes it and calls it, batch after batch.
/// A batch is read in place and not kept.
class Model {
 public:
  virtual ~Model() = default;

  /// Whether it has a loss and scores; those that only take time have not.
  virtual bool learns() const = 0;

  /// Tells that `batch` will be stepped on after those told before it, so that what it needs is
  /// looked for meanwhile; nullptr: those told and not stepped on never will be, and are let go
  /// when it returns. Optional: it changes no result. Called by one thread at a time, which need
  /// not be the model's. With several ranks each is told of the ids alone that all ranks' rows have
  /// in its tables (BatchDivider of shards_of_rank), and all of the same batches.
  virtual void prefetch(std::shared_ptr<const Batch>) {
  }  // NOLINT: who overrides it keeps the batch.

  /// Trains on one batch; returns its mean loss (binary cross-entropy). One that is not finite is
  /// a failure that names the row at fault (trainer/bad_loss.h).
  virtual Result<double> step(const Batch& batch) = 0;

  /// Belongs to the thread that steps.
  virtual LookupCounts lookups() const { return {}; }

  /// Scores each row of `batch` as a logit; changes nothing. `scores` has `batch.rows` entries.
  virtual Status predict(const Batch& batch, std::span<float> scores) = 0;

  /// Works with so many threads from now on: 1 to what it was made for (`trainer.threads`, or with
  /// `deterministic = false` `pipeline.cpus`). Results do not depend on it. Between two steps.
  virtual void set_threads(int /*threads*/) {}

  /// What the last step was taken with; nothing where there is no such thing.
  virtual std::optional<double> learning_rate() const { return std::nullopt; }

  /// The whole state as it stands, to be read by any one thread while this one trains on. One
  /// lives at a time, and not longer than the model.
  virtual Result<std::unique_ptr<StateSource>> snapshot() = 0;

  /// Goes on from `from`: another model's snapshot, or a checkpoint. Refused, naming what differs,
  /// before anything is changed, where it is of a model of another shape. No snapshot may live.
  virtual Status restore(StateSource& from) = 0;
};

}  // namespace forebay
