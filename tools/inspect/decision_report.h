#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "tools/inspect/file_report.h"

namespace forebay {

/// Whether a file that begins so is a decision log.
bool is_decision_log(std::string_view begin);

/// A decision log: who decided how often, from what to what, and how often it was not listened to.
Result<FileReport> report_decisions(const std::string& path);

}  // namespace forebay
