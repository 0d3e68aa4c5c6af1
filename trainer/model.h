#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/data/batch.h"

namespace forebay {

/// One named tensor of a model's state, row-major; `values` points into the model.
struct StateTensor {
  enum class Part : std::uint8_t { kWeights, kOptimizer };

  std::string name;  ///< Such as "bottom.0.weight", "table.3".
  Part part = Part::kWeights;
  std::vector<std::int64_t> shape;
  std::span<float> values;
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

  /// Trains on one batch; returns its mean loss (binary cross-entropy).
  virtual Result<double> step(const Batch& batch) = 0;

  /// Scores each row of `batch` as a logit; changes nothing. `scores` has `batch.rows` entries.
  virtual Status predict(const Batch& batch, std::span<float> scores) = 0;

  /// The whole state, in an order that depends on the model's shape alone; valid until the next
  /// step. Whoever writes to the values calls `state_changed` afterwards.
  virtual std::vector<StateTensor> state() = 0;
  virtual void state_changed() = 0;
};

}  // namespace forebay
