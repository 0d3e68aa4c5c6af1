#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/transform/op_table.h"

namespace forebay {
namespace {

/// Runs `kernel(kernels, values, count)` over dense columns, in place or on a copy.
template <class Kernel>
Steps dense_steps(OpInput& input, const Kernel& kernel, double cost,
                  StepFacts::Missing missing = StepFacts::Missing::kKept) {
  Steps steps;
  add_value_steps<float>(steps, input.columns.same_kind(input.columns.dense(), {}).dense, kernel,
                         cost, missing);
  return steps;
}

Steps make_log1p(OpInput& input) {
  return dense_steps(
      input,
      [](const Kernels& kernels, float* values, std::size_t count) {
        kernels.log1p(values, count);
      },
      0.5);
}

Steps make_log(OpInput& input) {
  const double add = input.params.number("add", {1e-6, 1e9});
  return dense_steps(
      input,
      [add](const Kernels& kernels, float* values, std::size_t count) {
        kernels.log_plus(values, count, add);
      },
      1.5, StepFacts::Missing::kNone);
}

Steps make_logit(OpInput& input) {
  const double eps = input.params.number_or("eps", 1e-6, {1e-12, 0.499});
  return dense_steps(
      input,
      [eps](const Kernels& kernels, float* values, std::size_t count) {
        kernels.logit(values, count, eps);
      },
      2);
}

Steps make_box_cox(OpInput& input) {
  const double lambda = input.params.number("lambda", {-100, 100});
  const double low = input.params.number_or("min", 1e-6, {1e-30, 1e30});
  return dense_steps(
      input,
      [=](const Kernels& kernels, float* values, std::size_t count) {
        kernels.box_cox(values, count, lambda, low);
      },
      4);
}

/// Maps values to bucket numbers; a NaN, missing or not, has no bucket and gives an empty list.
class BucketizeStep final : public TransformPlan::Step {
 public:
  BucketizeStep(ColumnTarget target, std::shared_ptr<const std::vector<float>> borders)
      : target_(target), borders_(std::move(borders)) {}

  StepFacts facts() const override {
    StepFacts facts{
        .reads = {{ColumnKind::kDense, target_.from}},
        .writes = {{ColumnKind::kSparse, target_.to}},
        .inflates = true,
        .cost = 2 + 0.1 * static_cast<double>(std::min<std::size_t>(borders_->size(), 100))};
    if (target_.drop_source) facts.writes.push_back({ColumnKind::kDense, target_.from});
    return facts;
  }

  Status run(StepRun& run) const override {
    const std::size_t rows = run.columns.rows;
    SparseColumn column = hold_sparse(run, rows);
    run.kernels.bucketize(run.columns.dense[target_.from], rows, borders_->data(), borders_->size(),
                          column.values);
    keep_buckets(column, rows);
    put_column(run.columns.sparse, target_.to, column);
    if (target_.drop_source) run.columns.dense[target_.from] = nullptr;
    return {};
  }

  void bound(SizeBound& size) const override { size.hold_sparse(target_.to, size.rows(), 1); }

 private:
  static void keep_buckets(SparseColumn& column, std::size_t rows) {
    std::int32_t kept = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::int64_t bucket = column.values[row];
      column.values[kept] = bucket;
      kept += bucket < 0 ? 0 : 1;
      column.offsets[row + 1] = kept;
    }
  }

  ColumnTarget target_;
  std::shared_ptr<const std::vector<float>> borders_;  // of all columns of the operator
};

/// The borders as floats, which is what values are compared with.
std::vector<float> read_borders(OpRequest& params) {
  std::vector<float> borders;
  for (const double border : params.numbers("borders")) {
    borders.push_back(static_cast<float>(border));
    if (!std::isfinite(borders.back())) params.refuse("borders", "must be finite as float32");
  }
  if (borders.empty()) params.refuse("borders", "must not be empty");
  for (std::size_t i = 1; i < borders.size(); ++i) {
    if (borders[i] < borders[i - 1]) {
      params.refuse("borders",
                    "must ascend; border " + std::to_string(i + 1) + " is below the one before it");
    }
    if (i > 1 && borders[i] == borders[i - 2]) {
      params.refuse("borders", "may hold a value twice at most, as float32; border " +
                                   std::to_string(i + 1) + " is its third");
    }
  }
  return borders;
}

Steps make_bucketize(OpInput& input) {
  const auto borders = std::make_shared<const std::vector<float>>(read_borders(input.params));
  const auto bound = static_cast<std::int64_t>(borders->size()) + 1;
  Steps steps;
  for (const ColumnTarget& target : input.columns.results(ColumnKind::kDense, input.columns.dense(),
                                                          ColumnKind::kSparse, bound)) {
    steps.push_back(std::make_unique<BucketizeStep>(target, borders));
  }
  return steps;
}

}  // namespace

std::vector<OpEntry> dense_ops() {
  return {
      {{"log1p", "dense", "dense", "", "log(1 + max(x, 0)), within 2 ulp", "stays missing"},
       {"output"},
       make_log1p},
      {{"log", "dense", "dense", "add (> 0)",
        "log(x + add), within 1 ulp; -inf where x + add is 0, NaN below; add = 3 is TorchRec's",
        "counts as 0"},
       {"add", "output"},
       make_log},
      {{"logit", "dense", "dense", "eps = 1e-6", "log(p / (1 - p)), p = x held in [eps, 1 - eps]",
        "stays missing"},
       {"eps", "output"},
       make_logit},
      {{"box_cox", "dense", "dense", "lambda, min = 1e-6",
        "(x^lambda - 1) / lambda, log x for lambda = 0, of max(x, min)", "stays missing"},
       {"lambda", "min", "output"},
       make_box_cox},
      {{"bucketize", "dense", "sparse", "borders (ascending, each at most twice)",
        "the number of borders below x; one more where x equals a doubled border",
        "missing and NaN give an empty list"},
       {"borders", "output"},
       make_bucketize},
  };
}

}  // namespace forebay
