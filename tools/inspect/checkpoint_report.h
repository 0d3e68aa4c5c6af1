#pragma once

#include <string>

#include "core/base/result.h"
#include "tools/inspect/file_report.h"

namespace forebay {

/// Reports on a folder that is a checkpoint or holds checkpoints; kInvalid for any other. Reads all
/// of their files to check their digests, and changes nothing.
Result<FileReport> report_folder(const std::string& path);

}  // namespace forebay
