#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/compare/table.h"

namespace forebay {

/// The first line of report.md, by which a folder is known to hold a report.
inline constexpr std::string_view kReportMark = "<!-- forebay tune compare -->";

/// A drawn file of a report.
struct ReportPlot {
  std::string title;
  std::string file;  ///< Below the report's folder.
};

/// What ties a report's tables and plots together.
struct ReportPages {
  std::string title;
  std::vector<Table> tables;
  std::vector<ReportPlot> plots = {};
  std::vector<std::string> notes = {};
};

/// The plots by what the script names them: `summary.svg`, then `01.svg` for the first pipeline.
std::vector<ReportPlot> plots_of(const std::vector<std::string>& files,
                                 const std::vector<std::string>& pipelines);

std::string markdown_of(const ReportPages& pages);
std::string html_of(const ReportPages& pages);

}  // namespace forebay
