#pragma once

#include <string>

#include "core/base/result.h"
#include "tools/inspect/file_report.h"

namespace forebay {

/// Recognizes a file or folder by its content, not its name: data, a loader state, an index, a
/// dataset's manifest, a quarantine, a decision log, a job, checkpoints and their files. kInvalid:
/// none of these; kNotFound: `path` does not exist; kCorrupt: one of these, but damaged.
Result<FileReport> inspect_path(const std::string& path);

}  // namespace forebay
