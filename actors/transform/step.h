#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "actors/transform/column_binder.h"
#include "actors/transform/kernels.h"
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
  SizeBound(std::size_t rows, std::size_t decoded_bytes, std::size_t sparse_columns);

  std::size_t rows() const { return rows_; }
  std::size_t peak() const { return peak_; }

  /// The most ids that the sparse columns of these indices hold in all.
  std::size_t ids(std::span<const std::size_t> sparse) const;

  /// With rows() == 1: whether the sparse column may have more than one id in the row. `decoded`
  /// says which decoded columns may.
  bool may_be_list(std::size_t sparse, const std::vector<bool>& decoded) const;

  /// Adds a buffer of `bytes` that the split keeps until its end.
  void hold(std::size_t bytes);
  /// Adds a buffer of `bytes` that the step returns.
  void borrow(std::size_t bytes);

  /// The sparse column `index` (one past the last: an additional column) gets its own list memory,
  /// of at most `ids` ids.
  void hold_sparse(std::size_t index, std::size_t ids);
  /// Each target gets its own list memory for at most the ids of its source, and `more` ids a row.
  void hold_copies(std::span<const ColumnTarget> copies, std::size_t more);
  void hold_dense() { hold(rows_ * sizeof(float)); }
  /// Adds the memory of the targets that are not their source (dense_target, sparse_target).
  void hold_targets(const Targets& targets);
  /// Removes the dropped sources.
  void drop_sparse(std::span<const ColumnTarget> targets) { drop_sources(sparse_, targets); }

 private:
  /// A bound: the ids of one decoded column plus `others`.
  struct Lists {
    std::size_t others = 0;
    std::optional<std::size_t> decoded;
  };

  std::size_t rows_;
  std::size_t decoded_ids_;
  std::size_t held_;
  std::size_t peak_;
  std::vector<Lists> sparse_;
};

/// The input of a step: the columns of one split, and the plan's fixed choices.
struct StepRun {
  ColumnSet& columns;
  const TransformContext& context;
  const Kernels& kernels;

  /// Names the file and offset of a row for errors: "clicks.tsv, row at byte 1234".
  std::string row_name(std::size_t row) const;
  /// Names the files and the first and last offset of some rows, of which there is at least one:
  /// "clicks.tsv, rows at bytes 100 to 1234, and 2 other files".
  std::string rows_name(std::size_t first, std::size_t count) const;
};

/// One operator bound to its columns (by their index when it runs) and parameters. Immutable: any
/// thread may run it.
class TransformPlan::Step {
 public:
  virtual ~Step() = default;

  virtual Status run(StepRun& run) const = 0;

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

/// Allocates memory for an additional dense column; the split owns it.
float* hold_dense(StepRun& run);

/// Allocates memory for a list column of up to `ids` ids. Sets offsets[0] to 0; the caller writes
/// the rest.
SparseColumn hold_sparse(StepRun& run, std::size_t ids);

/// Stores a column at `index`, at most one past the end of its list.
template <class Column>
void put_column(std::vector<Column>& columns, std::size_t index, const Column& column) {
  FOREBAY_CHECK(index <= columns.size());
  if (index == columns.size()) columns.emplace_back();
  columns[index] = column;
}

/// Returns the column that an in-place operator works on: its target. If the target is not the
/// source, the source is copied to it first.
float* dense_target(StepRun& run, const ColumnTarget& target);
SparseColumn& sparse_target(StepRun& run, const ColumnTarget& target);

/// Changes columns in place, or copies of them: `change(run, values)` changes a dense column,
/// `change(run, column)` a sparse one, whose lists it may shorten. `Change` has one of them or
/// both.
template <class Change>
class TargetStep final : public TransformPlan::Step {
 public:
  TargetStep(Targets targets, Change change)
      : targets_(std::move(targets)), change_(std::move(change)) {}

  Status run(StepRun& run) const override {
    if constexpr (std::is_invocable_v<const Change&, StepRun&, float*>) {
      for (const ColumnTarget& target : targets_.dense) change_(run, dense_target(run, target));
    }
    if constexpr (std::is_invocable_v<const Change&, StepRun&, const SparseColumn&>) {
      for (const ColumnTarget& target : targets_.sparse) change_(run, sparse_target(run, target));
    }
    return {};
  }

  void bound(SizeBound& size) const override { size.hold_targets(targets_); }

 private:
  Targets targets_;
  Change change_;
};

template <class Change>
StepPtr target_step(Targets targets, Change change) {
  return std::make_unique<TargetStep<Change>>(std::move(targets), std::move(change));
}

/// The ids of one row.
inline std::span<std::int64_t> ids_of(const SparseColumn& column, std::size_t row) {
  if (column.offsets == nullptr) return {column.values + row, 1};
  const auto first = static_cast<std::size_t>(column.offsets[row]);
  const auto last = static_cast<std::size_t>(column.offsets[row + 1]);
  return {column.values + first, last - first};
}

}  // namespace forebay
