#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "actors/transform/column_memory.h"
#include "actors/transform/id_bound.h"
#include "actors/transform/kernels.h"
#include "actors/transform/op_table.h"

namespace forebay {
namespace {

/// The targets of the results over columns of both kinds.
struct MixedTargets {
  std::vector<ColumnTarget> dense;
  std::vector<ColumnTarget> sparse;

  static MixedTargets of(ColumnBinder& columns) {
    std::vector<std::size_t> dense;
    std::vector<std::size_t> sparse;
    for (const ColumnRef column : columns.any()) {
      (column.kind == ColumnKind::kDense ? dense : sparse).push_back(column.index);
    }
    return {columns.dense_to_dense(dense), columns.sparse_to_sparse(sparse)};
  }
};

/// Clamps values and ids to limits; lists keep their lengths.
class ClampStep final : public TransformPlan::Step {
 public:
  struct Limits {
    float low = 0;
    float high = 0;
    std::int64_t low_id = 0;
    std::int64_t high_id = 0;
  };

  ClampStep(MixedTargets targets, Limits limits) : targets_(std::move(targets)), limits_(limits) {}

  Status run(StepRun& run) const override {
    const std::size_t rows = run.columns.rows;
    for (const ColumnTarget& target : targets_.dense) {
      run.kernels.clamp(dense_target(run, target), rows, limits_.low, limits_.high);
    }
    for (const ColumnTarget& target : targets_.sparse) {
      const SparseColumn& column = sparse_target(run, target);
      run.kernels.clamp_ids(column.values, column.count(rows), limits_.low_id, limits_.high_id);
    }
    return {};
  }

  void bound(SizeBound& size) const override {
    bound_dense_targets(size, targets_.dense);
    bound_sparse_targets(size, targets_.sparse);
  }

 private:
  MixedTargets targets_;
  Limits limits_;
};

std::unique_ptr<TransformPlan::Step> make_clamp(OpInput& input) {
  MixedTargets targets = MixedTargets::of(input.columns);
  ParamReader& params = input.params;
  ClampStep::Limits limits{-std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::infinity(), IdRange{}.low, IdRange{}.high};
  if (!params.has("min") && !params.has("max")) params.refuse("min", "give min, max or both");
  limits.low = static_cast<float>(params.number_or("min", static_cast<double>(limits.low)));
  limits.high = static_cast<float>(params.number_or("max", static_cast<double>(limits.high)));
  if (!targets.sparse.empty()) {
    limits.low_id = params.integer_or("min", limits.low_id);
    limits.high_id = params.integer_or("max", limits.high_id);
  }
  if (limits.low > limits.high || limits.low_id > limits.high_id) {
    params.refuse("min", "must not be above max");
  }
  for (const ColumnTarget& target : targets.sparse) {
    SparseFeature& feature = input.columns.schema().sparse[target.to];
    const auto held = [&](std::int64_t id) {
      return std::min(std::max(id, limits.low_id), limits.high_id);
    };
    const IdRange before = IdRange::of(feature);
    feature.bound = IdRange{held(before.low), held(before.high)}.bound();
  }
  return std::make_unique<ClampStep>(std::move(targets), limits);
}

/// Replaces missing values by a value, and empty lists by a list of one id.
class FillStep final : public TransformPlan::Step {
 public:
  FillStep(MixedTargets targets, float value, std::int64_t id)
      : targets_(std::move(targets)), value_(value), id_(id) {}

  Status run(StepRun& run) const override {
    for (const ColumnTarget& target : targets_.dense) {
      run.kernels.fill(dense_target(run, target), run.columns.rows, value_);
    }
    for (const ColumnTarget& target : targets_.sparse) fill_lists(run, target);
    return {};
  }

  void bound(SizeBound& size) const override {
    bound_dense_targets(size, targets_.dense);
    std::vector<SizeBound::Copy> copies;
    for (const ColumnTarget& target : targets_.sparse) copies.push_back({target.from, target.to});
    size.hold_copies(copies, 1);
  }

 private:
  void fill_lists(StepRun& run, const ColumnTarget& target) const {
    const std::size_t rows = run.columns.rows;
    const SparseColumn source = run.columns.sparse[target.from];
    SparseColumn filled = hold_sparse(run, source.count(rows) + rows);
    std::int64_t* to = filled.values;
    for (std::size_t row = 0; row < rows; ++row) {
      const auto ids = ids_of(source, row);
      to = std::copy(ids.begin(), ids.end(), to);
      if (ids.empty()) *to++ = id_;
      filled.offsets[row + 1] = static_cast<std::int32_t>(to - filled.values);
    }
    put_sparse(run.columns, target.to, filled);
  }

  MixedTargets targets_;
  float value_;
  std::int64_t id_;
};

std::unique_ptr<TransformPlan::Step> make_fill(OpInput& input) {
  MixedTargets targets = MixedTargets::of(input.columns);
  const auto value = static_cast<float>(input.params.number_or("value", 0));
  if (!std::isfinite(value)) input.params.refuse("value", "must be finite as float32");
  const std::int64_t id = targets.sparse.empty() ? 0 : input.params.integer_or("value", 0);
  for (const ColumnTarget& target : targets.sparse) {
    SparseFeature& feature = input.columns.schema().sparse[target.to];
    const IdRange before = IdRange::of(feature);
    feature.bound = IdRange{std::min(before.low, id), std::max(before.high, id)}.bound();
  }
  return std::make_unique<FillStep>(std::move(targets), value, id);
}

constexpr std::int64_t kDay = 86400;

/// The hour of day of a time in seconds; `zone` is in [0, kDay). No sum can overflow.
std::int64_t hour_of(std::int64_t seconds, std::int64_t zone) {
  return (floor_mod(seconds, kDay) + zone) % kDay / 3600;
}

/// Converts seconds since 1970 to the hour of the day.
class LocalHourStep final : public TransformPlan::Step {
 public:
  LocalHourStep(MixedTargets targets, std::int64_t zone)
      : targets_(std::move(targets)), zone_(zone) {}

  Status run(StepRun& run) const override {
    const std::size_t rows = run.columns.rows;
    for (const ColumnTarget& target : targets_.dense) {
      float* values = dense_target(run, target);
      for (std::size_t row = 0; row < rows; ++row) values[row] = hour(values[row]);
    }
    for (const ColumnTarget& target : targets_.sparse) {
      const SparseColumn& column = sparse_target(run, target);
      const std::size_t count = column.count(rows);
      for (std::size_t i = 0; i < count; ++i) column.values[i] = hour_of(column.values[i], zone_);
    }
    return {};
  }

  void bound(SizeBound& size) const override {
    bound_dense_targets(size, targets_.dense);
    bound_sparse_targets(size, targets_.sparse);
  }

 private:
  float hour(float seconds) const {
    if (is_missing(seconds)) return seconds;
    constexpr float kPast = 0x1p63F;  // the lowest float above every int64
    if (!(seconds >= -kPast && seconds < kPast)) return std::bit_cast<float>(kNanBits);
    auto whole = static_cast<std::int64_t>(seconds);
    if (static_cast<float>(whole) > seconds) --whole;
    return static_cast<float>(hour_of(whole, zone_));
  }

  MixedTargets targets_;
  std::int64_t zone_;
};

std::unique_ptr<TransformPlan::Step> make_local_hour(OpInput& input) {
  MixedTargets targets = MixedTargets::of(input.columns);
  const std::int64_t zone = input.params.integer_or("tz_offset", 0, {-kDay, kDay});
  for (const ColumnTarget& target : targets.sparse) {
    input.columns.schema().sparse[target.to].bound = 24;
  }
  return std::make_unique<LocalHourStep>(std::move(targets), floor_mod(zone, kDay));
}

}  // namespace

std::vector<OpEntry> any_ops() {
  return {
      {{"clamp", "any", "the same", "min, max (at least one; whole numbers for sparse)",
        "each value or id held within [min, max]", "stays missing; an empty list stays empty"},
       {"min", "max", "output"},
       make_clamp},
      {{"fill", "any", "the same", "value = 0 (a whole number for sparse)",
        "a value where there is none", "missing becomes `value`, an empty list [value]"},
       {"value", "output"},
       make_fill},
      {{"local_hour", "any", "the same", "tz_offset = 0 (seconds, -86400 to 86400)",
        "floor((x + tz_offset) / 3600) mod 24 of a time in seconds; a float holds today's times "
        "to two minutes only",
        "stays missing; an empty list stays empty"},
       {"tz_offset", "output"},
       make_local_hour},
  };
}

}  // namespace forebay
