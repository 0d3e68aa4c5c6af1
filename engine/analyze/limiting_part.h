#pragma once

#include <string>
#include <vector>

#include "engine/analyze/parts.h"
#include "engine/analyze/what_if.h"
#include "engine/metrics/verdict.h"

namespace forebay {

/// What a run with a trainer did between two samples, with so many CPUs. Pure.
Activity activity_of(const RunSample& before, const RunSample& now, double cpus);

/// The part that limits a job, and why.
struct LimitingPart {
  std::string part;      ///< A part's name, or `memory`.
  std::string sentence;  ///< For the user.
};

/// Names the part by the verdict on the activity: `trainer`, `memory` or `link`; where the CPUs are
/// used up, the part that takes most of them; else the part of the busiest stage. While workers
/// make splits, what fills the memory or leaves all stages waiting is the link. `stages` are the
/// job's; the batch stage counts as hand-over. Pure.
LimitingPart limiting_part_of(const Activity& activity, const StageList& stages,
                              const std::vector<Piece>& pieces);

/// Returns three sentences, in order of gain: what to do, and the rate that it would bring. A
/// change that takes away comes last, where it costs nothing. Pure.
std::vector<std::string> advice_of(const std::vector<WhatIf>& what_ifs, double rows_per_second);

}  // namespace forebay
