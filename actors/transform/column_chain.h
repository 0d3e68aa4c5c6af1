#pragma once

#include <vector>

#include "actors/transform/step.h"

namespace forebay {

/// Several steps, each of which changes every value of one column in place, as one: they go through
/// the column together, a block of values at a time that stays in the first-level cache.
///
/// The result is that of the steps one after another, since each value is changed by itself.
class ColumnChain final : public TransformPlan::Step {
 public:
  /// The steps have a value_change() and the same column.
  explicit ColumnChain(Steps steps);

  StepFacts facts() const override;
  Status run(StepRun& run) const override;

 private:
  template <class Value>
  void change(const Kernels& kernels, Value* values, std::size_t count) const;

  Steps steps_;
  ColumnRef column_;
};

/// Whether a step can be part of a chain over `column`.
bool chains_over(const TransformPlan::Step& step, ColumnRef column);

}  // namespace forebay
