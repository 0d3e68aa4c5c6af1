#pragma once

#include <span>

#include "engine/report/json_object.h"
#include "tuner/compare/comparison.h"
#include "tuner/compare/gap.h"
#include "tuner/compare/summary.h"

namespace forebay {

/// The results of a comparison in three forms.
struct ComparisonResult {
  std::vector<tuner::ComparedRun> runs;
  std::vector<tuner::PolicySummary> summaries;
  std::vector<tuner::Gap> gaps;  ///< Pipelines on which `intune` is behind.
};

/// `{"runs": […], "summary": {policy: {…}}, "behind": […]}`.
JsonObject json_of(const ComparisonResult& result);

}  // namespace forebay
