#pragma once

#include <string>

#include "actors/transform/transform.h"
#include "core/base/result.h"
#include "engine/report/json_object.h"

namespace forebay {

/// Returns the key `plan` of a run's JSON: `as_written` and `as_run`, each entry with its operators
/// (numbers in the job file, from 0), columns, stage, and nanoseconds of CPU a row, predicted and,
/// once measured, measured.
JsonObject plan_json(const TransformPlan& plan);

/// Returns the path of the costs that a run keeps for the next one.
std::string plan_costs_path(const std::string& run_dir);

/// Writes what the plan's runs have measured; writes nothing where nothing was measured.
Status keep_plan_costs(const std::string& path, const TransformPlan& plan);

/// Gives the plan what an earlier run of the same plan has kept. A file that is not there, damaged
/// or of another plan changes nothing: costs decide no value and no order.
void recall_plan_costs(const std::string& path, TransformPlan& plan);

}  // namespace forebay
