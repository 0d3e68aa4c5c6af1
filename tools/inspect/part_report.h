#pragma once

#include <optional>
#include <string>

#include "core/base/result.h"
#include "tools/inspect/file_report.h"

namespace forebay {

/// Reports on a file that the manifest of its checkpoint folder lists, or on this manifest, after
/// it compared the bytes with the recorded digest (kCorrupt names a file that differs). nullopt for
/// any other file.
std::optional<Result<FileReport>> report_part(const std::string& path);

}  // namespace forebay
