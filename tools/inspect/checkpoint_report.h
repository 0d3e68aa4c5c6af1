#pragma once

#include <string>

#include "core/base/result.h"
#include "tools/inspect/file_report.h"

namespace forebay {

/// Reports on a folder that is a checkpoint or contains checkpoints; kInvalid for any other folder.
/// Reads all files of the checkpoints to check their digests, and changes no file.
Result<FileReport> report_folder(const std::string& path);

}  // namespace forebay
