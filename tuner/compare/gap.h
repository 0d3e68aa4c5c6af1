#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/compare/comparison.h"

namespace forebay::tuner {

/// A pipeline on which a policy is behind another policy; means over seeds.
struct Gap {
  std::string pipeline;
  std::string measure;  ///< `ratio_overall` or `ratio_after_30`
  std::string rival;    ///< The policy that is furthest ahead.
  double ours = 0;
  double theirs = 0;
  std::string cause;  ///< The cause that the runs show, in a few words.

  double by() const { return theirs - ours; }
};

/// The pipelines on which `policy` is more than 0.001 behind another policy except the oracle,
/// largest gaps first. `models` are the pipelines of the runs.
std::vector<Gap> gaps_of(std::span<const ComparedRun> runs, std::span<const PipelineModel> models,
                         std::string_view policy);

}  // namespace forebay::tuner
