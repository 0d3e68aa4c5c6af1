#pragma once

#include <string>
#include <vector>

#include "actors/transform/column_binder.h"
#include "actors/transform/op_request.h"
#include "actors/transform/step.h"

namespace forebay {

/// The input of an operator's `make`. Errors are recorded through either member; the steps are
/// then dropped.
struct OpInput {
  OpRequest& params;
  ColumnBinder columns;
};

/// An operator: its description for users, the names of its parameters, and the function that makes
/// its steps.
struct OpEntry {
  OpDescription description;
  std::vector<std::string> params;
  Steps (*make)(OpInput& input);
};

// The entries, grouped by the file that makes their steps.
std::vector<OpEntry> dense_ops();
std::vector<OpEntry> any_ops();
std::vector<OpEntry> id_ops();
std::vector<OpEntry> list_ops();
std::vector<OpEntry> similarity_ops();
std::vector<OpEntry> row_ops();
std::vector<OpEntry> udf_ops();
std::vector<OpEntry> python_ops();

}  // namespace forebay
