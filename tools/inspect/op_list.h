#pragma once

#include <string>
#include <vector>

#include "engine/report/json_object.h"

namespace forebay {

/// Returns the transforms that a job may use, as the lines of a table.
std::vector<std::string> op_lines();

/// Returns the same transforms for a script: name, takes, gives, parameters, summary, missing.
std::vector<JsonObject> op_objects();

}  // namespace forebay
