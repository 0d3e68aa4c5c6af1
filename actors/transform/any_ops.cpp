#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/transform/kernels.h"
#include "actors/transform/op_table.h"

namespace forebay {
namespace {

Targets targets_of_any(ColumnBinder& columns) {
  std::vector<std::size_t> dense;
  std::vector<std::size_t> sparse;
  for (const ColumnRef column : columns.any()) {
    (column.kind == ColumnKind::kDense ? dense : sparse).push_back(column.index);
  }
  return columns.same_kind(dense, sparse);
}

/// Clamps values and ids to limits; lists keep their lengths.
struct Clamp {
  float low = 0;
  float high = 0;
  std::int64_t low_id = 0;
  std::int64_t high_id = 0;

  void operator()(StepRun& run, float* values) const {
    run.kernels.clamp(values, run.columns.rows, low, high);
  }
  void operator()(StepRun& run, const SparseColumn& column) const {
    run.kernels.clamp_ids(column.values, column.count(run.columns.rows), low_id, high_id);
  }
};

StepPtr make_clamp(OpInput& input) {
  Targets targets = targets_of_any(input.columns);
  OpRequest& params = input.params;
  Clamp limits{-std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity(),
               IdRange{}.low, IdRange{}.high};
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
  return target_step(std::move(targets), limits);
}

/// Replaces missing values by a value, and empty lists by a list of one id.
class FillStep final : public TransformPlan::Step {
 public:
  FillStep(Targets targets, float value, std::int64_t id)
      : targets_(std::move(targets)), value_(value), id_(id) {}

  Status run(StepRun& run) const override {
    for (const ColumnTarget& target : targets_.dense) {
      run.kernels.fill(dense_target(run, target), run.columns.rows, value_);
    }
    for (const ColumnTarget& target : targets_.sparse) fill_lists(run, target);
    return {};
  }

  void bound(SizeBound& size) const override {
    size.hold_targets({targets_.dense, {}});
    size.hold_copies(targets_.sparse, 1);
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
    put_column(run.columns.sparse, target.to, filled);
  }

  Targets targets_;
  float value_;
  std::int64_t id_;
};

StepPtr make_fill(OpInput& input) {
  Targets targets = targets_of_any(input.columns);
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
struct LocalHour {
  std::int64_t zone = 0;

  void operator()(StepRun& run, float* values) const {
    for (std::size_t row = 0; row < run.columns.rows; ++row) values[row] = hour(values[row]);
  }
  void operator()(StepRun& run, const SparseColumn& column) const {
    const std::size_t count = column.count(run.columns.rows);
    for (std::size_t i = 0; i < count; ++i) column.values[i] = hour_of(column.values[i], zone);
  }

 private:
  float hour(float seconds) const {
    if (is_missing(seconds)) return seconds;
    constexpr float kPast = 0x1p63F;  // the lowest float above every int64
    if (!(seconds >= -kPast && seconds < kPast)) return std::bit_cast<float>(kNanBits);
    auto whole = static_cast<std::int64_t>(seconds);
    if (static_cast<float>(whole) > seconds) --whole;
    return static_cast<float>(hour_of(whole, zone));
  }
};

StepPtr make_local_hour(OpInput& input) {
  Targets targets = targets_of_any(input.columns);
  const std::int64_t zone = input.params.integer_or("tz_offset", 0, {-kDay, kDay});
  for (const ColumnTarget& target : targets.sparse) {
    input.columns.schema().sparse[target.to].bound = 24;
  }
  return target_step(std::move(targets), LocalHour{floor_mod(zone, kDay)});
}

/// A source column and the index of the first of its `size` result columns.
struct OneHotTarget {
  ColumnRef from;
  std::size_t first = 0;
};

/// Makes `size` dense columns per source: column k is 1 where the row's value is k, else 0.
class OneHotStep final : public TransformPlan::Step {
 public:
  OneHotStep(std::vector<OneHotTarget> targets, Targets dropped, std::size_t size)
      : targets_(std::move(targets)), dropped_(std::move(dropped)), size_(size) {}

  Status run(StepRun& run) const override {
    for (const OneHotTarget& target : targets_) {
      for (std::size_t k = 0; k < size_; ++k) {
        float* values = hold_dense(run);
        std::fill_n(values, run.columns.rows, 0.0F);
        put_column(run.columns.dense, target.first + k, values);
      }
      if (target.from.kind == ColumnKind::kDense) {
        mark_values(run.columns, target);
      } else {
        mark_ids(run.columns, target);
      }
    }
    drop_sources(run.columns.dense, dropped_.dense);
    drop_sources(run.columns.sparse, dropped_.sparse);
    return {};
  }

  void bound(SizeBound& size) const override {
    for (std::size_t i = 0; i < targets_.size() * size_; ++i) size.hold_dense();
    size.drop_sparse(dropped_.sparse);
  }

 private:
  void mark_values(ColumnSet& columns, const OneHotTarget& target) const {
    const float* values = columns.dense[target.from.index];
    const auto end = static_cast<float>(size_);
    for (std::size_t row = 0; row < columns.rows; ++row) {
      if (!(values[row] >= 0.0F && values[row] < end)) continue;  // a NaN is skipped too
      columns.dense[target.first + static_cast<std::size_t>(values[row])][row] = 1.0F;
    }
  }

  void mark_ids(ColumnSet& columns, const OneHotTarget& target) const {
    for (std::size_t row = 0; row < columns.rows; ++row) {
      for (const std::int64_t id : ids_of(columns.sparse[target.from.index], row)) {
        const auto k = static_cast<std::uint64_t>(id);
        if (k < size_) columns.dense[target.first + k][row] = 1.0F;
      }
    }
  }

  std::vector<OneHotTarget> targets_;
  Targets dropped_;
  std::size_t size_;
};

StepPtr make_one_hot(OpInput& input) {
  const auto size = static_cast<std::size_t>(input.params.integer("size", {1, 4096}));
  std::vector<OneHotTarget> targets;
  Targets dropped;
  Schema& schema = input.columns.schema();
  for (const ColumnRef from : input.columns.any()) {
    const std::string source = input.columns.name_of(from);
    const std::string name = input.columns.output_name(source, source);
    targets.push_back({from, schema.dense.size()});
    for (std::size_t k = 0; k < size; ++k) {
      input.columns.add(ColumnKind::kDense, {name + '_' + std::to_string(k), 0});
    }
    if (input.columns.has_output()) continue;
    auto& of_kind = from.kind == ColumnKind::kDense ? dropped.dense : dropped.sparse;
    of_kind.push_back({from.index, 0, true});
  }
  drop_sources(schema.dense, dropped.dense);
  drop_sources(schema.sparse, dropped.sparse);
  return std::make_unique<OneHotStep>(std::move(targets), std::move(dropped), size);
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
      {{"one_hot", "any", "`size` dense a column, named NAME_0, NAME_1, …", "size (1 to 4096)",
        "column k is 1 where the row holds k, else 0; ids outside [0, size) set no column",
        "missing and an empty list mark none"},
       {"size", "output"},
       make_one_hot},
  };
}

}  // namespace forebay
