#pragma once

#include <string>
#include <vector>

#include "engine/report/json_object.h"
#include "tuner/compare/comparison.h"
#include "tuner/compare/gap.h"
#include "tuner/compare/summary.h"
#include "tuner/sim/pipeline_model.h"

namespace forebay {

/// The results of a comparison in three forms.
struct ComparisonResult {
  std::vector<tuner::ComparedRun> runs;
  std::vector<tuner::PolicySummary> summaries;
  std::vector<tuner::Gap> gaps;  ///< Pipelines on which `intune` is behind.
};

/// `{"runs": […], "summary": {policy: {…}}, "behind": […]}`.
JsonObject json_of(const ComparisonResult& result);

/// Returns one line for each run, with the values of its JSON object; recoveries as `300:4 600:-`.
std::string runs_csv(const ComparisonResult& result);

/// Returns one line for each period of every run: the result, the oracle's rate in that time, and
/// the allocation. `pipelines` name the stages.
std::string trace_csv(const ComparisonResult& result,
                      const std::vector<tuner::PipelineModel>& pipelines);

/// Returns `text` as a CSV field: quoted if necessary (RFC 4180).
std::string csv_field(const std::string& text);

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
std::string html_escaped(std::string text);

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
