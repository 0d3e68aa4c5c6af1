#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "actors/transform/kernels.h"
#include "actors/transform/size_bound.h"
#include "actors/transform/transform.h"

namespace forebay {

/// What a step works on: the columns of one split, and what the plan chose once.
struct StepRun {
  ColumnSet& columns;
  const TransformContext& context;
  const Kernels& kernels;
};

/// One operator bound to its columns (by index, as they stand when it runs) and parameters.
/// Immutable: any thread may run it.
class TransformPlan::Step {
 public:
  virtual ~Step() = default;

  virtual Status run(StepRun& run) const = 0;

  /// Follows a split of the largest size through the step; what allocates nothing leaves it be.
  virtual void bound(SizeBound& size) const;

  virtual bool needs_origins() const { return false; }

  /// Changes what a row costs, in microseconds of CPU, while other threads run the step; false
  /// where the cost is what the work takes.
  virtual bool set_cost(double) { return false; }
};

}  // namespace forebay
