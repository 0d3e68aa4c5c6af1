#pragma once

#include <optional>
#include <string>

#include "core/base/result.h"
#include "tools/inspect/file_report.h"

namespace forebay {

/// A file that the manifest of its folder, a checkpoint's, lists, and that manifest itself: whether
/// its bytes are those that were written (kCorrupt, naming it, where they are not). Nothing for any
/// other file.
std::optional<Result<FileReport>> report_part(const std::string& path);

}  // namespace forebay
