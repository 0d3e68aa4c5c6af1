#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "tools/compare/compare_json.h"
#include "tuner/sim/pipeline_model.h"

namespace forebay {

/// Makes the folder, or finds it empty or with an earlier report: kInvalid, when it can not be
/// written to or holds files of these names that are not a report's.
Status prepare_report(const std::string& folder);

/// The files that a report replaces.
std::vector<std::string> report_files(const std::string& folder);

/// What goes into a report.
struct ReportContent {
  const ComparisonResult& result;
  const std::vector<tuner::PipelineModel>& pipelines;
  std::string title;  ///< What was compared: one line.
};

/// What was left out of it, in words for the user.
using ReportNotes = std::vector<std::string>;

/// Writes runs.csv, trace.csv, plots/*.svg (where they can be drawn), report.md and index.html into
/// a prepared folder. kUnavailable when it cannot be written.
Result<ReportNotes> write_report(const std::string& folder, const ReportContent& content,
                                 const std::atomic<bool>& stop);

}  // namespace forebay
