#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/transform/op_table.h"
#include "actors/transform/udf_call.h"

namespace forebay {
namespace {

static_assert(FOREBAY_UDF_MISSING == kMissingBits);

/// Calls a user's function over the whole split. After a failure it calls the function again row by
/// row, on the rows' original values, to find the row to name.
class UdfStep final : public TransformPlan::Step {
 public:
  explicit UdfStep(Udf udf) : udf_(std::move(udf)) {}

  StepFacts facts() const override {
    StepFacts facts{.missing = StepFacts::Missing::kMade, .may_fail = true, .cost = 50};
    for (const std::size_t index : udf_.columns.dense) {
      facts.writes.push_back({ColumnKind::kDense, index});
    }
    for (const std::size_t index : udf_.columns.sparse) {
      facts.writes.push_back({ColumnKind::kSparse, index});
    }
    facts.reads = facts.writes;
    return facts;
  }

  Status run(StepRun& run) const override {
    add_new_columns(run);
    const std::size_t rows = run.columns.rows;
    if (rows == 0) return {};
    const Buffer one_each = run.context.pool.take((rows + 1) * sizeof(std::int32_t));
    for (std::size_t i = 0; i <= rows; ++i)
      one_each.as<std::int32_t>()[i] = static_cast<std::int32_t>(i);
    UdfInput input = input_of(run, one_each.as<std::int32_t>());
    const Buffer before = copy_dense(run, input);
    const UdfOutcome outcome = call_udf(udf_, run, input);
    if (outcome.failed) return failure(run, input, before, outcome);
    for (std::size_t i = 0; i < outcome.replaced.size(); ++i) {
      if (outcome.replaced[i]) run.columns.sparse[udf_.columns.sparse[i]] = *outcome.replaced[i];
    }
    for (float* values : input.dense) one_nan(values, rows);
    return {};
  }

  void bound(SizeBound& size) const override {
    for (std::size_t i = 0; i < udf_.columns.new_dense; ++i) size.hold_dense();
    std::vector<ColumnTarget> copies;
    for (std::size_t i = 0; i < udf_.columns.sparse.size(); ++i) {
      const std::size_t index = udf_.columns.sparse[i];
      if (i + udf_.columns.new_sparse >= udf_.columns.sparse.size()) size.hold_sparse(index, 0);
      copies.push_back({index, index, false});
    }
    size.hold_copies(copies, udf_.max_ids);
    // max_ids is a mean: one row may get the ids of all.
    for (const std::size_t index : udf_.columns.sparse) size.hold_any_length(index);
    const std::size_t values = udf_.columns.dense.size() * size.rows();
    size.borrow(values * sizeof(float) + (size.rows() + 1) * sizeof(std::int32_t) + 8192);
  }

  bool needs_origins() const override { return true; }

 private:
  void add_new_columns(StepRun& run) const {
    const std::size_t rows = run.columns.rows;
    for (std::size_t i = udf_.columns.dense.size() - udf_.columns.new_dense;
         i < udf_.columns.dense.size(); ++i) {
      float* values = hold_dense(run);
      std::fill_n(values, rows, missing_value());
      put_column(run.columns.dense, udf_.columns.dense[i], values);
    }
    for (std::size_t i = udf_.columns.sparse.size() - udf_.columns.new_sparse;
         i < udf_.columns.sparse.size(); ++i) {
      SparseColumn lists = hold_sparse(run, 0);
      std::fill_n(lists.offsets, rows + 1, 0);
      put_column(run.columns.sparse, udf_.columns.sparse[i], lists);
    }
  }

  UdfInput input_of(const StepRun& run, std::int32_t* one_each) const {
    UdfInput input;
    for (const std::size_t index : udf_.columns.dense)
      input.dense.push_back(run.columns.dense[index]);
    for (const std::size_t index : udf_.columns.sparse) {
      input.sparse.push_back(run.columns.sparse[index]);
      if (input.sparse.back().offsets == nullptr) input.sparse.back().offsets = one_each;
    }
    return input;
  }

  static Buffer copy_dense(const StepRun& run, const UdfInput& input) {
    const std::size_t rows = run.columns.rows;
    Buffer copy = run.context.pool.take(input.dense.size() * rows * sizeof(float));
    for (std::size_t i = 0; i < input.dense.size(); ++i) {
      std::memcpy(copy.as<float>() + i * rows, input.dense[i], rows * sizeof(float));
    }
    return copy;
  }

  /// Replaces every NaN of a user's function by kNanBits; missing values stay missing.
  static void one_nan(float* values, std::size_t rows) {
    for (std::size_t row = 0; row < rows; ++row) {
      if (values[row] != values[row] && !is_missing(values[row])) {
        values[row] = std::bit_cast<float>(kNanBits);
      }
    }
  }

  Status failure(const StepRun& run, const UdfInput& input, const Buffer& before,
                 UdfOutcome outcome) const {
    for (std::size_t row = 0; row < run.columns.rows && !outcome.row; ++row) {
      const UdfOutcome alone = call_row(run, input, before, row);
      if (!alone.failed) continue;
      outcome.error = alone.error;
      outcome.row = row;
    }
    const std::string where = outcome.row ? run.row_name(*outcome.row)
                                          : "one of " + std::to_string(run.columns.rows) +
                                                " rows, the first being " + run.row_name(0);
    return fail(Code::kInvalid, udf_.name + ": " + where + ": " + outcome.error);
  }

  UdfOutcome call_row(const StepRun& run, const UdfInput& input, const Buffer& before,
                      std::size_t row) const {
    ColumnSet alone;
    alone.rows = 1;
    StepRun alone_run{alone, run.context, run.kernels};
    std::vector<float> dense;
    for (std::size_t i = 0; i < input.dense.size(); ++i) {
      dense.push_back(before.as<float>()[i * run.columns.rows + row]);
    }
    UdfInput of_row;
    for (float& value : dense) of_row.dense.push_back(&value);
    std::vector<std::array<std::int32_t, 2>> offsets(input.sparse.size());
    for (std::size_t i = 0; i < input.sparse.size(); ++i) {
      const auto ids = ids_of(input.sparse[i], row);
      offsets[i] = {0, static_cast<std::int32_t>(ids.size())};
      of_row.sparse.push_back({ids.data(), offsets[i].data()});
    }
    return call_udf(udf_, alone_run, of_row);
  }

  const Udf udf_;
};

/// Binds the matched columns and adds the new ones; the ids of all sparse ones become unbounded.
UdfColumns bind_columns(OpInput& input) {
  UdfColumns columns;
  Schema& schema = input.columns.schema();
  for (const ColumnRef column : input.columns.any()) {
    (column.kind == ColumnKind::kDense ? columns.dense : columns.sparse).push_back(column.index);
  }
  for (const std::string& name : input.params.texts_or_none("new_dense")) {
    columns.dense.push_back(input.columns.add(ColumnKind::kDense, {name, 0}));
    ++columns.new_dense;
  }
  for (const std::string& name : input.params.texts_or_none("new_sparse")) {
    columns.sparse.push_back(input.columns.add(ColumnKind::kSparse, {name, 0}));
    ++columns.new_sparse;
  }
  for (const std::size_t index : columns.dense) columns.dense_names.push_back(schema.dense[index]);
  for (const std::size_t index : columns.sparse) {
    schema.sparse[index].bound = 0;
    columns.sparse_names.push_back(schema.sparse[index].name);
  }
  return columns;
}

Steps make_udf(OpInput& input) {
  Steps steps;
  UdfColumns columns = bind_columns(input);
  const std::string library = input.params.text("library");
  std::string name = input.params.text("function");
  std::string params = input.params.text_or("params", "");
  const auto max_ids = static_cast<std::size_t>(
      input.params.integer_or("max_ids", columns.new_sparse > 0 ? 1 : 0, {0, 65536}));
  if (input.params.refused()) return steps;
  auto function = UserFunction::open(input.params.name(), library, name);
  if (!function) {
    input.params.refuse(function.error().message);
    return steps;
  }
  steps.push_back(std::make_unique<UdfStep>(
      Udf{std::move(*function), std::move(columns), std::move(name), std::move(params), max_ids}));
  return steps;
}

}  // namespace

std::vector<OpEntry> udf_ops() {
  return {
      {{"udf", "any", "the same, and new_dense, new_sparse",
        "library, function, params = \"\", new_dense = [], new_sparse = [], max_ids = 0 (by how "
        "many ids a row lists may grow; 1 with new_sparse)",
        "a function of your own, see forebay/udf.h; its sparse columns lose their bound",
        "passed on; new columns start as missing and empty"},
       {"library", "function", "params", "new_dense", "new_sparse", "max_ids"},
       make_udf},
  };
}

}  // namespace forebay
