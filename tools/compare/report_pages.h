#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/compare/table.h"

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

}  // namespace forebay
