#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "actors/transform/column_binder.h"
#include "actors/transform/kernels.h"
#include "actors/transform/order/step_facts.h"
#include "actors/transform/transform.h"
#include "core/base/check.h"
#include "core/base/result.h"
#include "core/data/column_set.h"

namespace forebay {

/// The upper bound of a split's size as it passes through the steps: bytes held, and their peak.
///
/// A list of unknown length is bounded by the bytes decoded: all decoded sparse columns together
/// hold at most `decoded_ids` ids.
class SizeBound {
 public:
  /// `decoded`: how many sparse columns are decoded; `slots`: how many there are in all.
  SizeBound(std::size_t rows, std::size_t decoded_bytes, std::size_t decoded, std::size_t slots);

  static constexpr std::size_t kAnyLength = std::numeric_limits<std::size_t>::max();

  /// The decoded column has at most one id in each row.
  void hold_single(std::size_t decoded) { sparse_[decoded] = {rows_, std::nullopt, 1}; }

  std::size_t rows() const { return rows_; }
  std::size_t peak() const { return peak_; }

  /// The most ids that the sparse columns of these indices hold in all.
  std::size_t ids(std::span<const std::size_t> sparse) const;

  /// The most ids of one row in the sparse column; kAnyLength if that is not known.
  std::size_t longest(std::size_t sparse) const { return sparse_[sparse].longest; }

  /// Adds a buffer of `bytes` that the split keeps until its end.
  void hold(std::size_t bytes);
  /// Adds a buffer of `bytes` that the step returns.
  void borrow(std::size_t bytes);

  /// The sparse column `index` gets its own list memory, of at most `ids` ids.
  void hold_sparse(std::size_t index, std::size_t ids, std::size_t longest = kAnyLength);
  /// Lists of the sparse column are cut to so many ids; their memory stays. Counts for ids() and
  /// longest() after follow_cuts().
  void cut(std::size_t index, std::size_t longest);
  void follow_cuts() { follows_cuts_ = true; }
  /// A row of the sparse column may hold any number of the column's ids.
  void hold_any_length(std::size_t index) { sparse_[index].longest = kAnyLength; }
  /// Each target gets its own list memory for at most the ids of its source, and `more` ids a row.
  void hold_copies(std::span<const ColumnTarget> copies, std::size_t more);
  void hold_dense() { hold(rows_ * sizeof(float)); }
  /// Adds the memory of a target that is not its source (dense_target, sparse_target).
  void hold_target(ColumnKind kind, const ColumnTarget& target);

 private:
  /// A bound: the ids of one decoded column plus `others`.
  struct Lists {
    std::size_t others = 0;
    std::optional<std::size_t> decoded;
    std::size_t longest = kAnyLength;
  };

  std::size_t rows_;
  std::size_t decoded_ids_;
  std::size_t held_;
  std::size_t peak_;
  std::vector<Lists> sparse_;
  bool follows_cuts_ = false;
};

/// The input of a step: the columns of one split, and the plan's fixed choices.
struct StepRun {
  ColumnSet& columns;
  const TransformContext& context;
  const Kernels& kernels;

  /// Whether the run is being stopped: what this split's steps make is dropped.
  bool is_cancelled() const;
  /// What a step returns then.
  static Status cancelled();

  /// Names the file and offset of a row for errors: "clicks.tsv, row at byte 1234".
  std::string row_name(std::size_t row) const;
  /// Names the files and the first and last offset of some rows, of which there is at least one:
  /// "clicks.tsv, rows at bytes 100 to 1234, and 2 other files".
  std::string rows_name(std::size_t first, std::size_t count) const;
};

/// A change of values, or of ids, each by itself. Only one of the two is called.
struct ValueChange {
  virtual ~ValueChange() = default;
  virtual void change(const Kernels&, float* /*values*/, std::size_t /*count*/) const {}
  virtual void change(const Kernels&, std::int64_t* /*ids*/, std::size_t /*count*/) const {}
};

/// One operator bound to one column, or to all of its columns, by their slots (ColumnSlots).
/// Immutable: any thread may run it.
class TransformPlan::Step {
 public:
  virtual ~Step() = default;

  virtual StepFacts facts() const = 0;

  virtual Status run(StepRun& run) const = 0;

  /// A step that changes every value of one column in place, each by itself, can do so to any range
  /// of them: several such steps go through a column together (column_chain.h). Null for others.
  virtual const ValueChange* value_change() const { return nullptr; }

  /// Follows a split of the largest size through the step; a step that allocates nothing leaves
  /// `size` unchanged.
  virtual void bound(SizeBound& size) const { static_cast<void>(size); }

  virtual bool needs_origins() const { return false; }

  /// Whether the step does nothing but leave out rows, each by its origin alone: it may run before
  /// any other step, and again.
  virtual bool samples() const { return false; }

  /// Memory that each actor's child processes take, in bytes.
  virtual std::uint64_t actor_bytes() const { return 0; }
  /// Resident bytes of the child processes of all actors now. Any thread.
  virtual std::uint64_t child_bytes() const { return 0; }

  /// Changes the cost of a row, in microseconds of CPU, while other threads run the step. Returns
  /// false if the step's cost cannot be set.
  virtual bool set_cost(double) { return false; }
};

using StepPtr = std::unique_ptr<TransformPlan::Step>;
/// The steps of an operator, in order: one for each of its columns, or one.
using Steps = std::vector<StepPtr>;

/// Allocates memory for an additional dense column; the split owns it.
float* hold_dense(StepRun& run);

/// Allocates memory for a list column of up to `ids` ids. Sets offsets[0] to 0; the caller writes
/// the rest.
SparseColumn hold_sparse(StepRun& run, std::size_t ids);

/// Stores a column in its slot.
template <class Column>
void put_column(std::vector<Column>& columns, std::size_t slot, const Column& column) {
  FOREBAY_CHECK(slot < columns.size());
  columns[slot] = column;
}

/// Returns the column that an in-place operator works on: its target. If the target is not the
/// source, the source is copied to it first.
float* dense_target(StepRun& run, const ColumnTarget& target);
SparseColumn& sparse_target(StepRun& run, const ColumnTarget& target);

/// The facts of a step that makes, or changes in place, one column of `target` from another.
StepFacts facts_of(ColumnKind kind, const ColumnTarget& target);

/// Changes every value of one dense column, or every id of one sparse column, by itself: in place
/// or in a copy. Lists keep their lengths. `Value` is float or std::int64_t, and
/// `change(kernels, values, count)` changes them.
template <class Value, class Change>
class ValueStep final : public TransformPlan::Step {
 public:
  ValueStep(ColumnTarget target, Change change, StepFacts::Missing missing, double cost)
      : target_(target), missing_(missing), cost_(cost), change_(std::move(change)) {}

  StepFacts facts() const override {
    StepFacts facts = facts_of(kKind, target_);
    facts.lists = StepFacts::Lists::kEachId;
    facts.missing = missing_;
    facts.cost = cost_;
    return facts;
  }

  Status run(StepRun& run) const override {
    if constexpr (kKind == ColumnKind::kDense) {
      change_.change(run.kernels, dense_target(run, target_), run.columns.rows);
    } else {
      const SparseColumn& column = sparse_target(run, target_);
      change_.change(run.kernels, column.values, column.count(run.columns.rows));
    }
    return {};
  }

  void bound(SizeBound& size) const override { size.hold_target(kKind, target_); }

  const ValueChange* value_change() const override {
    return target_.from == target_.to ? &change_ : nullptr;
  }

 private:
  static constexpr ColumnKind kKind =
      std::is_same_v<Value, float> ? ColumnKind::kDense : ColumnKind::kSparse;

  struct Bound final : ValueChange {
    using ValueChange::change;
    explicit Bound(Change of) : apply(std::move(of)) {}
    void change(const Kernels& kernels, Value* values, std::size_t count) const override {
      apply(kernels, values, count);
    }
    Change apply;
  };

  ColumnTarget target_;
  StepFacts::Missing missing_;
  double cost_;
  Bound change_;
};

/// Adds a ValueStep for each target. `cost`: StepFacts::cost.
template <class Value, class Change>
void add_value_steps(Steps& steps, const std::vector<ColumnTarget>& targets, const Change& change,
                     double cost, StepFacts::Missing missing = StepFacts::Missing::kKept) {
  for (const ColumnTarget& target : targets) {
    steps.push_back(std::make_unique<ValueStep<Value, Change>>(target, change, missing, cost));
  }
}

/// Changes the lists of one sparse column, which it may shorten, or of a copy of it:
/// `change(run, column)`.
template <class Change>
class ListChangeStep final : public TransformPlan::Step {
 public:
  ListChangeStep(ColumnTarget target, Change change, StepFacts::Lists lists)
      : target_(target), lists_(lists), change_(std::move(change)) {}

  StepFacts facts() const override {
    StepFacts facts = facts_of(ColumnKind::kSparse, target_);
    facts.lists = lists_;
    return facts;
  }

  Status run(StepRun& run) const override {
    change_(run, sparse_target(run, target_));
    return {};
  }

  void bound(SizeBound& size) const override {
    size.hold_target(ColumnKind::kSparse, target_);
    if constexpr (requires { change_.longest(); }) size.cut(target_.to, change_.longest());
  }

 private:
  ColumnTarget target_;
  StepFacts::Lists lists_;
  Change change_;
};

template <class Change>
void add_list_steps(Steps& steps, const std::vector<ColumnTarget>& targets, const Change& change,
                    StepFacts::Lists lists) {
  for (const ColumnTarget& target : targets) {
    steps.push_back(std::make_unique<ListChangeStep<Change>>(target, change, lists));
  }
}

/// The ids of one row.
inline std::span<std::int64_t> ids_of(const SparseColumn& column, std::size_t row) {
  if (column.offsets == nullptr) return {column.values + row, 1};
  const auto first = static_cast<std::size_t>(column.offsets[row]);
  const auto last = static_cast<std::size_t>(column.offsets[row + 1]);
  return {column.values + first, last - first};
}

}  // namespace forebay
