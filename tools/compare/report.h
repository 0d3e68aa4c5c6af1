#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "tools/compare/compare_json.h"
#include "tuner/sim/pipeline_model.h"

namespace forebay {

/// Creates the folder, or checks that it is empty or holds an earlier report. kInvalid: it cannot
/// be written to, or holds files of these names that are not a report's.
Status prepare_report(const std::string& folder);

/// Returns the files that a report replaces.
std::vector<std::string> report_files(const std::string& folder);

/// The content of a report.
struct ReportContent {
  const ComparisonResult& result;
  const std::vector<tuner::PipelineModel>& pipelines;
  std::string title;  ///< One line that describes the comparison.
};

/// Descriptions of the parts that were left out, for the user.
using ReportNotes = std::vector<std::string>;

/// Writes runs.csv, trace.csv, plots/*.svg (if they can be drawn), report.md and index.html into a
/// prepared folder. kUnavailable: it cannot be written.
Result<ReportNotes> write_report(const std::string& folder, const ReportContent& content,
                                 const std::atomic<bool>& stop);

}  // namespace forebay
