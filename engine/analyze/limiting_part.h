#pragma once

#include <string>
#include <vector>

#include "engine/analyze/parts.h"
#include "engine/analyze/what_if.h"

namespace forebay {

/// How busy a run's resources were between two samples. A value.
struct Usage {
  double trainer = 0;  ///< Share of the time in which the trainer had a batch.
  /// CPU seconds used and wanted, over those that there were; more than 1: others took some.
  double cpus = 0;
  double stage = 0;          ///< Share of the busiest stage's actors that worked.
  std::string busiest = {};  ///< That stage's name.
  Part busiest_part = Part::kFetch;
  double stage_cpu = 1;  ///< Of that stage's work, the share on a CPU.
  double window = 0;     ///< Share of the bytes for splits that were in use.
};

/// Pure. `stages` are the job's; the batch stage counts as hand-over.
Usage usage_of(const RunSample& before, const RunSample& now, const StageList& stages, double cpus);

/// The part that limits a job, and why.
struct LimitingPart {
  std::string part;      ///< A part's name, or `memory`.
  std::string sentence;  ///< For the user.
};

/// Names the limiting part: the trainer if it nearly always had a batch; where the CPUs are used
/// up, the part that takes most of them; else the part of the busiest stage; `memory` if no stage
/// is busy and no byte for splits is free; `link` if workers make the splits and no stage here is
/// busy. Pure.
LimitingPart limiting_part_of(const Usage& usage, const std::vector<Piece>& pieces);

/// Returns three sentences, in order of gain: what to do, and the rate that it would bring. A
/// change that takes away comes last, where it costs nothing. Pure.
std::vector<std::string> advice_of(const std::vector<WhatIf>& what_ifs, double rows_per_second);

}  // namespace forebay
