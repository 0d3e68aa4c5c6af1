#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "engine/report/json_object.h"
#include "tools/inspect/reports.h"

namespace forebay {

/// Recognizes a file or folder by its content, not its name: data, a loader state, an index, a
/// dataset's manifest, a quarantine, a decision log, a job, checkpoints and their files. kInvalid:
/// none of these; kNotFound: `path` does not exist; kCorrupt: one of these, but damaged.
Result<FileReport> inspect_path(const std::string& path);

/// Returns the transforms that a job may use, as the lines of a table.
std::vector<std::string> op_lines();

/// Returns the same transforms for a script: name, takes, gives, parameters, summary, missing.
std::vector<JsonObject> op_objects();

}  // namespace forebay
