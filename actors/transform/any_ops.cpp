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

/// The steps of an operator that changes values and ids, each by itself.
template <class Change>
Steps steps_of_any(const Targets& targets, const Change& change, double cost) {
  Steps steps;
  add_value_steps<float>(steps, targets.dense, change, cost);
  add_value_steps<std::int64_t>(steps, targets.sparse, change, cost);
  return steps;
}

/// Clamps values and ids to limits; lists keep their lengths.
struct Clamp {
  float low = 0;
  float high = 0;
  std::int64_t low_id = 0;
  std::int64_t high_id = 0;

  void operator()(const Kernels& kernels, float* values, std::size_t count) const {
    kernels.clamp(values, count, low, high);
  }
  void operator()(const Kernels& kernels, std::int64_t* ids, std::size_t count) const {
    kernels.clamp_ids(ids, count, low_id, high_id);
  }
};

Steps make_clamp(OpInput& input) {
  const Targets targets = targets_of_any(input.columns);
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
  return steps_of_any(targets, limits, 0.3);
}

/// Replaces empty lists by a list of one id.
class FillListsStep final : public TransformPlan::Step {
 public:
  FillListsStep(ColumnTarget target, std::int64_t id) : target_(target), id_(id) {}

  StepFacts facts() const override {
    StepFacts facts = facts_of(ColumnKind::kSparse, target_);
    facts.lists = StepFacts::Lists::kFill;
    facts.cost = 3;
    return facts;
  }

  Status run(StepRun& run) const override {
    const std::size_t rows = run.columns.rows;
    const SparseColumn source = run.columns.sparse[target_.from];
    SparseColumn filled = hold_sparse(run, source.count(rows) + rows);
    std::int64_t* to = filled.values;
    for (std::size_t row = 0; row < rows; ++row) {
      const auto ids = ids_of(source, row);
      to = std::copy(ids.begin(), ids.end(), to);
      if (ids.empty()) *to++ = id_;
      filled.offsets[row + 1] = static_cast<std::int32_t>(to - filled.values);
    }
    put_column(run.columns.sparse, target_.to, filled);
    return {};
  }

  void bound(SizeBound& size) const override {
    const bool is_single = size.longest(target_.from) <= 1;
    size.hold_copies({&target_, 1}, 1);
    if (is_single) size.cut(target_.to, 1);
  }

 private:
  ColumnTarget target_;
  std::int64_t id_;
};

Steps make_fill(OpInput& input) {
  const Targets targets = targets_of_any(input.columns);
  const auto value = static_cast<float>(input.params.number_or("value", 0));
  if (!std::isfinite(value)) input.params.refuse("value", "must be finite as float32");
  const std::int64_t id = targets.sparse.empty() ? 0 : input.params.integer_or("value", 0);
  for (const ColumnTarget& target : targets.sparse) {
    SparseFeature& feature = input.columns.schema().sparse[target.to];
    const IdRange before = IdRange::of(feature);
    feature.bound = IdRange{std::min(before.low, id), std::max(before.high, id)}.bound();
  }
  Steps steps;
  const auto fill = [value](const Kernels& kernels, float* values, std::size_t count) {
    kernels.fill(values, count, value);
  };
  add_value_steps<float>(steps, targets.dense, fill, 0.2, StepFacts::Missing::kNone);
  for (const ColumnTarget& target : targets.sparse) {
    steps.push_back(std::make_unique<FillListsStep>(target, id));
  }
  return steps;
}

constexpr std::int64_t kDay = 86400;

/// The hour of day of a time in seconds; `zone` is in [0, kDay). No sum can overflow.
std::int64_t hour_of(std::int64_t seconds, std::int64_t zone) {
  return (floor_mod(seconds, kDay) + zone) % kDay / 3600;
}

/// Converts seconds since 1970 to the hour of the day.
struct LocalHour {
  std::int64_t zone = 0;

  void operator()(const Kernels&, float* values, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) values[i] = hour(values[i]);
  }
  void operator()(const Kernels&, std::int64_t* ids, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) ids[i] = hour_of(ids[i], zone);
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

Steps make_local_hour(OpInput& input) {
  const Targets targets = targets_of_any(input.columns);
  const std::int64_t zone = input.params.integer_or("tz_offset", 0, {-kDay, kDay});
  for (const ColumnTarget& target : targets.sparse) {
    input.columns.schema().sparse[target.to].bound = 24;
  }
  return steps_of_any(targets, LocalHour{floor_mod(zone, kDay)}, 3);
}

/// A source column and the slot of the first of its `size` result columns.
struct OneHotTarget {
  ColumnRef from;
  std::size_t first = 0;
  std::size_t size = 0;
  bool drop_source = false;
};

/// Makes `size` dense columns of a source: column k is 1 where the row's value is k, else 0.
class OneHotStep final : public TransformPlan::Step {
 public:
  explicit OneHotStep(OneHotTarget target) : target_(target) {}

  StepFacts facts() const override {
    StepFacts facts{.reads = {target_.from},
                    .missing = StepFacts::Missing::kNone,
                    .inflates = true,
                    .cost = 2 + 0.2 * static_cast<double>(target_.size)};
    for (std::size_t k = 0; k < target_.size; ++k) {
      facts.writes.push_back({ColumnKind::kDense, target_.first + k});
    }
    if (target_.drop_source) facts.writes.push_back(target_.from);
    return facts;
  }

  Status run(StepRun& run) const override {
    for (std::size_t k = 0; k < target_.size; ++k) {
      float* values = hold_dense(run);
      std::fill_n(values, run.columns.rows, 0.0F);
      put_column(run.columns.dense, target_.first + k, values);
    }
    if (target_.from.kind == ColumnKind::kDense) {
      mark_values(run.columns);
      if (target_.drop_source) run.columns.dense[target_.from.index] = nullptr;
    } else {
      mark_ids(run.columns);
      if (target_.drop_source) run.columns.sparse[target_.from.index] = {};
    }
    return {};
  }

  void bound(SizeBound& size) const override {
    for (std::size_t i = 0; i < target_.size; ++i) size.hold_dense();
  }

 private:
  void mark_values(ColumnSet& columns) const {
    const float* values = columns.dense[target_.from.index];
    const auto end = static_cast<float>(target_.size);
    for (std::size_t row = 0; row < columns.rows; ++row) {
      if (!(values[row] >= 0.0F && values[row] < end)) continue;  // a NaN is skipped too
      columns.dense[target_.first + static_cast<std::size_t>(values[row])][row] = 1.0F;
    }
  }

  void mark_ids(ColumnSet& columns) const {
    for (std::size_t row = 0; row < columns.rows; ++row) {
      for (const std::int64_t id : ids_of(columns.sparse[target_.from.index], row)) {
        const auto k = static_cast<std::uint64_t>(id);
        if (k < target_.size) columns.dense[target_.first + k][row] = 1.0F;
      }
    }
  }

  OneHotTarget target_;
};

Steps make_one_hot(OpInput& input) {
  const auto size = static_cast<std::size_t>(input.params.integer("size", {1, 4096}));
  Steps steps;
  const std::vector<ColumnRef> sources = input.columns.any();
  const bool drops = !input.columns.has_output();
  input.columns.check_output(sources.size());
  for (const ColumnRef from : sources) {
    const std::string source = input.columns.name_of(from);
    const std::string name = input.columns.output_name(source, source);
    const std::size_t first = input.columns.schema().dense.size();
    for (std::size_t k = 0; k < size; ++k) {
      input.columns.add(ColumnKind::kDense, {name + '_' + std::to_string(k), 0});
    }
    steps.push_back(std::make_unique<OneHotStep>(OneHotTarget{from, first, size, drops}));
  }
  for (const ColumnRef from : sources) {
    if (drops) input.columns.drop(from);
  }
  return steps;
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
