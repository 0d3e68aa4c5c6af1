#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/transform/op_table.h"

namespace forebay {
namespace {

/// Runs `kernel(run, values)` over dense columns, in place or on a copy.
template <class Kernel>
StepPtr dense_step(OpInput& input, Kernel kernel) {
  return target_step(input.columns.same_kind(input.columns.dense(), {}), std::move(kernel));
}

StepPtr make_log1p(OpInput& input) {
  return dense_step(
      input, [](StepRun& run, float* values) { run.kernels.log1p(values, run.columns.rows); });
}

StepPtr make_log(OpInput& input) {
  const double add = input.params.number("add", {1e-6, 1e9});
  return dense_step(input, [add](StepRun& run, float* values) {
    run.kernels.log_plus(values, run.columns.rows, add);
  });
}

StepPtr make_logit(OpInput& input) {
  const double eps = input.params.number_or("eps", 1e-6, {1e-12, 0.499});
  return dense_step(input, [eps](StepRun& run, float* values) {
    run.kernels.logit(values, run.columns.rows, eps);
  });
}

StepPtr make_box_cox(OpInput& input) {
  const double lambda = input.params.number("lambda", {-100, 100});
  const double low = input.params.number_or("min", 1e-6, {1e-30, 1e30});
  return dense_step(input, [=](StepRun& run, float* values) {
    run.kernels.box_cox(values, run.columns.rows, lambda, low);
  });
}

/// Maps values to bucket numbers; a NaN, missing or not, has no bucket and gives an empty list.
class BucketizeStep final : public TransformPlan::Step {
 public:
  BucketizeStep(std::vector<ColumnTarget> targets, std::vector<float> borders)
      : targets_(std::move(targets)), borders_(std::move(borders)) {}

  Status run(StepRun& run) const override {
    for (const ColumnTarget& target : targets_) {
      const std::size_t rows = run.columns.rows;
      SparseColumn column = hold_sparse(run, rows);
      run.kernels.bucketize(run.columns.dense[target.from], rows, borders_.data(), borders_.size(),
                            column.values);
      keep_buckets(column, rows);
      put_column(run.columns.sparse, target.to, column);
    }
    drop_sources(run.columns.dense, targets_);
    return {};
  }

  void bound(SizeBound& size) const override {
    for (const ColumnTarget& target : targets_) size.hold_sparse(target.to, size.rows());
  }

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

  std::vector<ColumnTarget> targets_;
  std::vector<float> borders_;
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

StepPtr make_bucketize(OpInput& input) {
  std::vector<float> borders = read_borders(input.params);
  const auto bound = static_cast<std::int64_t>(borders.size()) + 1;
  auto targets =
      input.columns.results(ColumnKind::kDense, input.columns.dense(), ColumnKind::kSparse, bound);
  return std::make_unique<BucketizeStep>(std::move(targets), std::move(borders));
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
