#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/python/child_list.h"
#include "actors/python/child_process.h"
#include "actors/python/function_process.h"
#include "actors/transform/op_table.h"

namespace forebay {
namespace {

/// What a process may take beyond its memory at the start: a function's temporaries.
constexpr std::uint64_t kChildHeadroom = std::uint64_t{32} << 20;

/// The columns of a function by index, in the order of its names.
struct PythonColumns {
  std::vector<std::size_t> dense;
  std::vector<std::size_t> sparse;
  std::vector<std::size_t> new_dense;
  std::vector<std::size_t> new_sparse;
};

/// The process of one actor. The first that dies is replaced.
struct PythonActor final : StepStates::Kept {
  std::optional<FunctionProcess> process;
  ChildList::Entry listed;
  std::string death;  // of the process that was replaced
};

/// Calls a user's function in the process of the actor that runs the step.
class PythonStep final : public TransformPlan::Step {
 public:
  PythonStep(PythonFunction function, PythonColumns columns, std::size_t max_ids,
             std::uint64_t child_bytes)
      : function_(std::move(function)),
        columns_(std::move(columns)),
        max_ids_(max_ids),
        child_bytes_(child_bytes) {}

  StepFacts facts() const override {
    StepFacts facts{.missing = StepFacts::Missing::kMade, .may_fail = true, .cost = 500};
    for (const std::size_t index : columns_.dense) {
      facts.reads.push_back({ColumnKind::kDense, index});
    }
    for (const std::size_t index : columns_.sparse) {
      facts.reads.push_back({ColumnKind::kSparse, index});
    }
    for (const std::size_t index : columns_.new_dense) {
      facts.writes.push_back({ColumnKind::kDense, index});
    }
    for (const std::size_t index : columns_.new_sparse) {
      facts.writes.push_back({ColumnKind::kSparse, index});
    }
    return facts;
  }

  Status run(StepRun& run) const override {
    StepStates alone;
    StepStates& state = run.context.actor != nullptr ? *run.context.actor : alone;
    std::unique_ptr<StepStates::Kept>& kept = state.of(this);
    if (kept == nullptr) kept = std::make_unique<PythonActor>();
    auto& actor = static_cast<PythonActor&>(*kept);
    const std::size_t rows = run.columns.rows;
    PythonOutcome outcome;
    if (rows > 0) {
      auto called = call(actor, rows_of(run, 0, rows), state.cancelled);
      if (!called) return fail(Code::kInvalid, function_.name + ": " + called.error().message);
      outcome = std::move(*called);
    }
    if (outcome.kind != PythonOutcome::Kind::kDone) {
      return failure(run, actor, state.cancelled, std::move(outcome));
    }
    return take(run, outcome.result);
  }

  void bound(SizeBound& size) const override {
    const std::size_t new_ids = size.rows() * max_ids_;
    const std::size_t ids = size.ids(columns_.sparse) + new_ids * columns_.new_sparse.size();
    for (std::size_t i = 0; i < columns_.new_dense.size(); ++i) size.hold_dense();
    // Lists of any length: max_ids is a mean, and a row may have several ids.
    for (const std::size_t index : columns_.new_sparse) size.hold_sparse(index, new_ids);
    size.borrow(PythonRows::bytes(columns_.dense.size() + columns_.new_dense.size(),
                                  columns_.sparse.size() + columns_.new_sparse.size(), size.rows(),
                                  ids));
  }

  bool needs_origins() const override { return true; }
  std::uint64_t actor_bytes() const override { return child_bytes_ + kChildHeadroom; }
  std::uint64_t child_bytes() const override { return children_.resident_bytes(); }

 private:
  using Cancelled = std::function<bool()>;

  PythonRows rows_of(const StepRun& run, std::size_t first, std::size_t count) const {
    PythonRows rows{.rows = count, .most_ids = count * max_ids_};
    for (const std::size_t index : columns_.dense) {
      rows.dense.push_back(run.columns.dense[index] + first);
    }
    for (const std::size_t index : columns_.sparse) {
      const SparseColumn& column = run.columns.sparse[index];
      if (column.offsets == nullptr) {
        rows.sparse.push_back({column.values + first, nullptr});
      } else {
        rows.sparse.push_back({column.values, column.offsets + first});
      }
    }
    return rows;
  }

  Result<PythonOutcome> call(PythonActor& actor, const PythonRows& rows,
                             const Cancelled& cancelled) const {
    while (true) {
      if (!actor.process) {
        auto started = FunctionProcess::start(function_, cancelled);
        if (!started && started.error().code == Code::kUnavailable && actor.death.empty()) {
          actor.death = started.error().message;
          continue;
        }
        if (!started) return pass(started);
        actor.process = std::move(*started);
        actor.listed = ChildList::Entry(children_, actor.process->id());
      }
      auto outcome = actor.process->call(rows, cancelled);
      if (!outcome || outcome->kind != PythonOutcome::Kind::kDied) return outcome;
      actor.listed = ChildList::Entry();
      actor.process.reset();
      if (!actor.death.empty()) {
        outcome->text += ", after " + actor.death +
                         "; it was replaced once: look for what kills it, such as a lack of memory";
        return outcome;
      }
      actor.death = outcome->text;
    }
  }

  /// Names the smallest part of the split for which the function raises: half of the rows, half of
  /// these, and so on.
  Status failure(const StepRun& run, PythonActor& actor, const Cancelled& cancelled,
                 PythonOutcome outcome) const {
    std::size_t first = 0;
    std::size_t count = run.columns.rows;
    const auto raises = [&](std::size_t from, std::size_t rows) {
      auto part = call(actor, rows_of(run, from, rows), cancelled);
      if (!part || part->kind != PythonOutcome::Kind::kRaised) return false;
      outcome = std::move(*part);
      first = from;
      count = rows;
      return true;
    };
    while (outcome.kind == PythonOutcome::Kind::kRaised && count > 1) {
      const std::size_t half = count / 2;
      if (!raises(first, half) && !raises(first + half, count - half)) break;
    }
    return fail(Code::kInvalid,
                function_.name + ": " + run.rows_name(first, count) + ": " +
                    (outcome.kind == PythonOutcome::Kind::kRaised ? "raised " : "") + outcome.text);
  }

  Status take(StepRun& run, const PythonResult& result) const {
    const std::size_t rows = run.columns.rows;
    for (std::size_t i = 0; i < columns_.new_dense.size(); ++i) {
      float* const values = hold_dense(run);
      if (rows > 0) copy_dense(result.dense[i], values, rows);
      put_column(run.columns.dense, columns_.new_dense[i], values);
    }
    for (std::size_t i = 0; i < columns_.new_sparse.size(); ++i) {
      SparseColumn lists = hold_sparse(run, rows > 0 ? result.sparse[i].ids : 0);
      if (rows > 0 && !copy_lists(result.sparse[i], lists, rows)) {
        return fail(Code::kInvalid, function_.name + ": " + run.rows_name(0, rows) +
                                        ": the lengths of " + function_.new_sparse[i] +
                                        " changed after it had returned; does it start threads?");
      }
      put_column(run.columns.sparse, columns_.new_sparse[i], lists);
    }
    return {};
  }

  /// Any NaN is a missing value: which one an operation gives differs between machines.
  static void copy_dense(const float* from, float* to, std::size_t rows) {
    for (std::size_t row = 0; row < rows; ++row) {
      const float value = from[row];
      to[row] = value != value ? missing_value() : value;
    }
  }

  /// The process may still write: each length is read once.
  static bool copy_lists(const PythonResult::Lists& from, SparseColumn& to, std::size_t rows) {
    std::uint64_t end = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::int32_t length = from.lengths[row];
      if (length < 0 || static_cast<std::uint64_t>(length) > from.ids - end) return false;
      end += static_cast<std::uint64_t>(length);
      to.offsets[row + 1] = static_cast<std::int32_t>(end);
    }
    std::memcpy(to.values, from.values, from.ids * sizeof(std::int64_t));
    return end == from.ids;
  }

  const PythonFunction function_;
  const PythonColumns columns_;
  const std::size_t max_ids_;
  const std::uint64_t child_bytes_;
  mutable ChildList children_;
};

/// Binds the matched columns and adds the new ones.
PythonColumns bind_python_columns(OpInput& input, PythonFunction& function) {
  PythonColumns columns;
  Schema& schema = input.columns.schema();
  for (const ColumnRef column : input.columns.any()) {
    if (column.kind == ColumnKind::kDense) {
      columns.dense.push_back(column.index);
      function.dense.push_back(schema.dense[column.index]);
    } else {
      columns.sparse.push_back(column.index);
      function.sparse.push_back(schema.sparse[column.index].name);
    }
  }
  function.new_dense = input.params.texts_or_none("adds");
  function.new_sparse = input.params.texts_or_none("adds_sparse");
  if (function.new_dense.empty() && function.new_sparse.empty()) {
    input.params.refuse("adds", "is missing; name the columns that the function returns");
  }
  for (const std::string& name : function.new_dense) {
    columns.new_dense.push_back(input.columns.add(ColumnKind::kDense, {name, 0}));
  }
  for (const std::string& name : function.new_sparse) {
    columns.new_sparse.push_back(input.columns.add(ColumnKind::kSparse, {name, 0}));
  }
  return columns;
}

PythonFunction python_function_of(OpRequest& params) {
  PythonFunction function;
  function.name = params.text("function");
  function.pickled = params.text_or("pickled", "");
  function.interpreter = params.text_or("interpreter", "");
  function.path = params.texts_or_none("path");
  const std::size_t colon = function.name.find(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == function.name.size()) {
    params.refuse("function", "must be \"package.module:name\", not \"" + function.name + '"');
  } else if (function.pickled.empty() && function.name.starts_with("__main__:")) {
    params.refuse("function",
                  function.name +
                      " is of a main script, which processes do not import; move it into "
                      "a module");
  }
  return function;
}

// The function is imported once before anything starts: what is wrong with it is found here, and
// how much memory a process takes.
Steps make_python(OpInput& input) {
  Steps steps;
  OpRequest& params = input.params;
  PythonFunction function = python_function_of(params);
  PythonColumns columns = bind_python_columns(input, function);
  const auto max_ids =
      static_cast<std::size_t>(params.integer_or("max_ids", 1, {.low = 1, .high = 65536}));
  if (params.has("version") && !params.is_integer("version")) params.text("version");
  if (params.refused()) return steps;
  auto process = FunctionProcess::start(function, {});
  if (!process) {
    params.refuse("function: " + function.name + ": " + process.error().message);
    return steps;
  }
  steps.push_back(std::make_unique<PythonStep>(std::move(function), std::move(columns), max_ids,
                                               resident_bytes_of(process->id())));
  return steps;
}

}  // namespace

std::vector<OpEntry> python_ops() {
  return {
      {{kPythonOp, "any", "the same, and adds, adds_sparse",
        "function = \"package.module:name\", adds = [], adds_sparse = [], max_ids = 1 (mean ids a "
        "row "
        "of a column of adds_sparse), version, path = [\".\"], interpreter = \"python3\"",
        "a function of your own in Python, in processes of its own (design/functions.md); a stage "
        "of "
        "its own",
        "passed on as NaN; a NaN that it returns is missing"},
       {"function", "adds", "adds_sparse", "max_ids", "version", "path", "interpreter", "pickled"},
       make_python},
  };
}

}  // namespace forebay
