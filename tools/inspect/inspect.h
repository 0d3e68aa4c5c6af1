#pragma once

#include <string>

#include "core/base/result.h"
#include "tools/inspect/file_report.h"

namespace forebay {

/// Tells what a file or folder holds by its content, whatever its name: data, a loader state, an
/// index, a dataset's manifest, a quarantine, a job, checkpoints and their files. kInvalid for what
/// is none of these, kNotFound for what is not there, kCorrupt for one of these that is damaged.
Result<FileReport> inspect_path(const std::string& path);

}  // namespace forebay
