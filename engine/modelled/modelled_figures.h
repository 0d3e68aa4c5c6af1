#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/report/json_object.h"
#include "tuner/allocation.h"
#include "tuner/observation.h"
#include "tuner/sim/pipeline_model.h"

namespace forebay {

/// What a run of a modelled pipeline came to, simulated or emulated.
struct ModelledFigures {
  tuner::Allocation allocation;  ///< At the end.
  tuner::Observation measured;   ///< The part of the run that counts.
  double oracle_splits_per_second = 0;
  std::uint64_t peak_memory_bytes = 0;  ///< Of the whole run.
  bool out_of_memory = false;

  double splits_per_second() const { return measured.splits_per_second(); }
  /// Over the oracle's; 0 where the oracle has none.
  double ratio() const;
  double cpus_used() const;
  /// Share of the time that the trainer waited.
  double starved_ratio() const;
};

/// The oracle's rate from `from` to `to`, events counted by the time they last.
double oracle_rate(const tuner::PipelineModel& model, double from, double to);

/// The keys that CLI users rely on, without `{}` around them: more may be added.
JsonObject json_of(const ModelledFigures& figures, const tuner::PipelineModel& model);

/// A table of the stages: actors, and what share of their time they worked and waited.
std::vector<std::vector<std::string>> stage_rows(const ModelledFigures& figures,
                                                 const tuner::PipelineModel& model);

}  // namespace forebay
