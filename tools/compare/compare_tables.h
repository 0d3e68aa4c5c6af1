#pragma once

#include <string>
#include <vector>

#include "tools/compare/compare_json.h"

namespace forebay {

/// A table of text cells, for a terminal and for a page.
struct Table {
  std::string title;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows = {};
};

/// Returns the title and aligned columns; "" if the table has no row.
std::string text_of(const Table& table);

/// Returns a Markdown section, or a section of an HTML page. Cells are escaped.
std::string markdown_of(const Table& table);
std::string html_of(const Table& table);

/// Returns `text` with HTML's special characters escaped.
std::string html_escaped(const std::string& text);

/// Returns one line for each policy: both ratios, decisions to 95 %, out of memory, actors, memory,
/// CPU time.
Table summary_table(const ComparisonResult& result);

/// Returns one line for each policy on its recovery after events; no rows if no pipeline has
/// events.
Table recovery_table(const ComparisonResult& result);

/// Returns one line for each pipeline and policy: means over seeds, with the pipeline's bottleneck
/// share.
Table pipeline_table(const ComparisonResult& result);

/// Returns where `intune` is behind, by how much and why.
Table gap_table(const ComparisonResult& result);

}  // namespace forebay
