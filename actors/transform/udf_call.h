#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "actors/transform/step.h"
#include "actors/transform/user_function.h"
#include "core/data/column_set.h"

namespace forebay {

/// The columns a function is given, by name and index, further ones last.
struct UdfColumns {
  std::vector<std::string> dense_names;
  std::vector<std::size_t> dense;
  std::vector<std::string> sparse_names;
  std::vector<std::size_t> sparse;
  std::size_t new_dense = 0;
  std::size_t new_sparse = 0;
};

/// A user's function as a job asks for it.
struct Udf {
  UserFunction function;
  UdfColumns columns;
  std::string name;
  std::string params;
  std::size_t max_ids = 0;  ///< By how many a row a column's lists may grow.
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

/// Calls the function once over the rows of `run`, whose slabs take what it allocates, and checks
/// the lists that it gives back (forebay/udf.h says what it may do).
UdfOutcome call_udf(const Udf& udf, StepRun& run, const UdfInput& input);

}  // namespace forebay
