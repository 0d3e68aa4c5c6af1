#include <algorithm>
#include <string>
#include <utility>

#include "actors/transform/column_memory.h"
#include "actors/transform/op_table.h"

namespace forebay {
namespace {

/// A source column and the index of the first of its `size` result columns.
struct OneHotTarget {
  ColumnRef from;
  std::size_t first = 0;
};

/// Makes `size` dense columns per source: column k is 1 where the row's value is k, else 0.
class OneHotStep final : public TransformPlan::Step {
 public:
  struct Sources {
    std::vector<OneHotTarget> targets;
    std::vector<ColumnTarget> dropped_dense;
    std::vector<ColumnTarget> dropped_sparse;
  };

  OneHotStep(Sources sources, std::size_t size) : sources_(std::move(sources)), size_(size) {}

  Status run(StepRun& run) const override {
    for (const OneHotTarget& target : sources_.targets) {
      for (std::size_t k = 0; k < size_; ++k) {
        float* values = hold_dense(run);
        std::fill_n(values, run.columns.rows, 0.0F);
        put_dense(run.columns, target.first + k, values);
      }
      if (target.from.kind == ColumnKind::kDense) {
        mark_values(run.columns, target);
      } else {
        mark_ids(run.columns, target);
      }
    }
    drop_dense_sources(run.columns, sources_.dropped_dense);
    drop_sparse_sources(run.columns, sources_.dropped_sparse);
    return {};
  }

  void bound(SizeBound& size) const override {
    for (std::size_t i = 0; i < sources_.targets.size() * size_; ++i) size.hold_dense();
    bound_dropped(size, sources_.dropped_sparse);
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

  Sources sources_;
  std::size_t size_;
};

std::unique_ptr<TransformPlan::Step> make_one_hot(OpInput& input) {
  const auto size = static_cast<std::size_t>(input.params.integer("size", {1, 4096}));
  OneHotStep::Sources sources;
  for (const ColumnRef from : input.columns.any()) {
    const bool dense = from.kind == ColumnKind::kDense;
    const Schema& schema = input.columns.schema();
    const std::string source = dense ? schema.dense[from.index] : schema.sparse[from.index].name;
    const std::string name = input.columns.output_name(source, source);
    sources.targets.push_back({from, schema.dense.size()});
    for (std::size_t k = 0; k < size; ++k) {
      input.columns.add_dense(name + '_' + std::to_string(k));
    }
    if (input.columns.has_output()) continue;
    (dense ? sources.dropped_dense : sources.dropped_sparse).push_back({from.index, 0, true});
  }
  input.columns.drop_sources(ColumnKind::kDense, sources.dropped_dense);
  input.columns.drop_sources(ColumnKind::kSparse, sources.dropped_sparse);
  return std::make_unique<OneHotStep>(std::move(sources), size);
}

}  // namespace

std::vector<OpEntry> one_hot_ops() {
  return {
      {{"one_hot", "any", "`size` dense a column, named NAME_0, NAME_1, …", "size (1 to 4096)",
        "column k is 1 where the row holds k, else 0; ids outside [0, size) set no column",
        "missing and an empty list mark none"},
       {"size", "output"},
       make_one_hot},
  };
}

}  // namespace forebay
