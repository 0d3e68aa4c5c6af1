#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "tools/inspect/file_report.h"

namespace forebay {

/// Returns whether a file that begins with `begin` is a decision log.
bool is_decision_log(std::string_view begin);

/// Reports on a decision log: the policy and its number of decisions, the first and last
/// allocation, and how often the policy was not followed.
Result<FileReport> report_decisions(const std::string& path);

}  // namespace forebay
