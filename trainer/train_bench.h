#pragma once

#include <cstdint>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/data/batch.h"
#include "trainer/model.h"

namespace forebay {

/// Rows per second that a model trains on, with batches from a pipeline and with one repeated
/// batch.
struct TrainBench {
  double fed = 0;
  double cached = 0;

  double ratio() const { return cached > 0 ? fed / cached : 0; }
};

/// The plan of `bench_training`. In each turn the first `settle` steps are not measured: batches
/// that the source prepared between its turns would flatter it, and preparing them slows the other
/// turn.
struct TrainBenchPlan {
  std::uint64_t turns = 7;  ///< At least 1.
  std::uint64_t settle = 10;
  std::uint64_t steps = 18;  ///< Measured steps of each turn.
};

/// Alternates between batches of `source` and its first batch repeated, so that other load on the
/// machine affects both alike; returns the turn whose ratio is the median. Returns an error if the
/// source has too few batches for the plan.
Result<TrainBench> bench_training(Model& model, BatchSource& source, const Clock& clock,
                                  const TrainBenchPlan& plan);

}  // namespace forebay
