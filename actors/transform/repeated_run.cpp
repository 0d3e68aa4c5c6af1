// The operators of a plan that run over repeated columns, once for all rows that share a value.

#include <algorithm>
#include <utility>
#include <vector>

#include "actors/transform/planned.h"
#include "actors/transform/slot_groups.h"
#include "actors/transform/transform.h"
#include "core/base/check.h"
#include "core/data/repeated_columns.h"

namespace forebay {
namespace {

/// The slots of a group that `slots` lists, and their numbers in that list.
struct Listed {
  std::vector<std::size_t> slots;
  std::vector<std::size_t> numbers;
};

Listed in_group(const std::vector<std::size_t>& slots, ColumnKind kind, std::size_t group,
                const SlotGroups& groups) {
  Listed listed;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (groups.group_of({kind, slots[i]}) != group) continue;
    listed.slots.push_back(slots[i]);
    listed.numbers.push_back(i);
  }
  return listed;
}

/// Puts the columns of a decoded set into their slots.
template <class Column>
void spread(const std::vector<std::size_t>& slots, std::size_t all, std::vector<Column>& columns) {
  std::vector<Column> spread(all);
  for (std::size_t i = 0; i < slots.size(); ++i) spread[slots[i]] = columns[i];
  columns = std::move(spread);
}

/// Keeps the columns of these slots, in their order.
template <class Column>
void gather(const std::vector<std::size_t>& slots, std::vector<Column>& columns) {
  std::vector<Column> kept;
  kept.reserve(slots.size());
  for (const std::size_t slot : slots) kept.push_back(columns[slot]);
  columns = std::move(kept);
}

}  // namespace

// A named stage runs its operators itself, and one that may fail has to name the row.
bool TransformPlan::may_be_stored(const Planned& planned, std::size_t step) const {
  const StepFacts facts = planned.step->facts();
  if (facts.leaves_out_rows || facts.may_fail || planned.step->needs_origins()) return false;
  return std::ranges::any_of(stages_, [&](const StageInfo& stage) {
    if (stage.kind != StageInfo::Kind::kTransform || stage.name != kTransformStage) return false;
    const auto [begin, end] = steps_of(stage);
    return step >= begin && step < end;
  });
}

void TransformPlan::place_repeated() {
  SlotGroups groups(input_.repeated, input_.dense.size(), input_.sparse.size());
  stored_.resize(input_.repeated.size());
  std::vector<FeatureGroup> plain(stored_.size());
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    steps_[i].place = groups.next(steps_[i].step->facts(), may_be_stored(steps_[i], i));
    for (const PlainColumn& column : steps_[i].place.plain) {
      FeatureGroup& group = plain[column.group];
      const bool is_dense = column.column.kind == ColumnKind::kDense;
      (is_dense ? group.dense : group.sparse).push_back(column.column.index);
    }
  }
  output_.repeated.clear();
  for (std::size_t group = 0; group < stored_.size(); ++group) {
    Listed dense = in_group(live_dense_, ColumnKind::kDense, group, groups);
    Listed sparse = in_group(live_sparse_, ColumnKind::kSparse, group, groups);
    stored_[group] = {.dense = std::move(dense.slots), .sparse = std::move(sparse.slots)};
    has_output_.push_back(!dense.numbers.empty() || !sparse.numbers.empty());
    if (has_output_.back()) {
      output_.repeated.push_back(
          {.dense = std::move(dense.numbers), .sparse = std::move(sparse.numbers)});
    }
    auto& own = stored_[group];
    own.dense.insert(own.dense.end(), plain[group].dense.begin(), plain[group].dense.end());
    own.sparse.insert(own.sparse.end(), plain[group].sparse.begin(), plain[group].sparse.end());
  }
}

bool TransformPlan::runs_repeated() const { return !stored_.empty(); }

Status TransformPlan::run_repeated(ColumnSet& columns, const TransformContext& context) const {
  FOREBAY_CHECK(columns.repeated.size() == stored_.size());
  const bool measured = measures_this_run();
  for (std::size_t group = 0; group < stored_.size(); ++group) {
    for (const auto& set : columns.repeated[group].sets) {
      spread(input_.repeated[group].dense, all_.dense.size(), set->dense);
      spread(input_.repeated[group].sparse, all_.sparse.size(), set->sparse);
      StepRun run{*set, context, kernels_};
      for (const Planned& planned : steps_) {
        if (planned.place.group != group) continue;
        if (auto status = run_metered(planned, run, measured, columns.rows); !status) return status;
      }
      gather(stored_[group].dense, set->dense);
      gather(stored_[group].sparse, set->sparse);
    }
  }
  return {};
}

Status TransformPlan::run_metered(const Planned& planned, StepRun& run, bool measured,
                                  std::size_t rows) const {
  const StepTime start = measured ? StepTime::now() : StepTime();
  if (auto status = run_step(planned, run); !status) return status;
  if (measured) planned.meter->add(StepTime::now() - start, rows);
  return {};
}

void TransformPlan::make_plain(const PlainColumn& plain, StepRun& run) const {
  const FeatureGroup& stored = stored_[plain.group];
  const bool is_dense = plain.column.kind == ColumnKind::kDense;
  const std::vector<std::size_t>& slots = is_dense ? stored.dense : stored.sparse;
  const auto at = std::ranges::find(slots, plain.column.index) - slots.begin();
  const auto column = static_cast<std::size_t>(at);
  BufferPool& pool = run.context.pool;
  if (is_dense) {
    put_column(run.columns.dense, plain.column.index,
               plain_dense(run.columns, plain.group, column, pool));
  } else {
    put_column(run.columns.sparse, plain.column.index,
               plain_sparse(run.columns, plain.group, column, pool));
  }
}

}  // namespace forebay
