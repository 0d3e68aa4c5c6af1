#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "actors/transform/column_memory.h"
#include "actors/transform/id_bound.h"
#include "actors/transform/map_table.h"
#include "actors/transform/op_table.h"

namespace forebay {
namespace {

using Targets = std::vector<ColumnTarget>;

/// Runs `kernel(run, ids, count)` over all ids of sparse columns, in place or on a copy; lists
/// keep their lengths.
template <class Kernel>
class IdStep final : public TransformPlan::Step {
 public:
  IdStep(Targets targets, Kernel kernel)
      : targets_(std::move(targets)), kernel_(std::move(kernel)) {}

  Status run(StepRun& run) const override {
    for (const ColumnTarget& target : targets_) {
      const SparseColumn& column = sparse_target(run, target);
      kernel_(run, column.values, column.count(run.columns.rows));
    }
    return {};
  }

  void bound(SizeBound& size) const override { bound_sparse_targets(size, targets_); }

 private:
  Targets targets_;
  Kernel kernel_;
};

/// Makes the step and records `bound` for the columns that it produces.
template <class Kernel>
std::unique_ptr<TransformPlan::Step> id_step(OpInput& input, std::int64_t bound, Kernel kernel) {
  Targets targets = input.columns.sparse_to_sparse(input.columns.sparse());
  for (const ColumnTarget& target : targets) {
    input.columns.schema().sparse[target.to].bound = bound;
  }
  return std::make_unique<IdStep<Kernel>>(std::move(targets), std::move(kernel));
}

std::unique_ptr<TransformPlan::Step> make_sigrid_hash(OpInput& input) {
  const auto salt = static_cast<std::uint64_t>(input.params.integer_or("salt", 0));
  const std::int64_t max_value = input.params.integer("max_value", {.low = 1});
  const FloorMod modulus = FloorMod::by(max_value < 1 ? 1 : max_value);
  return id_step(input, max_value, [=](StepRun& run, std::int64_t* ids, std::size_t count) {
    run.kernels.sigrid_hash(ids, count, salt, modulus);
  });
}

std::unique_ptr<TransformPlan::Step> make_positive_modulus(OpInput& input) {
  const std::int64_t divisor = input.params.integer("modulus", {.low = 1});
  const FloorMod modulus = FloorMod::by(divisor < 1 ? 1 : divisor);
  return id_step(input, divisor, [=](StepRun& run, std::int64_t* ids, std::size_t count) {
    run.kernels.floor_mod(ids, count, modulus);
  });
}

std::unique_ptr<TransformPlan::Step> make_map_id(OpInput& input) {
  const std::vector<std::int64_t> keys = input.params.integers("keys");
  const std::vector<std::int64_t> values = input.params.integers("values");
  const std::int64_t otherwise = input.params.integer_or("default", 0);
  if (keys.size() != values.size()) {
    input.params.refuse("values", "must be as many as the keys: " + std::to_string(keys.size()) +
                                      ", not " + std::to_string(values.size()));
    return nullptr;
  }
  auto table = std::make_shared<MapTable>(keys.size());
  IdRange range{otherwise, otherwise};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!table->add(keys[i], values[i])) {
      input.params.refuse("keys", "has " + std::to_string(keys[i]) + " twice");
    }
    range = {std::min(range.low, values[i]), std::max(range.high, values[i])};
  }
  const std::shared_ptr<const MapTable> map = table;
  return id_step(input, range.bound(),
                 [map, otherwise](StepRun&, std::int64_t* ids, std::size_t count) {
                   for (std::size_t i = 0; i < count; ++i)
                     ids[i] = map->value_or(ids[i], otherwise);
                 });
}

}  // namespace

std::vector<OpEntry> id_ops() {
  return {
      {{"sigrid_hash", "sparse", "sparse", "max_value (>= 1), salt = 0",
        "hash of each id into [0, max_value)", "an empty list stays empty"},
       {"max_value", "salt", "output"},
       make_sigrid_hash},
      {{"positive_modulus", "sparse", "sparse", "modulus (>= 1)",
        "each id modulo `modulus`, never negative", "an empty list stays empty"},
       {"modulus", "output"},
       make_positive_modulus},
      {{"map_id", "sparse", "sparse", "keys, values, default = 0",
        "each id that is keys[i] becomes values[i], any other `default`",
        "an empty list stays empty"},
       {"keys", "values", "default", "output"},
       make_map_id},
  };
}

}  // namespace forebay
