#pragma once

#include <optional>
#include <string>

#include "core/base/result.h"
#include "tools/inspect/file_report.h"

namespace forebay {

/// Reports on a file that the manifest of its checkpoint folder lists, or on the manifest itself.
/// Compares a listed file's bytes with the recorded digest first; kCorrupt names a file that
/// differs. Returns nullopt for any other file.
std::optional<Result<FileReport>> report_part(const std::string& path);

}  // namespace forebay
