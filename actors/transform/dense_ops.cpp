#include <utility>

#include "actors/transform/column_memory.h"
#include "actors/transform/op_table.h"

namespace forebay {
namespace {

using Targets = std::vector<ColumnTarget>;

/// Runs `kernel(run, values)` over dense columns, in place or on a copy.
template <class Kernel>
class DenseStep final : public TransformPlan::Step {
 public:
  DenseStep(Targets targets, Kernel kernel)
      : targets_(std::move(targets)), kernel_(std::move(kernel)) {}

  Status run(StepRun& run) const override {
    for (const ColumnTarget& target : targets_) kernel_(run, dense_target(run, target));
    return {};
  }

  void bound(SizeBound& size) const override { bound_dense_targets(size, targets_); }

 private:
  Targets targets_;
  Kernel kernel_;
};

template <class Kernel>
std::unique_ptr<TransformPlan::Step> dense_step(OpInput& input, Kernel kernel) {
  Targets targets = input.columns.dense_to_dense(input.columns.dense());
  return std::make_unique<DenseStep<Kernel>>(std::move(targets), std::move(kernel));
}

std::unique_ptr<TransformPlan::Step> make_log1p(OpInput& input) {
  return dense_step(input, [](StepRun& run, float* values) {
    run.kernels.log1p(values, run.columns.rows);
  });
}

}  // namespace

std::vector<OpEntry> dense_ops() {
  return {
      {{"log1p", "dense", "dense", "", "log(1 + max(x, 0)), within 2 ulp", "stays missing"},
       {"output"},
       make_log1p},
  };
}

}  // namespace forebay
