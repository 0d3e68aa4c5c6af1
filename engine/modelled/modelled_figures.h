#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/report/json_object.h"
#include "tuner/allocation.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/tuned_pipeline.h"
#include "tuner/world/oracle_line.h"

namespace forebay {

/// One node's part of a run.
struct NodeFigures {
  std::string name;
  double splits_per_second = 0;  ///< Of its splits, those that were trained.
  double cpus_used = 0;
  std::uint64_t peak_memory_bytes = 0;  ///< Of the whole run.
  bool out_of_memory = false;
};

/// Results of a run of a modelled pipeline, simulated or emulated. Its stages are a world's lines
/// (tuner/world/world_layout.h).
struct ModelledFigures {
  tuner::Allocation allocation;  ///< At the end.
  tuner::Observation measured;   ///< Sum over the part of the run that counts.
  std::optional<double> oracle_splits_per_second = {};  ///< Absent: it was not found.
  std::uint64_t peak_memory_bytes = 0;                  ///< Of the whole run.
  bool out_of_memory = false;
  bool best_known = false;    ///< The oracle's rate is the best that a search found.
  double paused_seconds = 0;  ///< The trainer's pauses, which `measured.seconds` does not count.
  std::vector<NodeFigures> nodes = {};  ///< Of a file with nodes.

  double seconds() const { return measured.seconds + paused_seconds; }
  double splits_per_second() const;
  /// Rate relative to the oracle's rate; 0 if the oracle's rate is 0, absent if it is absent.
  std::optional<double> ratio() const;
  double cpus_used() const;
  /// Share of the time in which the trainer waited.
  double starved_ratio() const;
};

/// The oracle's mean rate from `from` to `to`, weighted by the time between events; of a model that
/// is no world.
double oracle_rate(const tuner::PipelineModel& model, double from, double to);

/// Compares a world's run from `from` to `to` with the yardstick. Leaves the oracle's rate absent
/// if a search for that yardstick was stopped.
void compare(ModelledFigures& figures, const std::vector<tuner::OracleSpan>& line, double from,
             double to);

/// Returns the keys that CLI users rely on, without `{}` around them: more keys may be added.
JsonObject json_of(const ModelledFigures& figures, const tuner::PipelineModel& model);

/// Returns a table of the stages: actors, and the shares of their time in which they worked and
/// waited.
std::vector<std::vector<std::string>> stage_rows(const ModelledFigures& figures,
                                                 const tuner::PipelineModel& model);

/// Joins consecutive intervals into one: sums are added, means are weighted by time, and values at
/// an interval's end are those of the last one. Needs at least one interval.
tuner::Observation sum_of(std::span<const tuner::Observation> intervals);

}  // namespace forebay
