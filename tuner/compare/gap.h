#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/compare/comparison.h"

namespace forebay::tuner {

/// Runs of one policy on one pipeline, at least one run.
using RunGroup = std::vector<const ComparedRun*>;

/// Runs of a policy, and the runs of a rival that is ahead of it on the same pipeline.
struct GapRuns {
  const RunGroup& ours;
  const RunGroup& theirs;
};

/// Why a policy is behind from the first decision on: the part of the time in which it lost most
/// (out of memory, the start, after changes, in between), and for the last of these the result of
/// late_cause().
std::string overall_cause(const PipelineModel& model, const GapRuns& sides);

/// Why it is behind once it has settled: the first of these causes that its runs show: out of
/// memory, changes, memory, contention, too few actors, noise, chance.
std::string late_cause(const PipelineModel& model, const GapRuns& sides);

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
