#pragma once

#include <string>
#include <vector>

#include "tools/compare/compare_json.h"
#include "tuner/sim/pipeline_model.h"

namespace forebay {

/// A line a run: what its JSON object holds, recoveries as `300:4 600:-`.
std::string runs_csv(const ComparisonResult& result);

/// A line a period of every run: what came of it, what the oracle has in that time, what stood.
/// `pipelines` name the stages.
std::string trace_csv(const ComparisonResult& result,
                      const std::vector<tuner::PipelineModel>& pipelines);

/// `text` as a field: quoted where it has to be (RFC 4180).
std::string csv_field(const std::string& text);

}  // namespace forebay
