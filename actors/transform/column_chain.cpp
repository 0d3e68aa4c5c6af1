#include "actors/transform/column_chain.h"

#include <algorithm>
#include <utility>

namespace forebay {
namespace {

/// 16 KiB: a third of a first-level cache of today.
constexpr std::size_t kBlockBytes = 16 << 10;

}  // namespace

ColumnChain::ColumnChain(Steps steps)
    : steps_(std::move(steps)), column_(steps_.front()->facts().writes.front()) {}

StepFacts ColumnChain::facts() const {
  StepFacts facts{.reads = {column_}, .writes = {column_}, .cost = 0};
  for (const StepPtr& step : steps_) facts.cost += step->facts().cost;
  return facts;
}

template <class Value>
void ColumnChain::change(const Kernels& kernels, Value* values, std::size_t count) const {
  constexpr std::size_t kBlock = kBlockBytes / sizeof(Value);
  for (std::size_t i = 0; i < count; i += kBlock) {
    const std::size_t size = std::min(kBlock, count - i);
    for (const StepPtr& step : steps_) step->value_change()->change(kernels, values + i, size);
  }
}

Status ColumnChain::run(StepRun& run) const {
  if (column_.kind == ColumnKind::kDense) {
    change(run.kernels, run.columns.dense[column_.index], run.columns.rows);
  } else {
    const SparseColumn& column = run.columns.sparse[column_.index];
    change(run.kernels, column.values, column.count(run.columns.rows));
  }
  return {};
}

bool chains_over(const TransformPlan::Step& step, ColumnRef column) {
  return step.value_change() != nullptr && step.facts().writes.front() == column;
}

}  // namespace forebay
