#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "tools/compare/compare_result.h"
#include "tuner/sim/pipeline_model.h"

namespace forebay {

/// The first line of report.md, which identifies a folder as a report's.
inline constexpr std::string_view kReportMark = "<!-- forebay tune compare -->";

/// A plot of a report.
struct ReportPlot {
  std::string title;
  std::string file;  ///< Relative to the report's folder.
};

/// A report's tables and plots in page order.
struct ReportPages {
  std::string title;
  std::vector<Table> tables;
  std::vector<ReportPlot> plots = {};
  std::vector<std::string> notes = {};
};

/// Returns the plots by their file names: `summary.svg`, then `01.svg` for the first pipeline.
std::vector<ReportPlot> plots_of(const std::vector<std::string>& files,
                                 const std::vector<std::string>& pipelines);

std::string markdown_of(const ReportPages& pages);
std::string html_of(const ReportPages& pages);

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

/// Runs the script that draws plots (plot_script.cpp) in a separate process on a report's folder
/// and returns the names of the plots in `folder`/plots. kUnavailable says what to install if the
/// script cannot run; when `stop` is set the process is ended.
Result<std::vector<std::string>> draw_plots(const std::string& folder,
                                            const std::vector<std::string>& pipelines,
                                            const std::atomic<bool>& stop);

}  // namespace forebay
