#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/transform/column_binder.h"
#include "actors/transform/param_reader.h"
#include "actors/transform/step.h"

namespace forebay {

/// What an operator's maker is given; it refuses through either, and its step is then dropped.
struct OpInput {
  ParamReader params;
  ColumnBinder columns;
};

/// An operator: its name, its parameters' names, its line for users, and how its step is made.
struct OpEntry {
  OpDescription description;
  std::vector<std::string> params;
  std::unique_ptr<TransformPlan::Step> (*make)(OpInput& input);
};

/// Every operator, in the order users see.
const std::vector<OpEntry>& op_table();

// The entries, by the file that makes their steps.
std::vector<OpEntry> dense_ops();
std::vector<OpEntry> any_ops();
std::vector<OpEntry> one_hot_ops();
std::vector<OpEntry> id_ops();
std::vector<OpEntry> list_ops();
std::vector<OpEntry> similarity_ops();
std::vector<OpEntry> row_ops();
std::vector<OpEntry> udf_ops();

}  // namespace forebay
