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

}  // namespace forebay
