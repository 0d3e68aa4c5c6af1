#pragma once

#include "actors/transform/kernels.h"
#include "actors/transform/size_bound.h"
#include "actors/transform/transform.h"

namespace forebay {

/// The input of a step: the columns of one split, and the plan's fixed choices.
struct StepRun {
  ColumnSet& columns;
  const TransformContext& context;
  const Kernels& kernels;
};

/// One operator bound to its columns (by their index when it runs) and parameters. Immutable: any
/// thread may run it.
class TransformPlan::Step {
 public:
  virtual ~Step() = default;

  virtual Status run(StepRun& run) const = 0;

  /// Follows a split of the largest size through the step; a step that allocates nothing leaves
  /// `size` unchanged.
  virtual void bound(SizeBound& size) const;

  virtual bool needs_origins() const { return false; }

  /// Changes the cost of a row, in microseconds of CPU, while other threads run the step. Returns
  /// false if the step's cost cannot be set.
  virtual bool set_cost(double) { return false; }
};

}  // namespace forebay
