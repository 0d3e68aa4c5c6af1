#pragma once

#include <span>

#include "engine/report/json_object.h"
#include "tuner/compare/comparison.h"
#include "tuner/compare/gap.h"
#include "tuner/compare/summary.h"

namespace forebay {

/// What a comparison found, in the three shapes of its results.
struct ComparisonResult {
  std::vector<tuner::ComparedRun> runs;
  std::vector<tuner::PolicySummary> summaries;
  std::vector<tuner::Gap> gaps;  ///< Where `intune` is behind.
};

/// `{"runs": […], "summary": {policy: {…}}, "behind": […]}`.
JsonObject json_of(const ComparisonResult& result);

}  // namespace forebay
