#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "actors/transform/step.h"
#include "actors/transform/user_function.h"
#include "core/data/column_set.h"

namespace forebay {

/// The columns that a function receives, by name and index; additional columns come last.
struct UdfColumns {
  std::vector<std::string> dense_names;
  std::vector<std::size_t> dense;
  std::vector<std::string> sparse_names;
  std::vector<std::size_t> sparse;
  std::size_t new_dense = 0;
  std::size_t new_sparse = 0;
};

/// A user's function with the columns and parameters that the job gives it.
struct Udf {
  UserFunction function;
  UdfColumns columns;
  std::string name;
  std::string params;
  std::size_t max_ids = 0;  ///< By how many ids a row a column's lists may grow, on average.
};

/// The memory of a call's columns; every sparse column has offsets.
struct UdfInput {
  std::vector<float*> dense;
  std::vector<SparseColumn> sparse;
};

/// The result of a call.
struct UdfOutcome {
  bool failed = false;
  std::string error;
  std::optional<std::size_t> row;  ///< The row that failed, if it is known.
  std::vector<std::optional<SparseColumn>> replaced;
};

/// Calls the function once over the rows of `run`; memory that the function allocates comes from
/// the slabs of `run`. Checks the lists that the function returns. forebay/udf.h defines what a
/// function may do.
UdfOutcome call_udf(const Udf& udf, StepRun& run, const UdfInput& input);

}  // namespace forebay
