#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "actors/transform/column_memory.h"
#include "actors/transform/op_table.h"
#include "actors/transform/row_name.h"
#include "actors/transform/user_function.h"

namespace forebay {
namespace {

static_assert(FOREBAY_UDF_MISSING == kMissingBits);

/// The columns a function is given, by name and index, further ones last.
struct UdfColumns {
  std::vector<std::string> dense_names;
  std::vector<std::size_t> dense;
  std::vector<std::string> sparse_names;
  std::vector<std::size_t> sparse;
  std::size_t new_dense = 0;
  std::size_t new_sparse = 0;
};

/// What a call is made with: every sparse column has offsets.
struct UdfInput {
  std::vector<float*> dense;
  std::vector<SparseColumn> sparse;
};

/// What a call came to.
struct UdfOutcome {
  bool failed = false;
  std::string error;
  std::optional<std::size_t> row;  ///< The row that failed, where that is known.
  std::vector<std::optional<SparseColumn>> replaced;
};

/// One call of a user's function over the rows of `run`, whose slabs take what it allocates.
class UdfCall {
 public:
  UdfCall(StepRun& run, const UdfInput& input, std::size_t max_ids)
      : run_(run), input_(input), max_ids_(max_ids) {
    outcome_.replaced.resize(input.sparse.size());
  }

  UdfOutcome make(const UserFunction& function, const UdfColumns& columns,
                  const std::string& params) {
    std::vector<forebay_udf_dense> dense;
    for (std::size_t i = 0; i < input_.dense.size(); ++i) {
      dense.push_back({columns.dense_names[i].c_str(), input_.dense[i]});
    }
    std::vector<forebay_udf_sparse> sparse;
    for (std::size_t i = 0; i < input_.sparse.size(); ++i) {
      sparse.push_back(
          {columns.sparse_names[i].c_str(), input_.sparse[i].values, input_.sparse[i].offsets});
    }
    std::array<char, 512> error{};
    const std::size_t rows = run_.columns.rows;
    forebay_udf_call call{
        FOREBAY_UDF_VERSION, rows,    params.c_str(), dense.size(), dense.data(), sparse.size(),
        sparse.data(),       replace, this,           -1,           error.data(), error.size()};
    if (!function(call)) {
      error.back() = '\0';
      refuse(error.front() == '\0' ? "it failed without saying why" : error.data());
      if (call.error_row >= 0 && static_cast<std::size_t>(call.error_row) < rows) {
        outcome_.row = static_cast<std::size_t>(call.error_row);
      }
    } else {
      check_lists();
    }
    return std::move(outcome_);
  }

 private:
  static forebay_udf_lists replace(forebay_udf_call* call, std::size_t column,
                                   std::size_t num_ids) {
    auto& self = *static_cast<UdfCall*>(call->host);
    const std::string refused = self.refusal(column, num_ids);
    if (!refused.empty()) {
      std::snprintf(call->error, call->error_size, "%s", refused.c_str());
      return {nullptr, nullptr};
    }
    SparseColumn lists = hold_sparse(self.run_, num_ids);
    std::fill_n(lists.offsets, self.run_.columns.rows + 1, kUnwritten);
    self.outcome_.replaced[column] = lists;
    self.num_ids_.resize(self.input_.sparse.size());
    self.num_ids_[column] = num_ids;
    return {lists.values, lists.offsets};
  }

  /// Why new lists cannot be had; empty if they can.
  std::string refusal(std::size_t column, std::size_t num_ids) const {
    if (column >= input_.sparse.size()) {
      return "there is no sparse column " + std::to_string(column);
    }
    if (outcome_.replaced[column]) return "a column's lists can be replaced once only";
    const std::size_t rows = run_.columns.rows;
    const std::size_t most = input_.sparse[column].count(rows) + rows * max_ids_;
    if (num_ids <= most) return {};
    return std::to_string(num_ids) + " ids for " + std::to_string(rows) + " rows, " +
           std::to_string(most) + " fit; raise max_ids";
  }

  /// Every list must end where the next begins, the last at the end of the ids.
  void check_lists() {
    const std::size_t rows = run_.columns.rows;
    for (std::size_t column = 0; column < outcome_.replaced.size(); ++column) {
      if (!outcome_.replaced[column]) continue;
      const std::int32_t* const offsets = outcome_.replaced[column]->offsets;
      const auto num_ids = static_cast<std::int32_t>(num_ids_[column]);
      for (std::size_t row = 0; row < rows; ++row) {
        const bool last = row + 1 == rows;
        const bool good = (row > 0 || offsets[0] == 0) && offsets[row + 1] >= offsets[row] &&
                          offsets[row + 1] <= num_ids && (!last || offsets[rows] == num_ids);
        if (good) continue;
        refuse("wrong lengths: the list runs from " + std::to_string(offsets[row]) + " to " +
               std::to_string(offsets[row + 1]) + " of " + std::to_string(num_ids) + " ids");
        outcome_.row = row;
        return;
      }
    }
  }

  void refuse(const std::string& error) {
    outcome_.failed = true;
    outcome_.error = error;
  }

  static constexpr std::int32_t kUnwritten = -1;

  StepRun& run_;
  const UdfInput& input_;
  std::size_t max_ids_;
  std::vector<std::size_t> num_ids_;
  UdfOutcome outcome_;
};

/// Calls a user's function over the whole split. After a failure it is called again row by row,
/// on what the rows were before, to find the row to name.
class UdfStep final : public TransformPlan::Step {
 public:
  struct Settings {
    std::string name;
    std::string params;
    std::size_t max_ids = 0;  ///< By how many a row a column's lists may grow.
  };

  UdfStep(UserFunction function, UdfColumns columns, Settings settings)
      : function_(std::move(function)),
        columns_(std::move(columns)),
        settings_(std::move(settings)) {}

  Status run(StepRun& run) const override {
    add_new_columns(run);
    const std::size_t rows = run.columns.rows;
    if (rows == 0) return {};
    const Buffer one_each = run.context.pool.take((rows + 1) * sizeof(std::int32_t));
    for (std::size_t i = 0; i <= rows; ++i)
      one_each.as<std::int32_t>()[i] = static_cast<std::int32_t>(i);
    UdfInput input = input_of(run, one_each.as<std::int32_t>());
    const Buffer before = copy_dense(run, input);
    const UdfOutcome outcome =
        UdfCall(run, input, settings_.max_ids).make(function_, columns_, settings_.params);
    if (outcome.failed) return failure(run, input, before, outcome);
    for (std::size_t i = 0; i < outcome.replaced.size(); ++i) {
      if (outcome.replaced[i]) run.columns.sparse[columns_.sparse[i]] = *outcome.replaced[i];
    }
    for (float* values : input.dense) one_nan(values, rows);
    return {};
  }

  void bound(SizeBound& size) const override {
    for (std::size_t i = 0; i < columns_.new_dense; ++i) size.hold_dense();
    std::vector<SizeBound::Copy> copies;
    for (std::size_t i = 0; i < columns_.sparse.size(); ++i) {
      const std::size_t index = columns_.sparse[i];
      if (i + columns_.new_sparse >= columns_.sparse.size()) size.hold_sparse(index, 0);
      copies.push_back({index, index});
    }
    size.hold_copies(copies, settings_.max_ids);
    const std::size_t values = columns_.dense.size() * size.rows();
    size.borrow(values * sizeof(float) + (size.rows() + 1) * sizeof(std::int32_t) + 8192);
  }

  bool needs_origins() const override { return true; }

 private:
  void add_new_columns(StepRun& run) const {
    const std::size_t rows = run.columns.rows;
    for (std::size_t i = columns_.dense.size() - columns_.new_dense; i < columns_.dense.size();
         ++i) {
      float* values = hold_dense(run);
      std::fill_n(values, rows, missing_value());
      put_dense(run.columns, columns_.dense[i], values);
    }
    for (std::size_t i = columns_.sparse.size() - columns_.new_sparse; i < columns_.sparse.size();
         ++i) {
      SparseColumn lists = hold_sparse(run, 0);
      std::fill_n(lists.offsets, rows + 1, 0);
      put_sparse(run.columns, columns_.sparse[i], lists);
    }
  }

  UdfInput input_of(const StepRun& run, std::int32_t* one_each) const {
    UdfInput input;
    for (const std::size_t index : columns_.dense) input.dense.push_back(run.columns.dense[index]);
    for (const std::size_t index : columns_.sparse) {
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

  /// A user's NaN becomes the one NaN, missing stays.
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
    const std::string where = outcome.row ? row_name(run, *outcome.row)
                                          : "one of " + std::to_string(run.columns.rows) +
                                                " rows, the first being " + row_name(run, 0);
    return fail(Code::kInvalid, settings_.name + ": " + where + ": " + outcome.error);
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
    return UdfCall(alone_run, of_row, settings_.max_ids)
        .make(function_, columns_, settings_.params);
  }

  UserFunction function_;
  UdfColumns columns_;
  Settings settings_;
};

/// The columns matched, and those added, whose ids may then be any.
UdfColumns bind_columns(OpInput& input) {
  UdfColumns columns;
  Schema& schema = input.columns.schema();
  for (const ColumnRef column : input.columns.any()) {
    (column.kind == ColumnKind::kDense ? columns.dense : columns.sparse).push_back(column.index);
  }
  for (const std::string& name : input.params.texts_or_none("new_dense")) {
    columns.dense.push_back(input.columns.add_dense(name));
    ++columns.new_dense;
  }
  for (const std::string& name : input.params.texts_or_none("new_sparse")) {
    columns.sparse.push_back(input.columns.add_sparse({name, 0}));
    ++columns.new_sparse;
  }
  for (const std::size_t index : columns.dense) columns.dense_names.push_back(schema.dense[index]);
  for (const std::size_t index : columns.sparse) {
    schema.sparse[index].bound = 0;
    columns.sparse_names.push_back(schema.sparse[index].name);
  }
  return columns;
}

std::unique_ptr<TransformPlan::Step> make_udf(OpInput& input) {
  UdfColumns columns = bind_columns(input);
  const std::string library = input.params.text("library");
  UdfStep::Settings settings{input.params.text("function"), input.params.text_or("params", "")};
  settings.max_ids = static_cast<std::size_t>(
      input.params.integer_or("max_ids", columns.new_sparse > 0 ? 1 : 0, {0, 65536}));
  if (input.params.refused()) return nullptr;
  auto function = UserFunction::open(library, settings.name);
  if (!function) {
    input.params.refuse(function.error().message);
    return nullptr;
  }
  return std::make_unique<UdfStep>(std::move(*function), std::move(columns), std::move(settings));
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
