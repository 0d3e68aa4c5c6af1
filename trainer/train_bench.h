#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/data/batch.h"
#include "trainer/model.h"

namespace forebay {

/// Rows per second that a model trains on, fed by a pipeline and fed one batch over and over.
struct TrainBench {
  double fed = 0;
  double cached = 0;

  double ratio() const { return cached > 0 ? fed / cached : 0; }
};

/// How `bench_training` goes on. In each turn the first `settle` steps are not counted: batches
/// that a source made while it was not asked would flatter it, and making them costs the other.
struct TrainBenchPlan {
  std::uint64_t turns = 7;  ///< At least 1.
  std::uint64_t settle = 10;
  std::uint64_t steps = 18;  ///< Counted, of each turn.
};

/// Trains in turns on batches of `source` and on its first batch again, so that what else the
/// machine does hits both alike; gives the turn whose ratio is the median. Refuses a source that
/// has too few batches for the plan.
Result<TrainBench> bench_training(Model& model, BatchSource& source, const Clock& clock,
                                  const TrainBenchPlan& plan);

}  // namespace forebay
